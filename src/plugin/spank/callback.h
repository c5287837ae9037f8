// The callbacks of plugins: their names, and which of them exist in which context. spank(8) SPANK PLUGINS.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace muster::spank {

enum class Callback : uint8_t {
  kInit,
  kInitPostOpt,
  kLocalUserInit,
  kUserInit,
  kTaskInitPrivileged,
  kTaskInit,
  kTaskPostFork,
  kTaskExit,
  kExit,
  kJobProlog,
  kJobEpilog,
  kSlurmdExit
};
inline constexpr std::string_view kSymbolPrefix = "slurm_spank_";
// Without the prefix, as messages name them: "task_init() failed".
inline constexpr std::array<std::string_view, 12> kCallbackNames = {
    "init",      "init_post_opt", "local_user_init", "user_init",  "task_init_privileged", "task_init", "task_post_fork",
    "task_exit", "exit",          "job_prolog",      "job_epilog", "slurmd_exit"};
constexpr std::string_view callback_name(Callback c) { return kCallbackNames[static_cast<size_t>(c)]; }

constexpr bool is_of_task(Callback c) {
  return c == Callback::kTaskInitPrivileged || c == Callback::kTaskInit || c == Callback::kTaskPostFork || c == Callback::kTaskExit;
}

}  // namespace muster::spank

#include "slurmstepd/plugins/job_script.h"

#include <stdlib.h>
#include <unistd.h>

#include <string>

#include "base/text.h"
#include "os/files.h"
#include "plugin/spank/option_text.h"
#include "plugin/spank/plugstack.h"
#include "plugin/spank/stack.h"

namespace muster::slurmstepd {
namespace {

constexpr std::string_view kPrefix = "SPANK_";

template <class T>
void set_number(std::optional<T>& to, const char* name) {
  if (const char* text = ::getenv(name)) to = parse_number<T>(text);
}

spank::Facts facts_of_environment() {
  spank::Facts f;
  set_number(f.job, "SLURM_JOB_ID");
  set_number(f.uid, "SLURM_JOB_UID");
  set_number(f.gid, "SLURM_JOB_GID");
  set_number(f.array_job, "SLURM_ARRAY_JOB_ID");
  set_number(f.array_task, "SLURM_ARRAY_TASK_ID");
  return f;
}

std::vector<std::string> given_options() {
  std::vector<std::string> out;
  for (char** e = environ; e && *e; ++e) {
    std::string_view entry = *e;
    if (entry.starts_with(kPrefix) && entry.substr(kPrefix.size()).starts_with(spank::kOptionPrefix))
      out.emplace_back(entry.substr(kPrefix.size()));
  }
  return out;
}

void say(const std::string& line) { [[maybe_unused]] auto ok = os::write_all(2, line + "\n"); }

Result<> run(spank::Callback callback, const char* plugstack, const char* plugin_dir) {
  MUSTER_TRY(read, spank::read_plugstack(plugstack, plugin_dir));
  for (const std::string& n : read.notes) say(n);
  spank::Stack::Ports ports{[](os::LogLevel level, const std::string& text) {
                              if (level <= os::LogLevel::kInfo) say(text);
                            },
                            say};
  MUSTER_TRY(stack, spank::Stack::load(read.plugins, S_CTX_JOB_SCRIPT, std::move(ports)));
  stack->facts = facts_of_environment();
  stack->keep(given_options());
  return stack->call(callback);
}

}  // namespace

int run_job_script(const char* which, const char* plugstack, const char* plugin_dir) {
  const bool prolog = std::string_view(which) == "prolog";
  if (!prolog && std::string_view(which) != "epilog") {
    say("slurmstepd: error: spank '" + std::string(which) + "': prolog or epilog");
    return 1;
  }
  auto ok = run(prolog ? spank::Callback::kJobProlog : spank::Callback::kJobEpilog, plugstack, plugin_dir);
  if (ok) return 0;
  say("spank: " + std::string(ok.error().message()));
  return 1;
}

}  // namespace muster::slurmstepd

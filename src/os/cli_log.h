// What a command tells its user, on stderr: "sbatch: error: Batch job submission failed: …". Info lines carry
// no level word ("srun: job 17 queued"), as Slurm's do. No files, no threads; one write per line.
#pragma once

#include <unistd.h>

#include <string>
#include <string_view>

#include "base/result.h"
#include "os/log_format.h"
#include "os/log_level.h"

namespace muster::os {

class CliLog {
 public:
  explicit CliLog(std::string_view program, LogLevel level = LogLevel::kInfo, int fd = 2) : program_(program), level_(level), fd_(fd) {}

  void set_level(LogLevel level) { level_ = level; }
  LogLevel level() const { return level_; }
  bool enabled(LogLevel level) const { return level <= level_ && level != LogLevel::kQuiet; }

  template <class... A>
  void fatal(LogText<A...> t, const A&... a) const {
    at(LogLevel::kFatal, t, a...);
  }
  template <class... A>
  void error(LogText<A...> t, const A&... a) const {
    at(LogLevel::kError, t, a...);
  }
  template <class... A>
  void info(LogText<A...> t, const A&... a) const {
    at(LogLevel::kInfo, t, a...);
  }
  template <class... A>
  void verbose(LogText<A...> t, const A&... a) const {
    at(LogLevel::kVerbose, t, a...);
  }
  template <class... A>
  void debug(LogText<A...> t, const A&... a) const {
    at(LogLevel::kDebug, t, a...);
  }
  template <class... A>
  void at(LogLevel level, LogText<A...> t, const A&... a) const {
    if (!enabled(level)) return;
    if constexpr (sizeof...(A) == 0) {
      write(level, format_log(t.text, {}));
    } else {
      const LogArg args[] = {to_log_arg(a)...};
      write(level, format_log(t.text, args));
    }
  }
  // Prints an Error: its message on one line, its hint (if any) on a second.
  void error(const Error& e, std::string_view before = {}) const {
    if (!enabled(LogLevel::kError)) return;
    write(LogLevel::kError, std::string(before) + std::string(e.message()));
    if (!e.hint.empty()) write(LogLevel::kError, e.hint);
  }
  void write(LogLevel level, std::string_view text) const {
    if (!enabled(level)) return;
    std::string line = program_ + ": ";
    if (level != LogLevel::kInfo && level != LogLevel::kVerbose) line += std::string(log_level_name(level)) + ": ";
    if (level == LogLevel::kDebug) line.replace(line.size() - 2, 2, ":  ");
    line.append(text).push_back('\n');
    [[maybe_unused]] ssize_t n = ::write(fd_, line.data(), line.size());
  }

 private:
  std::string program_;
  LogLevel level_;
  int fd_;
};

}  // namespace muster::os

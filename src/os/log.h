// The daemons' log: to a file, to stderr and to syslog, each with its own level. Lines look as Slurm's do:
//   [2026-11-21T08:00:00.123] error: slurm_receive_msg: Zero Bytes were transmitted or received
// A Log is made in main() and passed by reference; there is no global one. All threads may use it.
//
//   log.info("job {} allocated {} nodes", job_id, count);
//
// Cost: a disabled level is one relaxed load. An enabled line is formatted by the caller (about 1 µs) and,
// with `async`, queued for a writer thread; the queue is bounded and under a flood the oldest lines go first
// and are counted, so the log never blocks a daemon. Lines of error and above are flushed at once. The writer
// is a thread: detach (daemonize.h) before open().
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "os/log_format.h"
#include "os/log_level.h"

namespace muster::os {

// LogTimeFormat of slurm.conf(5).
enum class LogTimeFormat : uint8_t { kIso8601Ms, kIso8601, kRfc5424Ms, kRfc5424, kRfc3339, kClock, kShort, kThreadId };
Result<LogTimeFormat> parse_log_time_format(std::string_view text);

struct LogOptions {
  std::string program;  // syslog's ident, and the prefix on stderr
  std::string file;     // "" = no file; created 0600
  LogLevel file_level = LogLevel::kInfo;
  LogLevel stderr_level = LogLevel::kQuiet;  // the -D mode: lines with the program's name in place of the time
  LogLevel syslog_level = LogLevel::kQuiet;
  LogTimeFormat time_format = LogTimeFormat::kIso8601Ms;
  bool stderr_time = false;  // stderr lines carry the time as the file's do
  bool async = true;         // false: the caller writes (slurmstepd, tests); no thread
  size_t queue_lines = 8192;
};

class Log {
 public:
  static Result<std::unique_ptr<Log>> open(const LogOptions& options);
  ~Log();  // writes what is queued
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  bool enabled(LogLevel level) const { return level <= highest_.load(std::memory_order_relaxed) && level != LogLevel::kQuiet; }

  template <class... A>
  void fatal(LogText<A...> t, const A&... a) {
    at(LogLevel::kFatal, t, a...);
  }  // the caller exits
  template <class... A>
  void error(LogText<A...> t, const A&... a) {
    at(LogLevel::kError, t, a...);
  }
  template <class... A>
  void info(LogText<A...> t, const A&... a) {
    at(LogLevel::kInfo, t, a...);
  }
  template <class... A>
  void verbose(LogText<A...> t, const A&... a) {
    at(LogLevel::kVerbose, t, a...);
  }
  template <class... A>
  void debug(LogText<A...> t, const A&... a) {
    at(LogLevel::kDebug, t, a...);
  }
  template <class... A>
  void debug2(LogText<A...> t, const A&... a) {
    at(LogLevel::kDebug2, t, a...);
  }
  template <class... A>
  void debug3(LogText<A...> t, const A&... a) {
    at(LogLevel::kDebug3, t, a...);
  }
  template <class... A>
  void at(LogLevel level, LogText<A...> t, const A&... a) {
    if (!enabled(level)) return;
    if constexpr (sizeof...(A) == 0) {
      write(level, format_log(t.text, {}));
    } else {
      const LogArg args[] = {to_log_arg(a)...};
      write(level, format_log(t.text, args));
    }
  }
  // A finished text. Line breaks and other control characters in it are shown escaped: one call, one line, so
  // that nobody can forge lines through names.
  void write(LogLevel level, std::string_view text);

  Result<> reopen();  // after logrotate moved the file (SIGUSR2)
  void set_levels(LogLevel file, LogLevel stderr_level,
                  LogLevel syslog_level);  // scontrol setdebug, reconfigure
  void set_time_format(LogTimeFormat format);
  void flush();              // returns when everything said so far is written
  uint64_t dropped() const;  // lines lost to a flood so far

 private:
  struct Impl;
  explicit Log(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
  std::atomic<LogLevel> highest_{LogLevel::kQuiet};
};

// The time in front of a line, without brackets; for other files of the same look.
std::string format_log_time(LogTimeFormat format, int64_t unix_microseconds);

}  // namespace muster::os

#include "slurmdbd/daemon/log_options.h"

#include <algorithm>

namespace muster::slurmdbd {
namespace {

// Unset: what is fatal; all, where there is no other log; nothing with -D.
os::LogLevel syslog_level(const Settings& s, bool foreground, os::LogLevel wanted) {
  if (auto given = os::parse_log_level(s.debug_level_syslog); !s.debug_level_syslog.empty() && given) return *given;
  if (foreground) return os::LogLevel::kQuiet;
  return s.log_file.empty() ? std::max(wanted, os::LogLevel::kFatal) : os::LogLevel::kFatal;
}

}  // namespace

os::LogOptions log_options(const Settings& s, const Arguments& a) {
  os::LogOptions o;
  o.program = "slurmdbd";
  o.file = s.log_file;
  const int level = static_cast<int>(os::parse_log_level(s.debug_level).value_or(os::LogLevel::kInfo));
  const auto wanted = static_cast<os::LogLevel>(std::clamp(level + a.verbose, 0, 9));
  o.file_level = wanted;
  if (a.foreground) o.stderr_level = wanted;
  if (auto format = os::parse_log_time_format(s.log_time_format)) o.time_format = *format;
  o.syslog_level = syslog_level(s, a.foreground, wanted);
  return o;
}

}  // namespace muster::slurmdbd

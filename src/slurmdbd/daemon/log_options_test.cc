#include "slurmdbd/daemon/log_options.h"

#include <gtest/gtest.h>

namespace muster::slurmdbd {
namespace {

using os::LogLevel;

LogLevel to_syslog(const char* given, const char* file, bool foreground, const char* level = "info") {
  Settings s;
  s.debug_level = level;
  s.debug_level_syslog = given;
  s.log_file = file;
  Arguments a;
  a.foreground = foreground;
  return log_options(s, a).syslog_level;
}

TEST(LogOptions, SyslogHasTheLevelThatIsGiven) {
  EXPECT_EQ(to_syslog("debug", "/log", false), LogLevel::kDebug);
  EXPECT_EQ(to_syslog("error", "/log", true), LogLevel::kError);
  EXPECT_EQ(to_syslog("quiet", "", false), LogLevel::kQuiet);
}

TEST(LogOptions, SyslogWithoutOneHasWhatTheManualSays) {
  EXPECT_EQ(to_syslog("", "/log", false), LogLevel::kFatal);
  EXPECT_EQ(to_syslog("", "/log", true), LogLevel::kQuiet);
  EXPECT_EQ(to_syslog("", "", true), LogLevel::kQuiet);
  EXPECT_EQ(to_syslog("", "", false, "verbose"), LogLevel::kVerbose);
  EXPECT_EQ(to_syslog("", "", false, "quiet"), LogLevel::kFatal);
}

}  // namespace
}  // namespace muster::slurmdbd

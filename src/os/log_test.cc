#include "os/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <regex>
#include <thread>

#include "base/ids.h"
#include "base/text.h"
#include "os/cli_log.h"
#include "os/files.h"

namespace muster::os {
namespace {

using testing::MatchesRegex;

struct LogFile : testing::Test {
  TempDir dir = *TempDir::create("muster-log-");
  std::string path = dir.path() + "/d.log";
  LogOptions options() { return {.program = "slurmctld", .file = path, .async = false}; }
  std::vector<std::string> lines() {
    std::vector<std::string> out;
    const std::string text = *read_file(path);
    for (auto l : split(text, '\n')) out.emplace_back(l);
    return out;
  }
};

TEST_F(LogFile, LinesLookAsSlurms) {
  auto log = *Log::open(options());
  log->error("job {} on {}: {:.1f}%", JobId{17}, std::string("n1"), 12.34);
  log->info("plain");
  log->verbose("not at level info");
  log->set_levels(LogLevel::kDebug2, LogLevel::kQuiet, LogLevel::kQuiet);
  log->debug("d");
  log->debug2("dd");
  log->debug3("not said");
  log->flush();
  auto l = lines();
  ASSERT_EQ(l.size(), 4u);
  EXPECT_THAT(l[0], MatchesRegex("\\[[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\\.[0-9]{3}\\] error: job 17 on n1: 12\\.3%"));
  EXPECT_TRUE(l[1].ends_with("] plain"));
  EXPECT_TRUE(l[2].ends_with("] debug:  d"));
  EXPECT_TRUE(l[3].ends_with("] debug2: dd"));
}

TEST_F(LogFile, NobodyForgesALine) {
  auto log = *Log::open(options());
  log->info("name {}", std::string("x\n[2026-01-01T00:00:00.000] error: forged\x1b[2J"));
  log->flush();
  ASSERT_EQ(lines().size(), 1u);
  EXPECT_TRUE(lines()[0].ends_with("name x\\n[2026-01-01T00:00:00.000] error: forged\\x1b[2J"));
}

TEST_F(LogFile, ReopenFollowsLogrotate) {
  auto log = *Log::open(options());
  log->info("before");
  ASSERT_EQ(rename(path.c_str(), (path + ".1").c_str()), 0);
  log->info("to the old file");
  ASSERT_TRUE(log->reopen());
  log->info("after");
  log->flush();
  EXPECT_EQ(lines().size(), 1u);
  EXPECT_TRUE(lines()[0].ends_with("after"));
  struct stat st {};
  ASSERT_EQ(stat(path.c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0600u);
  EXPECT_NE(read_file(path + ".1")->find("to the old file"), std::string::npos);
}

TEST_F(LogFile, AsyncWritesAllBeforeItEndsAndFlushWaits) {
  auto o = options();
  o.async = true;
  o.queue_lines = 1 << 16;
  auto log = *Log::open(o);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 2000; ++i) log->info("thread {} line {}", t, i);
    });
  for (auto& t : threads) t.join();
  log->flush();
  EXPECT_EQ(lines().size(), 8000u);
  log->info("last");
  log.reset();
  EXPECT_EQ(lines().size(), 8001u);
}

TEST_F(LogFile, AFloodDropsOldLinesAndSaysSo) {
  auto o = options();
  o.async = true;
  o.queue_lines = 16;
  auto log = *Log::open(o);
  for (int i = 0; i < 50000; ++i) log->info("line {}", i);
  log->flush();
  const uint64_t lost = log->dropped();
  ASSERT_GT(lost, 0u);
  EXPECT_TRUE(lines().back().ends_with("line 49999"));
  log.reset();
  EXPECT_THAT(lines().back(), testing::HasSubstr("lines were dropped"));
}

TEST_F(LogFile, AMissingDirectoryIsAnError) {
  auto o = options();
  o.file = dir.path() + "/no/such.log";
  auto log = Log::open(o);
  ASSERT_FALSE(log);
  EXPECT_EQ(log.error().message(), "log file " + o.file + ": No such file or directory");
}

TEST(LogLevels, NamesAndNumbers) {
  EXPECT_EQ(parse_log_level("quiet"), LogLevel::kQuiet);
  EXPECT_EQ(parse_log_level("3"), LogLevel::kInfo);
  EXPECT_EQ(parse_log_level("Debug5"), LogLevel::kDebug5);
  EXPECT_EQ(parse_log_level("9"), LogLevel::kDebug5);
  EXPECT_FALSE(parse_log_level("debug1"));
  EXPECT_FALSE(parse_log_level(""));
  EXPECT_EQ(shifted(LogLevel::kInfo, 100), LogLevel::kDebug5);
  EXPECT_EQ(shifted(LogLevel::kInfo, -100), LogLevel::kQuiet);
}

TEST(LogTime, EveryDocumentedFormat) {
  setenv("TZ", "Europe/Berlin", 1);
  tzset();
  const int64_t us = 1'700'000'000'123'456;  // 2023-11-14 23:13:20 +01:00
  EXPECT_EQ(format_log_time(LogTimeFormat::kIso8601Ms, us), "2023-11-14T23:13:20.123");
  EXPECT_EQ(format_log_time(LogTimeFormat::kIso8601, us), "2023-11-14T23:13:20");
  EXPECT_EQ(format_log_time(LogTimeFormat::kRfc5424Ms, us), "2023-11-14T23:13:20.123+01:00");
  EXPECT_EQ(format_log_time(LogTimeFormat::kRfc5424, us), "2023-11-14T23:13:20+01:00");
  EXPECT_EQ(format_log_time(LogTimeFormat::kRfc3339, us), "2023-11-14T22:13:20Z");
  EXPECT_EQ(format_log_time(LogTimeFormat::kShort, us), "Nov 14 23:13:20");
  EXPECT_THAT(format_log_time(LogTimeFormat::kThreadId, us), MatchesRegex("Nov 14 23:13:20\\.123456 +[0-9]+ [^ ]+ +0x[0-9a-f]+"));
  EXPECT_THAT(format_log_time(LogTimeFormat::kClock, us), MatchesRegex("[0-9]+"));
  unsetenv("TZ");
  tzset();
  EXPECT_EQ(parse_log_time_format("RFC5424_ms"), LogTimeFormat::kRfc5424Ms);
  auto bad = parse_log_time_format("iso8061");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().hint, "did you mean iso8601?");
}

TEST(LogFormat, WrongSpecificationShowsInsteadOfThrowing) {
  const LogArg args[] = {to_log_arg("text")};
  EXPECT_THAT(format_log("x {:d}", args), testing::HasSubstr("cannot be formatted"));
  const LogArg more[] = {to_log_arg(true), to_log_arg('c'), to_log_arg(-1), to_log_arg(7u)};
  EXPECT_EQ(format_log("{} {} {} {:03} {{}}", more), "true c -1 007 {}");
}

TEST(CliLog, PrefixesAsSlurms) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  CliLog log("sbatch", LogLevel::kDebug, ends[1]);
  log.error("Batch job submission failed: {}", "Invalid qos specification");
  log.info("Submitted {}", 17);
  log.debug("d");
  log.at(LogLevel::kDebug2, "not said");
  log.error(Error(Errc::kInvalidPartition, "", "try gpu"), "Failed: ");
  close(ends[1]);
  std::string text(4096, 0);
  text.resize(static_cast<size_t>(read(ends[0], text.data(), text.size())));
  std::string all = text;
  for (char buffer[512];;) {
    const ssize_t n = read(ends[0], buffer, sizeof buffer);
    if (n <= 0) break;
    all.append(buffer, static_cast<size_t>(n));
  }
  close(ends[0]);
  EXPECT_EQ(all, "sbatch: error: Batch job submission failed: Invalid qos specification\n"
                 "sbatch: Submitted 17\n"
                 "sbatch: debug:  d\n"
                 "sbatch: error: Failed: Invalid partition name specified\n"
                 "sbatch: error: try gpu\n");
}

}  // namespace
}  // namespace muster::os

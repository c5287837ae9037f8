// DebugFlags: what is logged of requests, connections and statements, and of which of them.
#include "slurmdbd/daemon/debug_log.h"

#include <gtest/gtest.h>

#include <set>

#include "config/parameter_words.h"
#include "os/files.h"
#include "slurmdbd/daemon/service_testing.h"

namespace muster::slurmdbd {
namespace {

struct DebugLogTest : ServiceTest {
  DebugLogTest() {
    log_file = dir.path() + "/log";
    os::LogOptions o;
    o.async = false;
    o.file = log_file;
    o.file_level = os::LogLevel::kVerbose;
    own_log = std::move(*os::Log::open(o));
    flags = std::make_unique<DebugLog>(*own_log);
    debug = flags.get();
  }
  ~DebugLogTest() override { service.reset(); }  // before what it logs to
  std::string said() { return *os::read_file(log_file, 1 << 20); }
  void set(const char* words) { flags->set(config::OptionList::parse(words)); }

  std::string log_file;
  std::unique_ptr<os::Log> own_log;
  std::unique_ptr<DebugLog> flags;
};

TEST_F(DebugLogTest, EachWordOfStatementsIsOneOfTheConfiguration) {
  std::set<std::string_view> told, known;
  for (size_t i = 0; i < sql::kStatementSubjects; ++i) told.insert(sql::name_of(static_cast<sql::StatementSubject>(i)));
  for (const config::SlurmdbdKey& key : config::slurmdbd_keys())
    for (const config::ParameterWord& word : key.words)
      if (std::string_view(key.key) == "DebugFlags" && word.status == config::WordStatus::kWorks) known.insert(word.name);
  known.erase("AuditRPCs");
  known.erase("Network");
  EXPECT_EQ(told, known);
}

TEST_F(DebugLogTest, RequestsAreToldWhereThatIsWanted) {
  ASSERT_TRUE(ask(kAlice, rpc::Ping{}));
  EXPECT_FALSE(said().contains("AuditRPCs"));
  set("auditrpcs");
  ASSERT_TRUE(ask(kAlice, rpc::Ping{}));
  EXPECT_TRUE(said().contains("AuditRPCs: Ping for uid " + std::to_string(kAlice) + " from ")) << said();
  EXPECT_FALSE(said().contains("Network"));
}

TEST_F(DebugLogTest, AnEndedConnectionIsTold) {
  set("Network");
  ASSERT_TRUE(ask(kAlice, rpc::Ping{}));
  for (int i = 0; i < 100 && !said().contains("has ended"); ++i) {
    const auto turn = f.loop.after(milliseconds(10), [&] { f.loop.stop(); });
    f.run();
  }
  EXPECT_TRUE(said().contains("uid " + std::to_string(kAlice) + " has ended")) << said();
}

TEST_F(DebugLogTest, StatementsAreToldAtVerboseOnly) {
  set("DB_JOB");
  EXPECT_TRUE(flags->watching() && flags->wants(sql::StatementSubject::kJob) && !flags->wants(sql::StatementSubject::kStep));
  flags->ran(sql::StatementSubject::kJob, "SELECT 'a\nb\x1b[2J'");
  EXPECT_TRUE(said().contains("DB_JOB: SELECT 'a\\nb\\x1b[2J'")) << said();
  own_log->set_levels(os::LogLevel::kInfo, os::LogLevel::kQuiet, os::LogLevel::kQuiet);
  EXPECT_FALSE(flags->watching());
  set("");
  EXPECT_FALSE(flags->wants(sql::StatementSubject::kJob));
}

}  // namespace
}  // namespace muster::slurmdbd

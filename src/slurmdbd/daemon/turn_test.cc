// Turns of slurmdbds at a real MariaDB: one serves, the primary before the backup, and nobody writes whose turn it is not.
#include "slurmdbd/daemon/turn.h"

#include <gtest/gtest.h>

#include <future>

#include "net/test_support.h"
#include "sql/schema.h"
#include "sql/testing.h"

namespace muster::slurmdbd {
namespace {

struct Turns : testing::Test {
  void SetUp() override {
    if (!sql::PrivateMariaDb::installed()) GTEST_SKIP() << "mariadb-server-core is not installed (tools/install-packages)";
    ASSERT_TRUE(server.start());
    os::LogOptions o;
    o.program = "slurmdbd";
    o.file = dir.path() + "/log";
    o.file_level = os::LogLevel::kDebug;
    log = std::move(*os::Log::open(o));
  }
  std::unique_ptr<Turn> turn(bool backup) { return std::make_unique<Turn>(*log, server.options("accounts"), backup); }
  static std::unique_ptr<sql::Connection> serve(Turn& turn) {
    const auto waited = turn.wait([] {}, [] {});
    EXPECT_TRUE(waited) << waited.error().message();
    EXPECT_EQ(*waited, Turn::Waited::kServe);
    auto writer = sql::open_mariadb(turn.writer_options());
    EXPECT_TRUE(writer) << writer.error().message();
    EXPECT_TRUE(sql::prepare_schema(**writer));
    EXPECT_TRUE(turn.begin(**writer));
    return std::move(*writer);
  }
  static Turn::Beat beat(Turn& turn) {
    std::promise<Turn::Beat> told;
    turn.beat([&](Turn::Beat b) { told.set_value(b); });
    return told.get_future().get();
  }
  static bool writes(sql::Connection& writer) {
    return sql::in_transaction(writer, [&] { return writer.run("UPDATE muster_meta SET value = value WHERE name = 'term'"); }).has_value();
  }
  int64_t session_of(sql::ServerLock lock) {
    auto any = sql::open_mariadb(server.options("accounts"));
    return sql::lock_holder(**any, lock)->session;
  }

  net::test::TempDir dir;
  sql::PrivateMariaDb server;
  std::unique_ptr<os::Log> log;
};

TEST_F(Turns, ThePrimaryServesAndTheBackupWaitsForItsEnd) {
  auto primary = turn(false);
  auto writer = serve(*primary);
  EXPECT_EQ(beat(*primary), Turn::Beat::kOurs);
  auto backup = turn(true);
  std::promise<void> waits;
  auto second = std::async(std::launch::async, [&] {
    auto waited = backup->wait([&] { waits.set_value(); }, [] {});
    return waited && *waited == Turn::Waited::kServe;
  });
  waits.get_future().wait();
  EXPECT_FALSE(sql::open_mariadb(backup->writer_options())) << "the writer's lock is the primary's";
  EXPECT_TRUE(writes(*writer));
  writer.reset();
  primary.reset();
  EXPECT_TRUE(second.get());
}

TEST_F(Turns, TheBackupGivesBackOnceThePrimaryIsThere) {
  auto backup = turn(true);
  auto writer = serve(*backup);
  EXPECT_EQ(beat(*backup), Turn::Beat::kOurs);
  auto primary = turn(false);
  auto first = std::async(std::launch::async, [&] { return serve(*primary); });
  while (beat(*backup) != Turn::Beat::kGiveBack) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_NE(first.wait_for(std::chrono::milliseconds(1500)), std::future_status::ready) << "the backup still may write";
  writer.reset();
  backup->end();
  auto of_primary = first.get();
  EXPECT_TRUE(writes(*of_primary));
  EXPECT_EQ(beat(*primary), Turn::Beat::kOurs);
}

// A session that was ended from outside has not written, and cannot write again once somebody else has served.
TEST_F(Turns, WhoWasReplacedWritesNoMore) {
  auto primary = turn(false);
  auto writer = serve(*primary);
  auto any = sql::open_mariadb(server.options("accounts"));
  ASSERT_TRUE(sql::end_session(**any, session_of(sql::ServerLock::kWriter)));
  EXPECT_TRUE(writes(*writer)) << "nobody else has served, so it goes on";
  ASSERT_TRUE(sql::in_transaction(*writer,
                                  [&]() -> Result<> {
                                    EXPECT_TRUE(writer->run("UPDATE muster_meta SET value = 0 WHERE name = 'schema'"));
                                    EXPECT_TRUE(sql::end_session(**any, session_of(sql::ServerLock::kWriter)));
                                    return {};
                                  })
                  .error()
                  .code == Errc::kAccountingUnavailable);
  EXPECT_EQ(*sql::schema_version(**any), sql::kSchemaVersion) << "what was not committed is undone";
  ASSERT_TRUE(sql::begin_term(**any));
  EXPECT_FALSE(writes(*writer));
  EXPECT_TRUE(primary->lost());
  EXPECT_EQ(beat(*primary), Turn::Beat::kLost);
  EXPECT_FALSE(writes(*writer));
}

TEST_F(Turns, WhoTakesTheWritersLockMeanwhileKeepsIt) {
  auto primary = turn(false);
  auto writer = serve(*primary);
  auto any = sql::open_mariadb(server.options("accounts"));
  ASSERT_TRUE(sql::end_session(**any, session_of(sql::ServerLock::kWriter)));
  while (!*sql::take_lock(**any, sql::ServerLock::kWriter)) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_FALSE(writes(*writer));
  EXPECT_EQ(beat(*primary), Turn::Beat::kLost);
}

// A slurmdbd that hangs beats no more: its sessions are ended, and the backup serves.
TEST_F(Turns, WhoDoesNotBeatIsReplaced) {
  auto primary = turn(false);
  auto writer = serve(*primary);
  auto backup = turn(true);
  const auto began = std::chrono::steady_clock::now();
  auto second = serve(*backup);
  EXPECT_GE(std::chrono::steady_clock::now() - began, std::chrono::seconds(Turn::kSilence - 2));
  EXPECT_TRUE(writes(*second));
  EXPECT_FALSE(writes(*writer));
  EXPECT_EQ(beat(*primary), Turn::Beat::kLost);
}

// One that upgrades its tables for long does not hang.
TEST_F(Turns, WhoIsBusyIsNotReplaced) {
  auto primary = turn(false);
  auto writer = serve(*primary);
  auto busy = primary->busy();
  auto backup = turn(true);
  auto second = std::async(std::launch::async, [&] { return serve(*backup); });
  EXPECT_NE(second.wait_for(std::chrono::seconds(Turn::kSilence + 3)), std::future_status::ready);
  EXPECT_TRUE(writes(*writer));
  EXPECT_EQ(beat(*primary), Turn::Beat::kOurs);
  busy.reset();
  writer.reset();
  primary.reset();
  EXPECT_TRUE(writes(*second.get()));
}

}  // namespace
}  // namespace muster::slurmdbd

// kill -9 at any instant: everything acknowledged is there after reopening, and nothing is half there.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <random>
#include <thread>

#include "store/store_testing.h"

namespace muster::store {
namespace {

constexpr int kRounds = 20;

struct Acknowledged {
  Position position;
  Term term;
};

size_t batch_size(Position before) { return 1 + before * 7 % 13; }
std::string record_at(Position p) { return "record " + std::to_string(p) + std::string(p * 37 % 900, '.'); }
std::string blob_for(Position last) { return "blob " + std::to_string(last) + std::string(3000, '#'); }

// Appends until killed; a batch's blob is named by the batch's last position. Now and then a snapshot and a
// trim.
[[noreturn]] void writer(const std::string& directory, Term term, int out) {
  auto log = open_sqlite_log(directory);
  if (!log) _exit(1);
  for (int turn = 1;; ++turn) {
    Position before = (*log)->last_position();
    Records records;
    for (size_t i = 1; i <= batch_size(before); ++i) records.push_back(record_at(before + i));
    if (!(*log)->put_blob(blob_for(before + records.size()))) _exit(2);
    auto p = (*log)->append(term, records);
    if (!p) _exit(3);
    Acknowledged a{*p, term};
    if (write(out, &a, sizeof a) != sizeof a) _exit(4);
    if (turn % 9 == 0) {
      EventLog::Snapshot s{*p, {std::to_string(*p), std::string(300'000, 's'), "end"}};
      if (!(*log)->save_snapshot(term, s) || !(*log)->trim()) _exit(5);
    }
  }
}

// The last acknowledgement that the writer sent before it died.
Acknowledged run_and_kill(const std::string& directory, Term term, std::chrono::microseconds after) {
  int fds[2];
  EXPECT_EQ(pipe(fds), 0);
  pid_t child = fork();
  if (child == 0) {
    close(fds[0]);
    writer(directory, term, fds[1]);
  }
  close(fds[1]);
  Acknowledged last{0, 0}, next;
  // The clock starts with the first acknowledgement; the instant of the kill is the thing under test.
  bool started = read(fds[0], &next, sizeof next) == sizeof next;
  EXPECT_TRUE(started);
  if (started) last = next;
  std::this_thread::sleep_for(after);
  kill(child, SIGKILL);
  while (read(fds[0], &next, sizeof next) == sizeof next) last = next;
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the writer failed by itself with " << WEXITSTATUS(status);
  close(fds[0]);
  return last;
}

void expect_whole(const std::string& directory, Acknowledged acknowledged) {
  auto opened = open_sqlite_log(directory);
  ASSERT_TRUE(opened) << opened.error().message();
  EventLog& log = **opened;
  EXPECT_GE(log.last_position(), acknowledged.position);
  EXPECT_EQ(log.last_term(), acknowledged.term);
  auto snapshot = log.load_snapshot();
  ASSERT_TRUE(snapshot) << snapshot.error().message();
  Position after = 0;
  if (*snapshot) {
    after = (*snapshot)->position;
    ASSERT_EQ((*snapshot)->chunks.size(), 3u);
    EXPECT_EQ((*snapshot)->chunks[0], std::to_string(after));
    EXPECT_EQ((*snapshot)->chunks[2], "end");
  }
  auto seen = read_all(log, after);
  ASSERT_TRUE(seen) << seen.error().message();
  ASSERT_EQ(seen->size(), log.last_position() - after);
  for (const auto& [p, record] : *seen) ASSERT_EQ(record, record_at(p));
  EXPECT_TRUE(log.get_blob(blob_hash(blob_for(acknowledged.position)))) << acknowledged.position;
  // All of a batch or none: the last position is one where a batch ends, as its blob says.
  EXPECT_TRUE(log.get_blob(blob_hash(blob_for(log.last_position()))));
}

TEST(SqliteCrash, NothingAcknowledgedIsLost) {
  TempDir dir;
  std::mt19937 random(20261121);
  std::uniform_int_distribution<int> instant(0, 40'000);
  Position before = 0;
  for (int round = 1; round <= kRounds; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    Acknowledged a = run_and_kill(dir.path(), static_cast<Term>(round), std::chrono::microseconds(instant(random)));
    ASSERT_GT(a.position, before) << "the writer went on from what was there";
    expect_whole(dir.path(), a);
    if (HasFatalFailure()) return;
    before = a.position;
  }
}

}  // namespace
}  // namespace muster::store

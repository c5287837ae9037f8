// The core thread: what leaves, and when. Turns themselves are tested in turn/.
#include "slurmctld/daemon/core_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "net/system_clock.h"
#include "slurmctld/core/core_testing.h"
#include "store/memory_log.h"

namespace muster::slurmctld {
namespace {

class Threads : public testing::Test {
 protected:
  void SetUp() override {
    auto memory = std::make_unique<store::MemoryLog>(disk, [this] { return fault.load(); });
    TurnDriver driver(Core(settings), std::move(memory), clock);
    ASSERT_TRUE(driver.recover("log", false));
    ASSERT_TRUE(driver.open(settings));
    CoreThread::Ports ports;
    ports.to_io = [](std::vector<Reply> replies) {
      for (const Reply& r : replies) r();
    };
    ports.carry_out = [](std::vector<Effect>) {};
    ports.state_changed = [this] { ++changes; };
    thread = std::make_unique<CoreThread>(std::move(driver), clock, *log, stats, std::move(ports));
    thread->start();
  }
  // Submits a job and waits for what is said: its id and how many jobs a reader sees at that moment, or the error.
  struct Said {
    Result<JobId> job = fail(Errc::kError);
    size_t shown = 0;
  };
  std::future<Said> submit() {
    auto said = std::make_shared<std::promise<Said>>();
    auto future = said->get_future();
    thread->post({[this, said](Core& core, store::EventLog&) -> Reply {
                    auto r = core.run(Caller{Uid(1000), Gid(1000), {}, {}}, Bench::request());
                    Result<JobId> id = r ? Result<JobId>(r->job) : std::unexpected(r.error());
                    return [this, said, id] { said->set_value({id, thread->snapshot()->jobs.size()}); };
                  },
                  [this, said](const Error& e) {
                    said->set_value({std::unexpected(e), thread->snapshot()->jobs.size()});
                  }});
    return future;
  }

  // A turn that decides nothing: waits for it.
  void ask_nothing() {
    std::promise<void> asked;
    thread->post({[&](Core&, store::EventLog&) -> Reply { return [&] { asked.set_value(); }; }, {}});
    asked.get_future().wait();
  }

  std::shared_ptr<store::MemoryDisk> disk = std::make_shared<store::MemoryDisk>();
  std::atomic<store::AppendFault> fault{store::AppendFault::kNone};
  std::atomic<int> changes{0};
  net::SystemClock clock;
  Settings settings = settings_of();
  std::unique_ptr<os::Log> log = *os::Log::open({.program = "test"});
  Statistics stats;
  std::unique_ptr<CoreThread> thread;
};

TEST_F(Threads, WhoeverIsToldOfAJobSeesIt) {
  const Said first = submit().get(), second = submit().get();
  ASSERT_TRUE(first.job);
  ASSERT_TRUE(second.job);
  EXPECT_EQ(*first.job, JobId(1));
  EXPECT_GE(first.shown, 1u);
  EXPECT_EQ(second.shown, 2u);
  EXPECT_EQ(stats.submitted.load(), 2u);
}

// A full disk: everybody who asked is told, nobody sees anything of it, and when there is room again all is as before.
TEST_F(Threads, ARefusedTurnIsToldToAllAndShowsNothing) {
  fault = store::AppendFault::kDiskFull;
  std::vector<std::future<Said>> asked;
  for (int i = 0; i < 20; ++i) asked.push_back(submit());
  for (auto& a : asked) {
    const Said said = a.get();
    ASSERT_FALSE(said.job);
    EXPECT_EQ(said.job.error().code, Errc::kDiskFull);
    EXPECT_EQ(said.shown, 0u);
  }
  EXPECT_EQ(stats.submitted.load(), 0u);
  fault = store::AppendFault::kNone;
  const Said said = submit().get();
  ASSERT_TRUE(said.job);
  EXPECT_EQ(*said.job, JobId(1));
}

// What the next controller reads at its start is a snapshot, not the events of this one's life.
TEST_F(Threads, LeavesASnapshotWhenItStops) {
  ASSERT_TRUE(submit().get().job);
  thread->stop();
  ASSERT_TRUE(disk->snapshot);
  EXPECT_TRUE(disk->records.empty());
  TurnDriver next(Core(settings), std::make_unique<store::MemoryLog>(disk), clock);
  auto recovered = next.recover("log", false);
  ASSERT_TRUE(recovered);
  EXPECT_EQ(recovered->replayed, 0u);
  EXPECT_TRUE(next.core().cluster().jobs.contains(1));
}

// A turn that decides nothing is not a reason to plan.
TEST_F(Threads, SaysThatTheStateChangedOnlyWhenItDid) {
  ASSERT_TRUE(submit().get().job);
  ask_nothing();  // the answer to a turn leaves before the planner hears of it; when the next turn begins, it has
  const int before = changes;
  EXPECT_GE(before, 1);
  ask_nothing();
  thread->stop();
  EXPECT_EQ(changes, before);
}

}  // namespace
}  // namespace muster::slurmctld

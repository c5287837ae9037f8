// What is told of the end of a step's part, and until when.
#include "slurmd/daemon/step_ends.h"

#include <gtest/gtest.h>

namespace muster::slurmd {
namespace {

struct Bench {
  net::Loop loop;
  std::unique_ptr<os::Log> log = *os::Log::open({.program = "test"});
  int refused = 0;  // so often the journal cannot be written
  std::vector<rpc::PartEnded> here, there;
  std::vector<StepId> taken;
  std::function<void()> answered;
  StepEnds ends{loop,
                *log,
                {[this](const rpc::PartEnded& p, const std::function<void(Result<>)>& done) {
                   here.push_back(p);
                   const bool full = refused-- > 0;
                   loop.defer([done, full] { done(full ? Result<>(fail(Errc::kIo, "no space left on device")) : Result<>()); });
                 },
                 [this](const std::string&, const rpc::PartEnded& p, std::function<void()> done) {
                   there.push_back(p);
                   answered = std::move(done);
                   return true;
                 },
                 [this](const node_rpc::StepGone& g) {
                   taken.push_back(g.step);
                   loop.stop();
                 }},
                milliseconds(1)};
  static node_rpc::StepGone gone(uint32_t step) { return {JobId(7), 0, StepId(step), 3, false, false}; }
};

TEST(StepEnds, OfSlurmctldsStepsAreNotTaken) {
  Bench b;
  EXPECT_FALSE(b.ends.tell("n1", Bench::gone(0)));
}

TEST(StepEnds, AJournalThatCannotBeWrittenIsTriedAgain) {
  Bench b;
  b.refused = 2;
  b.ends.managed_by({JobId(7), StepId(0)}, "n1");
  EXPECT_TRUE(b.ends.tell("n1", Bench::gone(0)));
  EXPECT_TRUE(b.taken.empty()) << "it is not written down";
  b.loop.run();
  EXPECT_EQ(b.here.size(), 3u);
  EXPECT_EQ(b.taken, (std::vector<StepId>{StepId(0)}));
}

TEST(StepEnds, OfAnotherNodesStepsAreTakenWhenThatNodeAnswers) {
  Bench b;
  b.ends.managed_by({JobId(7), StepId(0)}, "n2");
  EXPECT_TRUE(b.ends.tell("n1", Bench::gone(0)));
  EXPECT_TRUE(b.ends.tell("n1", Bench::gone(0))) << "a new session with slurmctld";
  EXPECT_EQ(b.there.size(), 1u) << "it is on its way already";
  EXPECT_TRUE(b.taken.empty());
  b.answered();
  EXPECT_EQ(b.taken.size(), 1u);
}

}  // namespace
}  // namespace muster::slurmd

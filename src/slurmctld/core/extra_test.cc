// --extra and Extra= as the controller takes them, with SchedulerParameters=extra_constraints and without.
#include <gtest/gtest.h>

#include "slurmctld/core/core_testing.h"

namespace muster::slurmctld {
namespace {

constexpr const char* kOn = "SchedulerParameters=extra_constraints\n";

void wanting(JobRequest& r, const std::string& extra) { r.extra = extra; }

Result<rpc::JobSubmitted> ask(Bench& b, const std::string& extra) {
  Result<rpc::JobSubmitted> r = fail(Errc::kError);
  const JobRequest q = Bench::request([&](JobRequest& x) { wanting(x, extra); });
  b.turn([&] { r = b.core.run(Caller{q.uid, q.gid, {}, {}}, q); });
  return r;
}

void say(Bench& b, const std::string& node, const std::string& extra) {
  b.turn([&] { EXPECT_TRUE(b.core.run(Caller::root(), rpc::UpdateNode{node, {{"Extra", "=", extra}}}).has_value()); });
}

node_rpc::Register registration(const std::string& extra, int64_t begun) {
  node_rpc::Register r;
  r.node = "n0";
  r.hardware.cpus = r.hardware.sockets = 4;
  r.hardware.cores_per_socket = r.hardware.threads_per_core = 1;
  r.hardware.real_memory_mb = 4000;
  r.hardware.boot_id = "boot1";
  r.hardware.slurmd_start = from_unix(begun);
  r.extra = extra;
  return r;
}

TEST(Extra, IsANoteUnlessTheSiteSaysOtherwise) {
  Bench b;
  const auto job = ask(b, "a=1&b=2|c=3, ask ann");
  ASSERT_TRUE(job);
  EXPECT_TRUE(b.get(job->job).request->extra_constraint.empty());
  EXPECT_EQ(b.get(job->job).whole_request().extra, "a=1&b=2|c=3, ask ann");
  EXPECT_EQ(b.plan(), 1u);
}

TEST(Extra, ATextThatIsNoConstraintIsRefused) {
  Bench b(kOn);
  const auto job = ask(b, "a=1&b=2|c=3");
  ASSERT_FALSE(job);
  EXPECT_EQ(job.error().code, Errc::kInvalidExtra);
  EXPECT_EQ(job.error().hint, "--extra=a=1&b=2|c=3: & and | cannot be mixed in one level: put parentheses around a part (character 8)");
  const auto plain = ask(b, "");
  ASSERT_TRUE(plain);
  EXPECT_EQ(b.plan(), 1u);
}

TEST(Extra, AJobWaitsUntilANodeSaysWhatItWants) {
  Bench b(kOn);
  const auto asked = ask(b, "load<0.5");
  ASSERT_TRUE(asked) << "no node says so now, but one may";
  EXPECT_EQ(b.plan(), 0u);
  EXPECT_EQ(b.get(asked->job).state, JobState::kPending);
  say(b, "n2", R"({"load": 0.45})");
  EXPECT_EQ(b.plan(), 1u);
  EXPECT_EQ(b.host(asked->job), 2u);
  say(b, "n2", R"({"load": 0.99})");
  EXPECT_EQ(b.state(asked->job), JobState::kRunning) << "it runs on";
  b.expect_replay_equal();
}

TEST(Extra, OfAJobChanges) {
  Bench b(kOn);
  say(b, "n3", R"({"disk": "ssd"})");
  const JobId job = b.submit([](JobRequest& r) { wanting(r, "disk=tape"); });
  EXPECT_EQ(b.plan(), 0u);
  const auto refused = b.update(job, "Extra", "disk");
  EXPECT_TRUE(!refused || !refused->errors.empty());
  EXPECT_EQ(b.get(job).whole_request().extra, "disk=tape");
  b.update(job, "Extra", "disk=ssd");
  EXPECT_EQ(b.plan(), 1u);
  EXPECT_EQ(b.host(job), 3u);
  b.ends(job);
  b.update(job, "Extra", "was good");
  EXPECT_EQ(b.get(job).whole_request().extra, "was good") << "a note by now";
  b.expect_replay_equal();
}

// What was a note when the job came stays one, also where the site changes its mind.
TEST(Extra, NotesStayNotes) {
  Bench b;
  const JobId note = b.submit([](JobRequest& r) { wanting(r, "for ann"); });
  b.settings = settings_of(kOn);
  b.turn([&] { b.core.configure(b.settings); });
  b.update(note, "Comment", "still waits");
  EXPECT_EQ(b.plan(), 1u);
}

TEST(Extra, OfANodeIsWhatItsSlurmdSaysWhenItStarts) {
  Bench b(kOn, false);
  b.report(0, registration(R"({"a": 1})", 100));
  EXPECT_EQ(b.node(0).extra.text(), R"({"a": 1})");
  say(b, "n0", R"({"a": 2})");
  b.report(0, registration(R"({"a": 1})", 100));
  EXPECT_EQ(b.node(0).extra.text(), R"({"a": 2})") << "the same slurmd, connected again";
  b.report(0, registration(R"({"a": 1})", 200));
  EXPECT_EQ(b.node(0).extra.text(), R"({"a": 1})");
  b.report(0, registration("", 300));
  EXPECT_EQ(b.node(0).extra.text(), R"({"a": 1})") << "one that says nothing changes nothing";
  b.report(0, registration(std::string(4097, 'x'), 400));
  EXPECT_EQ(b.node(0).extra.text(), R"({"a": 1})");
  b.expect_replay_equal();
}

}  // namespace
}  // namespace muster::slurmctld

// Accounts and QOS at a submission, an update, in a pass and at a start, by what slurmdbd said.
#include <gtest/gtest.h>

#include "model/account_directory_testing.h"
#include "slurmctld/core/core_testing.h"

namespace muster::slurmctld {
namespace {

constexpr char kOn[] = "AccountingStorageType=accounting_storage/slurmdbd\n";

ADirectory a_site() {
  ADirectory d;
  d.qos("normal").qos("fast").qos("slow").account("root").account("team").account("other");
  d.user("alice", "team").association("alice", "team", {"normal", "fast"}, "fast").association("alice", "other", {"normal"}, "", "second");
  return d;
}

struct Site : Bench {
  explicit Site(const std::string& enforce, const std::string& more = "")
      : Bench(std::string(kOn) + "AccountingStorageEnforce=" + enforce + "\n" + more + "PartitionName=second Nodes=ALL\n") {
    learn(a_site());
  }
  void learn(const ADirectory& d) {
    turn([&] { core.learn_directory(d.entities()); });
  }
  static JobRequest of_alice(const std::string& account = "", const std::string& qos = "") {
    return request([&](JobRequest& r) {
      r.user_name = "alice";
      r.account = account;
      r.qos = qos;
    });
  }
  Result<rpc::JobSubmitted> ask(const JobRequest& r) {
    Result<rpc::JobSubmitted> answer = fail(Errc::kError);
    turn([&] { answer = core.run(Caller{r.uid, r.gid, {}, {}}, r); });
    return answer;
  }
  // "account qos" of the job that comes of it, or the number of the error.
  std::string told(const JobRequest& r) {
    auto answer = ask(r);
    return answer ? charged(answer->job) : std::to_string(errc_number(answer.error().code));
  }
  std::string charged(JobId job) const { return get(job).request->account + " " + get(job).request->qos; }
  std::string update_as_owner(JobId job, const std::string& key, const std::string& value) {
    rpc::UpdateJob c;
    c.job.job = job;
    c.changes.push_back({key, "=", value});
    Result<rpc::Messages> r;
    turn([&] { r = core.run(Caller{get(job).request->uid, {}, {}, {}}, c); });
    return r ? charged(job) : std::to_string(errc_number(r.error().code));
  }
  Reason reason(JobId job) const { return reason_shown(core.cluster(), get(job)); }
};

TEST(Accounts, AJobThatNamesNoneHasTheDefaultsOfItsUser) {
  Site b("none");
  EXPECT_EQ(b.told(Site::of_alice()), "team fast");
  EXPECT_EQ(b.told(Site::of_alice("", "normal")), "team normal");
  EXPECT_EQ(b.told(Site::of_alice("Nosuch", "Nosuch")), "nosuch nosuch");
  EXPECT_EQ(b.told(Bench::request([](JobRequest& r) { r.user_name = "bob"; })), " normal");
  b.expect_replay_equal();
}

TEST(Accounts, WithoutAccountingNothingIsFilledIn) {
  Bench b;
  JobId job = b.submit([](JobRequest& r) { r.user_name = "alice"; });
  EXPECT_EQ(b.get(job).request->account + b.get(job).request->qos, "");
}

TEST(Accounts, AnAssociationIsNeededWhereThatIsEnforced) {
  Site b("associations");
  EXPECT_EQ(b.told(Site::of_alice()), "team fast");
  EXPECT_EQ(b.told(Site::of_alice("nosuch")), "2045");
  EXPECT_EQ(b.told(Site::of_alice("other")), "2045");
  EXPECT_EQ(b.told(Bench::request([](JobRequest& r) { r.user_name = "bob"; })), "2045");
  auto in_second = Site::of_alice("other");
  in_second.partitions = {"second"};
  EXPECT_EQ(b.told(in_second), "other normal");
  in_second.partitions = {"main", "second"};
  EXPECT_EQ(b.told(in_second), "other normal");
  Site all("associations", "EnforcePartLimits=ALL\n");
  EXPECT_EQ(all.told(in_second), "2045");
}

TEST(Accounts, OneOfSeveralPartitionsIsEnoughWhereAnyIs) {
  Site b("associations", "EnforcePartLimits=ANY\n");
  auto r = Site::of_alice("other");
  r.partitions = {"main", "second"};
  auto job = b.ask(r);
  ASSERT_TRUE(job) << job.error().message();
  EXPECT_EQ(b.plan(), 1u);
  EXPECT_EQ(b.core.cluster().partitions.at(b.get(job->job).partition).name, "second");
}

TEST(Accounts, AQosIsOneOfTheAssociationsWhereThatIsEnforced) {
  Site lax("associations"), b("qos");
  EXPECT_EQ(lax.told(Site::of_alice("", "slow")), "team slow");
  EXPECT_EQ(b.told(Site::of_alice("", "slow")), "2066");
  EXPECT_EQ(b.told(Site::of_alice("", "nosuch")), "2066");
  EXPECT_EQ(b.told(Site::of_alice("", "NORMAL")), "team normal");
}

TEST(Accounts, AnUpdateIsJudgedAsASubmissionIs) {
  Site b("qos");
  JobId job = b.ask(Site::of_alice("", "normal"))->job;
  EXPECT_EQ(b.update_as_owner(job, "Account", "nosuch"), "2045");
  EXPECT_EQ(b.update_as_owner(job, "Account", "other"), "2045");
  EXPECT_EQ(b.update_as_owner(job, "QOS", "slow"), "2066");
  EXPECT_EQ(b.update_as_owner(job, "QOS", "Fast"), "team fast");
  EXPECT_EQ(b.update_as_owner(job, "QOS", ""), "team fast");
  EXPECT_EQ(b.update_as_owner(job, "Account", ""), "team fast");
  EXPECT_EQ(b.update_as_owner(job, "Partition", "second"), "team fast");
  EXPECT_EQ(b.update_as_owner(job, "Account", "other"), "2066");  // whose QOS fast is not
  b.expect_replay_equal();
}

TEST(Accounts, AnOperatorMayGrantAQos) {
  Site b("qos");
  JobId job = b.ask(Site::of_alice())->job;
  EXPECT_TRUE(b.update(job, "QOS", "slow"));
  EXPECT_EQ(b.charged(job), "team slow");
  EXPECT_FALSE(b.update(job, "QOS", "nosuch"));
  EXPECT_FALSE(b.update(job, "Account", "nosuch"));
  EXPECT_EQ(b.plan(), 1u);  // it starts with it
  JobId own = b.ask(Site::of_alice())->job;
  EXPECT_TRUE(b.update(own, "QOS", "slow"));
  EXPECT_EQ(b.update_as_owner(own, "QOS", "normal"), "team normal");
  EXPECT_EQ(b.update_as_owner(own, "QOS", "slow"), "2066");
}

TEST(Accounts, AWaitingJobIsHeldUpWhileItsAccountIsGone) {
  Site b("qos");
  JobId job = b.ask(Site::of_alice())->job;
  ADirectory without;
  without.qos("normal").qos("fast").account("root").account("other").user("alice", "other").association("alice", "other", {"normal"});
  b.learn(without);
  EXPECT_EQ(b.plan(), 0u);
  EXPECT_EQ(b.reason(job), Reason::kInvalidAccount);
  b.learn(a_site());
  EXPECT_EQ(b.plan(), 1u);
  EXPECT_EQ(b.state(job), JobState::kRunning);
}

TEST(Accounts, AndWhileItMayNotUseItsQos) {
  Site b("qos");
  JobId job = b.ask(Site::of_alice())->job;
  ADirectory narrow;
  narrow.qos("normal").qos("fast").account("root").account("team").user("alice", "team").association("alice", "team", {"normal"});
  b.learn(narrow);
  EXPECT_EQ(b.plan(), 0u);
  EXPECT_EQ(b.reason(job), Reason::kInvalidQOS);
  b.learn(a_site());
  EXPECT_EQ(b.plan(), 1u);
}

// The plan was made before the account went.
TEST(Accounts, AStartIsAskedAgain) {
  Site b("associations");
  JobId job = b.ask(Site::of_alice())->job;
  auto plan = b.planner.plan(*b.core.snapshot(), b.settings.sched, b.now, sched::Pass::kFull);
  ASSERT_EQ(plan.starts.size(), 1u);
  b.learn(ADirectory().account("root"));
  b.turn([&] { EXPECT_EQ(b.core.carry_out(plan), 0u); });
  EXPECT_EQ(b.state(job), JobState::kPending);
}

// One that is barred keeps nobody else from starting.
TEST(Accounts, OthersStartBesideOneThatWaits) {
  Site b("associations");
  JobId barred = b.ask(Site::of_alice())->job;
  ADirectory d;
  d.qos("normal").account("root").account("team").user("bob", "team").association("bob", "team", {"normal"});
  b.learn(d);
  auto other = b.ask(Bench::request([](JobRequest& r) { r.uid = Uid(1001), r.user_name = "bob"; }));
  ASSERT_TRUE(other);
  EXPECT_EQ(b.plan(), 1u);
  EXPECT_EQ(b.state(other->job), JobState::kRunning);
  EXPECT_EQ(b.reason(barred), Reason::kInvalidAccount);
}

TEST(Accounts, BeforeSlurmdbdWasHeardASubmissionIsRefusedWithItsName) {
  Bench b(std::string(kOn) + "AccountingStorageEnforce=associations\n");
  Result<rpc::JobSubmitted> answer = fail(Errc::kError);
  b.turn([&] { answer = b.core.run(Caller{Uid(1000), {}, {}, {}}, Site::of_alice()); });
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Errc::kAccountingUnavailable);
  EXPECT_NE(answer.error().hint.find("slurmdbd"), std::string::npos);
}

// Without enforcement a job may come before slurmdbd is heard: it has no account then.
TEST(Accounts, WithoutEnforcementNobodyWaitsForSlurmdbd) {
  Bench b(kOn);
  JobId job = b.submit([](JobRequest& r) { r.user_name = "alice"; });
  EXPECT_EQ(b.get(job).request->account, "");
  EXPECT_EQ(b.plan(), 1u);
}

TEST(Accounts, ListsOfPartitionsSeeTheDefaults) {
  Site b("none", "EnforcePartLimits=ALL\nPartitionName=teams Nodes=ALL AllowAccounts=team\nPartitionName=slow Nodes=ALL DenyQos=fast\n");
  auto r = Site::of_alice();
  r.partitions = {"teams"};
  EXPECT_EQ(b.told(r), "team fast");
  r.partitions = {"slow"};
  EXPECT_EQ(b.told(r), "2066");
}

TEST(Accounts, APartitionsListsNameQosThatThereAre) {
  Site b("none");
  auto update = [&](const std::string& key, const std::string& op, const std::string& value) {
    rpc::UpdatePartition c;
    c.name = "main";
    c.changes.push_back({key, op, value});
    Result<rpc::Messages> r;
    b.turn([&] { r = b.core.run(Caller::root(), c); });
    return r ? 0 : errc_number(r.error().code);
  };
  EXPECT_EQ(update("AllowQOS", "=", "nosuch"), 2066);
  EXPECT_EQ(update("DenyQOS", "=", "fast,nosuch"), 2066);
  EXPECT_EQ(update("AllowQOS", "=", "Fast,normal"), 0);
  EXPECT_EQ(b.core.cluster().partition("main")->allow_qos, (std::vector<std::string>{"fast", "normal"}));
  EXPECT_EQ(update("AllowQOS", "=", "ALL"), 0);
  EXPECT_EQ(update("DenyQOS", "-=", "nosuch"), 0);
}

}  // namespace
}  // namespace muster::slurmctld

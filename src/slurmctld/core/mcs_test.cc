// MCS labels and PrivateData: who may have which label, and who sees what. Guide mcs; slurm.conf(5) MCSParameters, PrivateData.
#include <gtest/gtest.h>

#include "slurmctld/core/core_testing.h"
#include "slurmctld/core/explain.h"
#include "slurmctld/core/row_query.h"

namespace muster::slurmctld {
namespace {

Caller user(uint32_t uid, std::string name = {}, std::vector<std::string> groups = {}) {
  Caller c;
  c.uid = Uid(uid);
  c.name = std::move(name);
  c.groups = std::move(groups);
  return c;
}

struct Labelled : Bench {
  using Bench::Bench;
  // The label that a job gets, or the refusal's hint.
  std::string label_of(const Caller& who, const std::function<void(JobRequest&)>& change) {
    std::string out;
    turn([&] {
      auto r = core.run(who, request([&](JobRequest& q) {
                          q.uid = who.uid;
                          q.user_name = "bob";
                          change(q);
                        }));
      out = r                                                                ? core.cluster().jobs.at(r->job.value).request->mcs_label
            : errc_text(r.error().code) == errc_text(Errc::kInvalidMcsLabel) ? "refused: " + r.error().hint
                                                                             : "?";
    });
    return out;
  }
};
const Caller kBob = user(1000, "bob", {"staff", "physics"});
void nothing(JobRequest&) {}
auto asks(const char* label) {
  return [label](JobRequest& q) { q.mcs_label = label; };
}

TEST(Mcs, WithoutAPluginALabelIsRefused) {
  Labelled b;
  EXPECT_EQ(b.label_of(kBob, nothing), "");
  EXPECT_NE(b.label_of(kBob, asks("x")).find("--mcs-label needs an MCSPlugin"), std::string::npos);
  EXPECT_EQ(b.label_of(kBob, [](JobRequest& q) { q.exclusive = Exclusive::kMcs; }), "") << "taken: there is nobody with a label";
}

TEST(Mcs, UserHasItsNameOnDemandAndEnforced) {
  Labelled on_demand("MCSPlugin=mcs/user\n");
  EXPECT_EQ(on_demand.label_of(kBob, nothing), "");
  EXPECT_EQ(on_demand.label_of(kBob, asks("bob")), "bob");
  EXPECT_NE(on_demand.label_of(kBob, asks("eve")).find("the label of this job is bob"), std::string::npos);
  Labelled enforced("MCSPlugin=mcs/user\nMCSParameters=enforced,select\n");
  EXPECT_EQ(enforced.label_of(kBob, nothing), "bob");
}

// Who wants nodes for a label and names none has the own one.
TEST(Mcs, KeepingNodesIsAWishForTheOwnLabel) {
  auto keeps = [](JobRequest& q) {
    q.exclusive = Exclusive::kMcs;
    q.account = "lhc";
  };
  EXPECT_EQ(Labelled("MCSPlugin=mcs/user\nMCSParameters=ondemand,select\n").label_of(kBob, keeps), "bob");
  EXPECT_EQ(Labelled("MCSPlugin=mcs/group\nMCSParameters=ondemand,select\n").label_of(kBob, keeps), "staff");
  EXPECT_EQ(Labelled("MCSPlugin=mcs/account\nMCSParameters=ondemand,ondemandselect\n").label_of(kBob, keeps), "lhc");
  EXPECT_EQ(Labelled("MCSPlugin=mcs/user\nMCSParameters=ondemand,noselect\n").label_of(kBob, keeps), "");
}

TEST(Mcs, AccountGoesAlongWithTheJob) {
  Labelled b("MCSPlugin=mcs/account\nMCSParameters=enforced\n");
  EXPECT_EQ(b.label_of(kBob, [](JobRequest& q) { q.account = "lhc"; }), "lhc");
  EXPECT_NE(b.label_of(kBob, nothing).find("every job has a label here"), std::string::npos);
  JobId j = b.submit([](JobRequest& q) {
    q.account = "lhc";
    q.hold = true;
  });
  ASSERT_TRUE(b.update(j, "Account", "cms"));
  EXPECT_EQ(b.get(j).request->mcs_label, "cms");
}

TEST(Mcs, GroupsOfTheUserAndOfTheList) {
  Labelled b("MCSPlugin=mcs/group\nMCSParameters=enforced,noselect:physics|chemistry\n");
  EXPECT_EQ(b.label_of(kBob, nothing), "physics");  // the first of the user's groups that may be one
  EXPECT_EQ(b.label_of(kBob, asks("physics")), "physics");
  EXPECT_NE(b.label_of(kBob, asks("staff")).find("MCSParameters allows the groups physics, chemistry"), std::string::npos);
  EXPECT_NE(b.label_of(kBob, asks("chemistry")).find("a group that the user is in"), std::string::npos);
  EXPECT_NE(b.label_of(user(1001), nothing).find("every job has a label here"), std::string::npos);
}

TEST(Mcs, LabelsAreWordsAndBounded) {
  Labelled b("MCSPlugin=mcs/label\n");
  EXPECT_EQ(b.label_of(kBob, asks("red")), "red");
  EXPECT_NE(b.label_of(kBob, asks("two words")).find("printable characters"), std::string::npos);
  EXPECT_NE(b.label_of(kBob, asks(std::string(257, 'x').c_str())).find("at most 256"), std::string::npos);
  EXPECT_NE(b.label_of(kBob, [](JobRequest& q) { q.exclusive = Exclusive::kMcs; }).find("name it with --mcs-label"), std::string::npos);
}

TEST(Mcs, ALabelKeepsNodesUntilItsLastJobThereEnded) {
  Bench b("MCSPlugin=mcs/label\n");
  auto job = [&](const char* label, bool keeps, uint32_t uid) {
    return b.submit([&](JobRequest& q) {
      q.uid = Uid(uid);
      q.mcs_label = label;
      q.exclusive = keeps ? Exclusive::kMcs : Exclusive::kDefault;
      q.required_nodes = "n0";
      q.mem_per_node_mb = 100;
    });
  };
  JobId red = job("red", true, 1000), beside = job("red", false, 1001), blue = job("blue", false, 1000);
  b.plan();
  EXPECT_EQ(b.state(red), JobState::kRunning);
  EXPECT_EQ(b.state(beside), JobState::kRunning);
  EXPECT_EQ(b.state(blue), JobState::kPending);
  EXPECT_EQ(b.node(0).mcs_label, "red");
  b.started(red);
  b.ends(red);
  b.plan();
  EXPECT_EQ(b.state(blue), JobState::kPending);  // `beside` came to a node kept for red, and it is kept
  b.started(beside);
  b.ends(beside);
  b.plan();
  EXPECT_EQ(b.state(blue), JobState::kRunning);
  EXPECT_EQ(b.node(0).mcs_label, "");
  b.expect_replay_equal();
}

TEST(Mcs, OnlyAWaitingJobGetsAnotherLabel) {
  Bench b("MCSPlugin=mcs/label\n");
  JobId j = b.submit(asks("red"));
  ASSERT_TRUE(b.update(j, "MCSLabel", "blue"));
  EXPECT_EQ(b.get(j).request->mcs_label, "blue");
  EXPECT_FALSE(b.update(j, "MCSLabel", "a b"));
  b.plan();
  ASSERT_EQ(b.state(j), JobState::kRunning);
  EXPECT_EQ(b.update(j, "MCSLabel", "green").error().code, Errc::kJobNotPending);
}

// A label that nobody named is one of the owner's groups, which the controller knows only of whoever asks.
TEST(Mcs, AnOperatorsGroupsLabelNobodyElsesJob) {
  Bench b("MCSPlugin=mcs/group\nMCSParameters=enforced\n");
  JobId j;
  b.turn([&] { j = b.core.run(kBob, Bench::request([](JobRequest& q) { q.hold = true; }))->job; });
  ASSERT_EQ(b.get(j).request->mcs_label, "staff");
  auto clear = [&](const Caller& who) {
    rpc::UpdateJob c;
    c.job.job = j;
    c.changes.push_back({"MCSLabel", "=", ""});
    Result<rpc::Messages> r;
    b.turn([&] { r = b.core.run(who, c); });
    return r ? b.get(j).request->mcs_label : std::string(errc_text(r.error().code)) + ": " + r.error().hint;
  };
  EXPECT_EQ(clear(user(0, "root", {"wheel"})),
            std::string(errc_text(Errc::kInvalidMcsLabel)) +
                ": the label of user 1000's job is one of that user's groups: name it, or act for the user (--uid)");
  EXPECT_EQ(clear(user(1000, "bob", {"physics"})), "physics");
}

// ---- PrivateData
std::vector<uint32_t> jobs_seen(Bench& b, const Caller& who) {
  JobQuery q(b.core.snapshot(), {}, {}, {}, StateCounts::kAny, Privacy(b.settings, nullptr, who));
  std::vector<uint32_t> out;
  for (rpc::JobRows part; q.next(part);)
    for (const JobRow& r : part.jobs) out.push_back(r.id.value);
  return out;
}
using Ids = std::vector<uint32_t>;

TEST(PrivateData, JobsAreTheirOwnersAndTheOperators) {
  Bench b("PrivateData=jobs\n");
  JobId mine = b.submit(), theirs = b.submit([](JobRequest&q) { q.uid = Uid(1001); });
  EXPECT_EQ(jobs_seen(b, user(1000)), Ids{mine.value});
  EXPECT_EQ(jobs_seen(b, Caller::root()), (Ids{mine.value, theirs.value}));
  EXPECT_EQ(jobs_seen(b, user(64030)), (Ids{mine.value, theirs.value}));
  rpc::ExplainJob q;
  q.job.job = theirs;
  EXPECT_EQ(explain_job(*b.core.snapshot(), b.settings, b.now, q, Privacy(b.settings, nullptr, user(1000))).error().code,
            Errc::kInvalidJobId);
}

TEST(PrivateData, LabelsOpenWhatIsHidden) {
  Bench b("PrivateData=jobs,nodes\nMCSPlugin=mcs/group\nMCSParameters=ondemand,select,privatedata\n");
  auto of = [&](uint32_t uid, const char* label) {
    JobId id{};
    b.turn([&] {
      auto r = b.core.run(user(uid, "", {"physics", "art"}), Bench::request([&](JobRequest& q) {
                            q.uid = Uid(uid);
                            q.mcs_label = label;
                          }));
      ASSERT_TRUE(r) << r.error().message();
      id = r->job;
    });
    return id;
  };
  JobId physics = of(1000, "physics"), art = of(1000, "art"), plain = of(1000, "");
  EXPECT_EQ(jobs_seen(b, user(1001, "", {"physics"})), Ids{physics.value});
  EXPECT_EQ(jobs_seen(b, user(1001)), Ids{});
  EXPECT_EQ(jobs_seen(b, user(1000)), (Ids{physics.value, art.value, plain.value}));
  b.plan();
  const std::string kept = b.core.cluster().nodes.at(b.host(art)).spec->name;
  Privacy p(b.settings, nullptr, user(1001, "", {"physics"}));
  auto rows = NodeQuery::make(b.core.snapshot(), {}, p);
  ASSERT_TRUE(rows);
  rpc::NodeRows part;
  ASSERT_TRUE(rows->next(part));
  EXPECT_EQ(part.nodes.size(), 3u);
  for (const NodeRow& n : part.nodes) EXPECT_NE(n.name, kept);
}

TEST(PrivateData, NodesAndPartitionsAreRefusedAsSuch) {
  Bench b("PrivateData=nodes,partitions\n");
  const Privacy other(b.settings, nullptr, user(1000)), root(b.settings, nullptr, Caller::root());
  EXPECT_EQ(NodeQuery::make(b.core.snapshot(), {}, other).error().code, Errc::kAccessDenied);
  EXPECT_EQ(query_partitions(*b.core.snapshot(), {}, other).error().code, Errc::kAccessDenied);
  EXPECT_TRUE(NodeQuery::make(b.core.snapshot(), {}, root));
  EXPECT_TRUE(query_partitions(*b.core.snapshot(), {}, root));
}

}  // namespace
}  // namespace muster::slurmctld

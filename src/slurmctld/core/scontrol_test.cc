// What scontrol asks for: verbs on jobs and nodes, updates of jobs, steps, nodes and partitions, and who may.
#include "model/mail.h"
#include "slurmctld/core/core_testing.h"
#include "slurmctld/core/license_rows.h"

namespace muster::slurmctld {
namespace {

using Pairs = std::vector<std::pair<const char*, const char*>>;
const Caller kUser{Uid(1000), Gid(1000), {}, {}};
const Caller kOther{Uid(1001), Gid(1001), {}, {}};

Errc code_of(const Result<rpc::Messages>& r) { return r ? Errc::kOk : r.error().code; }

Result<rpc::Messages> update(Bench& b, JobId job, std::vector<rpc::KeyValue> changes, const Caller& who = Caller::root()) {
  rpc::UpdateJob c;
  c.job.job = job;
  c.changes = std::move(changes);
  Result<rpc::Messages> r;
  b.turn([&] { r = b.core.run(who, c); });
  return r;
}
Result<rpc::Messages> node(Bench& b, rpc::UpdateNode c, const Caller& who = Caller::root()) {
  Result<rpc::Messages> r;
  b.turn([&] { r = b.core.run(who, c); });
  return r;
}
Result<rpc::Messages> node(Bench& b, const std::string& nodes, std::vector<rpc::KeyValue> changes) {
  rpc::UpdateNode c;
  c.nodes = nodes;
  c.changes = std::move(changes);
  return node(b, c);
}
Result<rpc::Messages> partition(Bench& b, const std::string& name, std::vector<rpc::KeyValue> changes, bool create = false) {
  rpc::UpdatePartition c;
  c.name = name;
  c.create = create;
  c.changes = std::move(changes);
  Result<rpc::Messages> r;
  b.turn([&] { r = b.core.run(Caller::root(), c); });
  return r;
}
Result<rpc::Messages> control_nodes(Bench& b, rpc::ControlNodes c, const Caller& who = Caller::root()) {
  Result<rpc::Messages> r;
  b.turn([&] { r = b.core.run(who, c); });
  return r;
}
rpc::ControlNodes on_nodes(rpc::NodeAction action, const std::string& nodes) {
  rpc::ControlNodes c;
  c.action = action;
  c.nodes = nodes;
  return c;
}
JobId running(Bench& b, const std::function<void(JobRequest&)>& change = {}) {
  JobId j = b.submit(change);
  b.plan();
  b.started(j);
  EXPECT_EQ(b.state(j), JobState::kRunning);
  return j;
}

TEST(Hold, ARunningJobIsHeldForWhenItIsQueuedAgain) {
  Bench b("JobRequeue=1\n");
  JobId j = running(b);
  b.control(rpc::JobAction::kHold, j);
  EXPECT_EQ(b.get(j).priority, 0u);
  EXPECT_EQ(b.get(j).reason, Reason::kJobHeldAdmin);
  EXPECT_EQ(b.state(j), JobState::kRunning);
  b.control(rpc::JobAction::kRequeue, j);
  b.gone(j, b.host(j));
  EXPECT_EQ(b.state(j), JobState::kPending);
  EXPECT_EQ(b.get(j).priority, 0u);
  b.control(rpc::JobAction::kRelease, j);
  EXPECT_GT(b.get(j).priority, 0u);
  b.expect_replay_equal();
}

TEST(Hold, WhoMayRelease) {
  Bench b;
  JobId j = b.submit();
  b.control(rpc::JobAction::kHold, j);  // of an operator
  b.control(rpc::JobAction::kRelease, j, kUser);
  EXPECT_EQ(b.get(j).priority, 0u);
  ASSERT_EQ(b.control_errors.size(), 1u);
  EXPECT_EQ(b.control_errors[0].code, errc_number(Errc::kAccessDenied));
  b.control(rpc::JobAction::kUserHold, j);
  b.control(rpc::JobAction::kRelease, j, kUser);
  EXPECT_GT(b.get(j).priority, 0u);
  b.control(rpc::JobAction::kHold, j, kOther);
  EXPECT_GT(b.get(j).priority, 0u);
}

TEST(Requeue, SpecialExitIncompleteAndSuspended) {
  Bench b("JobRequeue=1\n");
  JobId j = running(b);
  rpc::ControlJobs c;
  c.action = rpc::JobAction::kRequeueHold;
  c.special_exit = true;
  c.jobs.emplace_back().job = j;
  b.turn([&] { EXPECT_TRUE(b.core.run(kUser, c)); });
  b.gone(j, b.host(j));
  EXPECT_EQ(b.state(j), JobState::kPending);
  EXPECT_TRUE(b.get(j).flags & kJobSpecialExit);
  b.control(rpc::JobAction::kRequeue, j);
  ASSERT_EQ(b.control_errors.size(), 1u);
  EXPECT_EQ(b.control_errors[0].code, errc_number(Errc::kJobPending));
  c = {};
  c.action = rpc::JobAction::kRequeue;
  c.incomplete = true;
  c.jobs.emplace_back().job = j;
  b.turn([&] { EXPECT_TRUE(b.core.run(kUser, c)->errors.empty()); });  // passed over
  JobId s = running(b);
  b.control(rpc::JobAction::kSuspend, s);
  EXPECT_EQ(b.state(s), JobState::kSuspended);
  b.control(rpc::JobAction::kRequeue, s);
  b.gone(s, b.host(s));
  EXPECT_EQ(b.get(s).priority, 0u);
}

TEST(Suspend, OnlyOperatorsAndOnlyWhatRuns) {
  Bench b;
  JobId j = running(b);
  b.control(rpc::JobAction::kSuspend, j, kUser);
  EXPECT_EQ(b.control_errors.at(0).code, errc_number(Errc::kAccessDenied));
  b.control(rpc::JobAction::kResume, j);
  EXPECT_EQ(b.control_errors.at(0).code, errc_number(Errc::kJobNotSuspended));
  b.control(rpc::JobAction::kSuspend, j);
  b.control(rpc::JobAction::kSuspend, j);
  EXPECT_TRUE(b.control_errors.empty());
  b.control(rpc::JobAction::kResume, j);
  EXPECT_EQ(b.state(j), JobState::kRunning);
}

TEST(Top, TheNamedJobsComeFirstInTheirOrder) {
  Bench b;
  JobId a = b.submit(), c = b.submit([](JobRequest&r) { r.name = "k"; }), d = b.submit([](JobRequest&r) { r.name = "l"; });
  rpc::ControlJobs top;
  top.action = rpc::JobAction::kTop;
  top.jobs.emplace_back().job = d;
  top.jobs.emplace_back().job = c;
  b.turn([&] { EXPECT_EQ(b.core.run(kUser, top)->errors.size(), 2u); });  // not enabled for users
  b.turn([&] { EXPECT_TRUE(b.core.run(Caller::root(), top)->errors.empty()); });
  EXPECT_GT(b.get(d).priority, b.get(c).priority);
  EXPECT_GT(b.get(c).priority, b.get(a).priority);
  EXPECT_LT(b.get(d).request->nice, 0);
  EXPECT_GT(b.get(a).request->nice, 0);
  b.expect_replay_equal();
}

TEST(Notify, GoesToTheBatchNodeOfARunningJob) {
  Bench b;
  JobId j = running(b);
  rpc::NotifyJob n{j, "hello"};
  b.turn([&] { EXPECT_EQ(b.core.run(kOther, n).error().code, Errc::kAccessDenied); });
  b.turn([&] { EXPECT_TRUE(b.core.run(kUser, n)); });
  ASSERT_EQ(b.orders<node_rpc::NotifyJob>().size(), 1u);
  EXPECT_EQ(b.orders<node_rpc::NotifyJob>()[0].text, "hello");
  JobId p = b.submit([](JobRequest& r) { r.hold = true; });
  b.turn([&] { EXPECT_EQ(b.core.run(kUser, rpc::NotifyJob{p, "x"}).error().code, Errc::kDisabled); });
}

// ---- update job
TEST(UpdateJob, KeysThatBelongToOperators) {
  Bench b;
  JobId j = b.submit();
  for (const char* key : {"AdminComment", "CoreSpec", "Deadline", "TasksPerNode", "Reboot", "OverSubscribe"})
    EXPECT_EQ(code_of(update(b, j, {{key, "=", key == std::string("Deadline") ? "now+1day" : "1"}}, kUser)), Errc::kAccessDenied) << key;
  EXPECT_EQ(code_of(update(b, j, {{"Contiguous", "=", "yes"}}, kUser)), Errc::kAccessDenied);
  EXPECT_EQ(code_of(update(b, j, {{"Nice", "=", "-5"}}, kUser)), Errc::kAccessDenied);
  EXPECT_EQ(code_of(update(b, j, {{"Priority", "=", "4294901770"}}, kUser)), Errc::kAccessDenied);
  EXPECT_EQ(code_of(update(b, j, {{"Comment", "=", "x"}}, kOther)), Errc::kAccessDenied);
  EXPECT_EQ(code_of(update(b, j, {{"Comment", "=", "x"}}, kUser)), Errc::kOk);
  JobId r = running(b);
  EXPECT_EQ(code_of(update(b, r, {{"TimeLimit", "=", "20"}}, kUser)), Errc::kAccessDenied);
  EXPECT_EQ(code_of(update(b, r, {{"TimeLimit", "=", "5"}}, kUser)), Errc::kOk);
  EXPECT_EQ(code_of(update(b, r, {{"TimeLimit", "+=", "20"}})), Errc::kOk);
  EXPECT_EQ(b.get(r).time_limit_min, 25u);
  EXPECT_EQ(code_of(update(b, r, {{"Features", "=", "x"}})), Errc::kJobNotPending);
}

TEST(UpdateJob, EachKeyReachesTheRequest) {
  Bench b;
  JobId j = b.submit([](JobRequest& r) { r.hold = true; });
  ASSERT_EQ(code_of(update(b, j,
                           {{"MailType", "=", "END,FAIL"},
                            {"NumCPUs", "=", "2"},
                            {"ReqNodes", "=", "1-2"},
                            {"TimeMin", "=", "5"},
                            {"Switches", "=", "1@10"},
                            {"MinTmpDiskNode", "=", "0"},
                            {"OverSubscribe", "=", "yes"},
                            {"TasksPerNode", "=", "2"},
                            {"DelayBoot", "=", "3"},
                            {"WorkDir", "=", "/w"}})),
            Errc::kOk);
  const RequestBody& r = *b.get(j).request;
  EXPECT_EQ(r.mail_type, kMailEnd | kMailFail);
  EXPECT_EQ(r.num_tasks, 2u);
  EXPECT_EQ(r.max_nodes, 2u);
  EXPECT_EQ(r.time_min_min, 5u);
  EXPECT_EQ(r.switches, 1u);
  EXPECT_EQ(r.switches_wait, minutes(10));
  EXPECT_EQ(r.exclusive, Exclusive::kOversubscribe);
  EXPECT_EQ(r.ntasks_per_node, 2u);
  EXPECT_EQ(r.delay_boot, minutes(3));
  EXPECT_EQ(b.get(j).own.get(&RequestOwn::work_dir), "/w");
  for (auto [key, value] : Pairs{{"MailType", "LATER"},
                                 {"TimeLimit", "abc"},
                                 {"TimeMin", "500"},
                                 {"NumNodes", "0"},
                                 {"Switches", "x"},
                                 {"BurstBuffer", "x"},
                                 {"Clusters", "x"},
                                 {"MCSLabel", "x"},
                                 {"ReservationName", "x"}})
    EXPECT_NE(code_of(update(b, j, {{key, "=", value}})), Errc::kOk) << key;
  auto unknown = update(b, j, {{"TimeLimt", "=", "5"}});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().text, "Update of this parameter is not supported: TimeLimt=5");
  EXPECT_EQ(unknown.error().hint, "did you mean TimeLimit?");
  b.expect_replay_equal();
}

TEST(UpdateJob, ByNameAndAsAnotherUser) {
  Bench b;
  JobId mine = b.submit(), theirs = b.submit([](JobRequest&r) { r.uid = Uid(1001); });
  rpc::UpdateJob c;
  c.name = "j";
  c.changes = {{"Comment", "=", "all"}};
  c.owner = 1001;
  b.turn([&] { EXPECT_TRUE(b.core.run(Caller::root(), c)); });
  EXPECT_EQ(b.get(theirs).own.get(&RequestOwn::comment), "all");
  EXPECT_EQ(b.get(mine).own.get(&RequestOwn::comment), "");
  c = {};
  c.job.job = mine;
  c.changes = {{"Comment", "=", "x"}};
  c.as_uid = 1001;
  b.turn([&] { EXPECT_EQ(b.core.run(Caller::root(), c).error().code, Errc::kAccessDenied); });
  c.as_uid = 1000;
  b.turn([&] { EXPECT_TRUE(b.core.run(Caller::root(), c)); });
  b.turn([&] { EXPECT_EQ(b.core.run(kUser, c).error().code, Errc::kAccessDenied); });
}

// ---- nodes
TEST(UpdateNode, FeaturesWeightGresAndNames) {
  Bench b("GresTypes=tape\n");
  EXPECT_EQ(code_of(node(b, "n0", {{"ActiveFeatures", "=", "a"}})), Errc::kActiveFeaturesNotAvailable);
  ASSERT_EQ(code_of(node(b, "n0", {{"AvailableFeatures", "=", "a,b"}, {"ActiveFeatures", "=", "a"}})), Errc::kOk);
  EXPECT_EQ(b.node(0).spec->features, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(b.node(0).features_active, std::vector<std::string>{"a"});
  EXPECT_EQ(code_of(node(b, "n0", {{"Gres", "=", "tape:4"}})), Errc::kOk);
  EXPECT_EQ(b.node(0).spec->gres.at(0).count, 4u);
  EXPECT_EQ(code_of(node(b, "n0", {{"Gres", "=", "zz:4"}})), Errc::kInvalidGres);
  EXPECT_EQ(code_of(node(b, "n[0-1]", {{"NodeAddr", "=", "a[5-6]"}, {"InstanceId", "=", "i-[1-2]"}, {"InstanceType", "=", "x,y"}})),
            Errc::kOk);
  EXPECT_EQ(b.node(1).spec->address, "a6");
  EXPECT_EQ(b.node(1).instance_id, "i-2");
  EXPECT_EQ(code_of(node(b, "n[0-1]", {{"NodeAddr", "=", "a5"}})), Errc::kInvalidNodeName);
  EXPECT_EQ(code_of(node(b, "n0", {{"Weight", "=", "x"}})), Errc::kInvalidArgument);
  EXPECT_EQ(code_of(node(b, "n0", {{"State", "=", "foo"}})), Errc::kInvalidArgument);
  EXPECT_EQ(code_of(node(b, "n0", {{"State", "=", "drain"}})), Errc::kInvalidArgument);  // no reason
  EXPECT_EQ(code_of(node(b, "zz", {{"State", "=", "idle"}})), Errc::kInvalidNodeName);
  EXPECT_EQ(code_of(node(b, "n0", {{"Weight", "=", "9"}, {"Comment", "=", "mine"}})), Errc::kOk);
  b.turn([&] { b.core.configure(b.settings); });
  EXPECT_TRUE(b.node(0).spec->features.empty());  // slurm.conf was read again
  EXPECT_TRUE(b.node(0).features_active.empty());
  EXPECT_EQ(b.node(0).weight, 1u);
  EXPECT_EQ(b.node(0).comment, "mine");
  b.expect_replay_equal();
}

TEST(UpdateJob, WhatASubmissionWouldRefuse) {
  Bench b;
  JobId j = b.submit();
  auto hint = [](const Result<rpc::Messages>& r) { return r ? "accepted" : r.error().hint; };
  EXPECT_EQ(hint(update(b, j, {{"Dependency", "=", "afterok:999"}})), "job 999 has never been submitted");
  EXPECT_EQ(code_of(update(b, j, {{"WorkDir", "=", "rel"}})), Errc::kInvalidArgument);
  EXPECT_EQ(code_of(update(b, j, {{"WorkDir", "=", "/w"}})), Errc::kOk);
  EXPECT_EQ(hint(partition(b, "main", {{"DefaultTime", "=", "61"}})), "DefaultTime must not exceed MaxTime");
  EXPECT_EQ(hint(partition(b, "main", {{"Topology", "=", "t"}})), "no topology is called 't'");
}

// What is set is kept, logged and sent to every reader.
TEST(UpdateTexts, AreBounded) {
  Bench b;
  auto hint = [](const Result<rpc::Messages>& r) { return r ? "accepted" : r.error().hint; };
  const std::string most(65536, 'x');
  JobId j = b.submit();
  EXPECT_EQ(hint(partition(b, "main", {{"AllowQOS", "=", most}})), "AllowQOS: 65537 bytes, at most 65536");
  EXPECT_EQ(hint(partition(b, "main", {{"AllowQOS", "=", most + "x"}})), "AllowQOS: 65537 bytes, at most 65536");
  ASSERT_EQ(hint(partition(b, "main", {{"AllowQOS", "=", most.substr(1)}})), "accepted");
  EXPECT_EQ(hint(partition(b, "main", {{"AllowQOS", "+=", "y"}})), "AllowQOS: 65538 bytes, at most 65536");
  EXPECT_EQ(hint(partition(b, "main", {{"TRESBillingWeights", "=", most + "x"}})), "TRESBillingWeights: 65537 bytes, at most 65536");
  EXPECT_EQ(hint(node(b, "n0", {{"Features", "=", most + "x"}})), "Features: 65537 bytes, at most 65536");
  EXPECT_EQ(hint(node(b, "n0", {{"Comment", "=", most}})), "Comment: 65536 bytes, at most 4096");
  EXPECT_EQ(hint(node(b, "n0", std::vector<rpc::KeyValue>(257, {"Weight", "=", "1"}))), "257 changes in one command, at most 256");
  EXPECT_EQ(hint(update(b, j, {{"Features", "=", most + "x"}})), "Features: 65537 bytes, at most 65536");
  EXPECT_EQ(hint(update(b, j, {{"Features", "=", most}})), "features: 65536 bytes, at most 4096");
  EXPECT_EQ(hint(update(b, j, {{"QOS", "=", most}})), "qos: 65536 bytes, at most 4096");
  b.expect_replay_equal();
}

TEST(CreateNode, CloudNodesComeAndGo) {
  Bench b("MaxNodeCount=6\n");
  rpc::UpdateNode c;
  c.nodes = "d[1-2]";
  c.create = true;
  c.changes = {{"CPUs", "=", "8"}, {"RealMemory", "=", "1000"}, {"State", "=", "CLOUD"}, {"Features", "=", "dyn"}};
  EXPECT_EQ(code_of(node(b, c, kUser)), Errc::kAccessDenied);
  ASSERT_EQ(code_of(node(b, c)), Errc::kOk);
  const Node* d1 = b.core.cluster().node("d1");
  ASSERT_TRUE(d1);
  EXPECT_TRUE(d1->spec->dynamic);
  EXPECT_TRUE(d1->flags & kNodePoweredDown);
  EXPECT_TRUE(b.core.cluster().partition("main")->nodes.test(d1->id.value));  // Nodes=ALL
  EXPECT_EQ(code_of(node(b, c)), Errc::kInvalidNodeName);                     // there already
  b.turn([&] { b.core.configure(b.settings); });
  EXPECT_TRUE(b.core.cluster().node("d2"));
  EXPECT_TRUE(b.core.cluster().partition("main")->nodes.test(b.core.cluster().node("d2")->id.value));
  rpc::UpdateNode gone;
  gone.nodes = "d[1-2]";
  gone.remove = true;
  ASSERT_EQ(code_of(node(b, gone)), Errc::kOk);
  EXPECT_FALSE(b.core.cluster().node("d1"));
  gone.nodes = "n0";
  EXPECT_EQ(code_of(node(b, gone)), Errc::kNodesBusy);  // of slurm.conf
  c.changes = {{"CPUs", "=", "8"}};
  EXPECT_EQ(code_of(node(b, c)), Errc::kInvalidNodeState);
  b.expect_replay_equal();
}

// slurm.conf(5) NodeSet: what Feature= means is looked up when a node comes, too.
TEST(CreateNode, NodesComeIntoTheSetsOfTheirFeature) {
  Bench b("MaxNodeCount=5\nNodeSet=dynamic Feature=dyn\nNodeSet=named Nodes=d7\nPartitionName=late Nodes=dynamic\nPartitionName=by_name "
          "Nodes=named\n"
          "PartitionName=braces Nodes=feature{dyn}\nPartitionName=others Nodes=n0\n");
  rpc::UpdateNode c;
  c.nodes = "d7";
  c.create = true;
  c.changes = {{"CPUs", "=", "8"}, {"State", "=", "CLOUD"}, {"Features", "=", "gpu,dyn"}};
  ASSERT_EQ(code_of(node(b, c)), Errc::kOk);
  auto in = [&](const char* partition) { return b.core.cluster().partition(partition)->nodes.test(b.core.cluster().node("d7")->id.value); };
  for (int pass = 0; pass < 2; ++pass) {  // the second time after a reconfigure
    EXPECT_TRUE(in("late") && in("by_name") && in("braces")) << pass;
    EXPECT_FALSE(in("others")) << pass;
    b.turn([&] { b.core.configure(b.settings); });
  }
  b.expect_replay_equal();
}

TEST(UpdatePartition, WeightsOfABillMustMakeSense) {
  Bench b;
  EXPECT_EQ(code_of(partition(b, "main", {{"TRESBillingWeights", "=", "CPU=1.0,Mem=0.25G"}})), Errc::kOk);
  EXPECT_EQ(code_of(partition(b, "main", {{"TRESBillingWeights", "=", "Foo=1"}})), Errc::kInvalidArgument);
  EXPECT_EQ(code_of(partition(b, "main", {{"TRESBillingWeights", "=", "CPU=x"}})), Errc::kInvalidArgument);
}

TEST(Reboot, WaitsForTheJobsAndEndsWithARegistration) {
  Bench b("RebootProgram=/sbin/reboot\nResumeTimeout=100\n");
  JobId j = running(b);
  uint32_t n = b.host(j);
  std::string name = "n" + std::to_string(n);
  rpc::ControlNodes c = on_nodes(rpc::NodeAction::kReboot, name);
  EXPECT_EQ(code_of(control_nodes(b, c, kUser)), Errc::kAccessDenied);
  c.asap = true;
  ASSERT_EQ(code_of(control_nodes(b, c)), Errc::kOk);
  EXPECT_EQ(b.node(n).flags & (kNodeRebootRequested | kNodeDrain), kNodeRebootRequested | kNodeDrain);
  EXPECT_EQ(b.node(n).reason, "Reboot ASAP");
  EXPECT_TRUE(b.orders<node_rpc::RebootNode>().empty());
  b.ends(j);
  ASSERT_EQ(b.orders<node_rpc::RebootNode>().size(), 1u);
  EXPECT_TRUE(b.node(n).flags & kNodeRebootIssued);
  b.turn([&] { b.core.node_disconnected(NodeId(n)); });
  b.wait(seconds(70));  // longer than SlurmdTimeout
  EXPECT_NE(b.node(n).admin, NodeState::kDown);
  b.register_node(n, "boot1");  // not yet: asked again
  EXPECT_EQ(b.orders<node_rpc::RebootNode>().size(), 1u);
  b.register_node(n, "boot2");
  EXPECT_EQ(b.node(n).flags & (kNodeRebootIssued | kNodeDrain), 0u);
  EXPECT_EQ(b.node(n).admin, NodeState::kIdle);
  EXPECT_EQ(b.node(n).reason, "");
  b.expect_replay_equal();
}

TEST(Reboot, NextStateDownTimeoutAndCancel) {
  Bench b("RebootProgram=/sbin/reboot\nResumeTimeout=100\n");
  rpc::ControlNodes c = on_nodes(rpc::NodeAction::kReboot, "n0");
  c.next_state = "DOWN";
  c.reason = "firmware";
  ASSERT_EQ(code_of(control_nodes(b, c)), Errc::kOk);
  EXPECT_EQ(b.node(0).reason, "firmware : reboot issued");
  b.register_node(0, "boot2");
  EXPECT_EQ(b.node(0).admin, NodeState::kDown);
  EXPECT_EQ(b.node(0).reason, "firmware : reboot complete");
  ASSERT_EQ(code_of(control_nodes(b, on_nodes(rpc::NodeAction::kReboot, "n1"))), Errc::kOk);
  b.wait(seconds(101));
  EXPECT_EQ(b.node(1).admin, NodeState::kDown);
  EXPECT_EQ(b.node(1).reason, "reboot requested : reboot timed out");
  JobId j = running(b);
  std::string name = "n" + std::to_string(b.host(j));
  ASSERT_EQ(code_of(control_nodes(b, on_nodes(rpc::NodeAction::kReboot, name))), Errc::kOk);
  ASSERT_EQ(code_of(control_nodes(b, on_nodes(rpc::NodeAction::kCancelReboot, name))), Errc::kOk);
  EXPECT_EQ(b.node(b.host(j)).flags, 0u);
  EXPECT_EQ(code_of(control_nodes(b, on_nodes(rpc::NodeAction::kCancelReboot, name))), Errc::kInvalidNodeState);
  Bench none;
  EXPECT_EQ(code_of(control_nodes(none, on_nodes(rpc::NodeAction::kReboot, "n0"))), Errc::kDisabled);
}

// ---- partitions
TEST(Partition, EachKeyAndItsRules) {
  Bench b;
  ASSERT_EQ(code_of(partition(b, "p",
                              {{"Nodes", "=", "n[0-2]"},
                               {"MaxTime", "=", "1:00:00"},
                               {"DefMemPerCPU", "=", "100"},
                               {"OverSubscribe", "=", "FORCE:2"},
                               {"JobDefaults", "=", "DefCpuPerGPU=2"},
                               {"AllowGroups", "=", "a,b"},
                               {"PriorityTier", "=", "9"},
                               {"OverTimeLimit", "=", "3"},
                               {"Default", "=", "yes"}},
                              true)),
            Errc::kOk);
  const Partition* p = b.core.cluster().partition("p");
  ASSERT_TRUE(p);
  EXPECT_EQ(p->nodes.count(), 3u);
  EXPECT_EQ(p->oversubscribe_count, 2u);
  EXPECT_EQ(p->def_cpu_per_gpu, 2u);
  EXPECT_EQ(b.core.cluster().default_partition, p->index);
  ASSERT_EQ(code_of(partition(b, "p",
                              {{"Nodes", "-=", "n1"},
                               {"Nodes", "=", "+n3,-n0"},
                               {"AllowGroups", "-=", "a"},
                               {"Exclusive", "=", "USER"},
                               {"DefMemPerNode", "=", "500"}})),
            Errc::kOk);
  p = b.core.cluster().partition("p");
  EXPECT_EQ(p->nodes_text, "n[2-3]");
  EXPECT_EQ(p->allow_groups, std::vector<std::string>{"b"});
  EXPECT_TRUE(p->exclusive_user);
  EXPECT_FALSE(p->def_mem_per_cpu_mb);
  for (auto [key, value] : Pairs{{"State", "xx"},
                                 {"PriorityTier", "70000"},
                                 {"OverSubscribe", "maybe"},
                                 {"MaxTime", "abc"},
                                 {"Nodes", "zz"},
                                 {"Alternate", "zz"},
                                 {"CpuBind", "zz"},
                                 {"Exclusive", "zz"},
                                 {"foo", "bar"}})
    EXPECT_NE(code_of(partition(b, "p", {{key, "=", value}})), Errc::kOk) << key;
  EXPECT_EQ(code_of(partition(b, "main", {{"Nodes", "=", "n1"}}, true)), Errc::kInvalidPartition);
  b.turn([&] { b.core.configure(b.settings); });
  EXPECT_FALSE(b.core.cluster().partition("p"));  // slurm.conf was read again
  b.expect_replay_equal();
}

// ---- steps, settings, licenses
TEST(UpdateStep, TimeLimit) {
  Bench b;
  JobId j = running(b);
  rpc::CreateStep create;
  create.job = j;
  create.request.num_tasks = 1;
  b.turn([&] { ASSERT_TRUE(b.core.run(kUser, create)); });
  rpc::UpdateStep c;
  c.job.job = j;
  c.changes = {{"TimeLimit", "=", "7"}};
  b.turn([&] { EXPECT_EQ(b.core.run(kOther, c).error().code, Errc::kAccessDenied); });
  b.turn([&] { EXPECT_TRUE(b.core.run(kUser, c)); });
  EXPECT_EQ(b.get(j).steps.at(0).time_limit_min, 7u);
  auto orders = b.orders<node_rpc::LimitStep>();
  ASSERT_EQ(orders.size(), 1u);
  EXPECT_EQ(orders[0].limit, std::optional<Duration>(minutes(7)));
  b.register_node(b.host(j), "boot1", {{.job = j, .batch = true, .steps = {StepId(0)}}});  // it may not have heard of it
  ASSERT_EQ(b.orders<node_rpc::LimitStep>().size(), 1u);
  EXPECT_EQ(b.orders<node_rpc::LimitStep>()[0].limit, std::optional<Duration>(minutes(7)));
  c.job.has_step = true;
  c.job.step = StepId(9);
  b.turn([&] { EXPECT_EQ(b.core.run(kUser, c).error().code, Errc::kInvalidJobId); });
  b.expect_replay_equal();
}

TEST(RuntimeSettings, HoldUntilTheFilesAreReadAgain) {
  Bench b("SlurmctldDebug=info\n");
  rpc::UpdateConfig c;
  c.changes = {{"SlurmctldDebug", "=", "debug"}};
  b.turn([&] { EXPECT_EQ(b.core.run(kUser, c).error().code, Errc::kAccessDenied); });
  b.turn([&] { EXPECT_TRUE(b.core.run(Caller::root(), c)); });
  EXPECT_EQ(b.core.settings().config().slurmctld_debug, 5);
  c.changes = {{"SuspendExcNodes", "+=", "n1"}};
  b.turn([&] { EXPECT_TRUE(b.core.run(Caller::root(), c)); });
  EXPECT_EQ(b.core.settings().config().suspend_exc_nodes, "n1");
  c.changes = {{"SuspendExcNodes", "+=", "n[2-3]"}};
  b.turn([&] { EXPECT_TRUE(b.core.run(Caller::root(), c)); });
  c.changes = {{"SuspendExcNodes", "-=", "n2"}};
  b.turn([&] { EXPECT_TRUE(b.core.run(Caller::root(), c)); });
  EXPECT_EQ(b.core.settings().config().suspend_exc_nodes, "n[1,3]");
  c.changes = {{"SuspendExcNodes", "=", "zz"}};
  b.turn([&] { EXPECT_EQ(b.core.run(Caller::root(), c).error().code, Errc::kInvalidNodeName); });
  c.changes = {{"KillWait", "=", "3"}};
  b.turn([&] { EXPECT_FALSE(b.core.run(Caller::root(), c)); });
  c.changes = {{"SlurmctldDebug", "=", "verbose"}};
  c.nodes = "n[1-2]";
  b.turn([&] { EXPECT_TRUE(b.core.run(Caller::root(), c)); });
  EXPECT_EQ(b.orders<node_rpc::SetLogging>().size(), 2u);
  EXPECT_EQ(b.core.settings().config().slurmctld_debug, 5);  // the nodes' alone
  b.turn([&] { b.core.configure(b.settings); });
  EXPECT_EQ(b.core.settings().config().slurmctld_debug, 3);
}

TEST(Licenses, TotalsAndWhatRunningJobsHold) {
  Bench b("Licenses=matlab:10,ansys\n");
  JobId j = b.submit([](JobRequest& r) { r.licenses = "matlab:3"; });
  b.plan();
  b.started(j);
  auto rows = query_licenses(b.core.cluster(), b.settings, {});
  ASSERT_EQ(rows.licenses.size(), 2u);
  EXPECT_EQ(rows.licenses[0].name, "ansys");
  EXPECT_EQ(rows.licenses[1].total, 10u);
  EXPECT_EQ(rows.licenses[1].used, 3u);
  EXPECT_TRUE(query_licenses(b.core.cluster(), b.settings, {"nosuch"}).licenses.empty());
}

// A task that is named alone becomes a record of its own: not because somebody asked who may not.
TEST(Scontrol, AnotherUsersArrayStaysWhole) {
  Bench b;
  JobId array = b.submit([](JobRequest& r) {
    r.array = "0-3";
    r.hold = true;
  });
  const size_t before = b.core.cluster().jobs.size();
  rpc::ControlJobs hold;
  hold.jobs.push_back({.job = array, .array_task = 2});
  Result<rpc::Messages> r;
  b.turn([&] { r = b.core.run(kOther, hold); });
  ASSERT_TRUE(r);
  ASSERT_EQ(r->errors.size(), 1u);
  EXPECT_EQ(r->errors[0].code, errc_number(Errc::kAccessDenied));
  rpc::UpdateJob rename;
  rename.job = {.job = array, .array_task = 2};
  rename.changes = {{"Name", "=", "x"}};
  b.turn([&] { (void)b.core.run(kOther, rename); });
  EXPECT_TRUE(b.last_events.empty());
  EXPECT_EQ(b.core.cluster().jobs.size(), before);
  b.turn([&] { r = b.core.run(kUser, hold); });
  EXPECT_EQ(b.core.cluster().jobs.size(), before + 1);
}

}  // namespace
}  // namespace muster::slurmctld

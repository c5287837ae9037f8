// What a user may ask for, at submission and by an update: the same rules on both ways, and bounds on what a message holds.
#include "model/message_bounds.h"
#include "model/request_texts.h"
#include "model/rpc.h"
#include "slurmctld/core/core_testing.h"
#include "slurmctld/core/privacy.h"

namespace muster::slurmctld {
namespace {

constexpr const char* kPartitions = "EnforcePartLimits=ANY\n"  // with NO a job that lists of accounts or QOS keep out waits
                                    "PartitionName=admin Nodes=ALL RootOnly=YES\n"
                                    "PartitionName=staff Nodes=ALL AllowGroups=staff\n"
                                    "PartitionName=physics Nodes=ALL AllowAccounts=physics DenyAccounts=art\n"
                                    "PartitionName=urgent Nodes=ALL AllowQos=high\n"
                                    "PartitionName=door Nodes=ALL AllocNodes=login1\n"
                                    "PartitionName=drained Nodes=ALL State=DRAIN\n"
                                    "PartitionName=short Nodes=n0 MaxTime=5 MaxNodes=1\n";

Caller user(std::vector<std::string> groups = {}) {
  Caller c;
  c.uid = Uid(1000);
  c.groups = std::move(groups);
  return c;
}

Errc submitted(Bench& b, const std::function<void(JobRequest&)>& change, const Caller& who = user()) {
  Errc code = Errc::kOk;
  b.turn([&] {
    auto r = b.core.run(who, Bench::request(change));
    if (!r) code = r.error().code;
  });
  return code;
}
Errc updated(Bench& b, JobId job, std::vector<rpc::KeyValue> changes, const Caller& who = user()) {
  rpc::UpdateJob c;
  c.job.job = job;
  c.changes = std::move(changes);
  Errc code = Errc::kOk;
  b.turn([&] {
    auto r = b.core.run(who, c);
    if (!r) code = r.error().code;
  });
  return code;
}
JobId held(Bench& b) {
  return b.submit([](JobRequest& r) { r.hold = true; });
}

TEST(Asked, ClosedPartitionsAreClosedToSubmissionsAndUpdatesAlike) {
  Bench b(kPartitions);
  const JobId job = held(b);
  for (auto [name, code] : std::initializer_list<std::pair<const char*, Errc>>{{"admin", Errc::kAccessDenied},
                                                                               {"staff", Errc::kAccessDenied},
                                                                               {"physics", Errc::kInvalidAccount},
                                                                               {"urgent", Errc::kInvalidQos},
                                                                               {"door", Errc::kAccessDenied},
                                                                               {"drained", Errc::kPartitionNotAvailable},
                                                                               {"none", Errc::kInvalidPartition}}) {
    EXPECT_EQ(submitted(b, [&](JobRequest& r) { r.partitions = {name}; }), code) << name;
    EXPECT_EQ(updated(b, job, {{"Partition", "=", name}}), code) << name;
  }
  EXPECT_TRUE(b.get(job).request->partitions.empty());
  EXPECT_EQ(updated(b, job, {{"Partition", "=", "staff"}}, user({"staff"})), Errc::kOk);
  EXPECT_EQ(updated(b, job, {{"Partition", "=", "physics"}, {"Account", "=", "physics"}}), Errc::kOk);
  EXPECT_EQ(updated(b, job, {{"Account", "=", "art"}}), Errc::kInvalidAccount);  // out of the one that lets it in
  EXPECT_EQ(b.get(job).request->account, "physics");
  EXPECT_EQ(updated(b, job, {{"Comment", "=", "x"}}), Errc::kOk);
  EXPECT_EQ(updated(b, job, {{"Partition", "=", "admin"}}, Caller::root()), Errc::kOk);
  b.expect_replay_equal();
}

TEST(Asked, AllocNodesIsWhereTheJobCameFrom) {
  Bench b(kPartitions);
  Caller there = user();
  there.host = "login1";  // where scontrol runs does not matter
  EXPECT_EQ(updated(b, held(b), {{"Partition", "=", "door"}}, there), Errc::kAccessDenied);
  EXPECT_EQ(submitted(b,
                      [](JobRequest& r) {
                        r.partitions = {"door"};
                        r.alloc_node = "login1";
                      }),
            Errc::kOk);
}

TEST(Asked, OfSeveralPartitionsThoseThatAreClosedAreLeftOut) {
  Bench b(kPartitions);
  const JobId job = b.submit([](JobRequest& r) {
    r.partitions = {"admin", "main", "staff", "drained"};
    r.hold = true;
  });
  EXPECT_EQ(b.get(job).request->partitions, std::vector<std::string>{"main"});
  EXPECT_EQ(updated(b, job, {{"Partition", "=", "staff,main"}}), Errc::kOk);
  EXPECT_EQ(b.get(job).request->partitions, std::vector<std::string>{"main"});
  EXPECT_EQ(b.get(job).partition, b.core.cluster().partition("main")->index);
  EXPECT_EQ(updated(b, job, {{"Partition", "=", "staff,admin"}}), Errc::kAccessDenied);
}

TEST(Asked, ListsOfAPartitionHoldWhenTheJobStarts) {
  Bench b(kPartitions);
  const JobId job = b.submit([](JobRequest& r) {
    r.partitions = {"physics"};
    r.account = "physics";
  });
  auto allow = [&](const char* accounts) {
    rpc::UpdatePartition c;
    c.name = "physics";
    c.changes = {{"AllowAccounts", "=", accounts}};
    b.turn([&] { ASSERT_TRUE(b.core.run(Caller::root(), c)); });
  };
  const sched::Plan before = b.planner.plan(*b.core.snapshot(), b.settings.sched, b.now, sched::Pass::kFull);
  ASSERT_EQ(before.starts.size(), 1u);
  allow("chemistry");
  size_t started = 1;
  b.turn([&] { started = b.core.carry_out(before); });  // planned before the list was another
  EXPECT_EQ(started, 0u);
  EXPECT_EQ(b.plan(), 0u);
  EXPECT_EQ(b.core.cluster().moment.verdicts.at(job.value).reason, Reason::kAccountNotAllowed);
  allow("physics");
  EXPECT_EQ(b.plan(), 1u);
}

TEST(Asked, LimitsOfAPartitionHoldForUpdates) {
  Bench b(kPartitions);
  const JobId job = held(b);
  EXPECT_EQ(updated(b, job, {{"Partition", "=", "short"}}), Errc::kInvalidTimeLimit);
  EXPECT_EQ(updated(b, job, {{"Partition", "=", "short"}, {"TimeLimit", "=", "5"}}), Errc::kOk);
  EXPECT_EQ(updated(b, job, {{"NumNodes", "=", "2"}}), Errc::kInvalidNodeCount);
  EXPECT_EQ(updated(b, job, {{"ReqNodeList", "=", "nowhere"}}), Errc::kInvalidNodeName);
  EXPECT_EQ(updated(b, job, {{"ReqNodeList", "=", "n0"}, {"ExcNodeList", "=", "n0"}}), Errc::kInvalidNodeName);
}

TEST(Asked, AStepManagerForAllJobs) {
  Bench without, with("SlurmctldParameters=enable_stepmgr\n");
  EXPECT_FALSE(without.get(without.submit()).shown_request().stepmgr);
  EXPECT_TRUE(without.get(without.submit([](JobRequest& r) { r.stepmgr = true; })).shown_request().stepmgr);
  EXPECT_TRUE(with.get(with.submit()).shown_request().stepmgr);
}

TEST(Asked, WhatOnlyOperatorsMayAskFor) {
  Bench b(kPartitions);
  EXPECT_EQ(submitted(b, [](JobRequest& r) { r.nice = -1; }), Errc::kInvalidNice);
  EXPECT_EQ(submitted(
                b, [](JobRequest& r) { r.nice = -1; }, Caller::root()),
            Errc::kOk);
  EXPECT_EQ(submitted(
                b, [](JobRequest& r) { r.nice = INT32_MIN; }, Caller::root()),
            Errc::kInvalidNice);
  EXPECT_EQ(submitted(b, [](JobRequest& r) { r.nice = INT32_MAX; }), Errc::kInvalidNice);
  EXPECT_EQ(submitted(b, [](JobRequest& r) { r.reboot = true; }), Errc::kAccessDenied);
  EXPECT_EQ(submitted(b, [](JobRequest& r) { r.no_allocate = true; }), Errc::kAccessDenied);
  EXPECT_EQ(submitted(b, [](JobRequest& r) { r.core_spec = 1; }), Errc::kInvalidReq);
  const JobId job = held(b);
  for (const char* key : {"SiteFactor", "AdminComment", "ThreadSpec", "CoreSpec", "Reboot"})
    EXPECT_EQ(updated(b, job, {{key, "=", "1"}}), Errc::kAccessDenied) << key;
  EXPECT_EQ(updated(b, job, {{"SiteFactor", "=", "-2147483645"}}, Caller::root()), Errc::kOk);
  EXPECT_EQ(b.get(job).request->site_factor, -2147483645);
  EXPECT_EQ(updated(b, job, {{"SiteFactor", "=", "-2147483646"}}, Caller::root()), Errc::kInvalidArgument);
}

TEST(Asked, AdminCommentOfScancelIsForOperators) {
  Bench b;
  const JobId job = held(b);
  rpc::SignalJobs c;
  c.filter.jobs.emplace_back().job = job;
  c.admin_comment = "why";
  b.turn([&] { EXPECT_EQ(b.core.run(user(), c)->errors.at(0).code, errc_number(Errc::kAccessDenied)); });
  EXPECT_EQ(b.state(job), JobState::kPending);
  b.turn([&] { EXPECT_TRUE(b.core.run(Caller::root(), c)->errors.empty()); });
  EXPECT_EQ(b.state(job), JobState::kCancelled);
  EXPECT_EQ(b.get(job).own.get(&RequestOwn::admin_comment), "why");
  b.expect_replay_equal();
}

TEST(Asked, ScriptAndEnvironmentAreBoundedHere) {
  const Settings usual = settings_of(), small = settings_of("SchedulerParameters=max_script_size=100\n");
  EXPECT_TRUE(check_content(usual.config().most_script_bytes(), 4u << 20, 16u << 20));
  EXPECT_EQ(check_content(usual.config().most_script_bytes(), (4u << 20) + 1, 0).error().code, Errc::kPathnameTooLong);
  EXPECT_EQ(check_content(usual.config().most_script_bytes(), 0, (16u << 20) + 1).error().code, Errc::kPathnameTooLong);
  EXPECT_EQ(check_content(small.config().most_script_bytes(), 101, 0).error().hint,
            "the script has 101 bytes, at most 100 (SchedulerParameters=max_script_size)");
}

TEST(Asked, MailGoesToAddresses) {
  Bench b;
  for (const char* bad : {"|sh", "-oX", "/etc/cron.d/x", "a b", "ann,|sh", "ann\n", "$(id)", "+folder", "~/mbox"})
    EXPECT_EQ(submitted(b, [&](JobRequest& r) { r.mail_user = bad; }), Errc::kInvalidArgument) << bad;
  for (const char* good : {"ann", "ann@example.org", "ann.b+slurm@example.org,bob"})
    EXPECT_EQ(submitted(b, [&](JobRequest& r) { r.mail_user = good; }), Errc::kOk) << good;
  EXPECT_EQ(updated(b, held(b), {{"MailUser", "=", "|sh"}}), Errc::kInvalidArgument);
}

TEST(Asked, AnArrayOfARangeNamedAgainAndAgain) {
  Bench b("MaxArraySize=4000001\n");
  std::string text = "0-3999999";
  for (int i = 0; i < 4000; ++i) text += ",0-3999999";
  EXPECT_EQ(submitted(b, [&](JobRequest& r) { r.array = text; }), Errc::kInvalidArray);
}

TEST(Asked, FunctionsInANodeListAreCounted) {
  Bench b;
  std::string text = "feature{x}";
  for (int i = 0; i < 64; ++i) text += ",feature{x}";
  EXPECT_EQ(submitted(b, [&](JobRequest& r) { r.required_nodes = text; }), Errc::kInvalidNodeName);
}

// Read, it would take hundreds of times its text.
TEST(Asked, ALongListOfFewNodesIsKeptShort) {
  Bench b;
  std::string many;
  for (int i = 0; i < 10000; ++i) many += "n[0],n1,";
  const JobId job = b.submit([&](JobRequest& r) { r.excluded_nodes = many; });
  EXPECT_EQ(b.get(job).request->excluded_nodes.text(), "n[0-1]");
  EXPECT_EQ(updated(b, held(b), {{"ReqNodeList", "=", many}}), Errc::kOk);
  const JobId places = b.submit([&](JobRequest& r) {
    r.hold = true;
    r.required_nodes = many;
    r.distribution = "arbitrary";
    r.num_tasks = 20000;
    r.overcommit = true;
  });
  EXPECT_EQ(b.get(places).request->required_nodes->count(), 20000u);
}

// A list that is wrong beside one that has a function: it was taken for none.
TEST(Asked, AWrongListBesideOneWithAFunction) {
  Bench b;
  const rpc::UpdateNode named{"n1", {{"AvailableFeatures", "=", "fast"}, {"ActiveFeatures", "=", "fast"}}};
  b.turn([&] { EXPECT_TRUE(b.core.run(Caller::root(), named).has_value()); });
  EXPECT_EQ(submitted(b, [](JobRequest& r) { r.excluded_nodes = "feature{fast}"; }), Errc::kOk);
  EXPECT_EQ(submitted(b, [](JobRequest& r) { r.required_nodes = "n0*x", r.excluded_nodes = "feature{fast}"; }), Errc::kInvalidNodeName);
  EXPECT_EQ(submitted(b, [](JobRequest& r) { r.required_nodes = "feature{fast}", r.excluded_nodes = "n[0"; }), Errc::kInvalidNodeName);
}

TEST(Asked, JobsByManyNames) {
  Bench b;
  const JobId job = b.submit();
  rpc::ControlJobs c;
  c.names = {"z", "j", "a", "j"};
  b.turn([&] { EXPECT_TRUE(b.core.run(user(), c)->errors.empty()); });
  EXPECT_EQ(b.get(job).priority, 0u);
}

TEST(Asked, NumbersOfTasksThatNoArrayHas) {
  Bench b;
  const JobId job = b.submit([](JobRequest& r) { r.array = "0-3"; });
  rpc::SignalJobs c;
  c.filter.jobs.push_back({job, 4294967290u, "", false, {}});  // once half a gigabyte of bits
  b.turn([&] {
    auto r = b.core.run(user(), c);
    ASSERT_TRUE(r);
    ASSERT_EQ(r->errors.size(), 1u);
    EXPECT_EQ(r->errors[0].code, errc_number(Errc::kInvalidJobId));
  });
  EXPECT_EQ(b.get(job).array_tasks->pending.count(), 4u);
}

// ---- any message
TEST(MessageBounds, TextsListsAndEnums) {
  rpc::SubmitJob s;
  EXPECT_TRUE(check_bounds(s));
  s.script = std::string(5u << 20, 'x');  // judged by max_script_size
  EXPECT_TRUE(check_bounds(s));
  s.request.exclusive = static_cast<Exclusive>(6);
  EXPECT_EQ(check_bounds(s).error().hint, "exclusive: there is no value 6");
  s.request.exclusive = Exclusive::kOversubscribe;
  s.request.partitions.assign(1025, "main");
  EXPECT_EQ(check_bounds(s).error().hint, "partitions: 1025 entries, at most 1024 in one request");
  s.request.partitions = {std::string(65537, 'p')};
  EXPECT_EQ(check_bounds(s).error().hint, "partitions: 65537 bytes, at most 65536");

  rpc::WillRun w;
  w.request.begin = Time::max();
  EXPECT_EQ(check_bounds(w).error().code, Errc::kInvalidTime);
  w.request.begin = Time::min();
  EXPECT_EQ(check_bounds(w).error().code, Errc::kInvalidTime);
  w.request.begin = from_unix(1'700'000'000);
  w.request.switches_wait = seconds(-1);
  EXPECT_EQ(check_bounds(w).error().hint, "switches_wait: not negative, and at most 253402300799 seconds");

  rpc::SignalJobs c;
  c.filter.jobs.resize(10001);
  EXPECT_EQ(check_bounds(c).error().code, Errc::kInvalidArgument);
  c.filter.jobs.resize(10000);
  EXPECT_TRUE(check_bounds(c));
  c.filter.jobs[9999].array_tasks = std::string(65537, '1');
  EXPECT_EQ(check_bounds(c).error().code, Errc::kPathnameTooLong);
  rpc::ControlJobs control;
  control.action = static_cast<rpc::JobAction>(200);
  EXPECT_EQ(check_bounds(control).error().hint, "action: there is no value 200");
  rpc::WatchJobs watch;
  watch.query.order = static_cast<rpc::RowOrder>(2);
  EXPECT_FALSE(check_bounds(watch));
}

// ---- hidden jobs
TEST(HiddenJobs, AreAsIfTheyWereNotThere) {
  Bench b("PrivateData=jobs\n");
  const JobId job = b.submit();
  ASSERT_EQ(b.plan(), 1u);
  b.started(job);
  Caller other = user();
  other.uid = Uid(1001);
  auto code = [](const auto& r) { return r ? Errc::kOk : r.error().code; };
  b.turn([&] {
    EXPECT_EQ(code(b.core.run(other, rpc::FinishAllocation{job, 0})), Errc::kInvalidJobId);
    EXPECT_EQ(code(b.core.run(other, rpc::CreateStep{job, {}, {}, 0})), Errc::kInvalidJobId);
    EXPECT_EQ(code(b.core.run(other, rpc::AskCredential{job, false, {}, rpc::CredentialPurpose::kSendFile})), Errc::kInvalidJobId);
    EXPECT_EQ(code(b.core.run(other, rpc::NotifyJob{job, "x"})), Errc::kInvalidJobId);
    rpc::SignalJobs signal;
    signal.filter.jobs.emplace_back().job = job;
    EXPECT_EQ(b.core.run(other, signal)->errors.at(0).code, errc_number(Errc::kInvalidJobId));
    rpc::ControlJobs hold;
    hold.jobs.emplace_back().job = job;
    EXPECT_EQ(b.core.run(other, hold)->errors.at(0).code, errc_number(Errc::kInvalidJobId));
    rpc::UpdateJob by_name;
    by_name.name = "j";
    by_name.changes = {{"Comment", "=", "x"}};
    EXPECT_EQ(code(b.core.run(other, by_name)), Errc::kInvalidJobId);
  });
  EXPECT_EQ(updated(b, job, {{"Comment", "=", "x"}}, other), Errc::kInvalidJobId);
}

TEST(Credentials, ALaunchIsNotHadForTheAsking) {
  Bench b;
  const JobId job = b.submit();
  ASSERT_EQ(b.plan(), 1u);
  b.started(job);
  b.turn([&] {
    auto r = b.core.run(user(), rpc::AskCredential{job, false, {}, rpc::CredentialPurpose::kLaunch});
    ASSERT_FALSE(r);
    EXPECT_EQ(r.error().code, Errc::kAccessDenied);
    EXPECT_TRUE(b.core.run(user(), rpc::AskCredential{job, false, {}, rpc::CredentialPurpose::kSendFile}));
  });
}

TEST(Privacy, OthersAreNotCounted) {
  Bench b("PrivateData=users\n");
  EXPECT_FALSE(Privacy(b.settings, nullptr, user()).shows_user(Uid(1001)));
  EXPECT_TRUE(Privacy(b.settings, nullptr, user()).shows_user(Uid(1000)));
  EXPECT_TRUE(Privacy(b.settings, nullptr, Caller::root()).shows_user(Uid(1001)));
}

}  // namespace
}  // namespace muster::slurmctld

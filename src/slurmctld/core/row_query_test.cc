#include "slurmctld/core/row_query.h"

#include "slurmctld/core/core_testing.h"
#include "slurmctld/core/job_watch.h"

namespace muster::slurmctld {
namespace {

constexpr uint32_t bit(JobState s) { return 1u << static_cast<unsigned>(s); }

std::vector<uint32_t> ids(const std::vector<JobRow>& rows) {
  std::vector<uint32_t> out;
  for (const JobRow& r : rows) out.push_back(r.id.value);
  return out;
}

std::vector<uint32_t> found(Bench& b, const rpc::QueryJobs& q) {
  JobQuery query(b.core.snapshot(), q);
  std::vector<uint32_t> out;
  rpc::JobRows part;
  while (query.next(part))
    for (uint32_t id : ids(part.jobs)) out.push_back(id);
  return out;
}

TEST(JobQuery, GoesOnWhereItStopped) {
  Bench b;
  for (int i = 0; i < 600; ++i) b.submit();
  JobQuery query(b.core.snapshot(), {});
  rpc::JobRows part;
  size_t parts = 0, rows = 0, requests = 0;
  uint32_t last = 0;
  while (query.next(part)) {
    ++parts;
    rows += part.jobs.size();
    requests += part.requests.size();
    EXPECT_GT(part.jobs.front().id.value, last);
    last = part.jobs.back().id.value;
  }
  EXPECT_EQ(rows, 600u);
  EXPECT_EQ(requests, 1u);
  EXPECT_EQ(parts, 3u);
  EXPECT_FALSE(query.next(part));
}

TEST(JobQuery, RefersToRequestsAndCopiesNone) {
  Bench b;
  JobId job = b.submit();
  std::shared_ptr<const Cluster> cluster = b.core.snapshot();
  rpc::JobRows part;
  ASSERT_TRUE(JobQuery(cluster, {}).next(part));
  ASSERT_EQ(part.requests.size(), 1u);
  EXPECT_EQ(part.requests[0].request.body(), cluster->jobs.at(job.value).request);
}

// A walk that knows how many jobs are in the states asked for ends with the last of them, and misses none.
TEST(JobQuery, EndsWithTheLastOfItsStates) {
  Bench b;
  b.submit();
  JobId second = b.submit();
  b.submit();
  rpc::QueryJobs q;
  q.filter.states = bit(JobState::kPending);
  auto count = [&](rpc::RowOrder order, uint32_t in_state) {
    q.order = order;
    rpc::JobRows part;
    JobQuery(b.core.snapshot(), q, {}, {}, in_state).next(part);
    return part.jobs.size();
  };
  EXPECT_EQ(b.core.snapshot()->counts.meant_by(q.filter), 3u);
  for (auto order : {rpc::RowOrder::kById, rpc::RowOrder::kQueue}) {
    EXPECT_EQ(count(order, 3), 3u);
    EXPECT_EQ(count(order, 2), 2u) << "it went on though it had seen what there is";
    EXPECT_EQ(count(order, 0), 0u);
  }
  b.cancel(second);
  EXPECT_EQ(b.core.snapshot()->counts.meant_by(q.filter), 2u);
  q.filter.state_flags = kJobCompleting;
  EXPECT_EQ(b.core.snapshot()->counts.meant_by(q.filter), StateCounts::kAny);
}

TEST(JobQuery, NamedJobsAndTasksOfArrays) {
  Bench b;
  JobId one = b.submit(), two = b.submit(), array = b.submit([](JobRequest&r) { r.array = "0-3"; });
  rpc::QueryJobs q;
  q.filter.jobs.push_back({.job = two});
  q.filter.jobs.push_back({.job = JobId(9999)});
  EXPECT_EQ(found(b, q), std::vector<uint32_t>{two.value});
  q.filter.jobs.push_back({.job = array, .array_task = 2});
  EXPECT_EQ(found(b, q), (std::vector<uint32_t>{two.value, array.value}));
  q.filter.jobs = {{.job = one}};
  q.filter.states = bit(JobState::kRunning);
  EXPECT_TRUE(found(b, q).empty());
}

TEST(JobQuery, ByNameAlsoAfterItHasChanged) {
  Bench b;
  auto named = [&](const char* name) { return b.submit([&](JobRequest& r) { r.name = name, r.hold = true; }); };
  const JobId one = named("train-00001"), other = named("train-00002");
  JobId none = named("");
  auto by_name = [&](std::vector<std::string> names) {
    rpc::QueryJobs q;
    q.filter.names = std::move(names);
    return found(b, q);
  };
  EXPECT_EQ(by_name({"train-00001"}), std::vector<uint32_t>{one.value});
  EXPECT_EQ(by_name({"train-00002", "x"}), std::vector<uint32_t>{other.value});
  EXPECT_EQ(by_name({"a", "b", "c", "d", "train-00001", "train-00002"}), (std::vector<uint32_t>{one.value, other.value}));
  EXPECT_TRUE(by_name({"train-00003"}).empty());
  ASSERT_TRUE(b.update(none, "JobName", "late"));
  ASSERT_TRUE(b.update(one, "JobName", "renamed"));
  EXPECT_EQ(by_name({"late"}), std::vector<uint32_t>{none.value});
  EXPECT_EQ(by_name({"renamed"}), std::vector<uint32_t>{one.value});
  EXPECT_TRUE(by_name({"train-00001"}).empty());
  b.expect_replay_equal();
}

TEST(JobQuery, OneWaitingTaskOfAnArrayIsShownAlone) {
  Bench b;
  JobId array = b.submit([](JobRequest& r) { r.array = "1-5%2", r.hold = true; });
  rpc::QueryJobs q;
  q.filter.jobs.push_back({.job = array, .array_task = 4});
  rpc::JobRows part;
  ASSERT_TRUE(JobQuery(b.core.snapshot(), q).next(part));
  EXPECT_EQ(part.jobs[0].array_task, 4u);
  EXPECT_EQ(part.jobs[0].array_tasks, "");
  q.filter.jobs[0].array_task = kNoArrayTask;
  part = {};
  ASSERT_TRUE(JobQuery(b.core.snapshot(), q).next(part));
  EXPECT_EQ(part.jobs[0].array_tasks, "1-5");
}

TEST(NodeQuery, OneWithoutAConnectionIsNotResponding) {
  Bench b("", false);
  b.register_node(0, "boot1");
  auto query = NodeQuery::make(b.core.snapshot(), {});
  rpc::NodeRows part;
  ASSERT_TRUE(query && query->next(part) && part.nodes.size() == 4);
  EXPECT_FALSE(part.nodes[0].flags & kNodeNoRespond);
  EXPECT_TRUE(part.nodes[1].flags & kNodeNoRespond);
}

// PLANNED follows from the last full pass: a quick one does not take it away, the end of the job does, and no event says it.
TEST(NodeQuery, NodesThatAFullPassKeepsArePlanned) {
  Bench b;
  const JobId first = b.submit([](JobRequest& r) { r.required_nodes = "n0", r.exclusive = Exclusive::kNode; });
  EXPECT_EQ(b.plan(), 1u);
  b.started(first);
  const JobId wide = b.submit([](JobRequest& r) { r.min_nodes = 4, r.exclusive = Exclusive::kNode; });
  auto flags = [&](uint32_t node) {
    auto query = NodeQuery::make(b.core.snapshot(), {});
    rpc::NodeRows part;
    return query && query->next(part) ? part.nodes.at(node).flags & kNodePlanned : ~0u;
  };
  EXPECT_EQ(flags(1), 0u);
  b.plan();
  EXPECT_TRUE(b.last_events.empty());
  EXPECT_EQ(flags(0), 0u);
  EXPECT_EQ(flags(1), kNodePlanned);
  EXPECT_FALSE(b.node(1).flags & kNodePlanned) << "it is not stored";
  const auto quick = b.planner.plan(*b.core.snapshot(), b.settings.sched, b.now, sched::Pass::kQuick);
  b.turn([&] { b.core.carry_out(quick); });
  EXPECT_EQ(flags(1), kNodePlanned);
  b.cancel(wide);
  EXPECT_EQ(flags(1), 0u);
}

TEST(JobQuery, HiddenPartitionsShowTheirJobsOnlyToWhoAsks) {
  Bench b("PartitionName=secret Nodes=n0 Hidden=YES\n");
  JobId id = b.submit([](JobRequest& r) { r.partitions = {"secret"}; });
  rpc::QueryJobs q;
  EXPECT_TRUE(found(b, q).empty());
  q.show_all = true;
  EXPECT_EQ(found(b, q).size(), 1u);
  q.show_all = false;
  q.filter.jobs.push_back({.job = id});
  EXPECT_EQ(found(b, q).size(), 1u);
}

TEST(JobQuery, LicensesGoByName) {
  Bench b("Licenses=matlab:4,ansys:2\n");
  b.submit();
  JobId id = b.submit([](JobRequest& r) { r.licenses = "matlab:2,ansys"; });
  rpc::QueryJobs q;
  q.filter.licenses = {"ansys"};
  EXPECT_EQ(found(b, q), std::vector<uint32_t>{id.value});
  q.filter.licenses = {"mat"};
  EXPECT_TRUE(found(b, q).empty());
}

TEST(JobQuery, StatesOnlyBringsNothingElse) {
  Bench b;
  b.submit();
  rpc::QueryJobs q;
  q.parts = kRowStateOnly;
  JobQuery query(b.core.snapshot(), q);
  rpc::JobRows part;
  ASSERT_TRUE(query.next(part));
  EXPECT_TRUE(part.requests.empty());
  EXPECT_TRUE(part.jobs[0].partition.empty());
  EXPECT_EQ(part.jobs[0].state, JobState::kPending);
}

TEST(JobQuery, QueueOrderIsPartitionStatePriorityId) {
  Bench b("PartitionName=alpha Nodes=n[0-3]\n");
  auto in = [](const char* partition, uint32_t priority) {
    return [partition, priority](JobRequest& r) {
      r.partitions = {partition};
      r.priority = priority;
      r.uid = Uid(0);
    };
  };
  JobId low = b.submit(in("main", 5)), high = b.submit(in("main", 9)), again = b.submit(in("main", 9)), first = b.submit(in("alpha", 1));
  rpc::QueryJobs q;
  q.order = rpc::RowOrder::kQueue;
  EXPECT_EQ(found(b, q), (std::vector<uint32_t>{first.value, high.value, again.value, low.value}));
}

// Every job asks for something else: the client is told to forget, so it never holds more than it can bear.
TEST(JobQuery, RequestsAreForgottenAndSentAnew) {
  Bench b;
  for (int i = 0; i < 2500; ++i) b.submit([i](JobRequest& r) { r.name = "j" + std::to_string(i % 2300); });
  JobQuery query(b.core.snapshot(), {});
  rpc::JobRows part;
  std::set<uint32_t> have;
  size_t afresh = 0;
  while (query.next(part)) {
    if (part.afresh) {
      have.clear();
      ++afresh;
    }
    for (const auto& r : part.requests) have.insert(r.id.value);
    for (const JobRow& r : part.jobs) EXPECT_TRUE(have.contains(r.request.value));
    EXPECT_LE(have.size(), 2048u + 256u);
  }
  EXPECT_EQ(afresh, 1u);
}

TEST(JobQuery, TiersOfEachPartitionOfAPendingJob) {
  Bench b("PartitionName=fast Nodes=n0 PriorityTier=7\n");
  b.submit([](JobRequest& r) { r.partitions = {"main", "fast"}; });
  rpc::QueryJobs q;
  q.parts = kRowTiers;
  JobQuery query(b.core.snapshot(), q);
  rpc::JobRows part;
  ASSERT_TRUE(query.next(part));
  EXPECT_EQ(part.jobs[0].tiers, (std::vector<uint32_t>{7, 1}));
}

TEST(NodeQuery, PartitionsComeOnceAlsoWithoutNodes) {
  Bench b;
  auto q = NodeQuery::make(b.core.snapshot(), {.nodes = "", .partitions = {"other"}});
  ASSERT_TRUE(q);
  rpc::NodeRows part;
  ASSERT_TRUE(q->next(part));
  EXPECT_EQ(part.partitions.size(), 1u);
  EXPECT_TRUE(part.nodes.empty());
  EXPECT_FALSE(q->next(part));
  EXPECT_EQ(NodeQuery::make(b.core.snapshot(), {.nodes = "nope"}).error().code, Errc::kInvalidNodeName);
}

struct Seen {
  std::vector<uint32_t> jobs, left, gone;
  int parts = 0;
};
Seen all(JobWatch& w) {
  Seen s;
  rpc::JobChanges part;
  while (w.next(part)) {
    ++s.parts;
    for (uint32_t id : ids(part.jobs)) s.jobs.push_back(id);
    for (uint32_t id : ids(part.left)) s.left.push_back(id);
    for (JobId id : part.gone) s.gone.push_back(id.value);
  }
  return s;
}

TEST(JobWatch, TellsWhatChangedAndNothingElse) {
  Bench b;
  JobId one = b.submit(), two = b.submit();
  rpc::QueryJobs q;
  q.filter.states = bit(JobState::kPending);
  JobWatch watch(q);
  ASSERT_TRUE(watch.look(b.core.snapshot()));
  EXPECT_EQ(all(watch).jobs, (std::vector<uint32_t>{one.value, two.value}));

  EXPECT_FALSE(watch.look(b.core.snapshot()));

  JobId three = b.submit();
  ASSERT_TRUE(watch.look(b.core.snapshot()));
  EXPECT_EQ(all(watch).jobs, std::vector<uint32_t>{three.value});

  b.plan();  // all three start
  ASSERT_TRUE(watch.look(b.core.snapshot()));
  Seen s = all(watch);
  EXPECT_TRUE(s.jobs.empty());
  EXPECT_EQ(s.left.size(), 3u);
}

TEST(JobWatch, JobsOfOthersAreNoNews) {
  Bench b;
  rpc::QueryJobs q;
  q.filter.users = {Uid(77)};
  JobWatch watch(q);
  EXPECT_TRUE(watch.look(b.core.snapshot()));  // the first look is always told
  EXPECT_EQ(all(watch).parts, 0);
  b.submit();
  EXPECT_FALSE(watch.look(b.core.snapshot()));
}

TEST(JobWatch, LargeChangesComeInParts) {
  Bench b;
  JobWatch watch({});
  for (int i = 0; i < 600; ++i) b.submit();
  ASSERT_TRUE(watch.look(b.core.snapshot()));
  Seen s = all(watch);
  EXPECT_EQ(s.jobs.size(), 600u);
  EXPECT_EQ(s.parts, 3);
}

}  // namespace
}  // namespace muster::slurmctld

#include "slurmctld/core/row_query.h"

#include <algorithm>
#include <map>

#include "sched/fit/request_class.h"
#include "slurmctld/core/job_filter.h"
#include "slurmctld/core/reservation_rows.h"
#include "slurmctld/core/rows.h"

namespace muster::slurmctld {
namespace {

constexpr size_t kRowsPerPart = 256;
constexpr size_t kPartBytes = 256u << 10;
constexpr size_t kRequestsKept = 2048;  // by a client, at least

bool one_of(const std::vector<std::string>& list, const std::string& value) {
  return list.empty() || std::ranges::find(list, value) != list.end();
}

// The size of what may be long in a row: a job on thousands of nodes weighs as much as a hundred small ones.
size_t weight(const JobRow& r) { return r.node_list.size() + r.expected_nodes.size() + r.array_tasks.size() + r.shares.size() * 64; }

// `squeue -j 123_4`: of the waiting tasks that share a record, the row shows those that were asked for.
void narrow_to_tasks(JobRow& row, const Job& job, const std::vector<rpc::JobSelector>& asked) {
  if (!job.array_tasks || asked.empty()) return;
  Bitmap tasks;
  for (const rpc::JobSelector& s : asked) {
    if (job.id != s.job && job.array_job_id != s.job) continue;
    if (s.array_task == kNoArrayTask) return;  // all of it
    if (s.array_task < job.array_tasks->pending.size()) tasks.set(s.array_task);
  }
  tasks = tasks & job.array_tasks->pending;
  row.array_tasks = tasks.to_ranges();
  if (tasks.count() != 1) return;
  row.array_tasks.clear();
  row.array_max_running = 0;
  tasks.for_each([&](size_t task) { row.array_task = static_cast<uint32_t>(task); });
}

// Counts down how many records in the states asked for a walk has still to see; true at the last of them.
bool last_of_its_states(const Job& j, const rpc::QueryJobs& q, uint32_t& left) {
  if (left == StateCounts::kAny || !(q.filter.states & (1u << static_cast<unsigned>(j.state)))) return false;
  return --left == 0;
}

}  // namespace

bool shows_job(const Cluster& c, const Job& j, const rpc::QueryJobs& q, const Privacy& privacy) {
  if (!privacy.shows(j) || !matches_filter(c, j, q.filter)) return false;
  if (q.show_all || !q.filter.jobs.empty()) return true;
  const Partition* p = c.partitions.find(j.partition);
  return !p || !p->hidden;
}

void JobRowWriter::begin(rpc::JobRows& part) {
  if (sent_count_ < kRequestsKept) return;
  part.afresh = true;
  sent_ = Bitmap();
  sent_count_ = 0;
}

const sched::PriorityRule& JobRowWriter::rule(const Cluster& cluster) {
  if (rule_for_ != &cluster) {
    rule_.emplace(cluster, priority_, now_);
    preempt_rule_.emplace(cluster, preempt_, now_);
  }
  rule_for_ = &cluster;
  return *rule_;
}

void JobRowWriter::add(const Cluster& cluster, const Job& job, rpc::JobRows& part) {
  if (parts_ & kRowStateOnly) {
    part.jobs.push_back(make_state_row(job));
    return;
  }
  if (!sent_.test(job.request_id.value)) {
    sent_.set(job.request_id.value);
    ++sent_count_;
    part.requests.push_back({job.request_id, {job.request, job.own}});
  }
  part.jobs.push_back(make_job_row(cluster, rule(cluster), job, parts_));
  if (preempt_.preempts() && job.allocation && !job.finished())
    if (const Time at = preempt_rule_->eligible_at(job); at != kTimeInfinite) part.jobs.back().preempt_eligible = at;
  if (!(parts_ & kRowSteps)) return;
  if (job.request->kind == JobKind::kBatch && job.launched && !job.finished()) part.steps.push_back(make_batch_step_row(cluster, job));
  if (has_external_step(job) && job.launched && !job.finished()) part.steps.push_back(make_external_step_row(cluster, job));
  for (const Step& s : job.steps) part.steps.push_back(make_step_row(cluster, job, s));
}

// ---- jobs
std::vector<JobId> in_queue_order(const Cluster& cluster, const sched::PriorityRule& rule, const rpc::QueryJobs& query, uint32_t in_state,
                                  const Privacy& privacy) {
  struct Entry {
    uint32_t partition, state, falling_priority;
    JobId id;
    auto operator<=>(const Entry&) const = default;
  };
  // There are few different texts of partitions and states: each gets a number when it first comes up, and its rank at the end.
  std::map<std::string, uint32_t, std::less<>> numbers[2];
  auto number = [](std::map<std::string, uint32_t, std::less<>>& known, std::string_view text) {
    auto at = known.find(text);
    if (at == known.end()) at = known.emplace(text, static_cast<uint32_t>(known.size())).first;
    return at->second;
  };
  std::vector<Entry> entries;
  auto see = [&](uint32_t, const Job& j) {
    if (shows_job(cluster, j, query, privacy))
      entries.push_back(
          {number(numbers[0], partition_text(cluster, j)), number(numbers[1], job_state_shown_code(j.state, j.flags)), ~rule.of(j), j.id});
    return !last_of_its_states(j, query, in_state);
  };
  if (in_state) cluster.jobs.for_each(see);
  std::vector<uint32_t> ranks[2];
  for (int i = 0; i < 2; ++i) {
    ranks[i].resize(numbers[i].size());
    uint32_t rank = 0;
    for (const auto& [text, n] : numbers[i]) ranks[i][n] = rank++;
  }
  for (Entry& e : entries) {
    e.partition = ranks[0][e.partition];
    e.state = ranks[1][e.state];
  }
  std::ranges::sort(entries);
  std::vector<JobId> out;
  out.reserve(entries.size());
  for (const Entry& e : entries) out.push_back(e.id);
  return out;
}

Result<> check_job_query(const Cluster& cluster, const rpc::QueryJobs& query) {
  for (const std::string& name : query.filter.nodes) {
    if (cluster.node(name)) continue;
    bool known = false;
    cluster.nodes.for_each([&](uint32_t, const Node& n) { return !(known = n.spec->hostname == name); });
    if (!known) return fail(Errc::kInvalidNodeName, "Invalid node name " + name);
  }
  return {};
}

JobQuery::JobQuery(std::shared_ptr<const Cluster> cluster, rpc::QueryJobs query, sched::PriorityParams priority, Time now,
                   uint32_t in_state, Privacy privacy, sched::PreemptRules preempt)
    : cluster_(std::move(cluster)),
      query_(std::move(query)),
      privacy_(std::move(privacy)),
      writer_(query_.parts, std::move(priority), now, std::move(preempt)),
      in_state_(in_state) {
  put_in_order(query_.filter);
  if (query_.order == rpc::RowOrder::kQueue) {
    by_id_ = true;
    ids_ = in_queue_order(*cluster_, writer_.rule(*cluster_), query_, in_state, privacy_);
    return;
  }
  const auto& named = query_.filter.jobs;
  // The tasks of an array have ids of their own, which only a walk finds.
  by_id_ = !named.empty() && std::ranges::none_of(named, [&](const auto& s) { return cluster_->arrays.contains(s.job.value); });
  for (const rpc::JobSelector& s : named) {
    ids_.push_back(s.job);
    const Job* j = cluster_->jobs.find(s.job.value);
    for (uint32_t i = 1; j && j->het.leads() && i < j->het.size; ++i) ids_.push_back(j->het.component(i));
  }
  std::ranges::sort(ids_);
  if (!by_id_) {
    if (!ids_.empty()) next_key_ = ids_.front().value;  // a task's id is above its array's
    return;
  }
  ids_.erase(std::unique(ids_.begin(), ids_.end()), ids_.end());
}

const Job* JobQuery::next_job() {
  const Job* found = nullptr;
  if (by_id_) {
    while (!found && next_id_ < ids_.size()) {
      const Job* j = cluster_->jobs.find(ids_[next_id_++].value);
      if (j && shows_job(*cluster_, *j, query_, privacy_)) found = j;
    }
    return found;
  }
  if (in_state_ == 0) return nullptr;
  cluster_->jobs.for_each(
      [&](uint32_t key, const Job& j) {
        bool last = last_of_its_states(j, query_, in_state_);
        if (!shows_job(*cluster_, j, query_, privacy_)) return !last;
        found = &j;
        next_key_ = key + 1;
        return false;
      },
      next_key_);
  return found;
}

bool JobQuery::next(rpc::JobRows& part) {
  part.requests.clear();  // the memory that they have taken serves the next part
  part.jobs.clear();
  part.steps.clear();
  part.afresh = false;
  writer_.begin(part);
  size_t bytes = 0;
  while (!over_ && part.jobs.size() < kRowsPerPart && bytes < kPartBytes) {
    const Job* j = next_job();
    if (!j) {
      over_ = true;
      break;
    }
    writer_.add(*cluster_, *j, part);
    narrow_to_tasks(part.jobs.back(), *j, query_.filter.jobs);
    bytes += weight(part.jobs.back());
  }
  return !part.jobs.empty();
}

// ---- nodes
Result<NodeQuery> NodeQuery::make(std::shared_ptr<const Snapshot> cluster, const rpc::QueryNodes& query, const Privacy& privacy) {
  MUSTER_TRY_VOID(privacy.may_ask_for_nodes());
  NodeQuery out;
  out.cluster_ = std::move(cluster);
  const Cluster& state = *out.cluster_;
  out.memberships_.resize(state.nodes.empty() ? 0 : state.nodes.last_key() + 1);
  const bool partitions = privacy.may_ask_for_partitions().has_value();
  state.partitions.for_each([&](uint32_t, const Partition& p) {
    if (!partitions || (p.hidden && !query.show_all)) return;
    out.partitions_.push_back(make_partition_row(state, p));
    p.nodes.for_each([&](size_t i) {
      if (i < out.memberships_.size()) out.memberships_[i].push_back(p.name);
    });
  });
  auto add = [&](const Node& n) {
    if ((n.admin == NodeState::kFuture && !query.show_all) || !privacy.shows(n)) return;
    bool listed = std::ranges::any_of(out.memberships_[n.id.value], [&](const std::string& p) { return one_of(query.partitions, p); });
    if (query.partitions.empty() || listed) out.nodes_.push_back(&n);
  };
  if (query.nodes.empty()) {
    state.nodes.for_each([&](uint32_t, const Node& n) { add(n); });
    return out;
  }
  MUSTER_TRY(names, sched::names_meant(state, query.nodes));
  for (const std::string& name : names) {
    const Node* n = state.node(name);
    if (!n && query.known_only) continue;
    if (!n) return fail(Errc::kInvalidNodeName, "Node " + name + " not found");
    add(*n);
  }
  return out;
}

bool NodeQuery::next(rpc::NodeRows& part) {
  part = {};
  if (!first_ && next_ == nodes_.size()) return false;
  if (std::exchange(first_, false)) part.partitions = std::move(partitions_);
  const ReservedNodes reserved(*cluster_);
  while (next_ < nodes_.size() && part.nodes.size() < kRowsPerPart) {
    const Node& n = *nodes_[next_++];
    part.nodes.push_back(make_node_row(*cluster_, n, memberships_[n.id.value]));
    reserved.mark(n.id, part.nodes.back());
    part.nodes.back().flags |= cluster_->planned->flag(*cluster_, n);
  }
  return true;
}

// ---- partitions
Result<rpc::PartitionRows> query_partitions(const Cluster& cluster, const rpc::QueryPartitions& q, const Privacy& privacy) {
  MUSTER_TRY_VOID(privacy.may_ask_for_partitions());
  rpc::PartitionRows out;
  cluster.partitions.for_each([&](uint32_t, const Partition& p) {
    if (!q.name.empty() ? p.name == q.name : (q.show_all || !p.hidden)) out.partitions.push_back(make_partition_row(cluster, p));
  });
  if (!q.name.empty() && out.partitions.empty()) return fail(Errc::kInvalidPartition, "Partition " + q.name + " not found");
  return out;
}

}  // namespace muster::slurmctld

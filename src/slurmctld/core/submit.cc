// Submission: from what a user asks for to an accepted job, or the sentence that says why not.
#include <algorithm>

#include "base/text.h"
#include "hostlist/hostlist.h"
#include "model/array_spec.h"
#include "model/dependency.h"
#include "sched/availability.h"
#include "sched/features.h"
#include "sched/request_class.h"
#include "slurmctld/core/decide.h"
#include "slurmctld/core/request_texts.h"
#include "slurmctld/core/valid_choices.h"

namespace muster::slurmctld {
namespace {

constexpr uint32_t kPartitionsTried = 16;  // for the hint of a refusal

bool listed(const std::vector<std::string>& list, std::string_view name) {
  return std::ranges::any_of(list, [&](const std::string& x) { return iequals(x, name); });
}

Result<> check_lists(const Partition& p, const JobRequest& r) {
  if (!p.allow_accounts.empty() && !listed(p.allow_accounts, r.account))
    return fail(Errc::kInvalidAccount, {}, "partition " + p.name + " is open to accounts " + join(p.allow_accounts, ", "));
  if (!r.account.empty() && listed(p.deny_accounts, r.account))
    return fail(Errc::kInvalidAccount, {}, "partition " + p.name + " is closed to account " + r.account);
  if (!p.allow_qos.empty() && !listed(p.allow_qos, r.qos))
    return fail(Errc::kInvalidQos, {}, "partition " + p.name + " is open to QOS " + join(p.allow_qos, ", "));
  if (!r.qos.empty() && listed(p.deny_qos, r.qos))
    return fail(Errc::kInvalidQos, {}, "partition " + p.name + " is closed to QOS " + r.qos);
  return {};
}

Result<> check_access(const View& v, const Partition& p, const JobRequest& r) {
  bool root = v.is_operator();
  if (p.root_only && !root) return fail(Errc::kAccessDenied);
  if ((p.disable_root_jobs || v.settings.config().disable_root_jobs) && r.uid == Uid{0} && !v.settings.rootless)
    return fail(Errc::kAccessDenied, {}, "partition " + p.name + " takes no jobs of root (DisableRootJobs)");
  if (!p.allow_groups.empty() && !root &&
      std::ranges::none_of(v.caller.groups, [&](const std::string& g) { return listed(p.allow_groups, g); }))
    return fail(Errc::kAccessDenied, {}, "partition " + p.name + " is open to groups " + join(p.allow_groups, ", "));
  if (!p.alloc_nodes.empty() && !root && !v.caller.host.empty() && !listed(p.alloc_nodes, v.caller.host))
    return fail(Errc::kAccessDenied, {}, "partition " + p.name + " takes jobs from hosts " + join(p.alloc_nodes, ", "));
  return check_lists(p, r);
}

MayUse usable_by(const View& v, const JobRequest& r) {
  return [&](const Partition& p) { return check_access(v, p, r).has_value(); };
}

// "; partition long allows it", where there is one that does.
std::string elsewhere(const View& v, const JobRequest& r, const MayUse& allows) {
  std::string out = partitions_allowing(v.cluster, usable_by(v, r), allows);
  return out.empty() ? out : "; " + out;
}

// Limits that EnforcePartLimits applies at submission; otherwise the job waits with the reason.
Result<> check_limits(const View& v, const Partition& p, const JobRequest& r) {
  if (r.time_limit_min && *r.time_limit_min > p.max_time_min)
    return fail(Errc::kInvalidTimeLimit, {},
                "--time asks for more than the " + std::to_string(p.max_time_min) + " minutes (MaxTime) of partition " + p.name +
                    elsewhere(v, r, [&](const Partition& o) { return o.max_time_min >= *r.time_limit_min; }));
  if (r.min_nodes > p.max_nodes)
    return fail(Errc::kInvalidNodeCount, {},
                "partition " + p.name + " gives a job at most " + std::to_string(p.max_nodes) + " nodes (MaxNodes)" +
                    elsewhere(v, r, [&](const Partition& o) {
                      return o.max_nodes >= r.min_nodes && o.nodes.count() >= r.min_nodes;
                    }));
  if (r.max_nodes && r.max_nodes < p.min_nodes)
    return fail(Errc::kInvalidNodeCount, {},
                "partition " + p.name + " wants at least " + std::to_string(p.min_nodes) + " nodes a job (MinNodes)");
  return {};
}

bool takes_no_jobs(const Partition& p) { return p.state == PartitionState::kInactive || p.state == PartitionState::kDrain; }

// Alternate=: the partition that takes this one's jobs while it takes none itself; this one when there is none.
const Partition& in_service(const View& v, const Partition& named) {
  const Partition* p = &named;
  for (size_t hops = 0; takes_no_jobs(*p) && hops < v.cluster.partitions.size(); ++hops) {
    const Partition* other = v.cluster.partition(p->alternate);
    if (!other) break;
    p = other;
  }
  return takes_no_jobs(*p) ? named : *p;
}

// The request's partitions with those in place of which others take its jobs; nullopt when it stays as it is.
std::optional<std::vector<std::string>> alternates(const View& v, const JobRequest& r) {
  std::vector<std::string> names = r.partitions;
  if (names.empty() && v.cluster.default_partition != Cluster::kNoPartition)
    names.push_back(v.cluster.partitions.at(v.cluster.default_partition).name);
  bool changed = false;
  for (std::string& name : names) {
    const Partition* p = v.cluster.partition(name);
    if (!p || !takes_no_jobs(*p) || p->alternate.empty()) continue;
    const Partition& other = in_service(v, *p);
    changed = changed || &other != p;
    name = other.name;
  }
  return changed ? std::optional(std::move(names)) : std::nullopt;
}

Result<std::vector<uint32_t>> resolve_partitions(const View& v, const JobRequest& r) {
  std::vector<uint32_t> out;
  for (const std::string& name : r.partitions) {
    const Partition* p = v.cluster.partition(name);
    if (!p) return fail(Errc::kInvalidPartition, "invalid partition specified: " + name, choice_of_partitions(v.cluster, usable_by(v, r), name));
    out.push_back(p->index);
  }
  if (out.empty()) {
    if (v.cluster.default_partition == Cluster::kNoPartition)
      return fail(Errc::kDefaultPartitionNotSet, {}, "name one with --partition; " + choice_of_partitions(v.cluster, usable_by(v, r), ""));
    out.push_back(v.cluster.default_partition);
  }
  return out;
}

// Nodes asked for by name: none may be excluded too, and --immediate does not wait for one that is out of service.
Result<> check_required(const View& v, const JobRequest& r) {
  if (r.required_nodes.empty()) return {};
  MUSTER_TRY(required, expand_hosts(r.required_nodes));
  MUSTER_TRY(excluded, expand_hosts(r.excluded_nodes));
  for (const std::string& h : required)
    if (std::ranges::find(excluded, h) != excluded.end())
      return fail(Errc::kInvalidNodeName, {}, "--nodelist and --exclude both name " + h);
  for (const std::string& h : required)
    if (const Node* n = v.cluster.node(h); r.immediate_seconds && n && !sched::node_usable(*n))
      return fail(Errc::kNodeNotAvailable, {}, "node " + h + " is out of service" + (n->reason.empty() ? "" : ": " + n->reason));
  return {};
}

Result<> check_names(const View& v, const JobRequest& r) {
  for (const std::string* list : {&r.required_nodes, &r.excluded_nodes}) {
    if (list->empty()) continue;
    MUSTER_TRY(hosts, expand_hosts(*list));
    for (const std::string& h : hosts)
      if (!v.cluster.node(h)) return fail(Errc::kInvalidNodeName, {}, "no node is called '" + h + "'; " + choice_of_nodes(v.cluster, h));
  }
  MUSTER_TRY_VOID(check_required(v, r));
  if (!r.reservation.empty()) return fail(Errc::kReservationInvalid, {}, "no reservation is called '" + r.reservation + "'");
  return check_texts(r);
}

// block{b1} and the like are for the cluster as it is now: what is kept are the names. A job has all nodes of --nodelist.
bool has_functions(const JobRequest& r) {
  return r.required_nodes.find('{') != std::string::npos || r.excluded_nodes.find('{') != std::string::npos;
}
Result<JobRequest> plainly_named(const View& v, JobRequest r) {
  MUSTER_TRY(required, sched::without_functions(v.cluster, r.required_nodes));
  MUSTER_TRY(excluded, sched::without_functions(v.cluster, r.excluded_nodes));
  r.required_nodes = std::move(required);
  r.excluded_nodes = std::move(excluded);
  if (r.required_nodes.empty()) return r;
  MUSTER_TRY(count, count_hosts(r.required_nodes));
  if (r.max_nodes && count > r.max_nodes)
    return fail(Errc::kInvalidNodeCount, {}, "--nodelist names " + std::to_string(count) + " nodes, and the job has all of them");
  r.min_nodes = std::max(r.min_nodes, static_cast<uint32_t>(count));
  return r;
}

// --time-min and --deadline against the limit that the job will have.
Result<> check_times(const View& v, const JobRequest& r, const Partition& p) {
  uint32_t limit = r.time_limit_min ? *r.time_limit_min : p.default_time_min.value_or(p.max_time_min);
  if (r.time_min_min && r.time_min_min > limit)
    return fail(Errc::kInvalidTimeMin, {}, "--time-min is longer than the time limit, " + std::to_string(limit) + " minutes");
  if (r.deadline == kTimeUnset) return {};
  if (r.deadline <= v.now) return fail(Errc::kInvalidTimeLimit, {}, "--deadline=" + format_time(r.deadline) + " has passed");
  if (limit == kUnlimited32 && !r.time_min_min)
    return fail(Errc::kInvalidTimeLimit, {}, "with --deadline a job needs --time or --time-min: partition " + p.name + " has no limit");
  return {};   // one that can not end in time any more is removed with state DEADLINE
}

// EnforcePartLimits=NO: above MaxMemPerNode it waits until the limit is raised.
bool waits_for_memory_limit(const View& v, const Partition& p, const JobRequest& r) {
  const config::Config& c = v.settings.config();
  uint64_t most = p.max_mem_per_node_mb.value_or(v.settings.sched.max_mem_per_node_mb);
  return c.enforce_part_limits == config::EnforcePartitionLimits::kNo && most && r.mem_per_node_mb.value_or(0) > most;
}

Result<> check_partition(const View& v, const JobRequest& r, uint32_t index) {
  const Partition& p = v.cluster.partitions.at(index);
  MUSTER_TRY_VOID(check_access(v, p, r));
  if (v.settings.config().enforce_part_limits != config::EnforcePartitionLimits::kNo && !v.is_operator())
    MUSTER_TRY_VOID(check_limits(v, p, r));
  if (takes_no_jobs(p)) return fail(Errc::kPartitionNotAvailable);
  Result<> ever = v.feasibility.check(v.cluster, v.settings.sched, r, index);
  if (!ever && ever.error().code == Errc::kMemoryRequest && waits_for_memory_limit(v, p, r)) return {};
  return ever;
}

// Of a request that no node of the partition could ever serve: other partitions that could.
Error with_other_partitions(const View& v, const JobRequest& r, Error e) {
  if (e.code != Errc::kRequestedNodeConfigUnavailable || !r.required_nodes.empty()) return e;
  uint32_t looked_at = 0;
  const std::string others = partitions_allowing(v.cluster, usable_by(v, r), [&](const Partition& p) {
    return ++looked_at <= kPartitionsTried && !waits_for_memory_limit(v, p, r) && check_partition(v, r, p.index).has_value();
  });
  if (!others.empty()) e.hint += (e.hint.empty() ? "" : "; ") + others;
  return e;
}

// At least one partition must be possible; all of several with EnforcePartLimits=ALL.
Result<> check_partitions(const View& v, const JobRequest& r, const std::vector<uint32_t>& partitions) {
  bool all = v.settings.config().enforce_part_limits == config::EnforcePartitionLimits::kAll;
  std::optional<Error> first;
  bool possible = false;
  for (uint32_t i : partitions) {
    Result<> ok = check_partition(v, r, i);
    if (ok) possible = true;
    else if (!first) first = ok.error();
  }
  if (first && (!possible || all)) return std::unexpected(with_other_partitions(v, r, std::move(*first)));
  return {};
}

Result<std::shared_ptr<const Dependencies>> check_dependencies(const View& v, const JobRequest& r, JobId self) {
  if (r.dependency.empty()) return nullptr;
  MUSTER_TRY(parsed, parse_dependencies(r.dependency));
  if (parsed.list.empty()) return nullptr;
  name_whole_arrays(v.cluster, parsed);
  Job probe;
  probe.id = self;
  probe.ask(r);
  MUSTER_TRY_VOID(check_submitted(v.cluster, parsed));
  refresh_dependencies(v, probe, parsed);
  if (verdict_of(parsed) == DependencyVerdict::kMet) return nullptr;
  return std::make_shared<const Dependencies>(std::move(parsed));
}

Result<std::shared_ptr<const ArrayTasks>> check_array(const View& v, const JobRequest& r) {
  if (r.array.empty()) return nullptr;
  uint32_t size = v.settings.config().max_array_size;
  if (size <= 1) return fail(Errc::kInvalidArray, {}, "job arrays are disabled here (MaxArraySize)");
  MUSTER_TRY(tasks, parse_array_spec(r.array, size - 1));
  const int64_t most = v.settings.config().scheduler_parameters.number("max_array_tasks", size);
  if (const auto count = static_cast<int64_t>(tasks.pending.count()); count > most)
    return fail(Errc::kInvalidArray, {}, "it has " + std::to_string(count) + " tasks, SchedulerParameters=max_array_tasks allows " + std::to_string(most));
  return std::make_shared<const ArrayTasks>(std::move(tasks));
}

Result<JobId> next_job_id(const View& v) {
  const config::Config& c = v.settings.config();
  uint32_t first = std::max(1u, c.first_job_id), id = std::max(first, v.cluster.last_job_id.value + 1);
  for (uint32_t tries = 0; tries <= c.max_job_count + 1; ++tries, ++id) {
    if (id > c.max_job_id) id = first;
    if (!v.cluster.jobs.contains(id) && !v.cluster.arrays.contains(id)) return JobId(id);
  }
  return fail(Errc::kTryAgainLater, {}, "every job id up to MaxJobId is in use");
}

}  // namespace

// --batch names features of --constraint, each node's own: the script needs one node, not so many of them.
Result<> check_batch_features(const JobRequest& r) {
  if (r.batch_features.empty()) return {};
  MUSTER_TRY(batch, sched::parse_features(r.batch_features));
  if (batch.base.empty() || !batch.counts.empty() || !batch.matching.empty())
    return fail(Errc::kBatchConstraint, {}, "--batch=" + r.batch_features + ": features joined with & and |, without counts and brackets");
  MUSTER_TRY(job, sched::parse_features(r.features));
  for (const std::string& name : batch.names)
    if (std::ranges::find(job.names, name) == job.names.end())
      return fail(Errc::kBatchConstraint, {}, "--batch=" + r.batch_features + ": '" + name + "' is not part of --constraint" + (r.features.empty() ? "" : "=" + r.features));
  return {};
}

namespace {

// A request that may be stored, and its partitions, the first one first.
struct Checked {
  JobRequest request;
  std::vector<uint32_t> partitions;
};

Result<Checked> check(const View& v, const JobRequest& request) {
  if (request.uid != v.caller.uid && !v.is_operator())
    return fail(Errc::kUserIdMissing, {}, "only root and SlurmUser may submit for another user");
  if (has_functions(request)) {
    MUSTER_TRY(plain, plainly_named(v, request));
    return check(v, plain);
  }
  if (auto others = alternates(v, request)) {
    JobRequest moved = request;
    moved.partitions = std::move(*others);
    return check(v, moved);
  }
  MUSTER_TRY_VOID(check_names(v, request));
  MUSTER_TRY_VOID(check_batch_features(request));
  MUSTER_TRY(partitions, resolve_partitions(v, request));
  MUSTER_TRY_VOID(check_times(v, request, v.cluster.partitions.at(partitions[0])));
  Checked out{request, std::move(partitions)};
  MUSTER_TRY_VOID(complete_mcs_label(v, out.request));
  MUSTER_TRY_VOID(check_partitions(v, out.request, out.partitions));
  return out;
}

// DefMemPerNode, DefMemPerCPU of the partition, else of the cluster, where the user named no memory.
void default_memory(const View& v, const Partition& p, JobRequest& r) {
  if (r.mem_per_node_mb || r.mem_per_cpu_mb || r.mem_per_gpu_mb) return;
  const config::Config& c = v.settings.config();
  if (p.def_mem_per_node_mb) r.mem_per_node_mb = p.def_mem_per_node_mb;
  else if (p.def_mem_per_cpu_mb) r.mem_per_cpu_mb = p.def_mem_per_cpu_mb;
  else if (c.def_mem_per_node_mb && *c.def_mem_per_node_mb) r.mem_per_node_mb = c.def_mem_per_node_mb;
  else if (c.def_mem_per_cpu_mb && *c.def_mem_per_cpu_mb) r.mem_per_cpu_mb = c.def_mem_per_cpu_mb;
}

}  // namespace

Result<JobRequest> check_request(const View& v, const JobRequest& request) {
  MUSTER_TRY(checked, check(v, request));
  return std::move(checked.request);
}

Result<Decision<rpc::JobSubmitted>> decide_submit(const View& v, const JobRequest& request) {
  MUSTER_TRY(checked, check(v, request));
  auto& [r, partitions] = checked;
  default_memory(v, v.cluster.partitions.at(partitions[0]), r);
  if (r.switches) r.switches_wait = std::min(r.switches_wait, v.settings.sched.topology.max_switch_wait);
  MUSTER_TRY(array, check_array(v, r));
  uint32_t tasks = array ? static_cast<uint32_t>(array->pending.count()) : 1;
  uint32_t bound = v.settings.config().max_job_count;
  if (v.indexes.job_count() + tasks > bound)
    return fail(Errc::kTryAgainLater, {}, "the queue holds MaxJobCount=" + std::to_string(bound) + " jobs");
  MUSTER_TRY(id, next_job_id(v));
  MUSTER_TRY(dependencies, check_dependencies(v, r, id));

  Decision<rpc::JobSubmitted> d;
  RequestId stored = store_request(v, r, d.events);
  const Partition& p = v.cluster.partitions.at(partitions[0]);
  event::JobSubmitted e;
  e.job = id;
  e.request = stored;
  e.time = v.now;
  e.priority = default_priority(v, id, r.nice);
  if (r.priority && v.is_operator()) {
    e.priority = std::min(*r.priority, kUnlimited32 - 1);
    e.flags |= kJobPriorityFixed;
  }
  e.partition = partitions[0];
  e.time_limit_min = r.time_limit_min ? *r.time_limit_min : p.default_time_min.value_or(p.max_time_min);
  e.array_tasks = array;
  e.dependencies = dependencies;
  if (!dependencies) {
    e.eligible = std::max(v.now, r.begin);
  } else {
    Job probe;
    probe.id = id;
    probe.ask(r);
    e.eligible = recheck_time(v, probe, *dependencies);
  }
  e.reason = waiting_reason(v, dependencies.get(), e.eligible);
  if (r.hold) {
    e.priority = 0;
    e.reason = Reason::kJobHeldUser;
    e.flags = kJobHeldByUser;
    if (!dependencies && r.begin <= v.now) e.eligible = kTimeUnset;   // set when it is released; else when to look again
  }
  d.events.push_back(std::move(e));
  d.reply.job = id;
  return d;
}

}  // namespace muster::slurmctld

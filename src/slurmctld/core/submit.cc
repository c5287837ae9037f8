// Submission: from what a user asks for to an accepted job, or the sentence that says why not.
#include <algorithm>

#include "acct/admission.h"
#include "base/text.h"
#include "model/array_spec.h"
#include "model/dependency.h"
#include "model/request_texts.h"
#include "sched/fit/request_class.h"
#include "sched/gate.h"
#include "sched/qos_flags.h"
#include "sched/request/least_wanted.h"
#include "sched/rules/partition_lists.h"
#include "sched/supply/availability.h"
#include "slurmctld/core/decide.h"
#include "slurmctld/core/job_ids.h"
#include "slurmctld/core/job_shares.h"
#include "slurmctld/core/on_behalf.h"
#include "slurmctld/core/reservations.h"
#include "slurmctld/core/valid_choices.h"

namespace muster::slurmctld {
namespace {

constexpr uint32_t kPartitionsTried = 16;  // for the hint of a refusal
constexpr int32_t kMostNice = 2147483645;

bool listed(const std::vector<std::string>& list, std::string_view name) {
  return std::ranges::any_of(list, [&](const std::string& x) { return iequals(x, name); });
}

// Whether lists of groups and hosts do not apply. Where an operator changes another user's job, the operator's groups and host say nothing
// about that job.
bool goes_anywhere(const View& v, const JobRequest& r) {
  return v.may(Right::kAnyPartition) || (r.uid != v.caller.uid && v.may(Right::kPlaceForOthers));
}

// Whether the job may be in the partition at all, by its user, the user's groups and the host that it came from.
Result<> check_access(const View& v, const Partition& p, const JobRequest& r) {
  const bool anywhere = goes_anywhere(v, r);
  if (r.uid != v.caller.uid && !anywhere && !(p.allow_groups.empty() && p.alloc_nodes.empty()))
    return fail(Errc::kAccessDenied, {}, "partition " + p.name + " is not open to all: the job's user or an operator may move it there");
  if (p.root_only && !v.may(Right::kRootPartitions)) return fail(Errc::kAccessDenied);
  if ((p.disable_root_jobs || v.settings.config().disable_root_jobs) && r.uid == Uid{0} && !v.settings.rootless)
    return fail(Errc::kAccessDenied, {}, "partition " + p.name + " takes no jobs of root (DisableRootJobs)");
  if (!p.allow_groups.empty() && !anywhere &&
      std::ranges::none_of(v.caller.groups, [&](const std::string& g) { return listed(p.allow_groups, g); }))
    return fail(Errc::kAccessDenied, {}, "partition " + p.name + " is open to groups " + join(p.allow_groups, ", "));
  if (!p.alloc_nodes.empty() && !anywhere && !listed(p.alloc_nodes, r.alloc_node))
    return fail(Errc::kAccessDenied, {}, "partition " + p.name + " takes jobs from hosts " + join(p.alloc_nodes, ", "));
  return {};
}

MayUse usable_by(const View& v, const JobRequest& r) {
  return [&](const Partition& p) { return check_access(v, p, r).has_value() && sched::lists_admit(r, p).has_value(); };
}

// "; partition long allows it", where there is one that does.
std::string elsewhere(const View& v, const JobRequest& r, const MayUse& allows) {
  std::string out = partitions_allowing(v.cluster, usable_by(v, r), allows);
  return out.empty() ? out : "; " + out;
}

// Limits that EnforcePartLimits applies at submission; otherwise the job waits with the reason.
Result<> check_limits(const View& v, const Partition& p, const JobRequest& r) {
  const sched::PartitionBounds bounds = sched::bounds_for(v.cluster, p, r.qos);
  if (r.time_limit_min && *r.time_limit_min > bounds.max_time_min)
    return fail(Errc::kInvalidTimeLimit, {},
                "--time asks for more than the " + std::to_string(p.max_time_min) + " minutes (MaxTime) of partition " + p.name +
                    elsewhere(v, r, [&](const Partition& o) { return o.max_time_min >= *r.time_limit_min; }));
  if (r.min_nodes > bounds.max_nodes)
    return fail(Errc::kInvalidNodeCount, {},
                "partition " + p.name + " gives a job at most " + std::to_string(p.max_nodes) + " nodes (MaxNodes)");
  if (r.max_nodes && r.max_nodes < bounds.min_nodes)
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

// The request's partitions, each replaced by the one that takes its jobs now; nullopt when nothing changes.
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
    if (!p)
      return fail(Errc::kInvalidPartition, "invalid partition specified: " + name, choice_of_partitions(v.cluster, usable_by(v, r), name));
    out.push_back(p->index);
  }
  if (out.empty()) {
    if (v.cluster.default_partition == Cluster::kNoPartition)
      return fail(Errc::kDefaultPartitionNotSet, {}, "name one with --partition; " + choice_of_partitions(v.cluster, usable_by(v, r), ""));
    out.push_back(v.cluster.default_partition);
  }
  return out;
}

// Checks nodes asked for by name: none of them may be excluded too, and --immediate does not wait for one that is out of service.
Result<> check_required(const View& v, const JobRequest& r) {
  if (r.required_nodes.empty()) return {};
  const std::vector<std::string> required = r.required_nodes->names();
  std::vector<std::string> excluded = r.excluded_nodes->names();
  std::ranges::sort(excluded);
  for (const std::string& h : required)
    if (std::ranges::binary_search(excluded, h)) return fail(Errc::kInvalidNodeName, {}, "--nodelist and --exclude both name " + h);
  for (const std::string& h : required)
    if (const Node* n = v.cluster.node(h); r.immediate_seconds && n && !sched::node_usable(*n))
      return fail(Errc::kNodeNotAvailable, {}, "node " + h + " is out of service" + (n->reason.empty() ? "" : ": " + n->reason));
  return {};
}

Result<> check_names(const View& v, const JobRequest& r) {
  for (const NodeList* list : {&r.required_nodes, &r.excluded_nodes}) {
    if (!list->parsed()) return std::unexpected(list->parsed().error());
    for (const NodeNames::Part& part : list->value().parts)
      for (const std::string& h : part.hosts)
        if (!v.cluster.node(h)) return fail(Errc::kInvalidNodeName, {}, "no node is called '" + h + "'; " + choice_of_nodes(v.cluster, h));
  }
  MUSTER_TRY_VOID(check_required(v, r));
  return {};
}

// block{b1} and the like mean nodes of the cluster as it is now, so names are kept in their place. A job has all nodes of --nodelist.
bool has_functions(const JobRequest& r) { return r.required_nodes->has_functions() || r.excluded_nodes->has_functions(); }
Result<JobRequest> plainly_named(const View& v, JobRequest r) {
  for (NodeList* list : {&r.required_nodes, &r.excluded_nodes}) {
    MUSTER_TRY(plain, sched::without_functions(v.cluster, *list));
    *list = std::move(plain);
  }
  if (r.required_nodes.empty()) return r;
  const size_t count = r.required_nodes->count();
  if (r.max_nodes && count > r.max_nodes)
    return fail(Errc::kInvalidNodeCount, {}, "--nodelist names " + std::to_string(count) + " nodes, and the job has all of them");
  r.min_nodes = std::max(r.min_nodes, static_cast<uint32_t>(count));
  return r;
}

// --deadline: sets the limit to what the deadline leaves, where the limit may be shortened or was not named. A job that later can no longer
// end in time is removed, with state DEADLINE.
Result<> fit_deadline(const View& v, uint32_t limit, JobRequest& r) {
  if (r.deadline <= v.now) return fail(Errc::kInvalidTimeLimit, {}, "--deadline=" + format_time(r.deadline) + " has passed");
  if (r.begin >= r.deadline)
    return fail(Errc::kInvalidTimeLimit, {}, "--begin=" + format_time(r.begin) + " is not before --deadline=" + format_time(r.deadline));
  // Whole seconds, as users write them: --deadline=now+1hour leaves an hour.
  const int64_t left = (unix_seconds(r.deadline) - unix_seconds(std::max(v.now, r.begin))) / 60;
  const std::string leaves = "--deadline=" + format_time(r.deadline) + " leaves the job " + std::to_string(left) + " minutes";
  if (left >= limit) return {};
  if (r.time_min_min ? r.time_min_min > left : left < 1 || r.time_limit_min)
    return fail(r.time_min_min ? Errc::kInvalidTimeMin : Errc::kInvalidTimeLimit, {}, leaves);
  r.time_limit_min = static_cast<uint32_t>(left);
  if (!r.time_min_min) r.time_min_min = 1;  // the later the job starts, the less time is left
  return {};
}

uint32_t limit_of(const JobRequest& r, const Partition& p) {
  return r.time_limit_min ? *r.time_limit_min : p.default_time_min.value_or(p.max_time_min);
}

// --time-min and --deadline against the limit that the job will have.
Result<> settle_times(const View& v, const Partition& p, JobRequest& r) {
  const uint32_t limit = limit_of(r, p);
  if (r.time_min_min && r.time_min_min > limit)
    return fail(Errc::kInvalidTimeMin, {}, "--time-min is longer than the time limit, " + std::to_string(limit) + " minutes");
  return r.deadline == kTimeUnset ? Result<>() : fit_deadline(v, limit, r);
}

// EnforcePartLimits=NO: a job above MaxMemPerNode waits until that limit is raised.
bool waits_for_memory_limit(const View& v, const Partition& p, const JobRequest& r) {
  const config::Config& c = v.settings.config();
  uint64_t most = p.max_mem_per_node_mb.value_or(v.settings.sched.max_mem_per_node_mb);
  return c.enforce_part_limits == config::EnforcePartitionLimits::kNo && most && r.mem_per_node_mb.value_or(0) > most;
}

// Which checks are made: for a submission all, for an update those of what it changes.
struct Asked {
  bool groups = true;  // who may be there, by user, group and host
  bool lists = true;   // accounts and QOS, and whether it takes jobs
  bool limits = true;
};

Result<> check_partition(const View& v, const JobRequest& r, uint32_t index, Asked asked = {}) {
  const Partition& p = v.cluster.partitions.at(index);
  if (asked.groups) MUSTER_TRY_VOID(check_access(v, p, r));
  const bool enforced = v.settings.config().enforce_part_limits != config::EnforcePartitionLimits::kNo;
  if (asked.lists && enforced) MUSTER_TRY_VOID(sched::lists_admit(r, p));  // else the planner says why the job waits
  if (asked.limits && enforced && !goes_anywhere(v, r)) MUSTER_TRY_VOID(check_limits(v, p, r));
  if (asked.lists && takes_no_jobs(p)) return fail(Errc::kPartitionNotAvailable);
  Result<> ever = v.feasibility.check(v.cluster, v.settings.sched, r, index);
  if (!ever && ever.error().code == Errc::kRequestedNodeConfigUnavailable && r.hold) return {};  // looked at again when it is released
  if (!ever && ever.error().code == Errc::kMemoryRequest && waits_for_memory_limit(v, p, r)) return {};
  return ever;
}

// Adds other partitions that could serve the request, when no node of this one ever could.
Error with_other_partitions(const View& v, const JobRequest& r, Error e) {
  const bool too_much =
      e.code == Errc::kRequestedNodeConfigUnavailable || e.code == Errc::kTooManyRequestedCpus || e.code == Errc::kInvalidNodeCount;
  if (!too_much || !r.required_nodes.empty()) return e;
  uint32_t looked_at = 0;
  const std::string others = partitions_allowing(v.cluster, usable_by(v, r), [&](const Partition& p) {
    return ++looked_at <= kPartitionsTried && !waits_for_memory_limit(v, p, r) && check_partition(v, r, p.index).has_value();
  });
  if (!others.empty()) e.hint += (e.hint.empty() ? "" : "; ") + others;
  return e;
}

// At least one partition must be possible; with EnforcePartLimits=ALL, each of them.
Result<> check_partitions(const View& v, const JobRequest& r, const std::vector<uint32_t>& partitions, Asked asked = {}) {
  bool all = v.settings.config().enforce_part_limits == config::EnforcePartitionLimits::kAll;
  std::optional<Error> first;
  bool possible = false;
  for (uint32_t i : partitions) {
    Result<> ok = check_partition(v, r, i, asked);
    if (ok) possible = true;
    else if (!first) first = ok.error();
  }
  if (first && (!possible || all)) return std::unexpected(with_other_partitions(v, r, std::move(*first)));
  return {};
}

// Leaves out, of several partitions, those that the job may not enter and those that take no jobs: this is not checked again when the job
// starts.
Result<> leave_out_closed(const View& v, JobRequest& r, std::vector<uint32_t>& partitions) {
  if (partitions.size() < 2 || v.settings.config().enforce_part_limits == config::EnforcePartitionLimits::kAll) return {};
  std::vector<uint32_t> open;
  std::optional<Error> first;
  for (uint32_t i : partitions) {
    const Partition& p = v.cluster.partitions.at(i);
    Result<> ok = takes_no_jobs(p) ? fail(Errc::kPartitionNotAvailable) : check_access(v, p, r);
    if (ok) open.push_back(i);
    else if (!first) first = ok.error();
  }
  if (!first) return {};
  if (open.empty()) return std::unexpected(std::move(*first));
  r.partitions.clear();
  for (uint32_t i : open) r.partitions.push_back(v.cluster.partitions.at(i).name);
  partitions = std::move(open);
  return {};
}

// Sets the account and QOS of the job, with the defaults of the first partition where it may run with them. The error is what bars it from
// all partitions. The scheduler asks again for each partition.
Result<> admit(const View& v, JobRequest& r, const std::vector<uint32_t>& partitions, acct::Moment moment) {
  const bool all = v.settings.config().enforce_part_limits == config::EnforcePartitionLimits::kAll;
  std::optional<acct::Admitted> found;
  std::optional<acct::Never> first;
  for (uint32_t i : partitions) {
    acct::Admission verdict = acct::admit(
        v.cluster.directory.get(), v.settings.sched.enforcement,
        {r.user_name, r.account, r.qos, v.cluster.partitions.at(i).name, r.qos_granted, !r.reservation.empty(), &v.cluster.partitions},
        moment);
    if (auto* admitted = std::get_if<acct::Admitted>(&verdict); admitted && !found) found = std::move(*admitted);
    else if (auto* never = std::get_if<acct::Never>(&verdict); never && !first) first = std::move(*never);
  }
  if (first && (all || !found)) return fail(first->error, {}, std::move(first->detail));
  r.account = std::move(found->account);
  r.qos = std::move(found->qos);
  return {};
}

// Checks what not everybody may ask for. sbatch(1) --nice, --reboot. A --priority that the caller may not set is ignored instead (decide).
Result<> check_rights(const View& v, const JobRequest& r) {
  if (r.nice < -kMostNice || r.nice > kMostNice)
    return fail(Errc::kInvalidNice, {},
                "--nice=" + std::to_string(r.nice) + ": from -" + std::to_string(kMostNice) + " to " + std::to_string(kMostNice));
  if (r.nice < 0 && !v.may(Right::kNegativeNice))
    return fail(Errc::kInvalidNice, {}, "--nice=" + std::to_string(r.nice) + ": only operators may use a negative value");
  if (r.reboot && !v.may(Right::kRebootForJob)) return fail(Errc::kAccessDenied, {}, "--reboot: only administrators may reboot nodes");
  if (r.no_allocate && !v.may(Right::kWithoutAllocation))
    return fail(Errc::kAccessDenied, {}, "--no-allocate: only root and SlurmUser may run without an allocation");
  if ((r.core_spec || r.core_spec_given) && !v.settings.config().allow_spec_resources_usage && !v.may(Right::kReserveCores))
    return fail(Errc::kInvalidReq, {}, "--core-spec and --thread-spec need AllowSpecResourcesUsage=YES");
  return {};
}

Result<std::shared_ptr<const Dependencies>> check_dependencies(const View& v, const JobRequest& r, JobId self, const HetPart& het) {
  if (r.dependency.empty()) return nullptr;
  MUSTER_TRY(parsed, parse_dependencies(r.dependency));
  if (parsed.list.empty()) return nullptr;
  name_whole_arrays(v.cluster, parsed);
  Job probe;
  probe.id = self;
  probe.het = het;
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
    return fail(Errc::kInvalidArray, {},
                "it has " + std::to_string(count) + " tasks, SchedulerParameters=max_array_tasks allows " + std::to_string(most));
  return std::make_shared<const ArrayTasks>(std::move(tasks));
}

// Checks the limits of the account and QOS, for the first partition. True: its age counts only when it is its turn.
Result<bool> check_account_limits(const View& v, const JobRequest& r, uint32_t partition, const ArrayTasks* array) {
  if (!v.settings.sched.enforcement.limits) return false;
  const Partition& p = v.cluster.partitions.at(partition);
  acct::Wanted wanted;
  wanted.jobs = array ? static_cast<uint32_t>(array->pending.count()) : 1;
  wanted.time_limit_min = limit_of(r, p);
  if (auto shape = sched::make_shape(r, p, v.settings.sched)) {
    sched::Least least = sched::least_wanted(*shape, p, v.cluster);
    wanted.tres = std::move(least.all);
    wanted.each_node = std::move(least.each_node);
  }
  return sched::may_be_submitted(v.cluster, v.settings.sched, r, p, wanted);
}

}  // namespace

// Puts several partitions into the order in which they are tried: the highest PriorityTier first.
void order_partitions(const Cluster& cluster, std::vector<std::string>& names) {
  std::ranges::stable_sort(names, std::greater<>(), [&](const std::string& name) {
    const Partition* p = cluster.partition(name);
    return p ? p->priority_tier : 0;
  });
}

// --batch names features of --constraint, and the one node of the script must have them: counts make no sense there.
Result<> check_batch_features(const JobRequest& r) {
  if (r.batch_features.empty()) return {};
  MUSTER_TRY(batch, r.batch_features.parsed());
  if (batch.base.empty() || !batch.counts.empty() || !batch.matching.empty())
    return fail(Errc::kBatchConstraint, {},
                "--batch=" + r.batch_features.text() + ": features joined with & and |, without counts and brackets");
  MUSTER_TRY(job, r.features.parsed());
  for (const std::string& name : batch.names)
    if (std::ranges::find(job.names, name) == job.names.end())
      return fail(Errc::kBatchConstraint, {},
                  "--batch=" + r.batch_features.text() + ": '" + name + "' is not part of --constraint" +
                      (r.features.empty() ? "" : "=" + r.features.text()));
  return {};
}

Result<> constrain_by_extra(const View& v, JobRequest& r) {
  r.extra_constraint.clear();
  if (!v.settings.sched.extra_constraints) return {};
  ExtraText wanted = r.extra;
  if (!wanted.parsed()) return std::unexpected(wanted.parsed().error());
  r.extra_constraint = std::move(wanted);
  return {};
}

namespace {

// A request that may be stored, and its partitions, the first one first.
struct Checked {
  JobRequest request;
  std::vector<uint32_t> partitions;
};

Result<Checked> check(const View& v, const JobRequest& request) {
  MUSTER_TRY_VOID(may_submit_for(v.settings, v.caller, request.uid));
  if (has_functions(request)) {
    MUSTER_TRY_VOID(check_texts(request));
    MUSTER_TRY(plain, plainly_named(v, request));
    return check(v, plain);
  }
  if (auto others = alternates(v, request)) {
    JobRequest moved = request;
    moved.partitions = std::move(*others);
    return check(v, moved);
  }
  MUSTER_TRY_VOID(check_texts(request));
  MUSTER_TRY_VOID(check_rights(v, request));
  MUSTER_TRY_VOID(check_names(v, request));
  MUSTER_TRY_VOID(check_batch_features(request));
  Checked out{request, {}};
  name_remote_licenses(v, out.request);
  MUSTER_TRY_VOID(constrain_by_extra(v, out.request));
  shorten_lists(out.request);
  // Names that sacctmgr makes are in lower case (sacctmgr(1)).
  for (std::string* name : {&out.request.account, &out.request.qos, &out.request.wckey}) *name = to_lower(*name);
  // The job's first node then manages its steps (managed_steps.cc); swait(1) has users look for this flag.
  out.request.stepmgr = out.request.stepmgr || v.settings.config().slurmctld_parameters.has("enable_stepmgr");
  prefer_partition_of_reservation(v, out.request);
  order_partitions(v.cluster, out.request.partitions);
  MUSTER_TRY(partitions, resolve_partitions(v, out.request));
  out.partitions = std::move(partitions);
  MUSTER_TRY_VOID(leave_out_closed(v, out.request, out.partitions));
  MUSTER_TRY_VOID(settle_times(v, v.cluster.partitions.at(out.partitions[0]), out.request));
  MUSTER_TRY_VOID(admit(v, out.request, out.partitions, acct::Moment::kSubmission));
  MUSTER_TRY_VOID(complete_mcs_label(v, out.request));
  MUSTER_TRY_VOID(check_reservations(v, out.request, out.partitions));
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

Result<> check_changed(const View& v, const JobRequest& before, JobRequest& r) {
  MUSTER_TRY_VOID(check_texts(r));
  if (has_functions(r)) {
    MUSTER_TRY(plain, plainly_named(v, std::move(r)));
    r = std::move(plain);
  }
  const bool moved = r.partitions != before.partitions;
  const bool times = r.time_limit_min != before.time_limit_min || r.time_min_min != before.time_min_min || r.deadline != before.deadline;
  const bool sizes = r.min_nodes != before.min_nodes || r.max_nodes != before.max_nodes;
  const bool named =
      r.required_nodes != before.required_nodes || r.excluded_nodes != before.excluded_nodes || r.reservation != before.reservation;
  if (named) MUSTER_TRY_VOID(check_names(v, r));
  name_remote_licenses(v, r);
  shorten_lists(r);
  MUSTER_TRY_VOID(check_batch_features(r));
  MUSTER_TRY(partitions, resolve_partitions(v, r));
  if (moved) MUSTER_TRY_VOID(leave_out_closed(v, r, partitions));
  if (moved || times) MUSTER_TRY_VOID(settle_times(v, v.cluster.partitions.at(partitions[0]), r));
  const bool charged = r.account != before.account || r.qos != before.qos;
  if (charged) r.qos_granted = !r.qos.empty() && v.may(Right::kGrantQos);
  if (moved || charged) MUSTER_TRY_VOID(admit(v, r, partitions, acct::Moment::kUpdate));
  follow_account(v, before.account, r);
  // The groups known here are the caller's, and an operator may change anybody's job.
  const bool own_groups = v.caller.uid == r.uid || v.settings.config().mcs.plugin != config::McsRules::Plugin::kGroup;
  const bool labelled = r.account != before.account || r.mcs_label != before.mcs_label || r.exclusive != before.exclusive;
  if (labelled && own_groups) MUSTER_TRY_VOID(complete_mcs_label(v, r));
  if (moved || charged || r.reservation != before.reservation) MUSTER_TRY_VOID(check_reservations(v, r, partitions));
  Asked asked;
  // Where the partition stays, a coordinator's groups say nothing of another's job.
  asked.groups = moved || (charged && v.caller.uid == r.uid);
  asked.lists = moved || charged;
  asked.limits = moved || times || sizes;
  return check_partitions(v, r, partitions, asked);
}

// Makes the checks of a submission and nothing else.
Result<Decision<rpc::Empty>> decide(const View& v, const TestOnly& asked) {
  MUSTER_TRY(checked, check(v, asked.request));
  MUSTER_TRY(array, check_array(v, checked.request));
  MUSTER_TRY_VOID(check_account_limits(v, checked.request, checked.partitions[0], array.get()));
  return {};
}

Result<Accepted> accept_request(const View& v, const JobRequest& request) {
  MUSTER_TRY(checked, check(v, request));
  auto& [r, partitions] = checked;
  default_memory(v, v.cluster.partitions.at(partitions[0]), r);
  if (r.switches) r.switches_wait = std::min(r.switches_wait, v.settings.sched.topology.max_switch_wait);
  MUSTER_TRY(array, check_array(v, r));
  MUSTER_TRY(takes_turns, check_account_limits(v, r, partitions[0], array.get()));
  return Accepted{std::move(r), std::move(partitions), std::move(array), takes_turns};
}

Result<> submit_as(const View& v, JobId id, const HetPart& het, const Accepted& accepted, Events& out) {
  const JobRequest& r = accepted.request;
  MUSTER_TRY(dependencies, check_dependencies(v, r, id, het));
  RequestId stored = store_request(v, r, out);
  const Partition& p = v.cluster.partitions.at(accepted.partitions[0]);
  event::JobSubmitted e;
  e.job = id;
  e.het = het;
  e.request = stored;
  e.time = v.now;
  e.priority = default_priority(v, id, r.nice);
  if (r.priority && v.may(Right::kSetPriority)) {
    e.priority = std::min(*r.priority, kUnlimited32 - 1);
    e.flags |= kJobPriorityFixed;
  }
  e.partition = accepted.partitions[0];
  e.association = acct::association_of(v.cluster, r, e.partition);
  e.time_limit_min = limit_of(r, p);
  if (accepted.takes_turns) e.accrues = kTimeInfinite;
  e.array_tasks = accepted.array;
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
    if (!dependencies && r.begin <= v.now) e.eligible = kTimeUnset;  // set when it is released; else when to look again
  }
  out.push_back(std::move(e));
  return {};
}

Result<Decision<rpc::JobSubmitted>> decide(const View& v, const JobRequest& request) {
  MUSTER_TRY(accepted, accept_request(v, request));
  uint32_t tasks = accepted.array ? static_cast<uint32_t>(accepted.array->pending.count()) : 1;
  MUSTER_TRY(forgotten, make_room(v.indexes, accepted.request.uid, tasks, v.settings.config().max_job_count, v.now));
  MUSTER_TRY(id, JobIds(v.cluster, v.settings.config()).next());
  Decision<rpc::JobSubmitted> d;
  MUSTER_TRY_VOID(submit_as(v, id, {}, accepted, d.events));
  if (!forgotten.empty())
    d.events.push_back(event::JobsPurged{std::move(forgotten)});  // last: the job may share a request with one of them
  d.reply.job = id;
  return d;
}

}  // namespace muster::slurmctld

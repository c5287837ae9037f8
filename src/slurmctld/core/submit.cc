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
#include "slurmctld/core/channels.h"
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
Result<> check_access(const View& view, const Partition& partition, const JobRequest& request) {
  const bool anywhere = goes_anywhere(view, request);
  if (request.uid != view.caller.uid && !anywhere && !(partition.allow_groups.empty() && partition.alloc_nodes.empty()))
    return fail(Errc::kAccessDenied, {},
                "partition " + partition.name + " is not open to all: the job's user or an operator may move it there");
  if (partition.root_only && !view.may(Right::kRootPartitions)) return fail(Errc::kAccessDenied);
  if ((partition.disable_root_jobs || view.settings.config().disable_root_jobs) && request.uid == Uid{0} && !view.settings.rootless)
    return fail(Errc::kAccessDenied, {}, "partition " + partition.name + " takes no jobs of root (DisableRootJobs)");
  if (!partition.allow_groups.empty() && !anywhere &&
      std::ranges::none_of(view.caller.groups, [&](const std::string& g) { return listed(partition.allow_groups, g); }))
    return fail(Errc::kAccessDenied, {}, "partition " + partition.name + " is open to groups " + join(partition.allow_groups, ", "));
  if (!partition.alloc_nodes.empty() && !anywhere && !listed(partition.alloc_nodes, request.alloc_node))
    return fail(Errc::kAccessDenied, {}, "partition " + partition.name + " takes jobs from hosts " + join(partition.alloc_nodes, ", "));
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
Result<> check_limits(const View& view, const Partition& partition, const JobRequest& request) {
  const sched::PartitionBounds bounds = sched::bounds_for(view.cluster, partition, request.qos);
  if (request.time_limit_min && *request.time_limit_min > bounds.max_time_min)
    return fail(Errc::kInvalidTimeLimit, {},
                "--time asks for more than the " + std::to_string(partition.max_time_min) + " minutes (MaxTime) of partition " +
                    partition.name +
                    elsewhere(view, request, [&](const Partition& o) { return o.max_time_min >= *request.time_limit_min; }));
  if (request.min_nodes > bounds.max_nodes)
    return fail(Errc::kInvalidNodeCount, {},
                "partition " + partition.name + " gives a job at most " + std::to_string(partition.max_nodes) + " nodes (MaxNodes)");
  if (request.max_nodes && request.max_nodes < bounds.min_nodes)
    return fail(Errc::kInvalidNodeCount, {},
                "partition " + partition.name + " wants at least " + std::to_string(partition.min_nodes) + " nodes a job (MinNodes)");
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
std::optional<std::vector<std::string>> alternates(const View& view, const JobRequest& request) {
  std::vector<std::string> names = request.partitions;
  if (names.empty() && view.cluster.default_partition != Cluster::kNoPartition)
    names.push_back(view.cluster.partitions.at(view.cluster.default_partition).name);
  bool changed = false;
  for (std::string& name : names) {
    const Partition* p = view.cluster.partition(name);
    if (!p || !takes_no_jobs(*p) || p->alternate.empty()) continue;
    const Partition& other = in_service(view, *p);
    changed = changed || &other != p;
    name = other.name;
  }
  return changed ? std::optional(std::move(names)) : std::nullopt;
}

Result<std::vector<uint32_t>> resolve_partitions(const View& view, const JobRequest& request) {
  std::vector<uint32_t> out;
  for (const std::string& name : request.partitions) {
    const Partition* p = view.cluster.partition(name);
    if (!p)
      return fail(Errc::kInvalidPartition, "invalid partition specified: " + name,
                  choice_of_partitions(view.cluster, usable_by(view, request), name));
    out.push_back(p->index);
  }
  if (out.empty()) {
    if (view.cluster.default_partition == Cluster::kNoPartition)
      return fail(Errc::kDefaultPartitionNotSet, {},
                  "name one with --partition; " + choice_of_partitions(view.cluster, usable_by(view, request), ""));
    out.push_back(view.cluster.default_partition);
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
Result<> fit_deadline(const View& view, uint32_t limit, JobRequest& request) {
  if (request.deadline <= view.now) return fail(Errc::kInvalidTimeLimit, {}, "--deadline=" + format_time(request.deadline) + " has passed");
  if (request.begin >= request.deadline)
    return fail(Errc::kInvalidTimeLimit, {},
                "--begin=" + format_time(request.begin) + " is not before --deadline=" + format_time(request.deadline));
  // Whole seconds, as users write them: --deadline=now+1hour leaves an hour.
  const int64_t left = (unix_seconds(request.deadline) - unix_seconds(std::max(view.now, request.begin))) / 60;
  const std::string leaves = "--deadline=" + format_time(request.deadline) + " leaves the job " + std::to_string(left) + " minutes";
  if (left >= limit) return {};
  if (request.time_min_min ? request.time_min_min > left : left < 1 || request.time_limit_min)
    return fail(request.time_min_min ? Errc::kInvalidTimeMin : Errc::kInvalidTimeLimit, {}, leaves);
  request.time_limit_min = static_cast<uint32_t>(left);
  if (!request.time_min_min) request.time_min_min = 1;  // the later the job starts, the less time is left
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

bool limits_enforced(const View& v) { return v.settings.config().enforce_part_limits != config::EnforcePartitionLimits::kNo; }

// Whether nodes of the partition could ever serve the request, or it may wait until that is so.
Result<> check_nodes(const View& v, const Partition& p, const JobRequest& r) {
  if (p.nodes.none())
    return limits_enforced(v) ? fail(Errc::kTooManyRequestedCpus, {}, "partition " + p.name + " has no nodes") : Result<>();
  Result<> ever = v.feasibility.check(v.cluster, v.settings.sched, r, p.index);
  if (!ever && ever.error().code == Errc::kRequestedNodeConfigUnavailable && r.hold) return {};  // looked at again when it is released
  if (!ever && ever.error().code == Errc::kMemoryRequest && waits_for_memory_limit(v, p, r)) return {};
  return ever;
}

Result<> check_partition(const View& v, const JobRequest& r, uint32_t index, Asked asked = {}) {
  const Partition& p = v.cluster.partitions.at(index);
  if (asked.groups) MUSTER_TRY_VOID(check_access(v, p, r));
  const bool enforced = limits_enforced(v);
  if (asked.lists && enforced) MUSTER_TRY_VOID(sched::lists_admit(r, p));  // else the planner says why the job waits
  if (asked.limits && enforced && !goes_anywhere(v, r)) MUSTER_TRY_VOID(check_limits(v, p, r));
  if (asked.lists && takes_no_jobs(p)) return fail(Errc::kPartitionNotAvailable);
  return check_nodes(v, p, r);
}

// Adds other partitions that could serve the request, when no node of this one ever could.
Error with_other_partitions(const View& v, const JobRequest& r, Error e) {
  const bool too_much =
      e.code == Errc::kRequestedNodeConfigUnavailable || e.code == Errc::kTooManyRequestedCpus || e.code == Errc::kInvalidNodeCount;
  if (!too_much || !r.required_nodes.empty()) return e;
  uint32_t looked_at = 0;
  const std::string others = partitions_allowing(v.cluster, usable_by(v, r), [&](const Partition& p) {
    return ++looked_at <= kPartitionsTried && p.nodes.any() && !waits_for_memory_limit(v, p, r) &&
           check_partition(v, r, p.index).has_value();
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
Result<> leave_out_closed(const View& view, JobRequest& request, std::vector<uint32_t>& partitions) {
  if (partitions.size() < 2 || view.settings.config().enforce_part_limits == config::EnforcePartitionLimits::kAll) return {};
  std::vector<uint32_t> open;
  std::optional<Error> first;
  for (uint32_t i : partitions) {
    const Partition& p = view.cluster.partitions.at(i);
    Result<> ok = takes_no_jobs(p) ? fail(Errc::kPartitionNotAvailable) : check_access(view, p, request);
    if (ok) open.push_back(i);
    else if (!first) first = ok.error();
  }
  if (!first) return {};
  if (open.empty()) return std::unexpected(std::move(*first));
  request.partitions.clear();
  for (uint32_t i : open) request.partitions.push_back(view.cluster.partitions.at(i).name);
  partitions = std::move(open);
  return {};
}

// Sets the account and QOS of the job, with the defaults of the first partition where it may run with them. The error is what bars it from
// all partitions. The scheduler asks again for each partition.
// TrackWCKey: a job that names no wckey has its user's default one, and is known to have named none. Guide wckey.
void default_wckey(const View& view, JobRequest& request) {
  request.wckey_is_default = request.wckey.empty() && view.settings.config().track_wckey;
  if (request.wckey_is_default && view.cluster.directory) request.wckey = view.cluster.directory->default_wckey(request.user_name);
}

Result<> admit(const View& view, JobRequest& request, const std::vector<uint32_t>& partitions, acct::Moment moment) {
  const bool all = view.settings.config().enforce_part_limits == config::EnforcePartitionLimits::kAll;
  std::optional<acct::Admitted> found;
  std::optional<acct::Never> first;
  for (uint32_t i : partitions) {
    acct::Admission verdict = acct::admit(view.cluster.directory.get(), view.settings.sched.enforcement,
                                          {request.user_name, request.account, request.qos, view.cluster.partitions.at(i).name,
                                           request.qos_granted, !request.reservation.empty(), &view.cluster.partitions, request.wckey},
                                          moment);
    if (auto* admitted = std::get_if<acct::Admitted>(&verdict); admitted && !found) found = std::move(*admitted);
    else if (auto* never = std::get_if<acct::Never>(&verdict); never && !first) first = std::move(*never);
  }
  if (first && (all || !found)) return fail(first->error, {}, std::move(first->detail));
  request.account = std::move(found->account);
  request.qos = std::move(found->qos);
  return {};
}

// Checks what not everybody may ask for. sbatch(1) --nice, --reboot. A --priority that the caller may not set is ignored instead (decide).
Result<> check_rights(const View& view, const JobRequest& request) {
  if (request.nice < -kMostNice || request.nice > kMostNice)
    return fail(Errc::kInvalidNice, {},
                "--nice=" + std::to_string(request.nice) + ": from -" + std::to_string(kMostNice) + " to " + std::to_string(kMostNice));
  if (request.nice < 0 && !view.may(Right::kNegativeNice))
    return fail(Errc::kInvalidNice, {}, "--nice=" + std::to_string(request.nice) + ": only operators may use a negative value");
  if (request.reboot && !view.may(Right::kRebootForJob))
    return fail(Errc::kAccessDenied, {}, "--reboot: only administrators may reboot nodes");
  if (request.no_allocate && !view.may(Right::kWithoutAllocation))
    return fail(Errc::kAccessDenied, {}, "--no-allocate: only root and SlurmUser may run without an allocation");
  if ((request.core_spec || request.core_spec_given) && !view.settings.config().allow_spec_resources_usage &&
      !view.may(Right::kReserveCores))
    return fail(Errc::kInvalidReq, {}, "--core-spec and --thread-spec need AllowSpecResourcesUsage=YES");
  return {};
}

Result<std::shared_ptr<const Dependencies>> check_dependencies(const View& view, const JobRequest& request, JobId self,
                                                               const HetPart& het) {
  if (request.dependency.empty()) return nullptr;
  MUSTER_TRY(parsed, parse_dependencies(request.dependency));
  if (parsed.list.empty()) return nullptr;
  name_whole_arrays(view.cluster, parsed);
  Job probe;
  probe.id = self;
  probe.het = het;
  probe.ask(request);
  if (!request.array.empty()) probe.array_tasks = std::make_shared<const ArrayTasks>();  // which ones does not matter yet
  MUSTER_TRY_VOID(check_submitted(view.cluster, parsed));
  refresh_dependencies(view, probe, parsed);
  if (verdict_of(parsed) == DependencyVerdict::kMet) return nullptr;
  return std::make_shared<const Dependencies>(std::move(parsed));
}

Result<std::shared_ptr<const ArrayTasks>> check_array(const View& v, const JobRequest& r) {
  if (r.array.empty()) return nullptr;
  uint32_t size = v.settings.config().max_array_size;
  if (size <= 1) return fail(Errc::kInvalidArray, {}, "job arrays are disabled here (MaxArraySize)");
  MUSTER_TRY(tasks, parse_array_spec(r.array.text(), size - 1));
  const int64_t most = v.settings.config().scheduler_parameters.number("max_array_tasks", size);
  if (const auto count = static_cast<int64_t>(tasks.pending.count()); count > most)
    return fail(Errc::kInvalidArray, {},
                "it has " + std::to_string(count) + " tasks, SchedulerParameters=max_array_tasks allows " + std::to_string(most));
  return std::make_shared<const ArrayTasks>(std::move(tasks));
}

// Checks the limits of the account and QOS, for the first partition. True: its age counts only when it is its turn.
Result<bool> check_account_limits(const View& view, const JobRequest& request, uint32_t partition, const ArrayTasks* array) {
  if (!view.settings.sched.enforcement.limits) return false;
  const Partition& p = view.cluster.partitions.at(partition);
  acct::Wanted wanted;
  wanted.jobs = array ? static_cast<uint32_t>(array->pending.count()) : 1;
  wanted.time_limit_min = limit_of(request, p);
  if (auto shape = sched::make_shape(request, p, view.settings.sched)) {
    sched::Least least = sched::least_wanted(*shape, p, view.cluster);
    wanted.tres = std::move(least.all);
    wanted.each_node = std::move(least.each_node);
  }
  return sched::may_be_submitted(view.cluster, view.settings.sched, request, p, wanted);
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
Result<> check_batch_features(const JobRequest& request) {
  if (request.batch_features.empty()) return {};
  MUSTER_TRY(batch, request.batch_features.parsed());
  if (batch.base.empty() || !batch.counts.empty() || !batch.matching.empty())
    return fail(Errc::kBatchConstraint, {},
                "--batch=" + request.batch_features.text() + ": features joined with & and |, without counts and brackets");
  MUSTER_TRY(job, request.features.parsed());
  for (const std::string& name : batch.names)
    if (std::ranges::find(job.names, name) == job.names.end())
      return fail(Errc::kBatchConstraint, {},
                  "--batch=" + request.batch_features.text() + ": '" + name + "' is not part of --constraint" +
                      (request.features.empty() ? "" : "=" + request.features.text()));
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

Result<Checked> check(const View& view, const JobRequest& request) {
  MUSTER_TRY_VOID(may_submit_for(view.settings, view.caller, request.uid));
  if (has_functions(request)) {
    MUSTER_TRY_VOID(check_texts(request));
    MUSTER_TRY(plain, plainly_named(view, request));
    return check(view, plain);
  }
  if (auto others = alternates(view, request)) {
    JobRequest moved = request;
    moved.partitions = std::move(*others);
    return check(view, moved);
  }
  MUSTER_TRY_VOID(check_texts(request));
  MUSTER_TRY_VOID(check_rights(view, request));
  MUSTER_TRY_VOID(check_names(view, request));
  MUSTER_TRY_VOID(check_batch_features(request));
  MUSTER_TRY_VOID(check_mem_update(view, request));
  Checked out{request, {}};
  name_licenses_as_counted(view, out.request);
  MUSTER_TRY_VOID(constrain_by_extra(view, out.request));
  shorten_lists(out.request);
  // Names that sacctmgr makes are in lower case (sacctmgr(1)).
  for (std::string* name : {&out.request.account, &out.request.qos, &out.request.wckey}) *name = to_lower(*name);
  // The job's first node then manages its steps (managed_steps.cc); swait(1) has users look for this flag.
  out.request.stepmgr = out.request.stepmgr || view.settings.config().slurmctld_parameters.has("enable_stepmgr");
  // A step manager hands out the job's memory by itself, so the steps of a job whose memory becomes less are managed here.
  if (!out.request.mem_update.empty()) out.request.stepmgr = false;
  prefer_partition_of_reservation(view, out.request);
  order_partitions(view.cluster, out.request.partitions);
  MUSTER_TRY(partitions, resolve_partitions(view, out.request));
  out.partitions = std::move(partitions);
  MUSTER_TRY_VOID(leave_out_closed(view, out.request, out.partitions));
  MUSTER_TRY_VOID(settle_times(view, view.cluster.partitions.at(out.partitions[0]), out.request));
  default_wckey(view, out.request);
  MUSTER_TRY_VOID(admit(view, out.request, out.partitions, acct::Moment::kSubmission));
  MUSTER_TRY_VOID(complete_mcs_label(view, out.request));
  MUSTER_TRY_VOID(check_reservations(view, out.request, out.partitions));
  MUSTER_TRY_VOID(check_partitions(view, out.request, out.partitions));
  MUSTER_TRY_VOID(check_network(view, out.request, out.partitions));
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

Result<> check_changed(const View& view, const JobRequest& before, JobRequest& request) {
  MUSTER_TRY_VOID(check_texts(request));
  if (has_functions(request)) {
    MUSTER_TRY(plain, plainly_named(view, std::move(request)));
    request = std::move(plain);
  }
  const bool moved = request.partitions != before.partitions;
  const bool times =
      request.time_limit_min != before.time_limit_min || request.time_min_min != before.time_min_min || request.deadline != before.deadline;
  const bool sizes = request.min_nodes != before.min_nodes || request.max_nodes != before.max_nodes;
  const bool named = request.required_nodes != before.required_nodes || request.excluded_nodes != before.excluded_nodes ||
                     request.reservation != before.reservation;
  if (named) MUSTER_TRY_VOID(check_names(view, request));
  name_licenses_as_counted(view, request);
  shorten_lists(request);
  MUSTER_TRY_VOID(check_batch_features(request));
  MUSTER_TRY(partitions, resolve_partitions(view, request));
  if (moved) MUSTER_TRY_VOID(leave_out_closed(view, request, partitions));
  if (moved || times) MUSTER_TRY_VOID(settle_times(view, view.cluster.partitions.at(partitions[0]), request));
  const bool charged = request.account != before.account || request.qos != before.qos;
  if (charged) request.qos_granted = !request.qos.empty() && view.may(Right::kGrantQos);
  const bool renamed = request.wckey != before.wckey;
  if (renamed) {
    request.wckey = to_lower(request.wckey);
    default_wckey(view, request);
  }
  if (moved || charged || renamed) MUSTER_TRY_VOID(admit(view, request, partitions, acct::Moment::kUpdate));
  follow_account(view, before.account, request);
  // The groups known here are the caller's, and an operator may change anybody's job.
  const bool own_groups = view.caller.uid == request.uid || view.settings.config().mcs.plugin != config::McsRules::Plugin::kGroup;
  const bool labelled = request.account != before.account || request.mcs_label != before.mcs_label || request.exclusive != before.exclusive;
  if (labelled && own_groups) MUSTER_TRY_VOID(complete_mcs_label(view, request));
  if (moved || charged || request.reservation != before.reservation) MUSTER_TRY_VOID(check_reservations(view, request, partitions));
  Asked asked;
  // Where the partition stays, a coordinator's groups say nothing of another's job.
  asked.groups = moved || (charged && view.caller.uid == request.uid);
  asked.lists = moved || charged;
  asked.limits = moved || times || sizes;
  MUSTER_TRY_VOID(check_partitions(view, request, partitions, asked));
  return moved || sizes || named ? check_network(view, request, partitions) : Result<>();
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

Result<> submit_as(const View& view, JobId id, const HetPart& het, const Accepted& accepted, Events& out) {
  const JobRequest& request = accepted.request;
  MUSTER_TRY(dependencies, check_dependencies(view, request, id, het));
  RequestId stored = store_request(view, request, out);
  const Partition& partition = view.cluster.partitions.at(accepted.partitions[0]);
  event::JobSubmitted submitted;
  submitted.job = id;
  submitted.het = het;
  submitted.request = stored;
  submitted.time = view.now;
  submitted.priority = default_priority(view, id, request.nice);
  if (request.priority && view.may(Right::kSetPriority)) {
    submitted.priority = std::min(*request.priority, kUnlimited32 - 1);
    submitted.flags |= kJobPriorityFixed;
  }
  submitted.partition = accepted.partitions[0];
  submitted.association = acct::association_of(view.cluster, request, submitted.partition);
  submitted.time_limit_min = limit_of(request, partition);
  if (accepted.takes_turns) submitted.accrues = kTimeInfinite;
  submitted.array_tasks = accepted.array;
  submitted.dependencies = dependencies;
  if (!dependencies) {
    submitted.eligible = std::max(view.now, request.begin);
  } else {
    Job probe;
    probe.id = id;
    probe.ask(request);
    submitted.eligible = recheck_time(view, probe, *dependencies);
  }
  submitted.reason = waiting_reason(view, dependencies.get(), submitted.eligible);
  if (request.hold) {
    submitted.priority = 0;
    submitted.reason = Reason::kJobHeldUser;
    submitted.flags = kJobHeldByUser;
    if (!dependencies && request.begin <= view.now) submitted.eligible = kTimeUnset;  // set when it is released; else when to look again
  }
  out.push_back(std::move(submitted));
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

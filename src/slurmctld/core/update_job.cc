// scontrol update job and step: one row per key, each a small function over a copy of the request and the job's changed
// record. Keys and rights: scontrol(1), SPECIFICATIONS FOR UPDATE COMMAND, JOBS and STEPS.
#include <algorithm>

#include "acct/admission.h"
#include "base/text.h"
#include "model/dependency.h"
#include "model/mail.h"
#include "model/request_texts.h"
#include "model/task_bind.h"
#include "sched/queue/priority.h"
#include "slurmctld/core/accrual.h"
#include "slurmctld/core/privacy.h"
#include "slurmctld/core/selection.h"
#include "slurmctld/core/update_keys.h"

namespace muster::slurmctld {
namespace {

struct Change {
  const View& v;
  const Job& job;
  JobRequest request;
  event::JobChanged e;
  bool request_changed = false, dependencies_changed = false;
  std::optional<Bitmap> keep{};  // of a running job that shrinks: its nodes that stay, by index
};

using Setter = Result<> (*)(Change&, const std::string& op, const std::string& value);
// Who may change a key, where the right to update the job is not enough: rights.def kUpdateFreely, kUpdateRunning, kChangeFiles.
enum : uint8_t { kPendingOnly = 1, kRestricted = 2, kWhileItWaits = 4, kInOwnName = 8 };

std::unexpected<Error> invalid(std::string_view what, const std::string& value) {
  return fail(Errc::kInvalidArgument, "Invalid " + std::string(what) + " value: " + value);
}
struct Key {
  const char* name;
  Setter set;
  uint8_t rules = 0;
};

template <auto Member>
Result<> set_text(Change& c, const std::string&, const std::string& value) {
  c.request.*Member = value;
  c.request_changed = true;
  return {};
}
// sbatch makes the path absolute where it was typed; where scontrol was typed is not known here.
Result<> set_work_dir(Change& c, const std::string& op, const std::string& value) {
  if (!value.starts_with('/')) return invalid("WorkDir", value + ": an absolute path is needed");
  return set_text<&JobRequest::work_dir>(c, op, value);
}
template <auto Member>
Result<> set_number(Change& c, const std::string&, const std::string& value) {
  auto n = parse_number<uint32_t>(value, 0, 1u << 30);
  if (!n) return invalid("number", value);
  c.request.*Member = *n;
  c.request_changed = true;
  return {};
}
template <auto Member>
Result<> set_memory(Change& c, const std::string&, const std::string& value) {
  auto mb = parse_mem_mb(value);
  if (!mb) return invalid("memory", value);
  c.request.mem_per_node_mb.reset();
  c.request.mem_per_cpu_mb.reset();
  c.request.*Member = *mb;
  c.request_changed = true;
  return {};
}
template <auto Member>
Result<> set_yes_no(Change& c, const std::string&, const std::string& value) {
  bool yes = iequals(value, "yes") || value == "1";
  if (!yes && !iequals(value, "no") && value != "0") return invalid("yes or no", value);
  if constexpr (std::is_same_v<std::remove_reference_t<decltype(c.request.*Member)>, TriState>)
    c.request.*Member = yes ? TriState::kYes : TriState::kNo;
  else c.request.*Member = yes;
  c.request_changed = true;
  return {};
}

// The new limit: minutes after "=", "+=", "-=", or with a sign in the value, which changes what the limit was.
Result<uint32_t> new_time_limit(uint32_t before, std::string how, std::string text) {
  if (how == "=" && !text.empty() && (text[0] == '+' || text[0] == '-') && text != "-1") {
    how = text[0] == '+' ? "+=" : "-=";
    text.erase(0, 1);
  }
  auto t = parse_time_limit(text);
  if (!t) return fail(Errc::kInvalidArgument, "Invalid TimeLimit value");
  uint32_t limit = t->minutes.value_or(kUnlimited32);
  if (how == "+=") return before > kUnlimited32 - limit ? kUnlimited32 : before + limit;
  if (how != "-=") return limit;
  if (limit > before || before == kUnlimited32)
    return fail(Errc::kInvalidArgument, "TimeLimit decrement larger than current time limit (" + text + " > " +
                                            (before == kUnlimited32 ? "UNLIMITED" : std::to_string(before)) + ")");
  return before - limit;
}

Result<> set_time_limit(Change& change, const std::string& op, const std::string& value) {
  MUSTER_TRY(limit, new_time_limit(change.job.time_limit_min, op, value));
  bool longer = limit > change.job.time_limit_min;
  const Partition* partition = change.v.cluster.partitions.find(change.e.partition);
  if (longer && !change.v.may(Right::kLengthenJobs)) {
    if (!change.job.pending()) return fail(Errc::kAccessDenied, {}, "only operators may lengthen a running job");
    if (partition && limit > partition->max_time_min)
      return fail(Errc::kInvalidTimeLimit, {},
                  "MaxTime of partition " + partition->name + " is " + std::to_string(partition->max_time_min) + " minutes");
  }
  change.e.time_limit_min = limit;
  if (!change.job.pending())
    change.e.ends = limit == kUnlimited32 ? kTimeInfinite
                                          : std::max(change.v.now, change.job.started + minutes(limit) + change.job.run->suspended_total);
  else change.request.time_limit_min = limit, change.request_changed = true;
  return {};
}

Result<> set_end_time(Change& c, const std::string&, const std::string& value) {
  MUSTER_TRY(t, parse_time_point(value, c.v.now));
  if (c.job.pending()) return fail(Errc::kJobPending);
  if (t > c.job.ends && !c.v.may(Right::kLengthenJobs)) return fail(Errc::kAccessDenied);
  c.e.ends = std::max(t, c.v.now);
  c.e.time_limit_min = static_cast<uint32_t>(to_seconds(c.e.ends - c.job.started) / 60);
  return {};
}

Result<> set_partition(Change& change, const std::string&, const std::string& value) {
  std::vector<std::string> names;
  for (auto name : split(value, ',')) {
    if (!change.v.cluster.partition(name)) return fail(Errc::kInvalidPartition, {}, "no partition is called '" + std::string(name) + "'");
    names.emplace_back(name);
  }
  if (names.empty()) return fail(Errc::kInvalidPartition);
  order_partitions(change.v.cluster, names);
  change.e.partition = change.v.cluster.partition(names[0])->index;
  change.request.partitions = std::move(names);
  change.request_changed = true;
  return {};
}

Result<> set_priority(Change& change, const std::string&, const std::string& value) {
  bool top = iequals(value, "TOP");
  auto number = top ? std::optional(kUnlimited32 - 1) : parse_number<uint32_t>(value, 0, kUnlimited32 - 1);
  if (!number) return invalid("Priority", value);
  if (*number == 0) {
    mark_held(change.v, change.job, false, change.e);
  } else if ((change.job.flags & kJobHeldByAdmin) && !change.v.may(Right::kAdminHold)) {
    return fail(Errc::kAccessDenied, {}, "an operator holds the job");
  } else if (!change.v.may(Right::kSetPriority) &&
             *number > sched::PriorityRule(change.v.cluster, change.v.settings.priority, change.v.now).of(change.job)) {
    return fail(Errc::kAccessDenied, {}, "only operators may raise a job's priority");
  } else if (change.job.priority == 0) {
    change.e.flags &= ~(kJobHeldByUser | kJobHeldByAdmin | kJobResvDelHold);
    if (is_eligible_anew(change.v, change.job, change.e)) change.e.eligible = std::max(change.v.now, change.request.begin);
    change.e.reason = waiting_reason(change.v, change.e.dependencies.get(), change.e.eligible);
  }
  if (*number && change.request.nice) {  // a priority that is set has no nice value beside it
    change.request.nice = 0;
    change.request_changed = true;
  }
  change.e.priority = *number;
  change.e.flags = *number ? change.e.flags | kJobPriorityFixed : change.e.flags & ~kJobPriorityFixed;
  return {};
}

Result<> set_nice(Change& c, const std::string&, const std::string& value) {
  auto n = value.empty() ? std::optional<int32_t>(100) : parse_number<int32_t>(value, -2147483645, 2147483645);
  if (!n) return invalid("nice", value);
  if (*n < 0 && !c.v.may(Right::kNegativeNice)) return fail(Errc::kAccessDenied, {}, "only operators may use a negative nice value");
  int64_t p = static_cast<int64_t>(c.e.priority) + c.request.nice - *n;
  const bool by_rule = c.v.settings.priority.multifactor && !(c.e.flags & kJobPriorityFixed);
  const bool kept = c.v.settings.priority.only_up && c.e.priority > 1;
  if (c.e.priority && (!by_rule || kept)) c.e.priority = static_cast<uint32_t>(std::clamp<int64_t>(p, 1, kUnlimited32 - 1));
  c.request.nice = *n;
  c.request_changed = true;
  return {};
}

Result<> set_begin(Change& c, const std::string&, const std::string& value) {
  MUSTER_TRY(t, parse_time_point(value, c.v.now));
  c.request.begin = t;
  c.request_changed = true;
  if (!c.e.dependencies) c.e.eligible = std::max(t, c.v.now);
  if (c.e.priority) c.e.reason = waiting_reason(c.v, c.e.dependencies.get(), c.e.eligible);
  return {};
}

Result<> set_deadline(Change& c, const std::string&, const std::string& value) {
  MUSTER_TRY(t, parse_time_point(value, c.v.now));
  if (t <= c.v.now) return fail(Errc::kInvalidTime, {}, "the deadline is over already");
  c.request.deadline = t;
  c.request_changed = true;
  return {};
}

Result<> set_dependency(Change& c, const std::string&, const std::string& value) {
  c.request.dependency = value;
  c.request_changed = c.dependencies_changed = true;
  return {};
}

Result<> set_nodes_range(Change& c, const std::string&, const std::string& value) {
  auto parts = split(value, '-', true);
  auto low = parse_number<uint32_t>(parts[0], 1, 1u << 20);
  auto high = parts.size() == 2 ? parse_number<uint32_t>(parts[1], 1, 1u << 20) : std::optional(c.request.max_nodes);
  if (!low || !high || parts.size() > 2) return fail(Errc::kInvalidNodeCount);
  if (*high && *high < *low && parts.size() == 1) high = *low;  // "3" after "1-2": the maximum is raised with the minimum
  if (*high && *high < *low) return fail(Errc::kInvalidNodeCount);
  c.request.min_nodes = *low;
  c.request.max_nodes = *high;
  c.request_changed = true;
  return {};
}

Result<> set_cpus_range(Change& c, const std::string&, const std::string& value) {
  auto parts = split(value, '-', true);
  auto low = parse_number<uint32_t>(parts[0], 1, 1u << 30);
  auto high = parts.size() == 2 ? parse_number<uint32_t>(parts[1], 1, 1u << 30) : low;
  if (!low || !high || *high < *low || parts.size() > 2) return fail(Errc::kCpuCount);
  uint32_t each = std::max(1u, c.request.cpus_per_task);
  c.request.num_tasks = (*low + each - 1) / each;
  c.request_changed = true;
  return {};
}

Result<> set_mail_type(Change& c, const std::string&, const std::string& value) {
  auto bits = parse_mail_type(value);
  if (!bits) return fail(Errc::kInvalidArgument, "Invalid MailType: " + value);
  c.request.mail_type = *bits;
  c.request_changed = true;
  return {};
}

Result<> set_gres(Change& c, const std::string&, const std::string& value) {
  MUSTER_TRY(list, TresList::parse(value));
  c.request.tres_per_node = list.text();
  c.request_changed = true;
  return {};
}

Result<> set_oversubscribe(Change& c, const std::string&, const std::string& value) {
  if (iequals(value, "yes")) c.request.exclusive = Exclusive::kOversubscribe;
  else if (iequals(value, "no")) c.request.exclusive = Exclusive::kDefault;
  else return fail(Errc::kInvalidArgument, "Invalid OverSubscribe value: " + value);
  c.request_changed = true;
  return {};
}

Result<> set_contiguous(Change& c, const std::string& op, const std::string& value) {
  if ((iequals(value, "yes") || value == "1") && !c.v.may(Right::kContiguous)) return fail(Errc::kAccessDenied);
  return set_yes_no<&JobRequest::contiguous>(c, op, value);
}

template <bool Threads>
Result<> set_core_spec(Change& c, const std::string&, const std::string& value) {
  auto n = value == "*" ? std::optional(0u) : parse_number<uint32_t>(value, 0, 1u << 15);
  if (!n) return invalid("count", value);
  c.request.core_spec = *n;
  c.request.core_spec_is_threads = Threads;
  c.request.core_spec_given = true;
  c.request_changed = true;
  return {};
}

Result<> set_time_min(Change& c, const std::string&, const std::string& value) {
  auto t = parse_time_limit(value);
  if (!t || !t->minutes) return fail(Errc::kInvalidArgument, "Invalid TimeMin value");
  if (*t->minutes > c.e.time_limit_min) return fail(Errc::kInvalidTimeLimit, {}, "TimeMin must not exceed TimeLimit");
  c.request.time_min_min = *t->minutes;
  c.request_changed = true;
  return {};
}

// "2", "2@600": switches and how long to wait for them.
Result<> set_switches(Change& c, const std::string&, const std::string& value) {
  auto parts = split(value, '@', true);
  auto count = parse_number<uint32_t>(parts[0], 0, 1u << 20);
  auto wait = parts.size() == 2 ? parse_time_limit(parts[1]) : Result<TimeLimit>(TimeLimit{});
  if (!count || parts.size() > 2 || !wait) return invalid("Switches", value);
  c.request.switches = *count;
  if (parts.size() == 2 && wait->minutes) c.request.switches_wait = minutes(*wait->minutes);
  c.request_changed = true;
  return {};
}
template <auto Member>
Result<> set_seconds(Change& c, const std::string&, const std::string& value) {
  auto n = parse_number<int64_t>(value, 0, 1 << 30);
  if (!n) return invalid("number of seconds", value);
  c.request.*Member = seconds(*n);
  c.request_changed = true;
  return {};
}
Result<> set_delay_boot(Change& c, const std::string&, const std::string& value) {
  auto t = parse_time_limit(value);
  if (!t || !t->minutes) return invalid("DelayBoot", value);
  c.request.delay_boot = minutes(*t->minutes);
  c.request_changed = c.request.delay_boot_set = true;
  return {};
}
Result<> set_tmp_disk(Change& c, const std::string&, const std::string& value) {
  auto mb = parse_mem_mb(value);
  if (!mb) return invalid("MinTmpDiskNode", value);
  c.request.tmp_disk_mb = *mb;
  c.request_changed = true;
  return {};
}

// For a running job: the nodes that it keeps, or how many.
Result<> set_node_list(Change& c, const std::string& op, const std::string& value) {
  if (c.job.pending()) return set_text<&JobRequest::required_nodes>(c, op, value);
  if (!c.job.allocation) return fail(Errc::kAlreadyDone);
  MUSTER_TRY(list, NodeNames::parse(value));
  MUSTER_TRY(keep, nodes_to_keep(c.v, c.job, list));
  c.keep = std::move(keep);
  return {};
}
Result<> set_node_count(Change& c, const std::string& op, const std::string& value) {
  if (c.job.pending()) return set_nodes_range(c, op, value);
  if (!c.job.allocation) return fail(Errc::kAlreadyDone);
  auto n = parse_number<uint32_t>(value, 1, 1u << 20);
  if (!n) return fail(Errc::kInvalidNodeCount);
  MUSTER_TRY(keep, nodes_to_keep(c.v, c.job, *n));
  c.keep = std::move(keep);
  return {};
}

// Multifactor's age counts from when the job became eligible.
Result<> reset_accrue_time(Change& c, const std::string&, const std::string&) {
  if (c.e.eligible != kTimeUnset && c.e.eligible < c.v.now) c.e.eligible = c.v.now;
  return {};
}

Result<> set_tres_bind(Change& c, const std::string& op, const std::string& value) {
  for (std::string_view part : split(value, '+')) {
    const std::string_view tres = part.substr(0, part.find(':'));
    if (!tres.starts_with("gres/") || tres.size() == part.size()) return invalid("TresBind", value + ": gres/<name>:<type> is expected");
  }
  MUSTER_TRY_VOID(TresBinds::parse(value));
  return set_text<&JobRequest::tres_bind>(c, op, value);
}

Result<> set_site_factor(Change& c, const std::string&, const std::string& value) {
  auto n = parse_number<int32_t>(value, -2147483645, 2147483645);
  if (!n) return invalid("SiteFactor", value);
  c.request.site_factor = *n;
  c.request_changed = true;
  return {};
}

enum class Missing { kBurstBuffer, kFederation };
template <Missing What>
Result<> refuse(Change&, const std::string&, const std::string&) {
  switch (What) {
    case Missing::kBurstBuffer: return fail(Errc::kNotSupportedHere, {}, "there is no burst buffer plugin");
    case Missing::kFederation: return fail(Errc::kNotSupportedHere, {}, "this cluster is in no federation");
  }
  return {};
}

Result<> set_mcs_label(Change& c, const std::string&, const std::string& value) {
  c.request.mcs_label = value;
  c.request_changed = true;
  const config::McsRules& m = c.v.settings.config().mcs;
  // The groups known here are the caller's.
  if (value.empty() && m.enforced && m.plugin == config::McsRules::Plugin::kGroup && c.v.caller.uid != c.request.uid)
    return fail(Errc::kInvalidMcsLabel, {},
                "the label of user " + std::to_string(c.request.uid.value) +
                    "'s job is one of that user's groups: name it, or act for the user (--uid)");
  return complete_mcs_label(c.v, c.request);
}
// The Extra of a job that has ended is a note, whatever it was.
Result<> set_extra(Change& c, const std::string& op, const std::string& value) {
  MUSTER_TRY_VOID(set_text<&JobRequest::extra>(c, op, value));
  auto constrained = constrain_by_extra(c.v, c.request);  // it may come back by a requeue
  return c.job.finished() ? Result<>() : constrained;
}
Result<> set_account(Change& c, const std::string& op, const std::string& value) {
  return set_text<&JobRequest::account>(c, op, to_lower(value));
}
Result<> set_qos(Change& c, const std::string& op, const std::string& value) { return set_text<&JobRequest::qos>(c, op, to_lower(value)); }

Result<> set_throttle(Change& c, const std::string&, const std::string& value) {
  auto n = parse_number<uint32_t>(value);
  if (!n || !c.job.array_tasks) return fail(Errc::kInvalidArgument, "ArrayTaskThrottle is a number, for an array with pending tasks");
  auto tasks = std::make_shared<ArrayTasks>(*c.job.array_tasks);
  tasks->max_running = *n;
  c.e.array_tasks = std::move(tasks);
  return {};
}

constexpr Key kKeys[] = {
    {"Account", set_account, kPendingOnly},
    {"AdminComment", set_text<&JobRequest::admin_comment>, kRestricted},
    {"ArrayTaskThrottle", set_throttle},
    {"BatchFeatures", set_text<&JobRequest::batch_features>, kPendingOnly},
    {"BurstBuffer", refuse<Missing::kBurstBuffer>},
    {"ClusterFeatures", refuse<Missing::kFederation>},
    {"Clusters", refuse<Missing::kFederation>},
    {"Comment", set_text<&JobRequest::comment>},
    {"Contiguous", set_contiguous, kPendingOnly},
    {"CoreSpec", set_core_spec<false>, kPendingOnly | kRestricted},
    {"CPUsPerTask", set_number<&JobRequest::cpus_per_task>, kPendingOnly},
    {"Deadline", set_deadline, kPendingOnly | kRestricted},
    {"DelayBoot", set_delay_boot, kPendingOnly},
    {"Dependency", set_dependency, kPendingOnly},
    {"EligibleTime", set_begin, kPendingOnly},
    {"EndTime", set_end_time},
    {"ExcNodeList", set_text<&JobRequest::excluded_nodes>, kPendingOnly},
    {"Extra", set_extra},
    {"Features", set_text<&JobRequest::features>, kPendingOnly},
    {"Gres", set_gres, kPendingOnly},
    {"JobName", set_text<&JobRequest::name>},
    {"Licenses", set_text<&JobRequest::licenses>, kWhileItWaits},
    {"MailType", set_mail_type},
    {"MailUser", set_text<&JobRequest::mail_user>},
    {"MCSLabel", set_mcs_label, kPendingOnly},
    {"MinCPUsNode", set_number<&JobRequest::min_cpus_per_node>, kPendingOnly},
    {"MinMemoryCPU", set_memory<&JobRequest::mem_per_cpu_mb>, kPendingOnly},
    {"MinMemoryNode", set_memory<&JobRequest::mem_per_node_mb>, kPendingOnly},
    {"MinTmpDiskNode", set_tmp_disk, kPendingOnly},
    {"Name", set_text<&JobRequest::name>},
    {"Nice", set_nice, kPendingOnly},
    {"NodeList", set_node_list},
    {"NumCPUs", set_cpus_range, kPendingOnly},
    {"NumNodes", set_node_count},
    {"NumTasks", set_number<&JobRequest::num_tasks>, kPendingOnly},
    {"OverSubscribe", set_oversubscribe, kPendingOnly | kRestricted},
    {"Partition", set_partition, kPendingOnly},
    {"Prefer", set_text<&JobRequest::prefer>, kPendingOnly},
    {"Priority", set_priority},
    {"QOS", set_qos, kPendingOnly},
    {"Reboot", set_yes_no<&JobRequest::reboot>, kPendingOnly | kRestricted},
    {"ReqCores", set_number<&JobRequest::cores_per_socket>, kPendingOnly},
    {"ReqNodeList", set_text<&JobRequest::required_nodes>, kPendingOnly},
    {"ReqNodes", set_node_count},
    {"ReqProcs", set_number<&JobRequest::num_tasks>, kPendingOnly},
    {"ReqSockets", set_number<&JobRequest::sockets_per_node>, kPendingOnly},
    {"ReqThreads", set_number<&JobRequest::threads_per_core>, kPendingOnly},
    {"Requeue", set_yes_no<&JobRequest::requeue>},
    {"ReservationName", set_text<&JobRequest::reservation>, kPendingOnly},
    {"ResetAccrueTime", reset_accrue_time, kPendingOnly},
    {"SiteFactor", set_site_factor, kPendingOnly | kRestricted},
    {"StartTime", set_begin, kPendingOnly},
    {"StdErr", set_text<&JobRequest::std_err>, kPendingOnly | kInOwnName},
    {"StdIn", set_text<&JobRequest::std_in>, kPendingOnly | kInOwnName},
    {"StdOut", set_text<&JobRequest::std_out>, kPendingOnly | kInOwnName},
    {"Switches", set_switches, kPendingOnly},
    {"TasksPerNode", set_number<&JobRequest::ntasks_per_node>, kPendingOnly | kRestricted},
    {"ThreadSpec", set_core_spec<true>, kPendingOnly | kRestricted},
    {"TimeLimit", set_time_limit},
    {"TimeMin", set_time_min, kPendingOnly},
    {"TresBind", set_tres_bind, kPendingOnly},
    {"TresPerJob", set_text<&JobRequest::tres_per_job>, kPendingOnly},
    {"TresPerNode", set_text<&JobRequest::tres_per_node>, kPendingOnly},
    {"TresPerTask", set_text<&JobRequest::tres_per_task>, kPendingOnly},
    {"wait-for-switch", set_seconds<&JobRequest::switches_wait>, kPendingOnly},
    {"WCKey", set_text<&JobRequest::wckey>, kPendingOnly},
    {"WorkDir", set_work_dir, kPendingOnly | kInOwnName},
};

Result<> set_key(Change& change, const rpc::KeyValue& kv) {
  for (const Key& k : kKeys) {
    if (!iequals(k.name, kv.key)) continue;
    if ((k.rules & kPendingOnly) && !change.job.pending()) return fail(change.job.finished() ? Errc::kAlreadyDone : Errc::kJobNotPending);
    if ((k.rules & kRestricted) && !change.v.may(Right::kUpdateFreely)) return fail(Errc::kAccessDenied);
    if ((k.rules & kWhileItWaits) && !change.job.pending() && !change.v.may(Right::kUpdateRunning)) return fail(Errc::kAccessDenied);
    if ((k.rules & kInOwnName) && !change.v.may(Right::kChangeFiles, change.job))
      return fail(Errc::kAccessDenied, {}, std::string(k.name) + " of a job is its owner's to change");
    return k.set(change, kv.op.empty() ? "=" : kv.op, kv.value);
  }
  std::vector<std::string_view> known;
  for (const Key& k : kKeys) known.push_back(k.name);
  std::string_view meant = did_you_mean(kv.key, known);
  return fail(Errc::kInvalidArgument, "Update of this parameter is not supported: " + kv.key + "=" + kv.value,
              meant.empty() ? std::string() : "did you mean " + std::string(meant) + "?");
}

Result<> update_dependencies(Change& change) {
  if (!change.dependencies_changed) return {};
  std::shared_ptr<const Dependencies> list;
  if (!change.request.dependency.empty()) {
    MUSTER_TRY(parsed, parse_dependencies(change.request.dependency));
    name_whole_arrays(change.v.cluster, parsed);
    MUSTER_TRY_VOID(check_submitted(change.v.cluster, parsed));
    for (const Dependency& d : parsed.list)
      if (d.job == change.job.id) return fail(Errc::kDependency);
    if (is_circular(change.v, change.job, parsed)) return fail(Errc::kCircularDependency);
    refresh_dependencies(change.v, change.job, parsed);
    if (!parsed.list.empty() && verdict_of(parsed) != DependencyVerdict::kMet)
      list = std::make_shared<const Dependencies>(std::move(parsed));
  }
  change.e.dependencies = list;
  change.e.eligible = list ? recheck_time(change.v, change.job, *list) : std::max(change.v.now, change.request.begin);
  if (change.e.priority) change.e.reason = waiting_reason(change.v, list.get(), change.e.eligible);
  return {};
}

Result<> update_one(const View& view, const Job& job, const std::vector<rpc::KeyValue>& changes, Decision<rpc::Messages>& decision) {
  Events& out = decision.events;
  if (!view.may(job)) return fail(refusal(view, job));
  if (job.finished()) {
    bool harmless = std::ranges::all_of(with_whole_keys(changes, kKeys), [](const rpc::KeyValue& k) {
      return iequals(k.key, "Comment") || iequals(k.key, "AdminComment") || iequals(k.key, "Extra");
    });
    if (!harmless) return fail(Errc::kJobFinished);
  }
  Change change{view, job, job.whole_request(), changed(job)};
  change.e.time = view.now;
  for (const rpc::KeyValue& kv : with_whole_keys(changes, kKeys)) MUSTER_TRY_VOID(set_key(change, kv));
  MUSTER_TRY_VOID(update_dependencies(change));
  if (job.pending() && job.priority == 0 && change.e.priority != 0)
    MUSTER_TRY_VOID(check_ever_runs(view, change.request, change.e.partition));
  if (change.request_changed) {
    if (!job.pending()) MUSTER_TRY_VOID(check_texts(change.request));
    else MUSTER_TRY_VOID(check_changed(view, job.whole_request(), change.request));
    if (const Partition* p = change.request.partitions.empty() ? nullptr : view.cluster.partition(change.request.partitions[0]))
      change.e.partition = p->index;
    if (job.pending()) change.e.association = acct::association_of(view.cluster, change.request, change.e.partition);
    change.e.request = store_request(view, std::move(change.request), out);
  }
  out.push_back(std::move(change.e));
  if (change.keep) shrink_job(view, job, *change.keep, out);
  return {};
}

Picked named_jobs(const View& v, const rpc::UpdateJob& c, Events& events) {
  if (c.name.empty()) return pick_jobs(v, {c.job}, events);
  Picked out;
  std::vector<const Job*>& jobs = out.of.emplace_back().jobs;
  const Privacy privacy(v.settings, v.cluster.directory, v.caller);
  v.cluster.jobs.for_each([&](uint32_t, const Job& j) {
    bool meant = j.name() == c.name && !j.finished() && (!c.owner || j.request->uid.value == *c.owner) && privacy.shows(j);
    if (meant) jobs.push_back(&j);
  });
  return out;
}

Result<Decision<rpc::Messages>> update_jobs(const View& view, const rpc::UpdateJob& request) {
  Decision<rpc::Messages> out;
  const Picked picked = named_jobs(view, request, out.events);
  const auto& jobs = picked.of.front().jobs;
  if (jobs.empty() && !request.name.empty()) return fail(Errc::kInvalidJobId, "No jobs with name '" + request.name + "'");
  if (jobs.empty()) return fail(Errc::kInvalidJobId);
  for (const Job* j : jobs) {
    if (jobs.size() > 1 && j->finished()) continue;
    auto ok = view.cluster.cron_jobs.contains(j->id.value) && view.may(*j) ? Result<>(fail(Errc::kCanNotModifyCronJob))
                                                                           : update_one(view, *j, request.changes, out);
    if (ok) continue;
    if (jobs.size() == 1) return std::unexpected(ok.error());
    out.reply.errors.push_back({job_name_for_users(*j), errc_number(ok.error().code), std::string(ok.error().message())});
  }
  return out;
}

}  // namespace

Result<Decision<rpc::Messages>> decide(const View& v, const rpc::UpdateJob& c) {
  MUSTER_TRY_VOID(check_texts(c.changes));
  if (!c.as_uid) return update_jobs(v, c);
  if (!v.may(Right::kActForOthers)) return fail(Errc::kAccessDenied, {}, "only root and SlurmUser may act as another user (--uid)");
  View other{v.cluster, v.indexes, v.settings, v.feasibility, v.now, v.caller, v.of_job};
  other.caller.uid = Uid(*c.as_uid);  // the groups are that user's already (Service::change_as)
  other.caller.name.clear();          // so that it has no rights but an owner's
  return update_jobs(other, c);
}

node_rpc::LimitStep limit_order(const Job& j, const Step& s, uint32_t limit_min) {
  node_rpc::LimitStep order{j.id, j.restarts, s.id, {}};
  if (limit_min != kUnlimited32) order.limit = minutes(limit_min);
  return order;
}

Result<Decision<rpc::Messages>> decide(const View& view, const rpc::UpdateStep& request) {
  MUSTER_TRY_VOID(check_texts(request.changes));
  auto jobs = select_jobs(view, request.job);
  Decision<rpc::Messages> out;
  bool found = false;
  for (const Job* job : jobs) {
    if (!view.may(*job)) return fail(refusal(view, *job));
    if (job->finished()) return fail(Errc::kAlreadyDone);
    for (const Step& step : job->steps) {
      if (request.job.has_step && step.id != request.job.step) continue;
      found = true;
      event::StepUpdated e{job->id, step.id, step.time_limit_min};
      for (const rpc::KeyValue& kv : request.changes) {
        if (!iequals(kv.key, "TimeLimit"))
          return fail(Errc::kInvalidArgument, "Update of this parameter is not supported: " + kv.key + "=" + kv.value,
                      "a step has: TimeLimit");
        MUSTER_TRY(limit, new_time_limit(step.time_limit_min, kv.op, kv.value));
        e.time_limit_min = limit;
      }
      out.events.push_back(e);
      for (const StepShare& share : step.shares)
        if (!share.done) out.orders.push_back({job->allocation->nodes[share.node_index].node, limit_order(*job, step, e.time_limit_min)});
    }
  }
  if (!found) return fail(Errc::kInvalidJobId);
  return out;
}

}  // namespace muster::slurmctld

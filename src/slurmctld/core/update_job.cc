// scontrol update job: one row per key, each a small function over a copy of the request and the job's changed record.
// Keys and rights: scontrol(1), SPECIFICATIONS FOR UPDATE COMMAND, JOBS.
#include <algorithm>

#include "base/text.h"
#include "model/dependency.h"
#include "slurmctld/core/decide.h"

namespace muster::slurmctld {
namespace {

struct Change {
  const View& v;
  const Job& job;
  JobRequest request;
  event::JobChanged e;
  bool request_changed = false, dependencies_changed = false;
};

using Setter = Result<> (*)(Change&, const std::string& op, const std::string& value);
enum : uint8_t { kPendingOnly = 1, kOperatorOnly = 2 };
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
template <auto Member>
Result<> set_number(Change& c, const std::string&, const std::string& value) {
  auto n = parse_number<uint32_t>(value);
  if (!n) return fail(Errc::kInvalidArgument, "'" + value + "' is no number");
  c.request.*Member = *n;
  c.request_changed = true;
  return {};
}
template <auto Member>
Result<> set_memory(Change& c, const std::string&, const std::string& value) {
  MUSTER_TRY(mb, parse_mem_mb(value));
  c.request.mem_per_node_mb.reset();
  c.request.mem_per_cpu_mb.reset();
  c.request.*Member = mb;
  c.request_changed = true;
  return {};
}
template <auto Member>
Result<> set_yes_no(Change& c, const std::string&, const std::string& value) {
  bool yes = iequals(value, "yes") || value == "1";
  if (!yes && !iequals(value, "no") && value != "0") return fail(Errc::kInvalidArgument, "'" + value + "' is neither yes nor no");
  if constexpr (std::is_same_v<std::remove_reference_t<decltype(c.request.*Member)>, TriState>)
    c.request.*Member = yes ? TriState::kYes : TriState::kNo;
  else
    c.request.*Member = yes;
  c.request_changed = true;
  return {};
}

Result<> set_time_limit(Change& c, const std::string& op, const std::string& value) {
  std::string text = value;
  std::string how = op;
  if (how == "=" && !text.empty() && (text[0] == '+' || text[0] == '-') && text != "-1") {
    how = text[0] == '+' ? "+=" : "-=";
    text.erase(0, 1);
  }
  MUSTER_TRY(t, parse_time_limit(text));
  uint32_t limit = t.minutes.value_or(kUnlimited32);
  if (how == "+=") limit = c.job.time_limit_min > kUnlimited32 - limit ? kUnlimited32 : c.job.time_limit_min + limit;
  if (how == "-=") {
    if (limit > c.job.time_limit_min) return fail(Errc::kInvalidTimeLimit);
    limit = c.job.time_limit_min - limit;
  }
  bool longer = limit > c.job.time_limit_min;
  const Partition* p = c.v.cluster.partitions.find(c.e.partition);
  if (longer && !c.v.is_operator()) {
    if (!c.job.pending()) return fail(Errc::kAccessDenied, {}, "only operators may lengthen a running job");
    if (p && limit > p->max_time_min) return fail(Errc::kInvalidTimeLimit, {}, "MaxTime of partition " + p->name + " is " + std::to_string(p->max_time_min) + " minutes");
  }
  c.e.time_limit_min = limit;
  if (!c.job.pending()) c.e.ends = limit == kUnlimited32 ? kTimeInfinite : std::max(c.v.now, c.job.started + minutes(limit) + c.job.suspended_total);
  else c.request.time_limit_min = limit, c.request_changed = true;
  return {};
}

Result<> set_end_time(Change& c, const std::string&, const std::string& value) {
  MUSTER_TRY(t, parse_time_point(value, c.v.now));
  if (c.job.pending()) return fail(Errc::kJobPending);
  if (t > c.job.ends && !c.v.is_operator()) return fail(Errc::kAccessDenied);
  c.e.ends = std::max(t, c.v.now);
  c.e.time_limit_min = static_cast<uint32_t>(to_seconds(c.e.ends - c.job.started) / 60);
  return {};
}

Result<> set_partition(Change& c, const std::string&, const std::string& value) {
  std::vector<std::string> names;
  for (auto name : split(value, ',')) {
    if (!c.v.cluster.partition(name)) return fail(Errc::kInvalidPartition, "invalid partition specified: " + std::string(name));
    names.emplace_back(name);
  }
  if (names.empty()) return fail(Errc::kInvalidPartition);
  c.e.partition = c.v.cluster.partition(names[0])->index;
  c.request.partitions = std::move(names);
  c.request_changed = true;
  return {};
}

Result<> set_priority(Change& c, const std::string&, const std::string& value) {
  auto n = parse_number<uint32_t>(value);
  if (!n) return fail(Errc::kInvalidArgument, "'" + value + "' is no priority");
  if (*n == 0) {
    bool own = !c.v.is_operator();
    c.e.reason = own ? Reason::kJobHeldUser : Reason::kJobHeldAdmin;
    c.e.flags = (c.e.flags & ~(kJobHeldByUser | kJobHeldByAdmin)) | (own ? kJobHeldByUser : kJobHeldByAdmin);
  } else if (!c.v.is_operator() && *n > c.job.priority) {
    return fail(Errc::kAccessDenied, {}, "only operators may raise a job's priority");
  } else if (c.job.priority == 0) {
    c.e.flags &= ~(kJobHeldByUser | kJobHeldByAdmin);
    if (!c.e.dependencies && c.e.eligible == kTimeUnset) c.e.eligible = std::max(c.v.now, c.request.begin);
    c.e.reason = waiting_reason(c.v, c.e.dependencies.get(), c.e.eligible);
  }
  c.e.priority = *n;
  return {};
}

Result<> set_nice(Change& c, const std::string&, const std::string& value) {
  auto n = value.empty() ? std::optional<int32_t>(100) : parse_number<int32_t>(value, -2147483645, 2147483645);
  if (!n) return fail(Errc::kInvalidArgument, "'" + value + "' is no nice value");
  if (*n < 0 && !c.v.is_operator()) return fail(Errc::kAccessDenied, {}, "only operators may use a negative nice value");
  int64_t p = static_cast<int64_t>(c.e.priority) + c.request.nice - *n;
  if (c.e.priority) c.e.priority = static_cast<uint32_t>(std::clamp<int64_t>(p, 1, kUnlimited32 - 1));
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
  auto high = parts.size() == 2 ? parse_number<uint32_t>(parts[1], 1, 1u << 20) : low;
  if (!low || !high || *high < *low || parts.size() > 2) return fail(Errc::kInvalidNodeCount);
  c.request.min_nodes = *low;
  c.request.max_nodes = *high;
  c.request_changed = true;
  return {};
}

Result<> set_throttle(Change& c, const std::string&, const std::string& value) {
  auto n = parse_number<uint32_t>(value);
  if (!n || !c.job.array_tasks) return fail(Errc::kInvalidArgument, "ArrayTaskThrottle is a number, for an array with pending tasks");
  auto tasks = std::make_shared<ArrayTasks>(*c.job.array_tasks);
  tasks->max_running = *n;
  c.e.array_tasks = std::move(tasks);
  return {};
}

constexpr Key kKeys[] = {
    {"Account", set_text<&JobRequest::account>, kPendingOnly},
    {"AdminComment", set_text<&JobRequest::admin_comment>, kOperatorOnly},
    {"ArrayTaskThrottle", set_throttle},
    {"BatchFeatures", set_text<&JobRequest::batch_features>, kPendingOnly},
    {"ClusterFeatures", set_text<&JobRequest::cluster_features>, kPendingOnly},
    {"Comment", set_text<&JobRequest::comment>},
    {"Contiguous", set_yes_no<&JobRequest::contiguous>, kPendingOnly},
    {"CpusPerTask", set_number<&JobRequest::cpus_per_task>, kPendingOnly},
    {"Deadline", set_deadline, kPendingOnly},
    {"Dependency", set_dependency, kPendingOnly},
    {"EligibleTime", set_begin, kPendingOnly},
    {"EndTime", set_end_time},
    {"ExcNodeList", set_text<&JobRequest::excluded_nodes>, kPendingOnly},
    {"Extra", set_text<&JobRequest::extra>},
    {"Features", set_text<&JobRequest::features>, kPendingOnly},
    {"JobName", set_text<&JobRequest::name>},
    {"Licenses", set_text<&JobRequest::licenses>, kPendingOnly},
    {"MailUser", set_text<&JobRequest::mail_user>},
    {"MinCPUsNode", set_number<&JobRequest::min_cpus_per_node>, kPendingOnly},
    {"MinMemoryCPU", set_memory<&JobRequest::mem_per_cpu_mb>, kPendingOnly},
    {"MinMemoryNode", set_memory<&JobRequest::mem_per_node_mb>, kPendingOnly},
    {"Name", set_text<&JobRequest::name>},
    {"Nice", set_nice, kPendingOnly},
    {"NodeList", set_text<&JobRequest::required_nodes>, kPendingOnly},
    {"NumNodes", set_nodes_range, kPendingOnly},
    {"NumTasks", set_number<&JobRequest::num_tasks>, kPendingOnly},
    {"Partition", set_partition, kPendingOnly},
    {"Prefer", set_text<&JobRequest::prefer>, kPendingOnly},
    {"Priority", set_priority, kPendingOnly},
    {"QOS", set_text<&JobRequest::qos>, kPendingOnly},
    {"ReqNodeList", set_text<&JobRequest::required_nodes>, kPendingOnly},
    {"Requeue", set_yes_no<&JobRequest::requeue>},
    {"ReservationName", set_text<&JobRequest::reservation>, kPendingOnly},
    {"StartTime", set_begin, kPendingOnly},
    {"StdErr", set_text<&JobRequest::std_err>, kPendingOnly},
    {"StdIn", set_text<&JobRequest::std_in>, kPendingOnly},
    {"StdOut", set_text<&JobRequest::std_out>, kPendingOnly},
    {"TimeLimit", set_time_limit},
    {"TresPerJob", set_text<&JobRequest::tres_per_job>, kPendingOnly},
    {"TresPerNode", set_text<&JobRequest::tres_per_node>, kPendingOnly},
    {"TresPerTask", set_text<&JobRequest::tres_per_task>, kPendingOnly},
    {"WCKey", set_text<&JobRequest::wckey>, kPendingOnly},
    {"WorkDir", set_text<&JobRequest::work_dir>, kPendingOnly},
};

Result<> set_key(Change& c, const rpc::KeyValue& kv) {
  for (const Key& k : kKeys) {
    if (!iequals(k.name, kv.key)) continue;
    if ((k.rules & kPendingOnly) && !c.job.pending()) return fail(c.job.finished() ? Errc::kAlreadyDone : Errc::kJobNotPending);
    if ((k.rules & kOperatorOnly) && !c.v.is_operator()) return fail(Errc::kAccessDenied);
    return k.set(c, kv.op.empty() ? "=" : kv.op, kv.value);
  }
  std::vector<std::string_view> known;
  for (const Key& k : kKeys) known.push_back(k.name);
  std::string_view meant = did_you_mean(kv.key, known);
  return fail(Errc::kInvalidArgument, "Update of this parameter is not supported: " + kv.key + "=" + kv.value,
              meant.empty() ? std::string() : "did you mean " + std::string(meant) + "?");
}

Result<> update_dependencies(Change& c) {
  if (!c.dependencies_changed) return {};
  std::shared_ptr<const Dependencies> list;
  if (!c.request.dependency.empty()) {
    MUSTER_TRY(parsed, parse_dependencies(c.request.dependency));
    if (is_circular(c.v, c.job, parsed)) return fail(Errc::kCircularDependency);
    refresh_dependencies(c.v, c.job, parsed);
    if (!parsed.list.empty() && verdict_of(parsed) != DependencyVerdict::kMet)
      list = std::make_shared<const Dependencies>(std::move(parsed));
  }
  c.e.dependencies = list;
  c.e.eligible = list ? recheck_time(c.v, c.job, *list) : std::max(c.v.now, c.request.begin);
  if (c.e.priority) c.e.reason = waiting_reason(c.v, list.get(), c.e.eligible);
  return {};
}

Result<> update_one(const View& v, const Job& job, const std::vector<rpc::KeyValue>& changes, Events& out) {
  if (!v.may_manage(job)) return fail(Errc::kAccessDenied);
  if (job.finished()) {
    bool harmless = std::ranges::all_of(changes, [](const rpc::KeyValue& k) { return iequals(k.key, "Comment") || iequals(k.key, "AdminComment") || iequals(k.key, "Extra"); });
    if (!harmless) return fail(Errc::kAlreadyDone);
  }
  Change c{v, job, *job.request, changed(job)};
  for (const rpc::KeyValue& kv : changes) MUSTER_TRY_VOID(set_key(c, kv));
  MUSTER_TRY_VOID(update_dependencies(c));
  if (c.request_changed) {
    if (job.pending()) MUSTER_TRY_VOID(v.feasibility.check(v.cluster, v.settings.sched, c.request, c.e.partition));
    RequestId id = v.indexes.find_request(c.request, v.cluster);
    if (!id) {
      id = RequestId(v.cluster.last_request_id.value + 1);
      for (const Event& e : out)
        if (auto* s = std::get_if<event::RequestStored>(&e)) id = RequestId(std::max(id.value, s->id.value + 1));
      out.push_back(event::RequestStored{id, std::make_shared<const JobRequest>(std::move(c.request))});
    }
    c.e.request = id;
  }
  out.push_back(std::move(c.e));
  return {};
}

}  // namespace

Result<Decision<rpc::Messages>> decide_update_job(const View& v, const rpc::UpdateJob& c) {
  auto jobs = select_jobs(v, c.job);
  if (jobs.empty()) return fail(Errc::kInvalidJobId);
  Decision<rpc::Messages> d;
  for (const Job* j : jobs) {
    if (jobs.size() > 1 && j->finished()) continue;
    auto ok = update_one(v, *j, c.changes, d.events);
    if (ok) continue;
    if (jobs.size() == 1) return std::unexpected(ok.error());
    d.reply.errors.push_back({job_name_for_users(*j), errc_number(ok.error().code), std::string(ok.error().message())});
  }
  return d;
}

}  // namespace muster::slurmctld

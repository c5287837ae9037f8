#include "sim/replay/request.h"

#include <algorithm>

#include "base/text.h"
#include "sim/replay/accounts_file.h"

namespace muster::sim::replay {
namespace {

std::string user_of(const Trace& trace, const TraceJob& job) { return job.user ? trace.users.of(job.user) : kNoUser; }

void ask_for_size(const Trace& trace, const TraceJob& job, const RequestRules& rules, JobRequest& request) {
  const uint32_t nodes = job.nodes, each = std::max(nodes, 1u);
  const std::string gpu = job.gpu_type && !rules.ignore_gpu_type ? "gres/gpu:" + trace.gpu_types.of(job.gpu_type) + ":" : "gres/gpu:";
  request.min_nodes = request.max_nodes = nodes;
  if (nodes && job.cpus % each == 0) {
    request.num_tasks = nodes;
    request.cpus_per_task = job.cpus / each;
  } else {
    request.num_tasks = std::max(job.cpus, nodes);
  }
  if (job.gpus && nodes && job.gpus % each == 0) request.tres_per_node = gpu + std::to_string(job.gpus / each);
  else if (job.gpus) request.tres_per_job = gpu + std::to_string(job.gpus);
  if (!job.mem_mb || rules.ignore_memory) return;
  if (nodes) request.mem_per_node_mb = (job.mem_mb + each - 1) / each;
  else if (job.cpus) request.mem_per_cpu_mb = (job.mem_mb + job.cpus - 1) / job.cpus;
}

void ask_for_partition(const Trace& trace, const TraceJob& job, const RequestRules& rules, JobRequest& q, Adapted& adapted) {
  if (rules.ignore_partition || !job.partition) return;
  const std::string& names = trace.partitions.of(job.partition);
  for (std::string_view part : split(names, ',')) {
    std::string name(part);
    if (auto at = rules.partitions.find(name); at != rules.partitions.end()) name = at->second;
    if (rules.known_partitions.contains(name) && std::ranges::find(q.partitions, name) == q.partitions.end()) q.partitions.push_back(name);
  }
  if (q.partitions.empty()) ++adapted.other_partition[names];
}

void ask_for_licenses(const Trace& trace, const TraceJob& job, const RequestRules& rules, JobRequest& request, Adapted& adapted) {
  std::vector<std::string> known;
  for (std::string_view one : split(trace.licenses.of(job.licenses), ',')) {
    const std::string name(one.substr(0, one.find(':')));
    if (rules.known_licenses.contains(name)) known.emplace_back(one);
    else if (!name.empty()) ++adapted.no_license[name];
  }
  request.licenses = join(known, ",");
}

}  // namespace

slurmctld::Caller caller_of(const Trace& trace, const TraceJob& job) {
  slurmctld::Caller who;
  who.uid = Uid(kFirstUid + job.user);
  who.gid = Gid(kFirstUid + job.group);
  if (job.group) who.groups.push_back(trace.groups.of(job.group));
  who.name = user_of(trace, job);
  return who;
}

JobRequest request_of(const Trace& trace, const TraceJob& job, const RequestRules& rules, Time begin, uint32_t after, Adapted& adapted) {
  JobRequest request;
  request.begin = begin;
  const slurmctld::Caller who = caller_of(trace, job);
  request.uid = who.uid;
  request.gid = who.gid;
  request.user_name = who.name;
  request.account = job.account ? to_lower(trace.accounts.of(job.account)) : kNoAccount;
  if (job.qos && !rules.ignore_qos) request.qos = to_lower(trace.qos.of(job.qos));
  request.name = "replayed";
  request.work_dir = "/";
  request.kind = JobKind::kBatch;
  ask_for_size(trace, job, rules, request);
  ask_for_partition(trace, job, rules, request, adapted);
  if (job.licenses) ask_for_licenses(trace, job, rules, request, adapted);
  if (job.limit_min && !rules.ignore_limit) request.time_limit_min = *job.limit_min == kNoLimit ? kUnlimited32 : *job.limit_min;
  if (after && rules.follow) request.dependency = "afterany:" + std::to_string(after);
  return request;
}

}  // namespace muster::sim::replay

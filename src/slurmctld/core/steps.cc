// Steps: srun's tasks inside an allocation. The controller lays them out and accounts for them; srun and the nodes run them.
#include <algorithm>

#include "hostlist/hostlist.h"
#include "slurmctld/core/decide.h"
#include "slurmctld/core/request_texts.h"
#include "slurmctld/core/step_ports.h"

namespace muster::slurmctld {
namespace {

Result<const Job*> running_job(const View& v, JobId id) {
  const Job* j = v.cluster.jobs.find(id.value);
  if (!j) return fail(Errc::kInvalidJobId);
  if (!v.may_manage(*j)) return fail(Errc::kAccessDenied);
  if (j->pending()) return fail(Errc::kJobPending);
  if (j->finished()) return fail(Errc::kAlreadyDone);
  return j;
}

std::vector<uint32_t> ranks_of(const StepShare& share) {
  if (!share.ranks.empty()) return share.ranks;
  std::vector<uint32_t> out(share.task_count);
  for (uint32_t i = 0; i < share.task_count; ++i) out[i] = share.first_task + i;
  return out;
}

rpc::StepNode step_node(const View& v, const Job& j, const StepShare& share) {
  rpc::StepNode n;
  const NodeShare& held = j.allocation->nodes[share.node_index];
  if (const Node* node = v.cluster.nodes.find(held.node.value)) {
    n.address.name = node->spec->name;
    n.address.host = node->spec->address;
    n.address.port = node->spec->port;
  }
  n.ranks = ranks_of(share);
  n.cpu_list = share.cpus.to_ranges();
  n.mem_mb = share.mem_mb;
  n.gres = share.gres;
  n.node_index = share.node_index;
  n.job_cpus = held.counted_cpus();
  TopologyAddress at = address_of(v.cluster, j, share.node_index);
  n.topology_address = std::move(at.address);
  n.topology_pattern = std::move(at.pattern);
  return n;
}

// What srun is told about a step of the job.
rpc::StepCreated created(const View& v, const Job& j, const Step& step) {
  rpc::StepCreated out;
  out.job = j.id;
  out.step = step.id;
  out.uid = j.request->uid;
  out.gid = j.request->gid;
  out.cpus_per_task = step.request->cpus_per_task;
  std::vector<std::string> names;
  for (const NodeShare& s : j.allocation->nodes) names.push_back(v.cluster.nodes.at(s.node.value).spec->name);
  out.job_node_list = compress_hosts(names);
  for (const StepShare& share : step.shares) {
    out.nodes.push_back(step_node(v, j, share));
    out.num_tasks += static_cast<uint32_t>(out.nodes.back().ranks.size());
  }
  return out;
}

// Environment and program text travel with srun; the controller keeps what it shows and accounts.
Result<StepRequestPtr> kept_request(const rpc::CreateStep& c) {
  auto request = std::make_shared<StepRequest>(c.request);
  request->environment.clear();
  request->multi_prog_text.clear();
  request->spank_options.clear();
  MUSTER_TRY_VOID(check_texts(*request));
  if (c.srun_host.size() > kMostText) return fail(Errc::kPathnameTooLong, {}, "srun_host: " + bytes_of(c.srun_host.size(), kMostText));
  return StepRequestPtr(std::move(request));
}

}  // namespace

Result<rpc::StepCreated> step_or_nodes(const View& v, const rpc::AskCredential& c) {
  MUSTER_TRY(j, running_job(v, c.job));
  if (!c.has_step && c.purpose == rpc::CredentialPurpose::kSendFile) {
    Step whole;
    whole.request = std::make_shared<const StepRequest>();
    for (uint32_t i = 0; i < j->allocation->nodes.size(); ++i) whole.shares.push_back({.node_index = i});
    return created(v, *j, whole);
  }
  auto step = std::ranges::find(j->steps, c.step, &Step::id);
  if (!c.has_step || step == j->steps.end())
    return fail(Errc::kInvalidJobId, {}, "the steps that run: squeue --steps --jobs=" + std::to_string(c.job.value));
  return created(v, *j, *step);
}

Result<Decision<rpc::StepCreated>> decide_create_step(const View& v, const rpc::CreateStep& c) {
  MUSTER_TRY(j, running_job(v, c.job));
  if (j->state == JobState::kSuspended) return fail(Errc::kJobSuspended);
  if (j->flags & kJobConfiguring) return fail(Errc::kNodesBusy, {}, "the job's nodes are not ready yet");
  if (j->steps.size() >= v.settings.config().max_step_count || j->next_step >= v.settings.config().max_step_count)
    return fail(Errc::kStepLimit);
  // An srun that lost its answer to a restart of the controller asks again: it gets the step that it has.
  for (const Step& s : j->steps)
    if (c.srun_pid && s.srun_pid == c.srun_pid && s.srun_host == c.srun_host) return Decision<rpc::StepCreated>{{}, created(v, *j, s), {}};
  MUSTER_TRY(request, kept_request(c));
  MUSTER_TRY(shares, sched::place_step(v.cluster, *j, c.request));
  MUSTER_TRY(ports, ports_for_step(v, *j, c.request, shares));

  Step step;
  step.id = c.request.interactive ? kInteractiveStep : StepId(j->next_step);
  step.request = std::move(request);
  step.start = v.now;
  step.shares = shares;
  step.resv_ports = ports;
  step.srun_host = c.srun_host;
  step.srun_pid = c.srun_pid;
  step.time_limit_min = c.request.time_limit_min.value_or(kUnlimited32);
  step.overlap = c.request.overlap;

  Decision<rpc::StepCreated> d;
  d.reply = created(v, *j, step);
  d.events.push_back(event::StepCreated{j->id, std::move(step)});
  return d;
}

Result<Decision<rpc::Empty>> decide_finish_step(const View& v, const rpc::FinishStep& c) {
  MUSTER_TRY(j, running_job(v, c.job));
  Decision<rpc::Empty> d;
  for (const Step& s : j->steps)
    if (s.id == c.step) d.events.push_back(event::StepEnded{c.job, c.step, std::max(s.exit_status, c.exit_status), v.now});
  return d;   // a step that its nodes reported as ended is ended: nothing to add
}

}  // namespace muster::slurmctld

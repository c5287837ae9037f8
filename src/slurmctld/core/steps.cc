// Steps: srun's tasks inside an allocation, where the controller manages them: who may ask, and the events of what steps/job_steps.h
// decides. srun and the nodes run them.
#include <algorithm>

#include "hostlist/hostlist.h"
#include "model/accounting.h"
#include "model/without_job.h"
#include "sched/fit/request_class.h"
#include "sched/supply/availability.h"
#include "slurmctld/core/decide.h"
#include "slurmctld/core/privacy.h"
#include "steps/job_steps.h"

namespace muster::slurmctld {
namespace {

Result<const Job*> running_job(const View& v, JobId id) {
  const Job* j = v.cluster.jobs.find(id.value);
  if (!j) return fail(Errc::kInvalidJobId);
  if (!v.may(*j)) return fail(refusal(v, *j));
  if (j->pending()) return fail(Errc::kJobPending);
  if (j->finished()) return fail(Errc::kAlreadyDone);
  return j;
}

// For requests of srun and those that ask in its place: where a job's first node decides about its steps, they go there. One that comes
// here was sent before the job was known to run.
Result<> decided_here(const Job& j) {
  if (!j.managed) return {};
  return fail(Errc::kNodesBusy, {}, "the steps of the job are managed on its first node, which is not ready yet");
}

}  // namespace

steps::StepPorts step_ports(const View& v, const Job& j) {
  const config::PortRange range = v.settings.config().mpi_ports;
  if (j.managed) return {j.run->first_port, j.run->last_port, range.first != 0};
  return {range.first, range.last, range.first != 0};
}

StepBounds step_bounds(const Settings& settings) { return {settings.config().max_step_count, settings.config().max_tasks_per_node}; }

steps::JobSteps steps_of(const View& v, const Job& j) {
  return {
      v.cluster, j, v.now, step_bounds(v.settings), step_ports(v, j), [&v, &j](size_t index) {
            return address_of(v.cluster, j, index); }};
}

// A running step as sattach needs it, or the nodes of a running job as sbcast does. Changes nothing.
Result<Decision<rpc::StepCreated>> decide(const View& v, const rpc::AskCredential& c) {
  if (c.purpose == rpc::CredentialPurpose::kLaunch)
    return fail(Errc::kAccessDenied, {}, "purpose: tasks are launched with the credential of a step that was created for them");
  MUSTER_TRY(j, running_job(v, c.job));
  MUSTER_TRY_VOID(decided_here(*j));
  Decision<rpc::StepCreated> d;
  MUSTER_TRY(told, steps::step_or_nodes(steps_of(v, *j), c));
  d.reply = std::move(told);
  return d;
}

Result<Decision<rpc::StepCreated>> decide(const View& v, const rpc::CreateStep& c) {
  MUSTER_TRY(j, running_job(v, c.job));
  MUSTER_TRY_VOID(decided_here(*j));
  MUSTER_TRY(made, steps::create_step(steps_of(v, *j), c));
  Decision<rpc::StepCreated> d;
  d.reply = std::move(made.answer);
  if (made.record) d.events.push_back(event::StepCreated{j->id, std::move(*made.record)});
  return d;
}

// ---- srun over components of a heterogeneous job
namespace {

// So many nodes may stand in all answers and credentials of one step: each lists the nodes of all components.
constexpr size_t kMostNodesTold = 1u << 17;

Result<> check_together(const View& view, const std::vector<const Job*>& jobs, const rpc::CreateHetStep& ask) {
  if (view.settings.config().scheduler_parameters.has("disable_hetjob_steps") && jobs.size() > 1)
    return fail(Errc::kDisabled, {}, "SchedulerParameters=disable_hetjob_steps: a step runs in one component");
  size_t nodes = 0;
  for (size_t i = 0; i < jobs.size(); ++i) {
    const Job& j = *jobs[i];
    if (!j.het || j.het.leader != jobs.front()->het.leader) return fail(Errc::kNotHetJob);
    if (i > 0 && j.id <= jobs[i - 1]->id) return fail(Errc::kInvalidReq, {}, "components are named once, in their order");
    const rpc::CreateStep& part = ask.components[i];
    if (part.queue || part.waiting_step || part.request.interactive)
      return fail(Errc::kInvalidReq, {}, "a step over components neither waits by itself (--async) nor is a shell's");
    nodes += j.allocation->nodes.size();
  }
  if (nodes * jobs.size() > kMostNodesTold)
    return fail(Errc::kInvalidNodeCount, {},
                std::to_string(nodes) + " nodes in " + std::to_string(jobs.size()) + " components are too many for one step");
  return {};
}

// Each part is told of the nodes of all, and which of them are its own.
void tell_all(const View& view, const std::vector<const Job*>& jobs, std::vector<rpc::StepCreated>& parts, uint32_t tasks) {
  std::vector<rpc::StepNode> nodes;
  std::vector<std::string> names;
  for (rpc::StepCreated& p : parts) {
    p.first_node = static_cast<uint32_t>(nodes.size());
    p.own_nodes = static_cast<uint32_t>(p.nodes.size());
    std::ranges::move(p.nodes, std::back_inserter(nodes));
  }
  for (const Job* j : jobs)
    for (const NodeShare& share : j->allocation->nodes) names.push_back(view.cluster.nodes.at(share.node.value).spec->name);
  for (rpc::StepCreated& p : parts) {
    p.nodes = nodes;
    p.num_tasks = tasks;
    p.job_node_list = compress_hosts(unique_hosts(names));
  }
}

}  // namespace

Result<Decision<rpc::HetStepCreated>> decide(const View& view, const rpc::CreateHetStep& ask) {
  std::vector<const Job*> jobs;
  uint32_t number = 0;
  for (const rpc::CreateStep& part : ask.components) {
    MUSTER_TRY(j, running_job(view, part.job));
    jobs.push_back(j);
    number = std::max(number, j->next_step);
  }
  if (jobs.empty()) return fail(Errc::kInvalidReq, {}, "the step has no component");
  MUSTER_TRY_VOID(check_together(view, jobs, ask));
  Decision<rpc::HetStepCreated> out;
  uint32_t tasks = 0;
  std::vector<Step> records;
  for (size_t i = 0; i < jobs.size(); ++i) {
    steps::JobSteps part = steps_of(view, *jobs[i]);
    part.least_number = number;
    part.first_rank = tasks;
    MUSTER_TRY(made, steps::create_step(part, ask.components[i]));
    if (!made.record && i > 0 && !records.empty()) return fail(Errc::kInvalidReq, {}, "part of the step is there already");
    for (const rpc::StepNode& n : made.answer.nodes) tasks += static_cast<uint32_t>(n.ranks.size());
    if (tasks > sched::kMaxStepTasks)
      return fail(Errc::kInvalidReq, {}, "a step has at most " + std::to_string(sched::kMaxStepTasks) + " tasks");
    out.reply.components.push_back(std::move(made.answer));
    if (made.record) records.push_back(std::move(*made.record));
  }
  if (!records.empty() && records.size() != jobs.size()) return fail(Errc::kInvalidReq, {}, "part of the step is there already");
  for (size_t i = 0; i < records.size(); ++i) {
    records[i].all_tasks = tasks;
    out.events.push_back(event::StepCreated{jobs[i]->id, std::move(records[i])});
  }
  tell_all(view, jobs, out.reply.components, tasks);
  return out;
}

// ---- srun --no-allocate
namespace {

bool names_devices(const StepRequest& r) {
  return r.ntasks_per_gpu || !(r.tres_per_node.empty() && r.tres_per_step.empty() && r.tres_per_task.empty() && r.tres_per_socket.empty());
}

// All of the node, whoever else has it. The shares of a GPU are not listed beside the GPU.
NodeShare whole_node(const Node& node) {
  const sched::Kind kind = sched::make_kind(node, false);
  NodeShare out;
  out.node = node.id;
  out.cpus = Bitmap(kind.cpus, true);
  out.mem_mb = kind.mem_mb;
  out.tasks = 1;
  for (const GresDevices& g : kind.gres) {
    if (g.shared) continue;
    GresShare all{g.name, g.type, g.count, {}, {}};
    for (uint64_t i = 0; !g.count_only && i < g.count; ++i) all.devices.set(g.first_index + i);
    add_gres(out.gres, all);
  }
  return out;
}

// Stands in for the job that does not exist: a job that has the nodes named, whole.
Result<Job> stand_in(const View& view, const NodeList& nodes) {
  MUSTER_TRY(named, sched::nodes_named(view.cluster, nodes));
  std::ranges::sort(named);
  const auto repeated = std::ranges::unique(named);
  named.erase(repeated.begin(), repeated.end());
  auto allocation = std::make_shared<Allocation>();
  for (uint32_t id : named) allocation->nodes.push_back(whole_node(view.cluster.nodes.at(id)));
  allocation->whole_nodes = true;
  JobRequest request;
  request.uid = view.caller.uid;
  request.gid = view.caller.gid;
  Job job;
  job.ask(request);
  job.allocation = std::move(allocation);
  return job;
}

Result<> check_without_job(const StepRequest& r) {
  auto refuse = [](std::string_view option, std::string_view why) {
    return fail(Errc::kInvalidReq, {}, std::string(option) + " cannot be used with --no-allocate: " + std::string(why));
  };
  if (r.required_nodes.empty()) return fail(Errc::kInvalidNodeName, {}, "--no-allocate: the nodes are named with --nodelist");
  if (!r.excluded_nodes.empty()) return refuse("--exclude", "the nodes are those that --nodelist names");
  if (r.relative >= 0) return refuse("--relative", "there is no job whose nodes could be counted");
  if (r.resv_ports || r.resv_ports_set) return refuse("--resv-ports", "ports are kept for steps of jobs");
  return {};
}

}  // namespace

// Nothing is recorded of such a run; Core gives it its number (model/without_job.h). Nothing is counted either: as many tasks as are asked
// for share all CPUs of the nodes, and memory is limited only where that was asked for.
Result<Decision<rpc::StepCreated>> decide(const View& view, const rpc::RunWithoutJob& ask) {
  MUSTER_TRY_VOID(check_without_job(ask.request));
  MUSTER_TRY(request, steps::without_content(ask.request));
  MUSTER_TRY(nodes, sched::without_functions(view.cluster, request->required_nodes));
  request->required_nodes = std::move(nodes);
  request->overcommit = request->whole = true;
  MUSTER_TRY(job, stand_in(view, request->required_nodes));
  Step step;
  MUSTER_TRY(shares, sched::place_step(view.cluster, job, *request, step_bounds(view.settings)));
  step.shares = std::move(shares);
  const bool memory = request->mem_per_node_mb || request->mem_per_cpu_mb || request->mem_per_gpu_mb;
  for (StepShare& s : step.shares) {
    if (!memory) s.mem_mb = 0;
    if (!names_devices(*request)) s.gres = job.allocation->nodes[s.node_index].gres;
  }
  step.request = std::move(request);
  Decision<rpc::StepCreated> d;
  d.reply = steps::told(steps_of(view, job), step);
  d.reply.sluid = {};
  return d;
}

event::StepEnded step_ended(const View& v, const Job& job, const Step& step, int32_t exit_status, bool out_of_memory) {
  event::StepEnded e{job.id, step.id, std::max(step.exit_status, exit_status), v.now, JobState::kPending};
  // slurmstepd ends the step when its time is up, whatever exit status its tasks make of that.
  const bool limited = step.time_limit_min != kUnlimited32;
  if (step.out_of_memory || out_of_memory) e.state = JobState::kOutOfMemory;
  else if (limited && v.now - step.start >= minutes(step.time_limit_min)) e.state = JobState::kTimeout;
  return e;
}

std::vector<NodeId> nodes_to_tell(const View& v, const Job& job, const Step& step, const std::vector<NodeId>& told) {
  std::vector<NodeId> out;
  if (!v.settings.config().gathers_use() || step.state == StepState::kPending) return out;
  for (const StepShare& s : step.shares) {
    const NodeId node = job.allocation->nodes[s.node_index].node;
    if (!s.done && std::ranges::find(told, node) == told.end()) out.push_back(node);
  }
  return out;
}

bool is_untold(const Cluster& cluster, JobId job, StepId step, NodeId node) {
  const EndedSteps* ended = cluster.ended_steps.find(job.value);
  return ended && std::ranges::any_of(ended->steps, [&](const EndedStep& s) {
           return s.record->id == step && std::ranges::find(s.untold, node) != s.untold.end();
         });
}

Result<Decision<rpc::Empty>> decide(const View& v, const rpc::FinishStep& c) {
  MUSTER_TRY(j, running_job(v, c.job));
  MUSTER_TRY_VOID(decided_here(*j));
  Decision<rpc::Empty> d;
  for (const Step& s : j->steps) {
    if (s.id != c.step) continue;
    event::StepEnded e = step_ended(v, *j, s, c.exit_status, c.out_of_memory);
    e.untold = nodes_to_tell(v, *j, s);
    d.events.push_back(std::move(e));
  }
  return d;  // a step that its nodes reported as ended is ended: nothing to add
}

}  // namespace muster::slurmctld

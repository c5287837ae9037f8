#include "steps/job_steps.h"

#include <algorithm>

#include "hostlist/hostlist.h"
#include "model/request_texts.h"
#include "sched/planner.h"

namespace muster::steps {
namespace {

std::vector<uint32_t> ranks_of(const StepShare& share) {
  if (!share.ranks.empty()) return share.ranks;
  std::vector<uint32_t> out(share.task_count);
  for (uint32_t i = 0; i < share.task_count; ++i) out[i] = share.first_task + i;
  return out;
}

rpc::StepNode step_node(const JobSteps& steps, const StepShare& share, uint32_t first_rank) {
  rpc::StepNode here;
  const NodeShare& held = steps.job.allocation->nodes[share.node_index];
  if (const Node* node = steps.cluster.nodes.find(held.node.value)) {
    here.address.name = node->spec->name;
    here.address.host = node->spec->address;
    here.address.port = node->spec->port;
  }
  here.ranks = ranks_of(share);
  for (uint32_t& rank : here.ranks) rank += first_rank;
  here.cpu_list = share.cpus.to_ranges();
  here.mem_mb = share.mem_mb;
  here.gres = share.gres;
  here.node_index = share.node_index;
  here.job_cpus = held.counted_cpus();
  here.channel = held.channel;
  TopologyAddress at = steps.address(share.node_index);
  here.topology_address = std::move(at.address);
  here.topology_pattern = std::move(at.pattern);
  return here;
}

Result<StepRequestPtr> kept_request(const rpc::CreateStep& c) {
  MUSTER_TRY(request, without_content(c.request));
  if (c.srun_host.size() > kMostText) return fail(Errc::kPathnameTooLong, {}, "srun_host: " + bytes_of(c.srun_host.size(), kMostText));
  return StepRequestPtr(std::move(request));
}

bool may_come_free(const Error& e) { return e.code == Errc::kNodesBusy || e.code == Errc::kPortsBusy; }

// --network, where the job has IMEX channels (ADR 25): a step has those of its job, so it can ask for no other.
Result<> check_network(const Job& job, const NetworkWish& wish) {
  if (!job.allocation->nodes.front().channel) return {};
  if (!wish.other.empty())
    return fail(Errc::kInterconnectFailed, {},
                "--network: \"" + wish.other + "\" is not known to switch/nvidia_imex, which takes unique-channel-per-segment");
  const bool apart = job.request->segment && job.allocation->nodes.size() > job.request->segment;
  if (wish.channel_per_segment && apart && !job.request->network->channel_per_segment)
    return fail(Errc::kInterconnectFailed, {},
                "--network=unique-channel-per-segment: the job has one channel for all of its segments; it is asked for with the job");
  return {};
}

// Gives the step its part of the job's nodes; on an error the step is unchanged.
Result<> place(const JobSteps& s, const StepRequest& request, Step& step) {
  MUSTER_TRY(shares, sched::place_step(s.cluster, s.job, request, s.bounds));
  MUSTER_TRY(ports, ports_for_step(s.cluster, s.ports, s.job, request, shares));
  step.shares = std::move(shares);
  step.resv_ports = std::move(ports);
  step.state = StepState::kRunning;
  step.start = s.now;
  return {};
}

rpc::StepCreated told_to_wait(const Job& j, const Step& step) {
  rpc::StepCreated out;
  out.job = j.id;
  out.step = step.id;
  out.uid = j.request->uid;
  out.gid = j.request->gid;
  out.waiting = true;
  return out;
}

// Runs a waiting step of srun --async once what it asked for is free.
Result<Made> start_waiting(const JobSteps& s, StepId id) {
  auto at = std::ranges::find(s.job.steps, id, &Step::id);
  if (at == s.job.steps.end()) return fail(Errc::kAlreadyDone);  // it was cancelled
  if (at->state != StepState::kPending) return Made{{}, told(s, *at)};
  Step step = *at;
  MUSTER_TRY_VOID(place(s, *step.request, step));
  rpc::StepCreated answer = told(s, step);
  return Made{std::move(step), std::move(answer)};
}

std::unexpected<Error> not_held(const char* what) { return fail(Errc::kInvalidReq, {}, std::string(what) + " that the job does not hold"); }

Result<> check_share(const Job& job, const StepShare& share) {
  if (share.node_index >= job.allocation->nodes.size()) return not_held("a node");
  const NodeShare& held = job.allocation->nodes[share.node_index];
  if (!held.cpus.contains(share.cpus)) return not_held("CPUs");
  if (share.mem_mb > held.mem_mb || (share.mem_mb == 0 && held.mem_mb > 0)) return not_held("memory");
  if (!holds_gres(held.gres, share.gres)) return not_held("devices");
  return {};
}

// Checks that ranks are below what a step can have, so that no claim makes anybody build a list of a length it chose.
Result<> check_tasks(const StepShare& share) {
  const bool counted = share.ranks.empty() || share.ranks.size() == share.task_count;
  const bool low = uint64_t{share.first_task} + share.task_count <= sched::kMaxStepTasks;
  if (!counted || !low || std::ranges::any_of(share.ranks, [](uint32_t rank) { return rank >= sched::kMaxStepTasks; }))
    return not_held("so many tasks, or ranks");
  return {};
}

}  // namespace

rpc::StepCreated told(const JobSteps& steps, const Step& step) {
  const Job& job = steps.job;
  rpc::StepCreated out;
  out.job = job.id;
  out.step = step.id;
  out.sluid = job.sluid();
  out.uid = job.request->uid;
  out.gid = job.request->gid;
  out.cpus_per_task = step.request->cpus_per_task;
  std::vector<std::string> names;
  for (const NodeShare& share : job.allocation->nodes) names.push_back(steps.cluster.nodes.at(share.node.value).spec->name);
  out.job_node_list = compress_hosts(names);
  for (const StepShare& share : step.shares) {
    out.nodes.push_back(step_node(steps, share, step.first_rank));
    out.num_tasks += static_cast<uint32_t>(out.nodes.back().ranks.size());
  }
  out.num_tasks = std::max(out.num_tasks, step.all_tasks);
  return out;
}

Result<std::shared_ptr<StepRequest>> without_content(const StepRequest& asked) {
  auto request = std::make_shared<StepRequest>(asked);
  request->environment.clear();
  request->multi_prog_text.clear();
  request->spank_options.clear();
  MUSTER_TRY_VOID(check_texts(*request));
  shorten_lists(*request);
  return request;
}

Result<rpc::StepCreated> step_or_nodes(const JobSteps& steps, const rpc::AskCredential& asked) {
  const Job& job = steps.job;
  if (asked.sluid && asked.sluid != job.sluid())
    return fail(Errc::kInvalidJobId, {}, "that run of job " + std::to_string(asked.job.value) + " is over");
  if (!asked.has_step && asked.purpose == rpc::CredentialPurpose::kSendFile) {
    Step whole;
    whole.request = std::make_shared<const StepRequest>();
    for (uint32_t i = 0; i < job.allocation->nodes.size(); ++i) whole.shares.push_back({.node_index = i});
    return told(steps, whole);
  }
  // The batch script is no step in the job, but to watch it.
  if (asked.has_step && asked.step == kBatchStep && asked.purpose == rpc::CredentialPurpose::kWatch &&
      job.request->kind == JobKind::kBatch) {
    Step batch;
    batch.id = kBatchStep;
    batch.request = std::make_shared<const StepRequest>();
    batch.shares.push_back({.node_index = job.run->batch_index, .task_count = 1});
    return told(steps, batch);
  }
  // Neither is the external step.
  if (asked.has_step && asked.step == kExternStep && asked.purpose == rpc::CredentialPurpose::kWatch && job.run->contained) {
    Step external;
    external.id = kExternStep;
    external.request = std::make_shared<const StepRequest>();
    for (uint32_t i = 0; i < job.allocation->nodes.size(); ++i) external.shares.push_back({.node_index = i, .task_count = 1});
    return told(steps, external);
  }
  auto step = std::ranges::find(job.steps, asked.step, &Step::id);
  if (!asked.has_step || step == job.steps.end())
    return fail(Errc::kInvalidJobId, {}, "the steps that run: squeue --steps --jobs=" + std::to_string(asked.job.value));
  return told(steps, *step);
}

Result<Made> create_step(const JobSteps& steps, const rpc::CreateStep& ask) {
  const Job& job = steps.job;
  if (job.state == JobState::kSuspended) return fail(Errc::kJobSuspended);
  if (job.flags & kJobConfiguring) return fail(Errc::kNodesBusy, {}, "the job's nodes are not ready yet");
  if (ask.waiting_step) return start_waiting(steps, StepId(*ask.waiting_step));
  const uint32_t number = std::max(job.next_step, steps.least_number);
  if (job.steps.size() >= steps.bounds.most_steps || number >= steps.bounds.most_steps) return fail(Errc::kStepLimit);
  // An srun that asks again, because it lost its answer when the step's manager restarted, gets the step that it has.
  for (const Step& step : job.steps)
    if (ask.srun_pid && step.srun_pid == ask.srun_pid && step.srun_host == ask.srun_host)
      return Made{{}, step.state == StepState::kPending ? told_to_wait(job, step) : told(steps, step)};
  MUSTER_TRY_VOID(check_network(job, ask.request.network.value()));
  MUSTER_TRY(request, kept_request(ask));

  Step step;
  step.id = ask.request.interactive ? kInteractiveStep : StepId(number);
  step.first_rank = steps.first_rank;
  step.request = std::move(request);
  step.srun_host = ask.srun_host;
  step.srun_pid = ask.srun_pid;
  step.time_limit_min = ask.request.time_limit_min.value_or(kUnlimited32);
  step.overlap = ask.request.overlap;
  step.state = StepState::kPending;
  step.start = steps.now;
  Result<> placed = place(steps, ask.request, step);
  if (!placed && !(ask.queue && may_come_free(placed.error()))) return std::unexpected(std::move(placed).error());
  rpc::StepCreated answer = placed ? told(steps, step) : told_to_wait(job, step);
  return Made{std::move(step), std::move(answer)};
}

Result<> check_claim(const Job& job, const Step& step) {
  if (!step.request) return not_held("a step without a request, or one");
  MUSTER_TRY_VOID(check_texts(*step.request));
  if (step.srun_host.size() > kMostText) return fail(Errc::kPathnameTooLong);
  if (!step.request->environment.empty() || !step.request->multi_prog_text.empty() || !step.request->spank_options.empty())
    return fail(Errc::kInvalidReq, {}, "what travels with srun");
  if (step.state == StepState::kPending ? !step.shares.empty() || !step.resv_ports.empty() : step.shares.empty()) return not_held("nodes");
  Bitmap nodes;
  uint64_t tasks = 0;
  for (const StepShare& share : step.shares) {
    MUSTER_TRY_VOID(check_share(job, share));
    MUSTER_TRY_VOID(check_tasks(share));
    if ((tasks += share.task_count) > sched::kMaxStepTasks) return not_held("so many tasks, or ranks");
    if (nodes.test(share.node_index)) return not_held("a node twice, or one");
    nodes.set(share.node_index);
  }
  for (uint16_t port : step.resv_ports)
    if (port < job.run->first_port || port > job.run->last_port) return not_held("ports");
  return {};
}

}  // namespace muster::steps

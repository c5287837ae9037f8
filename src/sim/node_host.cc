#include "sim/node_host.h"

#include <signal.h>

#include "sim/world.h"

namespace muster::sim {
namespace {

std::string text_of(JobId job, uint32_t generation) { return std::to_string(job.value) + "/" + std::to_string(generation); }

// One task for each node, so that what is counted twice shows.
StepUsagePtr used_by(const Process& p) {
  StepUsage usage;
  TaskUsage task;
  task.task = p.share.node.value;
  task.user_time = seconds(1);
  task.rss = Bytes(1 << 20);
  add_task(usage, task, "sim");
  return std::make_shared<const StepUsage>(std::move(usage));
}

// What slurmd is told of a step whose result is known.
slurmd::NodeEvent end_of(const Process& p) {
  const step_rpc::StepdReport& state = p.stepd->state();
  if (state.state == step_rpc::StepdState::kLaunchFailed)
    return slurmd::StepFailed{p.job, p.generation, p.step, state.node_fault, state.text};
  return slurmd::StepEnded{p.job, p.generation, p.step, state.exit_status, state.out_of_memory, false, used_by(p)};
}

}  // namespace

NodeHost::NodeHost(World& world, uint32_t index) : world_(world), index_(index), name_(world.scenario.nodes[index]) {}

// ---- the connection
void NodeHost::dial_later() {
  world_.after(world_.span(world_.random.nodes, milliseconds(200), milliseconds(1500)), [this, i = incarnation_] {
    if (core_ && i == incarnation_ && !connection_) dial();
  });
}

void NodeHost::dial() {
  connection_ = world_.network.dial(index_);
  if (!connection_) return dial_later();
  session_ = session_.next(world_.now());
  node_rpc::Register r;
  r.node = name_;
  r.hardware = world_.scenario.hardware[index_];
  r.hardware.boot_id = name_ + "#" + std::to_string(boots_);
  if (degraded_ && r.hardware.cpus > 1) --r.hardware.cpus;
  r.jobs = core_->registration();
  r.session = session_.number();
  send(std::move(r));
}

void NodeHost::send(NodeReport report) { world_.network.to_controller(index_, connection_, session_.numbered(std::move(report))); }

void NodeHost::on_order(const Numbered<NodeOrder>& m) {
  if (!core_ || !connection_ || session_.take(m) != LinkSession::Taken::kInOrder) return;
  core_->on_order(m.message, world_.now());
  pump();
}

void NodeHost::on_closed(uint64_t connection) {
  if (connection != connection_ || !core_) return;
  connection_ = 0;
  core_->disconnected();
  dial_later();
}

// ---- slurmd
void NodeHost::pump() {
  if (!core_) return;
  for (const slurmd::Effect& e : core_->take_effects()) std::visit([&](const auto& x) { carry_out(x); }, e);
  if (!connection_) return;
  for (NodeReport& r : core_->take_reports()) send(std::move(r));
}

void NodeHost::feed(slurmd::NodeEvent event, Duration delay) {
  world_.after(delay, [this, event = std::move(event), i = incarnation_] {
    if (!core_ || i != incarnation_) return;  // found again when slurmd starts, where it still matters
    core_->on_event(event);
    pump();
  });
}

void NodeHost::start_slurmd() {
  if (!powered_ || core_) return;
  ++incarnation_;
  world_.journal.note("slurmd of " + name_ + " starts");
  core_ = std::make_unique<slurmd::NodeCore>(slurmd::NodePrograms{world_.scenario.prolog, world_.scenario.epilog, world_.scenario.in_job});
  for (const auto& [key, p] : processes_) {
    core_->on_event(slurmd::StepStarted{p.job, p.generation, p.step});
    if (p.stepd->finished()) core_->on_event(end_of(p));
  }
  pump();
  dial_later();
}

void NodeHost::stop_slurmd() {
  if (!core_) return;
  world_.journal.note("slurmd of " + name_ + " stops");
  core_.reset();
  ++incarnation_;
  connection_ = 0;
  asked_.clear();
  world_.network.cut(index_, "slurmd stopped");
}

void NodeHost::power_off() {
  if (!powered_) return;
  world_.journal.note(name_ + " loses power");
  powered_ = false;
  if (core_) stop_slurmd();
  processes_.clear();
}

void NodeHost::power_on() {
  if (powered_) return;
  powered_ = true;
  ++boots_;
  start_slurmd();
}

void NodeHost::set_degraded(bool on) {
  if (degraded_ == on) return;
  degraded_ = on;
  if (!core_) return;
  stop_slurmd();
  world_.after(seconds(2), [this] { start_slurmd(); });
}

bool NodeHost::breaks_jobs() const { return index_ == 0 && world_.scenario.quarantine && !world_.calm(); }

// ---- processes
void NodeHost::start(Process process, Duration runtime) {
  SimStep::Life life;
  life.runtime = runtime;
  life.exit_status = world_.scenario.exit_status(process.job, process.generation, world_.calm());
  life.batch = process.step == kBatchStep;
  if (life.batch && breaks_jobs()) {
    life.exit_status = 1 << 8;
    life.runtime = milliseconds(50);
  }
  life.stays = process.step == kExternStep;
  life.breaks = !life.stays && !world_.calm() && (world_.options.faults & kFaultPrograms);
  process.stepd = std::make_shared<SimStep>(world_, life, told_of(process));
  auto key = std::tuple(process.job, process.generation, process.step);
  Process& at = processes_[key] = std::move(process);
  world_.checkers.process_started(index_, at);
  at.stepd->begin();
}

SimStep::Told NodeHost::told_of(const Process& process) {
  auto find = [this, key = std::tuple(process.job, process.generation, process.step)]() -> Process* {
    auto at = processes_.find(key);
    return at == processes_.end() ? nullptr : &at->second;
  };
  SimStep::Told told;
  told.report = [this, find](const step_rpc::StepdReport& state) {
    if (Process* x = find(); x && state.state >= step_rpc::StepdState::kEnded)
      feed(end_of(*x), world_.span(world_.random.nodes, Duration(10), milliseconds(30)));
  };
  told.empty = [this, find] {
    Process* x = find();
    if (!x || x->ended) return;
    x->ended = true;
    world_.journal.note(name_ + ": step " + text_of(x->job, x->generation) + "." + std::to_string(x->step.value) + " has ended");
  };
  // The step is not erased from within its own callback.
  told.left = [this, key = std::tuple(process.job, process.generation, process.step)] {
    world_.after(Duration(1), [this, key] { processes_.erase(key); });
  };
  return told;
}

template <class F>
void NodeHost::for_each_of(JobId job, uint32_t generation, F f) {
  for (auto& [key, p] : processes_)
    if (p.job == job && p.generation == generation) f(p);
}

void NodeHost::carry_out(const slurmd::RunProlog& e) {
  bool bad = !world_.calm() && (world_.options.faults & kFaultPrograms) && world_.random.nodes.chance(0.03);
  feed(slurmd::PrologEnded{e.job, e.generation, bad ? "Prolog error" : ""}, world_.span(world_.random.nodes, milliseconds(1), seconds(2)));
}

void NodeHost::carry_out(const slurmd::RunEpilog& e) {
  bool bad = !world_.calm() && (world_.options.faults & kFaultPrograms) && world_.random.nodes.chance(0.03);
  feed(slurmd::EpilogEnded{e.job, e.generation, bad ? "Epilog error" : ""}, world_.span(world_.random.nodes, milliseconds(1), seconds(2)));
}

void NodeHost::start_of_job(const node_rpc::JobOnNode& job, StepId step, Duration runtime) {
  Process process;
  process.job = job.job;
  process.generation = job.generation;
  process.step = step;
  process.share = job.share;
  feed(slurmd::StepStarted{job.job, job.generation, step}, world_.span(world_.random.nodes, Duration(100), milliseconds(20)));
  start(std::move(process), runtime);
}

void NodeHost::carry_out(const slurmd::StartExternal& effect) {
  const node_rpc::JobOnNode& job = *effect.job;
  Random& r = world_.random.nodes;
  if (!world_.calm() && (world_.options.faults & kFaultPrograms) && r.chance(0.01))
    return feed(slurmd::StepFailed{job.job, job.generation, kExternStep, true, "no process to spare"}, milliseconds(5));
  start_of_job(job, kExternStep, {});
}

void NodeHost::carry_out(const slurmd::EndExternal& e) {
  for_each_of(e.job, e.generation, [&](Process& p) {
    if (p.step == kExternStep) p.stepd->end(0);
  });
}

// The content comes from the controller if that can be reached; else slurmd asks for it again in the next session.
void NodeHost::carry_out(const slurmd::FindContent& e) {
  if (!connection_) return;
  if (!world_.calm() && (world_.options.faults & kFaultPrograms) && world_.random.nodes.chance(0.02))
    return feed(slurmd::ContentMissing{e.job, e.generation, false, "the script cannot be had"}, milliseconds(20));
  feed(slurmd::ContentFound{e.job, e.generation}, world_.span(world_.random.nodes, Duration(100), seconds(1)));
}

void NodeHost::carry_out(const slurmd::StartBatch& effect) {
  const node_rpc::JobOnNode& job = effect.launch->job;
  Random& r = world_.random.nodes;
  if (!world_.calm() && (world_.options.faults & kFaultPrograms) && r.chance(0.02))
    return feed(slurmd::StepFailed{job.job, job.generation, kBatchStep, r.chance(0.5), "no such directory"}, milliseconds(5));
  world_.journal.note(name_ + ": batch script of " + text_of(job.job, job.generation) + " starts");
  start_of_job(job, kBatchStep, milliseconds(25) + world_.scenario.runtime(job.job, job.generation, world_.calm()));
}

void NodeHost::carry_out(const slurmd::StartStep& effect) {
  auto at = asked_.find({effect.job, effect.generation, effect.step});
  if (at == asked_.end()) return;
  world_.journal.note(name_ + ": step " + text_of(effect.job, effect.generation) + "." + std::to_string(effect.step.value) + " starts");
  Process p;
  p.job = effect.job;
  p.generation = effect.generation;
  p.step = effect.step;
  p.share = at->second.share;
  Duration runtime = at->second.runtime;
  asked_.erase(at);
  start(std::move(p), runtime);
}

void NodeHost::carry_out(const slurmd::RefuseStep& e) { asked_.erase({e.job, e.generation, e.step}); }

void NodeHost::ask_step(JobId job, uint32_t generation, StepId step, const NodeShare& share, Duration runtime) {
  if (!core_) return;
  asked_[{job, generation, step}] = {share, runtime};
  core_->on_event(slurmd::StepAsked{job, generation, step});
  pump();
}

void NodeHost::carry_out(const slurmd::EndSteps& e) {
  for_each_of(e.job, e.generation,
              [&](Process& p) { p.step == kExternStep ? p.stepd->signal(SIGTERM) : p.stepd->end(e.kill_wait_seconds); });
}

void NodeHost::carry_out(const slurmd::SignalSteps& e) {
  const node_rpc::SignalJob& s = e.order;
  for_each_of(s.job, s.generation, [&](Process& p) {
    const bool hit = s.has_step ? p.step == s.step : s.full || (p.step != kExternStep && (p.step == kBatchStep) == s.batch_only);
    if (hit) p.stepd->signal(s.signal);
  });
}

// A step's memory use is a part of what it was given; now and then a slurmstepd does not answer.
void NodeHost::carry_out(const slurmd::MeasureSteps& e) {
  Random& r = world_.random.nodes;
  if (!world_.calm() && r.chance(0.1)) return;
  uint64_t used = 0;
  for_each_of(e.job, e.generation, [&](const Process& p) {
    used += p.ended || p.step == kExternStep ? 0 : (p.share.mem_mb << 20) / 100 * (p.step.value % 5 + 1) * 15;
  });
  feed(slurmd::StepsMeasured{e.job, e.generation, Bytes(used)}, world_.span(r, Duration(100), milliseconds(50)));
}

// RebootProgram fails, or the machine goes at once and boots for a while, sometimes for longer than ResumeTimeout. A maintenance, which the reason
// names, tells each of its nodes once, whatever is repeated or comes late.
void NodeHost::carry_out(const slurmd::Reboot& reboot) {
  Random& r = world_.random.nodes;
  if (!world_.calm() && (world_.options.faults & kFaultPrograms) && r.chance(0.05)) return feed(slurmd::RebootFailed{}, milliseconds(20));
  if (!reboots_.insert(reboot.reason).second) world_.journal.fail("maintenance", name_ + " reboots twice for " + reboot.reason);
  world_.journal.note(name_ + " reboots: " + reboot.reason);
  world_.after(Duration(1), [this] { power_off(); });
  const bool long_boot = !world_.calm() && r.chance(0.1);
  world_.after(long_boot ? world_.span(r, minutes(2), minutes(10)) : world_.span(r, seconds(5), seconds(50)), [this] { power_on(); });
}

// The test of a node in quarantine passes, fails, or is never answered; some nodes have nothing to test themselves with.
void NodeHost::carry_out(const slurmd::TestThisNode& test) {
  Random& r = world_.random.nodes;
  if (!world_.calm() && r.chance(0.1)) return;
  node_rpc::NodeTested answer{test.since, r.chance(0.9), ""};
  if (answer.tested && !world_.calm() && r.chance(0.3)) answer.fault = "GPU 0: 4 uncorrectable ECC errors";
  world_.after(world_.span(r, milliseconds(10), seconds(20)), [this, answer, i = incarnation_] {
    if (core_ && i == incarnation_ && connection_) send(answer);
  });
}

void NodeHost::carry_out(const slurmd::StopSteps& e) {
  for_each_of(e.job, e.generation, [&](Process& p) { p.stepd->stop(e.stop); });
  feed(slurmd::StepsStopped{e.job, e.generation, e.stop}, milliseconds(1));
}

void NodeHost::carry_out(const slurmd::ReleaseStep& e) {
  for (auto& [key, p] : processes_)
    if (p.job == e.job && p.step == e.step) p.stepd->release();
}

bool NodeHost::runs(JobId job, uint32_t generation) const {
  auto at = processes_.lower_bound({job, generation, StepId{}});
  for (; at != processes_.end() && at->second.job == job && at->second.generation == generation; ++at)
    if (!at->second.ended) return true;
  return false;
}

bool NodeHost::runs_anything() const {
  for (const auto& [key, p] : processes_)
    if (!p.ended) return true;
  return false;
}

std::string NodeHost::running_text() const {
  std::string out;
  for (const auto& [key, p] : processes_)
    if (!p.ended) out += " " + text_of(p.job, p.generation) + "." + std::to_string(p.step.value);
  return out;
}

void NodeHost::excuse(JobId job, uint32_t generation) {
  for (auto& [key, p] : processes_)
    if (!p.ended && p.job == job && p.generation == generation) p.excused = true;
}

}  // namespace muster::sim

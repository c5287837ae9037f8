#include "sim/node_host.h"

#include "sim/world.h"

namespace muster::sim {
namespace {

std::string text_of(JobId job, uint32_t generation) { return std::to_string(job.value) + "/" + std::to_string(generation); }

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
  session_ = static_cast<uint64_t>(world_.now().time_since_epoch().count());
  sent_ = received_ = 0;
  node_rpc::Register r;
  r.node = name_;
  r.hardware = world_.scenario.hardware[index_];
  r.hardware.boot_id = name_ + "#" + std::to_string(boots_);
  if (degraded_ && r.hardware.cpus > 1) --r.hardware.cpus;
  r.jobs = core_->registration();
  r.session = session_;
  send(std::move(r));
}

void NodeHost::send(NodeReport report) {
  Numbered<NodeReport> m;
  m.session = session_;
  m.sequence = ++sent_;
  m.message = std::move(report);
  world_.network.to_controller(index_, connection_, std::move(m));
}

void NodeHost::on_order(const Numbered<NodeOrder>& m) {
  if (!core_ || !connection_ || m.session != session_ || m.sequence <= received_) return;
  received_ = m.sequence;
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
    if (!core_ || i != incarnation_) return;   // found again when slurmd starts, where it still matters
    core_->on_event(event);
    pump();
  });
}

void NodeHost::start_slurmd() {
  if (!powered_ || core_) return;
  ++incarnation_;
  world_.journal.note("slurmd of " + name_ + " starts");
  core_ = std::make_unique<slurmd::NodeCore>(slurmd::NodePrograms{world_.scenario.prolog, world_.scenario.epilog});
  for (const auto& [key, p] : processes_) {
    core_->on_event(slurmd::StepStarted{p.job, p.generation, p.step});
    if (p.ended) core_->on_event(slurmd::StepEnded{p.job, p.generation, p.step, p.exit_status, false});
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

// ---- processes
void NodeHost::start(Process p, Duration runtime) {
  auto key = std::tuple(p.job, p.generation, p.step);
  Process& at = processes_[key] = std::move(p);
  exit_at(at, runtime, world_.scenario.exit_status(at.job, at.generation, world_.calm()));
  world_.checkers.process_started(index_, at);
}

void NodeHost::exit_at(Process& p, Duration in, int32_t status) {
  p.plan = ++last_plan_;
  p.ends = world_.now() + in;
  p.exit_status = status;
  world_.after(in, [this, key = std::tuple(p.job, p.generation, p.step), plan = p.plan] {
    auto at = processes_.find(key);
    if (at == processes_.end() || at->second.plan != plan || at->second.ended) return;
    Process& x = at->second;
    x.ended = true;
    world_.journal.note(name_ + ": step " + text_of(x.job, x.generation) + "." + std::to_string(x.step.value) + " exits " + std::to_string(x.exit_status));
    feed(slurmd::StepEnded{x.job, x.generation, x.step, x.exit_status, false}, world_.span(world_.random.nodes, Duration(10), milliseconds(30)));
  });
}

void NodeHost::carry_out(const slurmd::RunProlog& e) {
  bool bad = !world_.calm() && (world_.options.faults & kFaultPrograms) && world_.random.nodes.chance(0.03);
  feed(slurmd::PrologEnded{e.job, e.generation, bad ? "Prolog error" : ""}, world_.span(world_.random.nodes, milliseconds(1), seconds(2)));
}

void NodeHost::carry_out(const slurmd::RunEpilog& e) {
  bool bad = !world_.calm() && (world_.options.faults & kFaultPrograms) && world_.random.nodes.chance(0.03);
  feed(slurmd::EpilogEnded{e.job, e.generation, bad ? "Epilog error" : ""}, world_.span(world_.random.nodes, milliseconds(1), seconds(2)));
}

void NodeHost::carry_out(const slurmd::StartBatch& e) {
  const node_rpc::JobOnNode& j = e.launch->job;
  Random& r = world_.random.nodes;
  if (!world_.calm() && (world_.options.faults & kFaultPrograms) && r.chance(0.02))
    return feed(slurmd::StepFailed{j.job, j.generation, kBatchStep, r.chance(0.5), "no such directory"}, milliseconds(5));
  world_.journal.note(name_ + ": batch script of " + text_of(j.job, j.generation) + " starts");
  Process p;
  p.job = j.job;
  p.generation = j.generation;
  p.step = kBatchStep;
  p.share = j.share;
  feed(slurmd::StepStarted{j.job, j.generation, kBatchStep}, world_.span(r, Duration(100), milliseconds(20)));
  start(std::move(p), milliseconds(25) + world_.scenario.runtime(j.job, j.generation, world_.calm()));
}

void NodeHost::carry_out(const slurmd::StartStep& e) {
  auto at = asked_.find({e.job, e.generation, e.step});
  if (at == asked_.end()) return;
  world_.journal.note(name_ + ": step " + text_of(e.job, e.generation) + "." + std::to_string(e.step.value) + " starts");
  Process p;
  p.job = e.job;
  p.generation = e.generation;
  p.step = e.step;
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
  Random& r = world_.random.nodes;
  for (auto& [key, p] : processes_) {
    if (p.job != e.job || p.generation != e.generation || p.ended) continue;
    Duration most = seconds(e.kill_wait_seconds) + milliseconds(50);
    Duration in = r.chance(0.5) ? world_.span(r, Duration(100), milliseconds(40)) : world_.span(r, milliseconds(1), most);
    p.stopped = false;
    if (p.ends <= world_.now() + in && p.plan && p.ends > world_.now()) continue;   // ends by itself before
    exit_at(p, in, in < most ? 15 : 9);
  }
}

void NodeHost::carry_out(const slurmd::SignalSteps& e) {
  const node_rpc::SignalJob& s = e.order;
  for (auto& [key, p] : processes_) {
    if (p.job != s.job || p.generation != s.generation || p.ended) continue;
    bool hit = s.has_step ? p.step == s.step : s.full || (p.step == kBatchStep) == s.batch_only;
    if (!hit) continue;
    if ((s.signal == 15 || s.signal == 2) && !p.stopped) {
      exit_at(p, milliseconds(3), s.signal);
    } else if (s.signal == 9) {
      exit_at(p, milliseconds(3), 9);
    }
  }
}

void NodeHost::carry_out(const slurmd::StopSteps& e) {
  for (auto& [key, p] : processes_) {
    if (p.job != e.job || p.generation != e.generation || p.ended) continue;
    if (e.stop && !p.stopped) {
      p.stopped = true;
      p.left = p.ends - world_.now();
      p.plan = ++last_plan_;
      p.ends = kTimeInfinite;
    } else if (!e.stop && p.stopped) {
      p.stopped = false;
      exit_at(p, p.left, p.exit_status);
    }
  }
  feed(slurmd::StepsStopped{e.job, e.generation, e.stop}, milliseconds(1));
}

void NodeHost::carry_out(const slurmd::ReleaseStep& e) {
  std::erase_if(processes_, [&](const auto& entry) { return entry.second.job == e.job && entry.second.step == e.step && entry.second.ended; });
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

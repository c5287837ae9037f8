#include "sim/controller_host.h"

#include <algorithm>

#include "sim/world.h"

namespace muster::sim {

ControllerHost::ControllerHost(World& world) : world_(world), disk_(std::make_shared<store::MemoryDisk>()) {}

Time ControllerHost::now() const { return world_.now() + clock_offset_; }
Duration ControllerHost::steady() const { return world_.now().time_since_epoch(); }

void ControllerHost::step_clock(Duration by) {
  clock_offset_ += by;
  world_.checkers.clock_stepped();
}

store::AppendFault ControllerHost::next_fault() {
  using enum store::AppendFault;
  if (world_.calm()) return kNone;
  if (disk_full_) return kDiskFull;
  Random& r = world_.random.storage;
  if ((world_.options.faults & kFaultDisk) && r.chance(0.005)) return kIoError;
  if ((world_.options.faults & kFaultController) && r.chance(0.004)) return r.chance(0.5) ? kCrashBeforeSync : kCrashAfterSync;
  return kNone;
}

// ---- life and death
void ControllerHost::start() {
  if (driver_) return;
  world_.journal.note("the controller starts");
  ++incarnation_;
  plan_scheduled_ = false;
  wake_at_ = kTimeInfinite;
  links_.assign(world_.nodes.size(), {});
  first_connection_ = world_.network.last_connection() + 1;
  inbox_.clear();
  auto log = std::make_unique<store::MemoryLog>(disk_, [this] { return next_fault(); });
  driver_ = std::make_unique<slurmctld::TurnDriver>(slurmctld::Core(world_.scenario.settings), std::move(log), *this);
  planner_ = std::make_unique<sched::Planner>();
  if (!recover()) {
    crash("it could not start");
    return;
  }
  world_.checkers.controller_started(core());
  world_.accounting.controller_started();
  full_pass_later();
  plan_soon();
  wake(milliseconds(1));
}

// False: the process died, or gave up because it could not write.
bool ControllerHost::recover() {
  if (auto recovered = driver_->recover("the log", false); !recovered) {
    world_.journal.fail("restart", std::string(recovered.error().message()));
    return false;
  }
  try {
    // No node is there yet to be told anything; what it is owed is due again when it connects.
    if (!driver_->open(world_.scenario.settings)) return false;
  } catch (const store::SimulatedCrash&) {
    return false;
  }
  world_.checkers.go_by(core().settings().sched);
  world_.checkers.sync_log(*disk_);
  return true;
}

void ControllerHost::crash(const char* where) {
  if (!driver_) return;
  ++crashes_;
  world_.journal.note(std::string("the controller dies: ") + where);
  ++incarnation_;
  driver_.reset();
  planner_.reset();
  inbox_.clear();
  world_.checkers.sync_log(*disk_);
  world_.network.cut_all();
  Duration away = world_.span(world_.random.faults, milliseconds(10), world_.random.faults.chance(0.8) ? seconds(5) : seconds(600));
  world_.after(away, [this] { start(); });
}

// ---- turns
void ControllerHost::post(slurmctld::Task command) {
  if (!driver_) return;
  inbox_.push_back(std::move(command));
  if (inbox_.size() == 1) wake(world_.span(world_.random.planner, Duration(20), milliseconds(3)));
}

void ControllerHost::wake(Duration delay) {
  Time at = world_.now() + delay;
  if (at >= wake_at_) return;
  wake_at_ = at;
  world_.after(delay, [this, i = incarnation_, n = ++wake_number_] {
    if (i == incarnation_ && driver_ && n == wake_number_) turn();
  });
}

std::optional<slurmctld::TurnDriver::Turn> ControllerHost::run_turn() {
  try {
    slurmctld::TurnDriver::Turn turn = driver_->turn(std::exchange(inbox_, {}));
    if (!turn.refused) events_ += static_cast<uint32_t>(turn.records);
    return turn;
  } catch (const store::SimulatedCrash&) {
    return std::nullopt;
  }
}

void ControllerHost::refuse(slurmctld::TurnDriver::Turn turn) {
  ++rollbacks_;
  world_.journal.note("turn rolled back: " + std::string(turn.refused->message()));
  world_.checkers.rolled_back(core());
  for (const slurmctld::Reply& tell : turn.replies) tell();
}

void ControllerHost::turn() {
  ++turns_;
  wake_at_ = kTimeInfinite;
  auto turn = run_turn();
  if (!turn) return crash("while it wrote");
  if (turn->refused) {
    refuse(std::move(*turn));
    return wake(seconds(1));
  }
  if (turn->records > 0) {
    world_.checkers.go_by(core().settings().sched);
    world_.checkers.sync_log(*disk_);
    world_.checkers.committed(core());
  }
  let_out(std::move(*turn));
}

// Answers and orders leave, or the process dies among them.
void ControllerHost::let_out(slurmctld::TurnDriver::Turn turn) {
  const bool changed = turn.records > 0, faulty = !world_.calm() && (world_.options.faults & kFaultController);
  if (faulty && changed && world_.random.storage.chance(0.003)) return crash("before it answered");
  for (const slurmctld::Reply& reply : turn.replies) reply();
  auto effects = driver_->core().take_effects(now());
  if (faulty && !effects.empty() && world_.random.storage.chance(0.01)) {
    effects.resize(world_.random.storage.uniform(0, effects.size()));
    carry_out(std::move(effects));
    return crash("among its orders");
  }
  carry_out(std::move(effects));
  if (changed) plan_soon();
  maybe_snapshot();
  sleep_on();
}

void ControllerHost::sleep_on() {
  Duration sleep = seconds(5);
  if (core().next_timer() != kTimeInfinite) sleep = std::clamp<Duration>(core().next_timer() - now(), milliseconds(1), sleep);
  wake(inbox_.empty() ? sleep : milliseconds(1));
}

void ControllerHost::maybe_snapshot() {
  if (driver_->events_since_snapshot() < 40 || !world_.random.storage.chance(0.05)) return;
  if (driver_->save_snapshot() && world_.random.storage.chance(0.7)) (void)driver_->log().trim();
}

// ---- nodes
void ControllerHost::on_report(uint32_t node, uint64_t connection, const Numbered<NodeReport>& message) {
  if (!driver_ || connection < first_connection_) return;  // no connection outlives the process it was made to
  Link& link = links_[node];
  auto lost = [this, node](const Error&) { world_.network.cut(node, "its report could not be kept"); };
  if (std::holds_alternative<node_rpc::Register>(message.message) && link.session.gives_way_to(message.session)) {
    link = {connection, LinkSession(message.session)};
    node_rpc::Registered hello;
    hello.session = message.session;
    send(node, hello);
    post({[node](slurmctld::Core& c, store::EventLog&) -> slurmctld::Reply {
            c.node_connected(NodeId(node));
            return {};
          },
          lost});
  }
  if (link.session.take(message) != LinkSession::Taken::kInOrder) return;
  post({[node, r = message.message](slurmctld::Core& c, store::EventLog&) -> slurmctld::Reply {
          c.report(NodeId(node), r);
          return {};
        },
        lost});
}

void ControllerHost::on_closed(uint32_t node, uint64_t connection) {
  if (!driver_ || links_[node].connection != connection) return;
  links_[node].connection = 0;
  post({[node](slurmctld::Core& c, store::EventLog&) -> slurmctld::Reply {
          c.node_disconnected(NodeId(node));
          return {};
        },
        {}});
}

void ControllerHost::send(uint32_t node, NodeOrder order) {
  Link& link = links_[node];
  if (!link.connection) return;
  world_.network.to_node(node, link.connection, link.session.numbered(std::move(order)));
}

void ControllerHost::carry_out(std::vector<slurmctld::Effect> effects) {
  for (slurmctld::Effect& e : effects)
    if (auto* o = std::get_if<slurmctld::Order>(&e)) {
      // Every other job has a script that its node has to ask for.
      if (auto* l = std::get_if<node_rpc::LaunchBatch>(&o->order); l && l->job.job.value % 2) l->script_hash = "long";
      send(o->node.value, std::move(o->order));
    } else if (auto* u = std::get_if<slurmctld::UploadRecords>(&e)) world_.accounting.upload(*u);
}

// ---- planning: over a snapshot, the plan comes back after a while and may be stale
void ControllerHost::plan_soon() {
  if (plan_scheduled_) return;
  plan_scheduled_ = true;
  world_.after(world_.span(world_.random.planner, milliseconds(1), milliseconds(300)), [this, i = incarnation_] {
    if (i != incarnation_ || !driver_) return;
    plan_scheduled_ = false;
    plan(sched::Pass::kQuick);
  });
}

void ControllerHost::full_pass_later() {
  world_.after(world_.span(world_.random.planner, seconds(20), seconds(60)), [this, i = incarnation_] {
    if (i != incarnation_ || !driver_) return;
    plan(sched::Pass::kFull);
    full_pass_later();
  });
}

void ControllerHost::plan(sched::Pass pass) {
  auto snapshot = core().snapshot();
  const Time time = now();
  auto plan = std::make_shared<sched::Plan>(planner_->plan(*snapshot, core().settings().sched, time, pass));
  Random& rng = world_.random.planner;
  if (rng.chance(0.02)) world_.checkers.planned(*snapshot, core().settings().sched, time, pass, *plan);
  if (plan->starts.empty() && plan->verdicts.empty()) return;
  Duration late = rng.chance(0.1) ? world_.span(rng, milliseconds(100), seconds(5)) : world_.span(rng, Duration(100), milliseconds(20));
  world_.after(late, [this, plan, pass, time, i = incarnation_] {
    if (i != incarnation_) return;
    post({[this, plan, pass, time](slurmctld::Core& c, store::EventLog&) -> slurmctld::Reply {
            const bool quiet = pass == sched::Pass::kFull && plan->starts.empty() && plan->preemptions.empty() &&
                               plan->released_claims.empty() && c.cluster().position == plan->position;
            c.carry_out(*plan);
            if (!quiet) return {};
            return [this, plan, time, said = c.cluster().moment.verdicts] {
              if (core().cluster().position == plan->position) world_.checkers.quiet(core(), said, time);
            };
          },
          {}});
  });
}

}  // namespace muster::sim

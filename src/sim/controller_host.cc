#include "sim/controller_host.h"

#include <algorithm>

#include "sim/world.h"
#include "wire/cluster_codec.h"
#include "wire/event_codec.h"

namespace muster::sim {

ControllerHost::ControllerHost(World& world) : world_(world), disk_(std::make_shared<store::MemoryDisk>()) {}

Time ControllerHost::wall() const { return world_.now() + clock_offset_; }

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
  if (core_) return;
  world_.journal.note("the controller starts");
  ++incarnation_;
  plan_scheduled_ = false;
  wake_at_ = kTimeInfinite;
  links_.assign(world_.nodes.size(), {});
  first_connection_ = world_.network.last_connection() + 1;
  inbox_.clear();
  core_ = std::make_unique<slurmctld::Core>(world_.scenario.settings);
  planner_ = std::make_unique<sched::Planner>();
  log_ = std::make_unique<store::MemoryLog>(disk_, [this] { return next_fault(); });
  term_ = log_->last_term() + 1;
  if (!recover()) {
    crash("it could not start");
    return;
  }
  world_.checkers.controller_started(*core_);
  world_.accounting.controller_started();
  full_pass_later();
  plan_soon();
  wake(milliseconds(1));
}

bool ControllerHost::recover() {
  auto snapshot = log_->load_snapshot();
  if (!snapshot) return false;
  store::Position from = 0;
  if (*snapshot) {
    auto cluster = decode_cluster((*snapshot)->chunks);
    if (!cluster) {
      world_.journal.fail("restart", std::string(cluster.error().message()));
      return false;
    }
    from = (*snapshot)->position;
    core_->restore(std::move(*cluster));
  }
  auto read = log_->read(from, [&](store::Position, std::string_view bytes) -> Result<> {
    MUSTER_TRY(event, decode_event(bytes));
    core_->replay(event);
    return {};
  });
  if (!read) {
    world_.journal.fail("restart", std::string(read.error().message()));
    return false;
  }
  core_->begin(wall());
  core_->configure(world_.scenario.settings);
  core_->housekeep();
  bool died = false;
  if (!append(died)) return false;
  if (died) return false;
  core_->commit();
  (void)core_->take_effects(wall());
  core_->begin(wall());
  for (uint32_t i = 0; i < world_.nodes.size(); ++i) core_->node_disconnected(NodeId(i));
  core_->commit();
  return true;
}

void ControllerHost::crash(const char* where) {
  if (!core_) return;
  ++crashes_;
  world_.journal.note(std::string("the controller dies: ") + where);
  ++incarnation_;
  core_.reset();
  log_.reset();
  planner_.reset();
  inbox_.clear();
  world_.checkers.sync_log(*disk_);
  world_.network.cut_all();
  Duration away = world_.span(world_.random.faults, milliseconds(10), world_.random.faults.chance(0.8) ? seconds(5) : seconds(600));
  world_.after(away, [this] { start(); });
}

// ---- turns
void ControllerHost::post(ControllerTask command) {
  if (!core_) return;
  inbox_.push_back(std::move(command));
  if (inbox_.size() == 1) wake(world_.span(world_.random.planner, Duration(20), milliseconds(3)));
}

void ControllerHost::wake(Duration delay) {
  Time at = world_.now() + delay;
  if (at >= wake_at_) return;
  wake_at_ = at;
  world_.after(delay, [this, i = incarnation_, n = ++wake_number_] {
    if (i == incarnation_ && core_ && n == wake_number_) turn();
  });
}

Result<> ControllerHost::append(bool& died) {
  if (core_->events().empty()) return {};
  std::vector<std::string> records;
  for (const Event& e : core_->events()) records.push_back(encode_event(e));
  try {
    auto appended = log_->append(term_, records);
    if (!appended) return std::unexpected(appended.error());
  } catch (const store::SimulatedCrash&) {
    died = true;
    return {};
  }
  since_snapshot_ += static_cast<uint32_t>(records.size());
  events_ += static_cast<uint32_t>(records.size());
  world_.checkers.sync_log(*disk_);
  return {};
}

void ControllerHost::refuse(std::vector<ControllerTask>& batch, const Error& error) {
  ++rollbacks_;
  world_.journal.note("turn rolled back: " + std::string(error.message()));
  core_->rollback();
  world_.checkers.rolled_back(*core_);
  for (ControllerTask& c : batch)
    if (c.refused) c.refused(error);
}

void ControllerHost::turn() {
  ++turns_;
  wake_at_ = kTimeInfinite;
  std::vector<ControllerTask> batch = std::move(inbox_);
  inbox_.clear();
  core_->begin(wall());
  std::vector<ControllerTask::Reply> replies;
  for (ControllerTask& c : batch)
    if (auto r = c.run(*core_)) replies.push_back(std::move(r));
  core_->housekeep();
  bool changed = !core_->events().empty(), died = false;
  if (auto ok = append(died); !ok) {
    refuse(batch, ok.error());
    return wake(seconds(1));
  }
  if (died) return crash("while it wrote");
  core_->commit();
  if (changed) world_.checkers.committed(*core_);
  bool faulty = !world_.calm() && (world_.options.faults & kFaultController);
  if (faulty && changed && world_.random.storage.chance(0.003)) return crash("before it answered");
  for (auto& r : replies) r();
  auto effects = core_->take_effects(wall());
  if (faulty && !effects.empty() && world_.random.storage.chance(0.01)) {
    effects.resize(world_.random.storage.uniform(0, effects.size()));
    carry_out(std::move(effects));
    return crash("among its orders");
  }
  carry_out(std::move(effects));
  if (changed) plan_soon();
  maybe_snapshot();
  Duration sleep = seconds(5);
  if (core_->next_timer() != kTimeInfinite) sleep = std::clamp<Duration>(core_->next_timer() - wall(), milliseconds(1), sleep);
  wake(inbox_.empty() ? sleep : milliseconds(1));
}

void ControllerHost::maybe_snapshot() {
  if (since_snapshot_ < 40 || !world_.random.storage.chance(0.05)) return;
  store::EventLog::Snapshot s;
  s.position = log_->last_position();
  s.chunks = encode_cluster(core_->cluster());
  if (!log_->save_snapshot(term_, s)) return;
  since_snapshot_ = 0;
  if (world_.random.storage.chance(0.7)) (void)log_->trim();
}

// ---- nodes
void ControllerHost::on_report(uint32_t node, uint64_t connection, const Numbered<NodeReport>& m) {
  if (!core_ || connection < first_connection_) return;  // no connection outlives the process it was made to
  Link& link = links_[node];
  auto lost = [this, node](const Error&) { world_.network.cut(node, "its report could not be kept"); };
  if (std::holds_alternative<node_rpc::Register>(m.message) && m.session > link.session) {
    link = {connection, m.session, 0, 0};
    node_rpc::Registered hello;
    hello.session = m.session;
    send(node, hello);
    post({[node](slurmctld::Core& c) -> ControllerTask::Reply {
            c.node_connected(NodeId(node));
            return {};
          },
          lost});
  }
  if (m.session != link.session || m.sequence <= link.received) return;  // late or repeated
  link.received = m.sequence;
  post({[node, r = m.message](slurmctld::Core& c) -> ControllerTask::Reply {
          c.report(NodeId(node), r);
          return {};
        },
        lost});
}

void ControllerHost::on_closed(uint32_t node, uint64_t connection) {
  if (!core_ || links_[node].connection != connection) return;
  links_[node].connection = 0;
  post({[node](slurmctld::Core& c) -> ControllerTask::Reply {
          c.node_disconnected(NodeId(node));
          return {};
        },
        {}});
}

void ControllerHost::send(uint32_t node, NodeOrder order) {
  Link& link = links_[node];
  if (!link.connection) return;
  Numbered<NodeOrder> m;
  m.session = link.session;
  m.sequence = ++link.sent;
  m.message = std::move(order);
  world_.network.to_node(node, link.connection, std::move(m));
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
    if (i != incarnation_ || !core_) return;
    plan_scheduled_ = false;
    plan(sched::Pass::kQuick);
  });
}

void ControllerHost::full_pass_later() {
  world_.after(world_.span(world_.random.planner, seconds(20), seconds(60)), [this, i = incarnation_] {
    if (i != incarnation_ || !core_) return;
    plan(sched::Pass::kFull);
    full_pass_later();
  });
}

void ControllerHost::plan(sched::Pass pass) {
  auto snapshot = core_->snapshot();
  Time now = wall();
  auto plan = std::make_shared<sched::Plan>(planner_->plan(*snapshot, core_->settings().sched, now, pass));
  Random& r = world_.random.planner;
  if (r.chance(0.02)) world_.checkers.planned(*snapshot, core_->settings().sched, now, pass, *plan);
  if (plan->starts.empty() && plan->verdicts.empty()) return;
  Duration late = r.chance(0.1) ? world_.span(r, milliseconds(100), seconds(5)) : world_.span(r, Duration(100), milliseconds(20));
  world_.after(late, [this, plan, i = incarnation_] {
    if (i != incarnation_) return;
    post({[plan](slurmctld::Core& c) -> ControllerTask::Reply {
            c.carry_out(*plan);
            return {};
          },
          {}});
  });
}

}  // namespace muster::sim

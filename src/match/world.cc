#include "match/world.h"

#include "sched/fit/request_class.h"

namespace muster::match {
namespace {

// The clock begins at the same time in every run, so that the same is printed.
const Time kBegin = from_unix(1'767'225'600);  // 2026-01-01T00:00:00 UTC
constexpr int kMaxStops = 1'000'000;

NodeHardware as_configured(const NodeSpec& spec) {
  NodeHardware hw;
  hw.cpus = spec.cpus;
  hw.boards = spec.boards;
  hw.sockets = spec.sockets;
  hw.cores_per_socket = spec.cores_per_socket;
  hw.threads_per_core = spec.threads_per_core;
  hw.real_memory_mb = spec.real_memory_mb;
  hw.tmp_disk_mb = spec.tmp_disk_mb;
  hw.gres = spec.gres;
  hw.boot_id = "1";
  hw.features = spec.features;
  return hw;
}

slurmctld::Caller user_of(const JobRequest& request) {
  slurmctld::Caller who;
  who.uid = request.uid;
  who.gid = request.gid;
  return who;
}

}  // namespace

World::World(std::shared_ptr<const config::LoadedConfig> loaded)
    : core_(slurmctld::make_settings(loaded, Uid{0}, false)), begun_(kBegin), now_(kBegin) {
  core_.begin(now_);
  core_.configure(slurmctld::make_settings(std::move(loaded), Uid{0}, false));
  std::vector<NodeId> up;
  cluster().nodes.for_each([&](uint32_t, const Node& n) {
    if (n.admin != NodeState::kFuture && !(n.flags & kNodePoweredDown)) up.push_back(n.id);
  });
  for (NodeId id : up) registers(id);
  settle();
}

// The node has booted. Its helpers say nothing: what they were to bring is active.
void World::registers(NodeId id) {
  const Node& known = cluster().nodes.at(id.value);
  const NodeSpecPtr spec = known.spec;
  const bool even = known.hardware && known.hardware->boot_id == "1";
  core_.node_connected(id);
  node_rpc::Register r;
  r.node = spec->name;
  r.hardware = as_configured(*spec);
  r.hardware.changeable = settings().loaded->helpers.features_of(spec->name);
  if (even) r.hardware.boot_id = "2";
  r.session = 1;
  core_.report(id, r);
}

// Ends a turn: carries out what follows from it, tells the witness and commits. Nodes that are to be powered up or rebooted are up at once.
void World::settle() {
  core_.housekeep();
  release_ended();
  if (witness_)
    for (const Event& e : core_.events()) witness_(e);
  core_.commit();
  std::vector<NodeId> booted;
  for (const slurmctld::Effect& effect : core_.take_effects(now_)) {
    const auto* power = std::get_if<slurmctld::PowerNodes>(&effect);
    const auto* order = std::get_if<slurmctld::Order>(&effect);
    if (power && (power->program == event::PowerProgram::kResume || power->program == event::PowerProgram::kReboot))
      booted.insert(booted.end(), power->nodes.begin(), power->nodes.end());
    if (order && std::holds_alternative<node_rpc::RebootNode>(order->order)) booted.push_back(order->node);
  }
  if (booted.empty()) return;
  core_.begin(now_);
  for (NodeId id : booted) registers(id);
  core_.housekeep();
  core_.commit();
  (void)core_.take_effects(now_);
}

// Nodes have nothing to clean up here: they release an ended job at once. A release may requeue the job but ends no job, so one round is
// enough.
void World::release_ended() {
  struct Held {
    JobId job;
    uint32_t generation;
    NodeId node;
  };
  std::vector<Held> held;
  for (const Event& e : core_.events()) {
    const auto* ending = std::get_if<event::JobEnding>(&e);
    if (!ending) continue;
    const JobId id = ending->task_job ? ending->task_job : ending->job;
    const Job* j = cluster().jobs.find(id.value);
    if (!j || !j->allocation) continue;
    j->run->releasing.for_each([&](size_t i) { held.push_back({id, j->restarts, j->allocation->nodes[i].node}); });
  }
  for (const Held& h : held) {
    node_rpc::JobGone gone;
    gone.job = h.job;
    gone.generation = h.generation;
    core_.report(h.node, gone);
  }
  core_.housekeep();
}

Result<JobId> World::submit(const JobRequest& request) {
  core_.begin(now_);
  auto done = core_.run(user_of(request), request);
  if (!done) {
    core_.rollback();
    return std::unexpected(std::move(done).error());
  }
  settle();
  return done->job;
}

Result<World::Answer> World::allocate(const JobRequest& request) {
  core_.begin(now_);
  auto done = core_.run(user_of(request), request);
  if (!done) {
    core_.rollback();
    return std::unexpected(std::move(done).error());
  }
  Answer answer;
  answer.job = done->job;
  // Uses a planner of its own, because the turn may be taken back and caches must not remember it.
  const sched::Plan plan = sched::Planner().plan(cluster(), settings().sched, now_, sched::Pass::kFull);
  sched::Plan mine;
  for (const sched::StartItem& item : plan.starts)
    if (item.job == done->job) mine.starts.push_back(item);
  if (!mine.starts.empty() && core_.carry_out(mine) == mine.starts.size()) {
    answer.start = mine.starts.front();
    settle();
    return answer;
  }
  for (const auto& [job, verdict] : plan.verdicts)
    if (job == done->job) answer.verdict = verdict;
  core_.rollback();
  return answer;
}

sched::Plan World::look() { return planner_.plan(cluster(), settings().sched, now_, sched::Pass::kFull); }

sched::Plan World::plan() {
  sched::Plan plan = look();
  core_.begin(now_);
  core_.carry_out(plan);
  settle();
  return plan;
}

void World::advance(Duration span, bool planning) {
  const Time until = now_ + span;
  for (int stops = 0; stops < kMaxStops; ++stops) {
    if (planning) (void)plan();
    const Time next = core_.next_timer();
    if (next > until) break;
    now_ = std::max(now_, next);
    core_.begin(now_);
    settle();
  }
  now_ = until;
  core_.begin(now_);
  settle();
}

Result<> World::end(JobId job) {
  core_.begin(now_);
  rpc::FinishAllocation finish;
  finish.job = job;
  auto done = core_.run(slurmctld::Caller::root(), finish);
  if (!done) {
    core_.rollback();
    return std::unexpected(std::move(done).error());
  }
  settle();
  return {};
}

Result<> World::set_node(const std::string& nodes, const std::string& state, const std::string& reason) {
  rpc::UpdateNode update;
  update.nodes = nodes;
  update.changes.push_back({"State", "=", state});
  if (!reason.empty()) update.changes.push_back({"Reason", "=", reason});
  return update_nodes(update);
}

Result<std::string> World::reserve(const rpc::UpdateReservation& request) {
  core_.begin(now_);
  auto answer = core_.run(slurmctld::Caller::root(), request);
  if (!answer) {
    core_.rollback();
    return std::unexpected(std::move(answer).error());
  }
  settle();
  std::string out;
  for (const std::string& line : answer->lines) {
    const Reservation* r = core_.cluster().reservation(line.substr(line.rfind(' ') + 1));
    out += line + (r ? " on " + sched::node_list(core_.cluster(), r->nodes) : "") + "\n";
  }
  return out;
}

Result<> World::change_nodes(const std::string& nodes, const std::string& key, const std::string& value) {
  rpc::UpdateNode update;
  update.nodes = nodes;
  update.changes.push_back({key, "=", value});
  return update_nodes(update);
}

Result<> World::update_nodes(const rpc::UpdateNode& update) {
  core_.begin(now_);
  auto done = core_.run(slurmctld::Caller::root(), update);
  if (!done || !done->errors.empty()) {
    core_.rollback();
    if (!done) return std::unexpected(std::move(done).error());
    return fail(done->errors.front().text);
  }
  settle();
  return {};
}

}  // namespace muster::match

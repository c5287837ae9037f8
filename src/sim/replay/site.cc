#include "sim/replay/site.h"

#include <map>

#include "config/gres_conf.h"

namespace muster::sim::replay {
namespace {

using slurmctld::Core;

constexpr const char* kFirstBoot = "1";

NodeHardware as_configured(const NodeSpec& spec, std::vector<GresDevices> gres, const std::string& boot_id) {
  NodeHardware hw;
  hw.cpus = spec.cpus;
  hw.boards = spec.boards;
  hw.sockets = spec.sockets;
  hw.cores_per_socket = spec.cores_per_socket;
  hw.threads_per_core = spec.threads_per_core;
  hw.real_memory_mb = spec.real_memory_mb;
  hw.tmp_disk_mb = spec.tmp_disk_mb;
  hw.gres = std::move(gres);
  hw.boot_id = boot_id;
  hw.features = spec.features;
  return hw;
}

}  // namespace

Site::Site(slurmctld::Settings settings, Ports ports, Time now) : core_(settings), ports_(std::move(ports)), now_(now) {
  core_.begin(now_);
  core_.configure(settings);
  const auto devices = config::devices_of_all(settings.loaded->gres, settings.config());
  std::map<std::string, uint32_t> lines;  // name → place in slurm.conf
  for (uint32_t i = 0; i < devices.size(); ++i) lines.emplace(config::to_node_spec(settings.config().nodes[i]).name, i);
  std::vector<NodeId> up;
  cluster().nodes.for_each([&](uint32_t id, const Node& n) {
    const bool counted = n.admin != NodeState::kFuture;
    if (capacity_.counted.size() <= id) capacity_.counted.resize(id + 1);
    capacity_.counted[id] = counted;
    if (!counted) return;
    ++capacity_.nodes;
    capacity_.cpus += n.spec->cpus;
    for (const GresDevices& g : n.spec->gres) capacity_.gpus += g.name == "gpu" ? g.count : 0;
    if (!(n.flags & kNodePoweredDown)) up.push_back(n.id);
  });
  for (NodeId id : up) {
    const NodeSpec& spec = *cluster().nodes.at(id.value).spec;
    const auto at = lines.find(spec.name);
    register_node(id, at == lines.end() ? spec.gres : devices[at->second], kFirstBoot);
  }
  core_.records_stored(0);
  settle();
}

void Site::comes_up(NodeId node, const std::string& boot_id) { register_node(node, cluster().nodes.at(node.value).spec->gres, boot_id); }

void Site::register_node(NodeId id, std::vector<GresDevices> gres, const std::string& boot_id) {
  const NodeSpecPtr spec = cluster().nodes.at(id.value).spec;
  core_.node_connected(id);
  node_rpc::Register r;
  r.node = spec->name;
  r.hardware = as_configured(*spec, std::move(gres), boot_id);
  r.session = 1;
  core_.report(id, r);
}

void Site::learn(const rpc::Entities& accounts) {
  turn(now_, [&](Core& core) { core.learn_directory(accounts); });
}

// What a turn brings about at nodes and at slurmdbd is answered in another one at the same moment, until nothing is left to say.
void Site::settle() {
  while (true) {
    core_.housekeep();
    events_ += core_.events().size();
    if (ports_.witness)
      for (const Event& e : core_.events()) ports_.witness(e, cluster());
    core_.commit();
    answers_.clear();
    for (slurmctld::Effect& e : core_.take_effects(now_)) answer(e);
    if (answers_.empty()) return;
    core_.begin(now_);
    for (auto& a : std::exchange(answers_, {})) a(core_);
  }
}

void Site::answer(slurmctld::Effect& effect) {
  if (auto* order = std::get_if<slurmctld::Order>(&effect)) obey(order->node, order->order);
  else if (auto* upload = std::get_if<slurmctld::UploadRecords>(&effect))
    answers_.push_back([position = upload->position](Core& c) { c.records_stored(position); });
  else if (auto* program = std::get_if<slurmctld::RunJobProgram>(&effect))
    answers_.push_back([job = program->job.id, generation = program->job.restarts, epilog = program->epilog](Core& c) {
      c.program_ended({job, generation, epilog, {}});
    });
  else if (auto* power = std::get_if<slurmctld::PowerNodes>(&effect); power && ports_.power) ports_.power(power->program, power->nodes);
  else if (power && power->program == event::PowerProgram::kResume)
    answers_.push_back([this, nodes = power->nodes](Core&) {
      for (NodeId id : nodes) comes_up(id, kFirstBoot);
    });
}

void Site::obey(NodeId node, NodeOrder& order) {
  auto say = [&](NodeReport report) { answers_.push_back([node, report = std::move(report)](Core& c) { c.report(node, report); }); };
  if (auto* l = std::get_if<node_rpc::LaunchBatch>(&order)) {
    node_rpc::BatchStarted started;
    started.job = l->job.job;
    started.generation = l->job.generation;
    say(started);
    ports_.launched(started.job, started.generation);
  } else if (auto* t = std::get_if<node_rpc::TerminateJob>(&order)) {
    node_rpc::JobGone gone;
    gone.job = t->job;
    gone.generation = t->generation;
    say(gone);
    ports_.terminated(t->job, t->generation);
  } else if (auto* s = std::get_if<node_rpc::SuspendJob>(&order)) {
    node_rpc::JobSettled settled;
    settled.job = s->job;
    settled.generation = s->generation;
    settled.suspended = s->suspend;
    say(settled);
    ports_.settled(s->job, s->generation, s->suspend);
  } else if (auto* m = std::get_if<node_rpc::MeasureJob>(&order)) {
    say(node_rpc::JobMeasured{m->job, m->generation, std::nullopt});  // what it used is not known here
  } else if (auto* p = std::get_if<node_rpc::PrepareJob>(&order)) {
    node_rpc::JobPrepared prepared;
    prepared.job = p->job.job;
    prepared.generation = p->job.generation;
    say(prepared);
  }
}

size_t Site::pass(sched::Pass kind) {
  plan_ = planner_.plan(cluster(), core_.settings().sched, now_, kind);
  size_t started = 0;
  turn(now_, [&](Core& core) { started = core.carry_out(plan_); });
  return started;
}

}  // namespace muster::sim::replay

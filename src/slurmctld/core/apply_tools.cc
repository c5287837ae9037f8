#include "slurmctld/core/apply_tools.h"

#include <algorithm>

namespace muster::slurmctld {

Time time_of(const Event& event) {
  const auto time = [](const auto& e) {
    if constexpr (requires { e.time; }) return e.time;
    else return Time{};
  };
  return std::visit(time, event);
}

void ToolApplier::operator()(const event::CrontabInstalled& e) {
  if (e.text.empty()) cluster_.crontabs.erase(e.user.value);
  else cluster_.crontabs.set(e.user.value, Crontab{e.user, e.text});
}

void ToolApplier::operator()(const event::CronJobMade& e) {
  if (cluster_.jobs.contains(e.entry.job.value)) cluster_.cron_jobs.set(e.entry.job.value, e.entry);
}

void ToolApplier::operator()(const event::CronJobOver& e) {
  CronJob* entry = cluster_.cron_jobs.edit(e.job.value);
  if (!entry) return;
  entry->over = true;
  const Job* job = cluster_.jobs.find(e.job.value);
  Crontab* file = e.disable && job ? cluster_.crontabs.edit(job->request->uid.value) : nullptr;
  if (file) file->text = with_lines_disabled(file->text, entry->first_line, entry->last_line);
}

void ToolApplier::operator()(const event::TriggerSet& e) {
  cluster_.triggers.set(e.trigger.id, e.trigger);
  cluster_.last_trigger = std::max(cluster_.last_trigger, e.trigger.id);
}

void ToolApplier::operator()(const event::TriggersCleared& e) {
  for (uint32_t id : e.triggers) cluster_.triggers.erase(id);
}

void ToolApplier::operator()(const event::TriggerPulled& e) {
  Trigger* t = cluster_.triggers.edit(e.trigger);
  if (!t) return;
  t->due = e.due;
  t->argument = e.argument;
}

void ToolApplier::operator()(const event::TriggerStarted& e) {
  const Trigger* t = cluster_.triggers.find(e.trigger);
  if (!t) return;
  if (!t->spec.permanent) {
    cluster_.triggers.erase(e.trigger);
    return;
  }
  Trigger* again = cluster_.triggers.edit(e.trigger);
  again->due = kTimeUnset;
  again->argument.clear();
}

void ToolApplier::operator()(const event::AllocationAttended& e) {
  Job* job = cluster_.jobs.edit(e.job.value);
  if (job && !job->finished()) job->attended = true;
}

void ToolApplier::operator()(const event::NodeQuarantined& e) {
  const uint32_t node = e.quarantine.node.value;
  if (e.quarantine.phase == QuarantinePhase::kNone) cluster_.quarantines.erase(node);
  else if (cluster_.nodes.contains(node)) cluster_.quarantines.set(node, e.quarantine);
}

void ToolApplier::forget(const Node& node) {
  auto names = copy_of(cluster_.node_names);
  names->erase(node.spec->name);
  cluster_.node_names = names;
  cluster_.nodes.erase(node.id.value);
  cluster_.quarantines.erase(node.id.value);
}

void ToolApplier::operator()(const event::MaintenanceBegun& e) {
  if (e.forgotten) cluster_.maintenances.erase(e.forgotten);
  if (!e.maintenance) return;
  cluster_.maintenances.set(e.maintenance->id, *e.maintenance);
  cluster_.last_maintenance = std::max(cluster_.last_maintenance, e.maintenance->id);
}

void ToolApplier::operator()(const event::MaintenanceStateSet& e) {
  Maintenance* m = cluster_.maintenances.edit(e.maintenance);
  if (!m) return;
  m->state = e.state;
  m->why = e.why;
  m->ended = e.ended;
  if (e.count_anew) m->failures = 0;
}

void ToolApplier::operator()(const event::MaintenanceNodeMoved& e) {
  Maintenance* m = cluster_.maintenances.edit(e.maintenance);
  if (!m || e.index >= m->nodes.size()) return;
  MaintenanceNode& node = m->nodes[e.index];
  node.step = e.step;
  node.why = e.why;
  node.since = e.time;
  if (e.step == MaintenanceStep::kFailed) ++m->failures;
}

void ToolApplier::rename(uint32_t node, const std::string& name) {
  // Thousands of nodes are defined in a row: while nobody else looks at the map it is extended in place.
  if (cluster_.node_names && cluster_.node_names.use_count() == 1) {
    const_cast<std::unordered_map<std::string, uint32_t>&>(*cluster_.node_names)[name] = node;
    return;
  }
  auto names = copy_of(cluster_.node_names);
  (*names)[name] = node;
  cluster_.node_names = names;
}

void ToolApplier::relist_partitions() {
  auto names = std::make_shared<std::unordered_map<std::string, uint32_t>>();
  cluster_.default_partition = Cluster::kNoPartition;
  cluster_.partitions.for_each([&](uint32_t i, const Partition& p) {
    (*names)[p.name] = i;
    if (p.is_default) cluster_.default_partition = i;
  });
  cluster_.partition_names = names;
}

}  // namespace muster::slurmctld

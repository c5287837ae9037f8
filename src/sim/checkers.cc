#include "sim/checkers.h"

#include "sim/check_preempt.h"
#include "sim/check_queries.h"
#include "sim/check_reasons.h"
#include "sim/check_reservations.h"

#include "sim/check_channels.h"
#include "sim/check_layers.h"
#include "sim/world.h"
#include "slurmctld/core/apply.h"
#include "wire/event_codec.h"

namespace muster::sim {

Checkers::Checkers(World& world)
    : world_(world), indexes_(world.scenario.settings.config().min_job_age), usage_(world.scenario.settings.sched.priority.half_life) {}

void Checkers::fail(const char* checker, const std::string& text) { world_.journal.fail(checker, text); }

std::string Checkers::name(NodeId node) const {
  const Node* n = mirror_.nodes.find(node.value);
  return n ? n->spec->name : "?";
}

void Checkers::sync_log(const store::MemoryDisk& disk) {
  for (uint64_t at = position_ + 1; at < disk.first + disk.records.size(); ++at) {
    if (at < disk.first) return fail("replay", "records were dropped before they were read");
    const std::string& bytes = disk.records[at - disk.first];
    world_.journal.hash(bytes);
    if (world_.options.keep) world_.options.keep(bytes);
    position_ = at;
    auto event = decode_event(bytes);
    if (!event) return fail("replay", "a record cannot be read: " + std::string(event.error().message()));
    check_transition(*event);
    check_released(*event);
    if (std::string wrong = preemption_problem(mirror_, params_, *event); !wrong.empty()) fail("preempt", wrong);
    const auto* start = std::get_if<event::JobStarted>(&*event);
    if (start) {
      check_array_limit(*start);
      check_partition_limits(*start);
      check_gang(*start);
      check_admission(*start);
      check_group_limits(*start);
    }
    if (const auto* submitted = std::get_if<event::JobSubmitted>(&*event)) check_submit_limits(*submitted);
    if (std::string wrong = maintenances_.take(*event, mirror_); !wrong.empty()) fail("maintenance", wrong);
    usage_.take(*event, mirror_);
    promises_.take(*event, mirror_);
    check_reservations(*event);
    slurmctld::apply(mirror_, indexes_, *event);
    run_uses_.take(*event, mirror_);
    if (start) world_.clients.job_started(start->task_job ? start->task_job : start->job);
    if (auto* p = std::get_if<event::JobsPurged>(&*event)) purged_.insert(p->jobs.begin(), p->jobs.end());
    if (auto* created = std::get_if<event::StepCreated>(&*event)) note_width(*created);
    if (start) note_width(*start);
    if (auto* p = std::get_if<event::JobSuspended>(&*event)) suspended_.insert(p->job);
  }
}

void Checkers::check_reservations(const Event& event) {
  const Complain complain = [this](const std::string& what) { fail("reservations", what); };
  if (auto* start = std::get_if<event::JobStarted>(&event))
    check_reservation(mirror_, *start, world_.scenario.settings.sched.licenses, complain);
  if (auto* over = std::get_if<event::ReservationRemoved>(&event)) check_end_of_reservation(mirror_, over->id, complain);
  const auto* set = std::get_if<event::ReservationSet>(&event);
  if (set && set->run == event::ReservationProgram::kEpilog) check_end_of_reservation(mirror_, set->reservation->id, complain);
}

void Checkers::committed(const slurmctld::Core& core) {
  check_together(core.cluster());
  check_usage(core.cluster());
  if (const HierarchiesPtr& all = core.settings().sched.hierarchies)
    check_layers(core.cluster(), *all, [this](const std::string& what) { fail("layers", what); });
  if (const uint32_t total = core.settings().sched.imex_channels)
    check_channels(core.cluster(), total, [this](const std::string& what) { fail("channels", what); });
  if (++commits_ % 32 == 0) check_replay(core, "after a turn");
  if (commits_ % 64 != 0) return;
  if (std::string wrong = queries_problem(core, world_.controller.now()); !wrong.empty()) fail("queries", wrong);
}

void Checkers::clock_stepped() { promises_.forget(); }

void Checkers::quiet(const slurmctld::Core& core, const PersistentMap<Verdict>& said, Time time) {
  Cluster seen = core.cluster();
  seen.moment.verdicts = said;
  check_reasons(seen, core.settings().sched, time, [this](const std::string& wrong) { fail("reasons", wrong); });
  if (const std::string wrong = promises_.look(seen, core.settings().sched, time); !wrong.empty()) fail("promises", wrong);
}

void Checkers::rolled_back(const slurmctld::Core& core) { check_replay(core, "after a rollback"); }

void Checkers::controller_started(const slurmctld::Core& core) {
  mirror_.moment.tracked_licenses = core.cluster().moment.tracked_licenses;  // what the configuration says of amounts is no event
  mirror_.moment.billing_method = core.cluster().moment.billing_method;
  check_replay(core, "after a restart");
  check_acknowledged(core.cluster());
  check_usage(core.cluster());
  check_together(core.cluster());
}

}  // namespace muster::sim

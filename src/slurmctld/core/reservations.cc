#include "slurmctld/core/reservations.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "sched/preempt/preempt_rule.h"
#include "sched/reserve/access.h"
#include "sched/reserve/choose.h"
#include "sched/supply/availability.h"

namespace muster::slurmctld {
namespace {

std::optional<Duration> over_run(const View& v) {
  const auto& minutes_more = v.settings.config().resv_over_run_min;
  return minutes_more ? std::optional<Duration>(minutes(*minutes_more)) : std::nullopt;
}

bool runs_in(const Job& j, const Reservation& r) { return !j.pending() && !j.finished() && j.run->reservation == r.id; }

// Takes the name out of what a waiting job asks for. With none left it is held, unless the reservation says otherwise.
void part_with(const View& view, const Job& job, const Reservation& reservation, Events& out) {
  JobRequest request = job.whole_request();
  std::string left;
  for (const std::string& name : request.reservation->names)
    if (!iequals(name, reservation.name)) left += (left.empty() ? "" : ",") + name;
  request.reservation = std::move(left);
  event::JobChanged e = changed(job);
  if (request.reservation.empty() && !reservation.has(kResvNoHold) && job.priority != 0) {
    e.priority = 0;
    e.reason = Reason::kReservationDeleted;
    e.flags |= kJobResvDelHold | kJobHeldByUser;  // its owner may release it
    e.detail = std::make_shared<const std::string>("reservation " + reservation.name + " is over");
  }
  e.request = store_request(view, std::move(request), out);
  out.push_back(std::move(e));
}

// The reservation has ended: its jobs do, too, unless they may run on.
void end_jobs(const View& view, const Reservation& reservation, Events& out) {
  if (!reservation.confines()) return;
  const auto more = over_run(view);
  if (!more) return;
  for (JobId id : view.indexes.jobs_in(reservation.name)) {
    const Job* j = view.cluster.jobs.find(id.value);
    if (!j || !runs_in(*j, reservation)) continue;
    if (*more > Duration::zero()) continue;  // their ends are set
    Ending e;
    e.state = JobState::kTimeout;
    e.reason = Reason::kTimeLimit;
    e.detail = "its reservation " + reservation.name + " ended";
    end_job(view, *j, e, out);
  }
}

void release_waiting(const View& v, const Reservation& r, Events& out) {
  for (JobId id : v.indexes.jobs_in(r.name))
    if (const Job* j = v.cluster.jobs.find(id.value); j && j->pending()) part_with(v, *j, r, out);
}

void end_repetition(const View& view, const Reservation& reservation, Events& out) {
  const auto run = reservation.begun ? event::ReservationProgram::kEpilog : event::ReservationProgram::kNone;
  end_jobs(view, reservation, out);
  if (!reservation.repeats()) {
    release_waiting(view, reservation, out);
    out.push_back(event::ReservationRemoved{reservation.id, view.now, run, reservation.name});
    return;
  }
  Reservation next = reservation;
  next.start = next_repetition(reservation, std::max(view.now, reservation.start));
  next.end = next.start + (reservation.end - reservation.start);
  next.begun = false;
  next.last_used = {};
  out.push_back(reservation_set(view, std::move(next), run));
}

// MaxStartDelay: jobs of --signal=R: that lie over the reservation's nodes make room once somebody waits in it: they get their signal now, and
// so much later they are requeued or cancelled. sbatch(1).
void make_way(const View& view, const Reservation& reservation, Events& out) {
  if (!reservation.begun || reservation.max_start_delay == Duration{}) return;
  const auto& jobs = view.indexes.jobs_in(reservation.name);
  const auto waits = std::ranges::find_if(jobs, [&](JobId id) { return view.cluster.jobs.at(id.value).pending(); });
  if (waits == jobs.end()) return;
  const sched::PreemptRules& rules = view.settings.sched.preempt;
  const sched::PreemptRule rule(view.cluster, rules, view.now);
  std::set<JobId> over;
  reservation.nodes.for_each([&](size_t node) {
    const auto& there = view.indexes.jobs_on(NodeId(static_cast<uint32_t>(node)));
    over.insert(there.begin(), there.end());
  });
  for (JobId id : over) {
    const Job& j = view.cluster.jobs.at(id.value);
    const Duration notice = rules.notice(*j.request);
    if (j.finished() || j.is_preempted() || j.run->reservation == reservation.id) continue;
    if (notice == Duration::zero() || notice > reservation.max_start_delay || j.ends <= view.now + notice) continue;
    out.push_back(event::JobPreempted{id, *waits, rule.how_it_goes(j), view.now, view.now + notice});
  }
}

bool out_of_service(const Node& n) { return !sched::node_usable_but_for(n, kNodeCompleting | kNodeBlocked | kNodeMaint); }

// The nodes of a partition, for a reservation that has them all.
std::optional<Bitmap> all_nodes(const View& v, const Reservation& r) {
  if (!r.has(kResvPartNodes)) return std::nullopt;
  const Partition* p = v.cluster.partition(r.partition);
  return p ? std::optional(p->nodes) : std::nullopt;
}

// What it would have with `count` nodes, those of `keep` among them.
Result<sched::Reserving> choose_again(const View& view, const Reservation& reservation, const Bitmap& keep, uint32_t count) {
  sched::ReservationWish wish{
      .cluster = view.cluster, .params = view.settings.sched, .now = view.now, .reservation = reservation, .before = &reservation};
  wish.keep = keep;
  wish.count = count;
  if (reservation.by_cores()) {
    const NodeShare& part = reservation.partial.front();
    const Node* n = view.cluster.nodes.find(part.node.value);
    const uint32_t threads = n && n->spec ? std::max(n->spec->threads_per_core, 1u) : 1;
    wish.cores = {std::max(static_cast<uint32_t>(part.cpus.count()) / threads, 1u)};
    for (const GresShare& g : part.gres) wish.gres_per_node.push_back({g.name, g.type, g.count, false});
  }
  wish.held = [&](const Node& node, Time from) { return held_from(view, node, from); };
  return sched::choose_for_reservation(wish);
}

// A job without a limit is taken to be over in a year.
constexpr Duration kAYear = minutes(365 * 24 * 60);
bool limited(const Job& job) { return job.ends != kTimeUnset && job.ends != kTimeInfinite; }

}  // namespace

event::ReservationSet reservation_set(const View& v, Reservation r, event::ReservationProgram run) {
  return {std::make_shared<const Reservation>(std::move(r)), v.now, run};
}

sched::HeldFrom held_from(const View& view, const Node& node, Time from) {
  sched::HeldFrom out;
  out.use.cpus = Bitmap(node.spec->cpus);
  for (JobId id : view.indexes.jobs_on(node.id)) {
    const Job* j = view.cluster.jobs.find(id.value);
    if (!j || !j->allocation) continue;
    const Time end = j->finished() ? view.now : limited(*j) ? j->ends : view.now + kAYear;
    if (end <= from && !(j->finished() && from <= view.now)) continue;
    for (const NodeShare& share : j->allocation->nodes) {
      if (share.node != node.id) continue;
      out.any = true;
      sched::add_share(out.use, share);
      if (j->allocation->whole_nodes) out.use.cpus = Bitmap(node.spec->cpus, true);
    }
  }
  return out;
}

Time end_within(const View& v, const Job& job, uint32_t reservation, uint32_t limit_min, Time start) {
  const Time end = limit_min == kUnlimited32 ? kTimeInfinite : start + minutes(limit_min);
  const Reservation* r = v.cluster.reservations.find(reservation ? reservation : job.run->reservation);
  const auto more = over_run(v);
  if (!r || !r->confines() || !more || r->end == kTimeInfinite) return end;
  return std::max(start, std::min(end, r->end + *more));
}

void move_ends(const View& v, const Reservation& r, Events& out) {
  for (JobId id : v.indexes.jobs_in(r.name)) {
    const Job* j = v.cluster.jobs.find(id.value);
    if (!j || !runs_in(*j, r) || !r.confines() || j->started == kTimeUnset) continue;
    const auto more = over_run(v);
    Time end = j->time_limit_min == kUnlimited32 ? kTimeInfinite : j->started + minutes(j->time_limit_min) + j->run->suspended_total;
    if (more && r.end != kTimeInfinite) end = std::min(end, r.end + *more);
    event::JobChanged e = changed(*j);
    e.ends = std::max(end, v.now);
    if (e.ends != j->ends) out.push_back(std::move(e));
  }
}

void reservation_timer(const View& view, uint32_t id, Events& out) {
  const Reservation* reservation = view.cluster.reservations.find(id);
  if (!reservation) return;
  if (!reservation->end_floats && reservation->end <= view.now) return end_repetition(view, *reservation, out);
  if (reservation->floats()) return;
  if (!reservation->begun) {
    if (reservation->start > view.now) return;
    Reservation begun = *reservation;
    begun.begun = true;
    begun.last_used = view.now;
    out.push_back(reservation_set(view, std::move(begun), event::ReservationProgram::kProlog));
    return;
  }
  if (!reservation->has(kResvPurgeComp) || std::max(reservation->last_used, reservation->start) + reservation->purge_after > view.now)
    return;
  if (view.indexes.jobs_in(reservation->name).empty()) return end_repetition(view, *reservation, out);
  Reservation used = *reservation;
  used.last_used = view.now;
  out.push_back(reservation_set(view, std::move(used)));
}

void settle_reservation(const View& view, uint32_t id, Events& out) {
  const Reservation* reservation = view.cluster.reservations.find(id);
  if (!reservation || (reservation->end <= view.now && !reservation->end_floats)) return;
  make_way(view, *reservation, out);
  if (auto all = all_nodes(view, *reservation)) {
    if (*all == reservation->nodes) return;
    Reservation next = *reservation;
    next.nodes = std::move(*all);
    next.nodes_wanted = static_cast<uint32_t>(next.nodes.count());
    out.push_back(reservation_set(view, std::move(next)));
    return;
  }
  if (!reservation->replaces() || reservation->nodes_wanted == 0) return;
  Bitmap keep = reservation->nodes;
  reservation->nodes.for_each([&](size_t node) {
    const Node* n = view.cluster.nodes.find(static_cast<uint32_t>(node));
    if (!n || out_of_service(*n) || (reservation->replaces_used() && reservation->begun && n->jobs_running > 0)) keep.reset(node);
  });
  const auto good = static_cast<uint32_t>(keep.count());
  if (good == reservation->nodes_wanted) return;
  // All take the place of those that are gone, or at least one does; the others stay.
  for (const uint32_t count : {reservation->nodes_wanted, good + 1}) {
    auto chosen = choose_again(view, *reservation, keep, count);
    if (!chosen) continue;
    Reservation next = *reservation;
    next.nodes = chosen->nodes;
    next.partial = std::move(chosen->partial);
    for (size_t node = reservation->nodes.first(); node != Bitmap::npos && next.nodes.count() < reservation->nodes_wanted;
         node = reservation->nodes.next(node + 1))
      if (!reservation->by_cores()) next.nodes.set(node);
    if (next.nodes != reservation->nodes) out.push_back(reservation_set(view, std::move(next)));
    return;
  }
}

Result<> check_reservations(const View& view, const JobRequest& request, const std::vector<uint32_t>& partitions) {
  if (request.reservation.empty()) {
    for (uint32_t p : partitions)
      if (view.cluster.partitions.at(p).req_resv)
        return fail(Errc::kAccessDenied, {},
                    "partition " + view.cluster.partitions.at(p).name + " takes jobs of reservations only (ReqResv): --reservation");
    return {};
  }
  if (request.reservation->names.empty()) return fail(Errc::kReservationInvalid);
  for (const std::string& name : request.reservation->names) {
    const Reservation* reservation = view.cluster.reservation(name);
    if (!reservation) return fail(Errc::kReservationInvalid, {}, "no reservation is called '" + name + "'");
    if (reservation->floats())
      return fail(Errc::kReservationAccess, {},
                  "reservation " + reservation->name + " always begins later (TIME_FLOAT): no job runs in it");
    if (sched::uses_any_reservation(view.settings.sched, request.uid)) continue;
    std::string_view by;
    const bool open = std::ranges::any_of(partitions, [&](uint32_t p) {
      const std::string_view list = sched::kept_out_by(view.cluster, *reservation, request, view.cluster.partitions.at(p).name);
      if (by.empty()) by = list;
      return list.empty();
    });
    if (!open)
      return fail(Errc::kReservationAccess, {},
                  "the list " + std::string(by) + " of reservation " + reservation->name + " does not admit the job");
  }
  return {};
}

void prefer_partition_of_reservation(const View& v, JobRequest& request) {
  if (!request.partitions.empty()) return;
  for (const std::string& name : request.reservation->names) {
    const Reservation* r = v.cluster.reservation(name);
    if (!r || r->partition.empty()) continue;
    request.partitions.push_back(r->partition);
    return;
  }
}

Events decide_members(const View& v, GroupMembers found) {
  const Reservation* r = v.cluster.reservations.find(found.reservation);
  if (!r || r->groups.names != found.groups) return {};
  const std::set<std::string> known(r->group_members.begin(), r->group_members.end());
  if (std::ranges::equal(known, found.members)) return {};
  Reservation next = *r;
  next.group_members = std::move(found.members);
  return {reservation_set(v, std::move(next))};
}

bool is_for_caller(const Cluster& cluster, const Reservation& r, const Caller& who) {
  std::vector<std::string> accounts;
  if (cluster.directory) accounts = cluster.directory->accounts_of(who.name);
  return !who.name.empty() && sched::is_for_user(cluster, r, who.name, accounts);
}

}  // namespace muster::slurmctld

#include "slurmctld/core/reservations.h"

#include <algorithm>
#include <set>

#include "base/text.h"
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
void part_with(const View& v, const Job& j, const Reservation& r, Events& out) {
  JobRequest request = j.whole_request();
  std::string left;
  for (const std::string& name : request.reservation->names)
    if (!iequals(name, r.name)) left += (left.empty() ? "" : ",") + name;
  request.reservation = std::move(left);
  event::JobChanged e = changed(j);
  if (request.reservation.empty() && !r.has(kResvNoHold) && j.priority != 0) {
    e.priority = 0;
    e.reason = Reason::kReservationDeleted;
    e.flags |= kJobResvDelHold | kJobHeldByUser;  // its owner may release it
    e.detail = std::make_shared<const std::string>("reservation " + r.name + " is over");
  }
  e.request = store_request(v, std::move(request), out);
  out.push_back(std::move(e));
}

// The reservation has ended: its jobs do, too, unless they may run on.
void end_jobs(const View& v, const Reservation& r, Events& out) {
  if (!r.confines()) return;
  const auto more = over_run(v);
  if (!more) return;
  for (JobId id : v.indexes.jobs_in(r.name)) {
    const Job* j = v.cluster.jobs.find(id.value);
    if (!j || !runs_in(*j, r)) continue;
    if (*more > Duration::zero()) continue;  // their ends are set
    Ending e;
    e.state = JobState::kTimeout;
    e.reason = Reason::kTimeLimit;
    e.detail = "its reservation " + r.name + " ended";
    end_job(v, *j, e, out);
  }
}

void release_waiting(const View& v, const Reservation& r, Events& out) {
  for (JobId id : v.indexes.jobs_in(r.name))
    if (const Job* j = v.cluster.jobs.find(id.value); j && j->pending()) part_with(v, *j, r, out);
}

void end_repetition(const View& v, const Reservation& r, Events& out) {
  const auto run = r.begun ? event::ReservationProgram::kEpilog : event::ReservationProgram::kNone;
  end_jobs(v, r, out);
  if (!r.repeats()) {
    release_waiting(v, r, out);
    out.push_back(event::ReservationRemoved{r.id, v.now, run, r.name});
    return;
  }
  Reservation next = r;
  next.start = next_repetition(r, std::max(v.now, r.start));
  next.end = next.start + (r.end - r.start);
  next.begun = false;
  next.last_used = {};
  out.push_back(reservation_set(v, std::move(next), run));
}

// MaxStartDelay: jobs of --signal=R: that lie over the reservation's nodes get their warning now and end when it is over, once somebody waits in
// the reservation.
void make_way(const View& v, const Reservation& r, Events& out) {
  if (!r.begun || r.max_start_delay == Duration{}) return;
  const auto& jobs = v.indexes.jobs_in(r.name);
  const bool wanted = std::ranges::any_of(jobs, [&](JobId id) { return v.cluster.jobs.at(id.value).pending(); });
  if (!wanted) return;
  std::set<JobId> over;
  r.nodes.for_each([&](size_t node) {
    const auto& there = v.indexes.jobs_on(NodeId(static_cast<uint32_t>(node)));
    over.insert(there.begin(), there.end());
  });
  for (JobId id : over) {
    const Job& j = v.cluster.jobs.at(id.value);
    const Duration warned = seconds(j.request->warn.seconds_before_end);
    if (j.finished() || j.run->reservation == r.id || !j.request->warn.reservation || warned > r.max_start_delay) continue;
    if (j.ends <= v.now + warned) continue;
    event::JobChanged e = changed(j);
    e.ends = v.now + warned;
    out.push_back(std::move(e));
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
Result<sched::Reserving> choose_again(const View& v, const Reservation& r, const Bitmap& keep, uint32_t count) {
  sched::ReservationWish wish{.cluster = v.cluster, .params = v.settings.sched, .now = v.now, .reservation = r, .before = &r};
  wish.keep = keep;
  wish.count = count;
  if (r.by_cores()) {
    const NodeShare& part = r.partial.front();
    const Node* n = v.cluster.nodes.find(part.node.value);
    const uint32_t threads = n && n->spec ? std::max(n->spec->threads_per_core, 1u) : 1;
    wish.cores = {std::max(static_cast<uint32_t>(part.cpus.count()) / threads, 1u)};
    for (const GresShare& g : part.gres) wish.gres_per_node.push_back({g.name, g.type, g.count, false});
  }
  wish.held = [&](const Node& node, Time from) { return held_from(v, node, from); };
  return sched::choose_for_reservation(wish);
}

}  // namespace

event::ReservationSet reservation_set(const View& v, Reservation r, event::ReservationProgram run) {
  return {std::make_shared<const Reservation>(std::move(r)), v.now, run};
}

sched::HeldFrom held_from(const View& v, const Node& node, Time from) {
  sched::HeldFrom out;
  out.use.cpus = Bitmap(node.spec->cpus);
  for (JobId id : v.indexes.jobs_on(node.id)) {
    const Job* j = v.cluster.jobs.find(id.value);
    if (!j || !j->allocation) continue;
    const Time end = j->finished() ? v.now : j->ends == kTimeUnset ? kTimeInfinite : j->ends;
    if (end <= from && !(j->finished() && from <= v.now)) continue;
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

void reservation_timer(const View& v, uint32_t id, Events& out) {
  const Reservation* r = v.cluster.reservations.find(id);
  if (!r) return;
  if (!r->end_floats && r->end <= v.now) return end_repetition(v, *r, out);
  if (r->floats()) return;
  if (!r->begun) {
    if (r->start > v.now) return;
    Reservation begun = *r;
    begun.begun = true;
    begun.last_used = v.now;
    out.push_back(reservation_set(v, std::move(begun), event::ReservationProgram::kProlog));
    return;
  }
  if (!r->has(kResvPurgeComp) || std::max(r->last_used, r->start) + r->purge_after > v.now) return;
  if (v.indexes.jobs_in(r->name).empty()) return end_repetition(v, *r, out);
  Reservation used = *r;
  used.last_used = v.now;
  out.push_back(reservation_set(v, std::move(used)));
}

void settle_reservation(const View& v, uint32_t id, Events& out) {
  const Reservation* r = v.cluster.reservations.find(id);
  if (!r || (r->end <= v.now && !r->end_floats)) return;
  make_way(v, *r, out);
  if (auto all = all_nodes(v, *r)) {
    if (*all == r->nodes) return;
    Reservation next = *r;
    next.nodes = std::move(*all);
    next.nodes_wanted = static_cast<uint32_t>(next.nodes.count());
    out.push_back(reservation_set(v, std::move(next)));
    return;
  }
  if (!r->replaces() || r->nodes_wanted == 0) return;
  Bitmap keep = r->nodes;
  r->nodes.for_each([&](size_t node) {
    const Node* n = v.cluster.nodes.find(static_cast<uint32_t>(node));
    if (!n || out_of_service(*n) || (r->replaces_used() && r->begun && n->jobs_running > 0)) keep.reset(node);
  });
  const auto good = static_cast<uint32_t>(keep.count());
  if (good == r->nodes_wanted) return;
  // All take the place of those that are gone, or at least one does; the others stay.
  for (const uint32_t count : {r->nodes_wanted, good + 1}) {
    auto chosen = choose_again(v, *r, keep, count);
    if (!chosen) continue;
    Reservation next = *r;
    next.nodes = chosen->nodes;
    next.partial = std::move(chosen->partial);
    for (size_t node = r->nodes.first(); node != Bitmap::npos && next.nodes.count() < r->nodes_wanted; node = r->nodes.next(node + 1))
      if (!r->by_cores()) next.nodes.set(node);
    if (next.nodes != r->nodes) out.push_back(reservation_set(v, std::move(next)));
    return;
  }
}

Result<> check_reservations(const View& v, const JobRequest& request, const std::vector<uint32_t>& partitions) {
  if (request.reservation.empty()) {
    for (uint32_t p : partitions)
      if (v.cluster.partitions.at(p).req_resv)
        return fail(Errc::kAccessDenied, {},
                    "partition " + v.cluster.partitions.at(p).name + " takes jobs of reservations only (ReqResv): --reservation");
    return {};
  }
  if (request.reservation->names.empty()) return fail(Errc::kReservationInvalid);
  for (const std::string& name : request.reservation->names) {
    const Reservation* r = v.cluster.reservation(name);
    if (!r) return fail(Errc::kReservationInvalid, {}, "no reservation is called '" + name + "'");
    if (r->floats())
      return fail(Errc::kReservationAccess, {}, "reservation " + r->name + " always begins later (TIME_FLOAT): no job runs in it");
    if (sched::uses_any_reservation(v.settings.sched, request.uid)) continue;
    std::string_view by;
    const bool open = std::ranges::any_of(partitions, [&](uint32_t p) {
      const std::string_view list = sched::kept_out_by(v.cluster, *r, request, v.cluster.partitions.at(p).name);
      if (by.empty()) by = list;
      return list.empty();
    });
    if (!open)
      return fail(Errc::kReservationAccess, {}, "the list " + std::string(by) + " of reservation " + r->name + " does not admit the job");
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

bool is_for_caller(const Cluster& cluster, const Reservation& r, const Caller& who) {
  std::vector<std::string> accounts;
  if (cluster.directory) accounts = cluster.directory->accounts_of(who.name);
  return !who.name.empty() && sched::is_for_user(cluster, r, who.name, accounts);
}

}  // namespace muster::slurmctld

// Reservations at the moment of a start, worked out anew by looking at each of them: nobody runs into one that is not his, and who is in one
// belongs there. When one is over, so are its jobs.
#include "sim/check_reservations.h"

#include <algorithm>
#include <map>

#include "model/account_directory.h"

namespace muster::sim {
namespace {

bool takes_from(const Reservation& r, const NodeShare& share) {
  if (!r.nodes.test(share.node.value)) return false;
  if (r.partial.empty()) return true;
  return std::ranges::any_of(r.partial, [&](const NodeShare& p) { return p.node == share.node && p.cpus.intersects(share.cpus); });
}

bool has_all(const Reservation& r, const NodeShare& share) {
  if (!r.nodes.test(share.node.value)) return false;
  if (r.partial.empty()) return true;
  return std::ranges::any_of(r.partial, [&](const NodeShare& p) { return p.node == share.node && p.cpus.contains(share.cpus); });
}

bool lists(const AccessNames& list, const std::string& name) { return std::ranges::find(list.names, name) != list.names.end(); }
bool admits(const AccessNames& list, bool listed) { return list.names.empty() || listed != list.denied; }

// The account, or one above it.
bool lists_account(const Cluster& cluster, const AccessNames& list, const std::string& account) {
  bool out = lists(list, account);
  if (!cluster.directory) return out;
  const auto& all = cluster.directory->associations;
  all.for_each([&](uint32_t, const AssociationRecord& own) {
    if (own.account != account || !own.user.empty()) return;
    for (const AssociationRecord* a = &own; a; a = all.find(a->parent_id)) out |= lists(list, a->account);
  });
  return out;
}

uint64_t count_of(const std::vector<LicenseShare>& list, const std::string& name) {
  uint64_t out = 0;
  for (const LicenseShare& l : list) out += l.name == name ? l.count : 0;
  return out;
}

// The reservations that keep what they have from the job that starts, while it may run.
std::vector<const Reservation*> in_the_way(const Cluster& mirror, const event::JobStarted& started, const Reservation* own, Time end) {
  constexpr uint64_t kOver = kResvOverlap | kResvMaint;
  std::vector<const Reservation*> out;
  mirror.reservations.for_each([&](uint32_t, const Reservation& r) {
    if (&r == own || r.starts(started.time) >= end || r.ends(started.time) <= started.time) return;
    if (own && ((own->flags & kOver) || (!(r.flags & kOver) && own->id < r.id))) return;  // r gives way
    out.push_back(&r);
  });
  return out;
}

// Licences that others have or that are kept for jobs in a reservation are not handed out.
std::string license_missing(const Cluster& mirror, const event::JobStarted& started, const Pools& pools,
                            const std::vector<const Reservation*>& others) {
  for (const auto& [name, there] : pools) {
    const uint64_t asked = count_of(started.allocation->licenses, name);
    uint64_t held = 0, kept = 0;
    std::map<uint32_t, uint64_t> in_reservation;
    mirror.jobs.for_each([&](uint32_t, const Job& j) {
      if (j.pending() || j.finished() || !j.allocation) return;
      held += count_of(j.allocation->licenses, name);
      in_reservation[j.run->reservation] += count_of(j.allocation->licenses, name);
    });
    for (const Reservation* r : others)
      if (const uint64_t all = count_of(r->licenses, name); all > in_reservation[r->id]) kept += all - in_reservation[r->id];
    if (asked > 0 && asked + held + kept > there)
      return "takes " + std::to_string(asked) + " of " + name + ": " + std::to_string(held) + " of " + std::to_string(there) +
             " are held, and " + std::to_string(kept) + " kept by reservations";
  }
  return "";
}

}  // namespace

bool is_let_in(const Cluster& cluster, const Reservation& r, const RequestBody& request, const std::string& partition) {
  const bool of_group = std::ranges::find(r.group_members, request.user_name) != r.group_members.end();
  return admits(r.users, lists(r.users, request.user_name)) && (r.groups.names.empty() || of_group) &&
         admits(r.accounts, lists_account(cluster, r.accounts, request.account)) && admits(r.qos, lists(r.qos, request.qos)) &&
         admits(r.partitions, lists(r.partitions, partition));
}

void check_reservation(const Cluster& mirror, const event::JobStarted& started, const Pools& licenses, const Complain& complain) {
  const Job* job = mirror.jobs.find(started.job.value);
  if (!job) return;
  auto bad = [&](const std::string& what) { complain("job " + std::to_string(started.job.value) + ": " + what); };
  const uint32_t limit = started.time_limit_min.value_or(job->time_limit_min);
  Time end = limit == kUnlimited32 ? kTimeInfinite : started.time + minutes(limit);
  const Reservation* own = mirror.reservations.find(started.reservation);
  if (started.reservation && !own) return bad("starts in a reservation that is not there");
  if (own && !(own->flags & kResvFlex)) {
    end = std::min(end, own->end);
    if (own->floats() || own->start > started.time || own->end <= started.time) bad("starts in " + own->name + " while that is not active");
    for (const NodeShare& s : started.allocation->nodes)
      if (!(own->flags & kResvAnyNodes) && !has_all(*own, s)) bad("is in " + own->name + " and has something of another node or core");
  }
  if (own && !is_let_in(mirror, *own, *job->request, mirror.partitions.at(started.partition).name))
    bad("of " + job->request->user_name + " with account " + job->request->account + " and QOS " + job->request->qos + " is in " +
        own->name);
  if (own && job->request->reservation.empty() && !(own->flags & kResvMagnetic)) bad("is in " + own->name + " and never asked for it");
  const std::vector<const Reservation*> others = in_the_way(mirror, started, own, end);
  for (const Reservation* r : others)
    for (const NodeShare& s : started.allocation->nodes)
      if (!(r->flags & kResvAnyNodes) && takes_from(*r, s)) bad("runs into " + r->name + " on " + mirror.nodes.at(s.node.value).spec->name);
  if (const std::string wrong = license_missing(mirror, started, licenses, others); !wrong.empty()) bad(wrong);
}

void check_end_of_reservation(const Cluster& mirror, uint32_t id, const Complain& complain) {
  const Reservation* r = mirror.reservations.find(id);
  if (!r || (r->flags & kResvFlex)) return;
  mirror.jobs.for_each([&](uint32_t number, const Job& j) {
    if (!j.pending() && !j.finished() && j.run->reservation == id)
      complain("job " + std::to_string(number) + " runs on in " + r->name + ", which is over");
  });
}

}  // namespace muster::sim

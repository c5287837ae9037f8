// Reservations in the first phase (every third seed): made, changed, deleted, asked for; and ended in the second.
#include <functional>

#include "base/hash.h"
#include "sim/clients.h"
#include "sim/world.h"

namespace muster::sim {
namespace {

std::string number(uint64_t n) { return std::to_string(n); }

std::string some_flags(Random& r) {
  const char* flags[] = {"MAINT",  "OVERLAP",      "IGNORE_JOBS",        "FLEX",        "MAGNETIC", "REPLACE",
                         "HOURLY", "PURGE_COMP=2", "NO_HOLD_JOBS_AFTER", "STATIC_ALLOC"};
  std::string out;
  for (uint64_t n = r.uniform(0, 2); n > 0; --n)
    out += (out.empty() ? "" : ",") + std::string(r.pick(std::vector<std::string>(std::begin(flags), std::end(flags))));
  return out;
}

using Set = std::function<void(const char* key, const std::string& value)>;

// Whom it is for: every list that a reservation may have, allowed or denied.
void some_access(Random& rng, const World& world, rpc::UpdateReservation& request, const Set& set) {
  const auto sign = [&] { return std::string(rng.chance(0.2) ? "-" : ""); };
  bool any = false;
  if (rng.chance(0.4)) {
    any = true;
    if (rng.chance(0.3)) {
      set("Groups", "staff");
      for (const char* user : {"u1001", "u1002", "u1003"})
        if (rng.chance(0.6)) request.group_members.push_back(user);
    } else {
      set("Users", sign() + "u" + number(rng.uniform(1001, 1003)));
    }
  }
  if (rng.chance(0.4)) any = true, set("Accounts", sign() + (rng.chance(0.2) ? "root" : rng.chance(0.5) ? "team" : "other"));
  if (rng.chance(0.2)) any = true, set("QOS", sign() + (rng.chance(0.5) ? "fast" : "normal"));
  if (rng.chance(0.2)) any = true, set("AllowedPartitions", sign() + rng.pick(world.scenario.partitions));
  if (!any) set("Users", "u1001,u1002,u1003");
}

// Kinds that come up less often: draws of their own.
void some_kind(Random& rng, const World& world, rpc::UpdateReservation& request, const Set& set) {
  some_access(rng, world, request, set);
  set("StartTime", "now+" + number(rng.uniform(0, 900)));
  set("Duration", number(rng.uniform(1, 20)));
  const bool licenses = world.scenario.has_licenses();
  switch (rng.uniform(0, licenses ? 6 : 4)) {
    case 0: set("Flags", "TIME_FLOAT"); break;
    case 1: set("Flags", rng.chance(0.5) ? "DAILY" : "WEEKLY"); break;
    case 2:
      set("Flags", "PART_NODES");
      set("PartitionName", rng.pick(world.scenario.partitions));
      return set("Nodes", "ALL");
    case 3: set("Flags", "REPLACE_DOWN"); break;
    case 4: set("Features", rng.chance(0.5) ? "of_a" : "of_b"); break;
    case 5: set("Licenses", "tool:" + number(rng.uniform(1, 2))); break;
    default: set("Flags", "LICENSE_ONLY"); return set("Licenses", "tool:" + number(rng.uniform(1, 2)));
  }
  set("NodeCnt", number(rng.uniform(1, 2)));
}

}  // namespace

void Clients::reserve() {
  Random& rng = world_.random.workload;
  std::vector<std::string> names;
  world_.checkers.mirror().reservations.for_each([&](uint32_t, const Reservation& x) { names.push_back(x.name); });
  rpc::UpdateReservation request;
  auto set = [&](const char* key, const std::string& value) { request.changes.push_back({key, "=", value}); };
  if (!names.empty() && rng.chance(0.4)) {
    request.name = rng.pick(names);
    request.remove = rng.chance(0.4);
    if (!request.remove && rng.chance(0.5)) set("Duration", number(rng.uniform(1, 30)));
    else if (!request.remove && rng.chance(0.5)) set("NodeCnt", number(rng.uniform(1, 3)));
    else if (!request.remove) set("EndTime", "now+" + number(rng.uniform(1, 600)));
    return send("scontrol " + std::string(request.remove ? "delete " : "update ") + request.name, slurmctld::Caller::root(), request);
  }
  request.create = true;
  if (Random more(mix64(world_.options.seed ^ 0x72657376 ^ static_cast<uint64_t>(world_.now().time_since_epoch().count())));
      more.chance(0.6)) {
    some_kind(more, world_, request, set);
    return send("scontrol create reservation of another kind", slurmctld::Caller::root(), request);
  }
  set("StartTime", "now+" + number(rng.uniform(0, 900)));
  set("Duration", number(rng.uniform(1, 20)));
  if (rng.chance(0.7)) set("Users", std::string(rng.chance(0.2) ? "-" : "") + "u" + number(rng.uniform(1001, 1003)));
  else set("Users", "u1001,u1002,u1003");
  if (std::string flags = some_flags(rng); !flags.empty()) set("Flags", flags);
  if (rng.chance(0.3)) set("Nodes", rng.pick(world_.scenario.nodes));
  else set("NodeCnt", number(rng.uniform(1, 3)));
  if (rng.chance(0.2)) set("CoreCnt", number(rng.uniform(1, 3)));
  send("scontrol create reservation", slurmctld::Caller::root(), request);
}

void Clients::name_a_reservation(JobRequest& request) {
  Random& r = world_.random.workload;
  if (!r.chance(0.4)) return;
  std::vector<std::string> names;
  world_.checkers.mirror().reservations.for_each([&](uint32_t, const Reservation& x) { names.push_back(x.name); });
  if (names.empty()) return;
  std::string reservations = r.pick(names);
  if (r.chance(0.2)) reservations += "," + r.pick(names);
  request.reservation = std::move(reservations);
}

void Clients::end_reservations() {
  world_.checkers.mirror().reservations.for_each([&](uint32_t, const Reservation& x) {
    rpc::UpdateReservation c;
    c.name = x.name;
    if (x.repeats()) c.changes.push_back({"Flags", "-=", "HOURLY,DAILY,WEEKLY"});
    // Of one that comes again every hour, for seconds each time, only the next time may ever be met.
    if (x.start > world_.now()) c.changes.push_back({"StartTime", "=", "now"});
    c.changes.push_back({"EndTime", "=", "now+1"});
    send("tidy: end of reservation " + x.name, slurmctld::Caller::root(), c);
  });
}

}  // namespace muster::sim

#include "slurmctld/core/reservation_rows.h"

#include "base/text.h"
#include "model/hres.h"
#include "sched/fit/request_class.h"

namespace muster::slurmctld {
namespace {

Bitmap cores_of(const Node& n, const Bitmap& cpus) {
  Bitmap out(n.spec->cores());
  const uint32_t threads = std::max(n.spec->cpus / std::max(n.spec->cores(), 1u), 1u);
  cpus.for_each([&](size_t cpu) { out.set(cpu / threads); });
  return out;
}

}  // namespace

ReservationRow make_reservation_row(const Cluster& cluster, const Reservation& reservation, Time now) {
  ReservationRow out;
  out.name = reservation.name;
  out.start = reservation.starts(now);
  out.end = reservation.ends(now);
  out.flags = reservation.flags;
  out.active = reservation.active(now);
  out.node_list = sched::node_list(cluster, reservation.nodes);
  out.node_count = static_cast<uint32_t>(reservation.nodes.count());
  out.tres = {.cpus = 0};
  reservation.nodes.for_each([&](size_t id) {
    const Node* n = cluster.nodes.find(static_cast<uint32_t>(id));
    if (!n) return;
    const NodeShare* part = reservation.share_of(n->id);
    const Bitmap cores = part ? cores_of(*n, part->cpus) : Bitmap();
    out.core_count += part ? static_cast<uint32_t>(cores.count()) : n->spec->cores();
    *out.tres.cpus += part ? part->cpus.count() : n->spec->cpus;
    if (!part) return;
    out.cores.push_back({n->spec->name, cores.to_ranges()});
    for (const GresShare& g : part->gres) out.tres.add_gres(g.name, g.type, g.count);
  });
  if (reservation.nodes.none()) out.tres.cpus.reset();
  out.licenses = reservation.licenses;
  for (const LicenseShare& l : reservation.licenses)
    if (!names_layer(l.name)) out.tres.licenses.push_back(l);  // layers are no TRES
  out.features = reservation.features.text();
  out.partition = reservation.partition;
  out.comment = reservation.comment;
  out.users = reservation.users;
  out.groups = reservation.groups;
  out.accounts = reservation.accounts;
  out.qos = reservation.qos;
  out.partitions = reservation.partitions;
  out.max_start_delay = reservation.max_start_delay;
  out.purge_after = reservation.purge_after;
  return out;
}

Result<rpc::ReservationRows> query_reservations(const Cluster& cluster, const rpc::QueryReservations& q, Time now, const Privacy& privacy) {
  rpc::ReservationRows out;
  cluster.reservations.for_each([&](uint32_t, const Reservation& r) {
    if ((q.name.empty() || iequals(q.name, r.name)) && privacy.shows(cluster, r))
      out.reservations.push_back(make_reservation_row(cluster, r, now));
  });
  if (!q.name.empty() && out.reservations.empty()) return fail(Errc::kReservationInvalid, "Reservation " + q.name + " not found");
  return out;
}

ReservedNodes::ReservedNodes(const Cluster& cluster) : cluster_(cluster) {
  cluster_.reservations.for_each([&](uint32_t, const Reservation& r) {
    if (r.begun && !r.has(kResvAnyNodes)) begun_.push_back(&r);
  });
}

uint32_t ReservedNodes::flags_of(NodeId node) const {
  uint32_t flags = 0;
  for (const Reservation* r : begun_)
    if (r->nodes.test(node.value)) flags |= kNodeReserved | (r->has(kResvMaint) ? kNodeMaint : 0u);
  return flags;
}

void ReservedNodes::mark(NodeId node, NodeRow& row) const {
  row.flags |= flags_of(node);
  const auto first = std::ranges::find_if(begun_, [&](const Reservation* r) { return r->nodes.test(node.value); });
  if (first != begun_.end() && row.reservation.empty()) row.reservation = (*first)->name;
}

}  // namespace muster::slurmctld

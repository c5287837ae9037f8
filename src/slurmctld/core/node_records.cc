// Records of nodes that are not at work, and of reservations: what roll-ups of a cluster's time need beside its jobs.
#include <algorithm>

#include "hostlist/hostlist.h"
#include "model/hres.h"
#include "slurmctld/core/records.h"
#include "slurmctld/core/rows.h"

namespace muster::slurmctld {
namespace {

using namespace event;

constexpr uint32_t kOutFlags = kNodeDrain | kNodeFail | kNodePoweredDown;

TresAmounts tres_of_node(const Cluster& c, const Node& n) {
  TresAmounts out{.cpus = 0, .mem_mb = 0};
  out.configure(*n.spec);
  out.billing = billing_of_node(c, n);
  return out;
}

// None: the node is at work, or will be as soon as it registers.
std::optional<EventRecord> out_of(const Cluster& cluster, const Node& node) {
  const bool at_work = node.admin != NodeState::kDown && node.admin != NodeState::kError && node.admin != NodeState::kFuture;
  if (at_work && !(node.flags & kOutFlags)) return std::nullopt;
  EventRecord r;
  r.cluster = cluster.name;
  r.node = node.spec->name;
  r.started = node.out_since;
  r.state = node.admin;
  r.flags = node.flags & kOutFlags;
  r.in_use = node.has_jobs();
  r.reason = node.reason;
  r.by = node.reason_uid;
  r.tres = tres_of_node(cluster, node);
  return r;
}

// The same time goes on. A node that is down has no jobs for long, so whether it has them does not begin another.
bool goes_on(const EventRecord& a, const EventRecord& b) {
  return a.state == b.state && a.flags == b.flags && a.reason == b.reason && a.by == b.by && a.node == b.node && a.tres == b.tres &&
         (a.in_use == b.in_use || !(a.flags & (kNodeDrain | kNodeFail)));
}

class Concerned {
 public:
  explicit Concerned(const Cluster& c) : c_(c) {}
  template <class E>
  void operator()(const E&) {}
  void operator()(const NodeDefined& e) { add(e.node); }
  void operator()(const NodeRemoved& e) { add(e.node); }
  void operator()(const NodeStateChanged& e) { add(e.node); }
  void operator()(const AccountingSet&) {
    c_.nodes.for_each([&](uint32_t id, const Node&) { add(NodeId(id)); });
  }
  // The last job that leaves a draining node makes it a drained one.
  void operator()(const JobNodesReleased& e) {
    const Job* j = c_.jobs.find(e.job.value);
    if (!j || !j->allocation) return;
    e.nodes.for_each([&](size_t i) {
      if (i < j->allocation->nodes.size()) add_draining(j->allocation->nodes[i].node);
    });
  }
  void operator()(const JobEnding& e) { add_draining_of(e.job); }
  void operator()(const JobShrunk& e) { add_draining_of(e.job); }
  void operator()(const JobNodeLeft& e) { add_draining(e.node); }
  std::vector<NodeBefore> out;

 private:
  void add_draining_of(JobId id) {
    const Job* j = c_.jobs.find(id.value);
    if (!j || !j->allocation) return;
    for (const NodeShare& s : j->allocation->nodes) add_draining(s.node);
  }
  void add_draining(NodeId id) {
    const Node* n = c_.nodes.find(id.value);
    if (n && (n->flags & (kNodeDrain | kNodeFail))) add(id);
  }
  void add(NodeId id) {
    const Node* n = c_.nodes.find(id.value);
    out.push_back({id, n && n->out_since != kTimeUnset ? out_of(c_, *n) : std::nullopt});
  }
  const Cluster& c_;
};

}  // namespace

std::vector<NodeBefore> nodes_before(const Cluster& cluster, const Event& event) {
  // While accounting is off, only its being switched on is of interest.
  if (!cluster.accounting && !std::holds_alternative<AccountingSet>(event)) return {};
  Concerned concerned(cluster);
  std::visit(concerned, event);
  return std::move(concerned.out);
}

void keep_node_records(Cluster& cluster, Indexes& indexes, const std::vector<NodeBefore>& before, Time now) {
  if (now == kTimeUnset) return;  // an event of an old log, which does not say when it was
  for (const NodeBefore& old : before) {
    const Node* node = cluster.nodes.find(old.id.value);
    std::optional<EventRecord> after = node && cluster.accounting ? out_of(cluster, *node) : std::nullopt;
    if (old.out && after && goes_on(*old.out, *after)) continue;
    if (old.out && cluster.accounting) {
      EventRecord over = *old.out;
      over.ended = now;
      over.position = cluster.position;
      keep_record(cluster, indexes, {.event = std::make_shared<const EventRecord>(std::move(over))});
    }
    const Time since = after ? now : kTimeUnset;
    if (node && node->out_since != since) cluster.nodes.edit(old.id.value)->out_since = since;
    if (!after) continue;
    after->started = now;
    after->position = cluster.position;
    keep_record(cluster, indexes, {.event = std::make_shared<const EventRecord>(std::move(*after))});
  }
}

ReservationRecord make_reservation_record(const Cluster& cluster, const Reservation& reservation) {
  ReservationRecord out;
  out.cluster = cluster.name;
  out.id = reservation.id;
  out.position = cluster.position;
  out.name = reservation.name;
  out.started = reservation.start;
  out.ended = reservation.end;
  out.flags = reservation.flags;
  out.users = reservation.users.text();
  out.accounts = reservation.accounts.text();
  out.comment = reservation.comment;
  std::vector<std::string> names;
  reservation.nodes.for_each([&](size_t id) {
    const Node* n = cluster.nodes.find(static_cast<uint32_t>(id));
    if (!n) return;
    names.push_back(n->spec->name);
    if (!reservation.by_cores()) out.tres.configure(*n->spec);
  });
  for (const NodeShare& s : reservation.partial) out.tres.hold(s);
  out.tres.nodes = names.size();
  if (out.tres.cpus) out.tres.billing = out.tres.cpus;
  for (const LicenseShare& l : reservation.licenses)
    if (!names_layer(l.name)) out.tres.licenses.push_back(l);  // layers are no TRES
  out.nodes = compress_hosts(names);
  return out;
}

}  // namespace muster::slurmctld

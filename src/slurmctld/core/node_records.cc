// Records of nodes that are not at work, and of reservations: what roll-ups of a cluster's time need beside its jobs.
#include <algorithm>

#include "hostlist/hostlist.h"
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
std::optional<EventRecord> out_of(const Cluster& c, const Node& n) {
  const bool at_work = n.admin != NodeState::kDown && n.admin != NodeState::kError && n.admin != NodeState::kFuture;
  if (at_work && !(n.flags & kOutFlags)) return std::nullopt;
  EventRecord r;
  r.cluster = c.name;
  r.node = n.spec->name;
  r.started = n.out_since;
  r.state = n.admin;
  r.flags = n.flags & kOutFlags;
  r.in_use = n.has_jobs();
  r.reason = n.reason;
  r.by = n.reason_uid;
  r.tres = tres_of_node(c, n);
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

void keep_node_records(Cluster& c, Indexes& x, const std::vector<NodeBefore>& before, Time now) {
  if (now == kTimeUnset) return;  // an event of an old log, which does not say when it was
  for (const NodeBefore& b : before) {
    const Node* n = c.nodes.find(b.id.value);
    std::optional<EventRecord> after = n && c.accounting ? out_of(c, *n) : std::nullopt;
    if (b.out && after && goes_on(*b.out, *after)) continue;
    if (b.out && c.accounting) {
      EventRecord over = *b.out;
      over.ended = now;
      over.position = c.position;
      keep_record(c, x, {.event = std::make_shared<const EventRecord>(std::move(over))});
    }
    const Time since = after ? now : kTimeUnset;
    if (n && n->out_since != since) c.nodes.edit(b.id.value)->out_since = since;
    if (!after) continue;
    after->started = now;
    after->position = c.position;
    keep_record(c, x, {.event = std::make_shared<const EventRecord>(std::move(*after))});
  }
}

ReservationRecord make_reservation_record(const Cluster& c, const Reservation& r) {
  ReservationRecord out;
  out.cluster = c.name;
  out.id = r.id;
  out.position = c.position;
  out.name = r.name;
  out.started = r.start;
  out.ended = r.end;
  out.flags = r.flags;
  out.users = r.users.text();
  out.accounts = r.accounts.text();
  out.comment = r.comment;
  std::vector<std::string> names;
  r.nodes.for_each([&](size_t id) {
    const Node* n = c.nodes.find(static_cast<uint32_t>(id));
    if (!n) return;
    names.push_back(n->spec->name);
    if (!r.by_cores()) out.tres.configure(*n->spec);
  });
  for (const NodeShare& s : r.partial) out.tres.hold(s);
  out.tres.nodes = names.size();
  if (out.tres.cpus) out.tres.billing = out.tres.cpus;
  out.tres.licenses = r.licenses;
  out.nodes = compress_hosts(names);
  return out;
}

}  // namespace muster::slurmctld

// Nodes that are kept for a user (--exclusive=user), for jobs with an MCS label (--exclusive=mcs), or for both: supply/node_owner.h.
// What helps: the last of the jobs there ends.
#include "sched/rules/node_rules.h"

namespace muster::sched {
namespace {

void leave(const NodeQuestion& q, Bitmap& open) {
  const Shape& s = q.asked.shape;
  if (s.keeps_others_off()) open &= q.nodes.idle() | q.nodes.owned();
  if (!q.nodes.owned().intersects(open)) return;
  const Bitmap owned = q.nodes.owned() & open;
  owned.for_each([&](size_t id) {
    if (!admits(q.nodes.kept_for(static_cast<uint32_t>(id)), s.newcomer(q.user))) open.reset(id);
  });
}

void sort_out(const CensusQuestion& q, const Bitmap& left) {
  const Availability& nodes = q.node.nodes;
  const Shape& s = q.node.asked.shape;
  left.for_each([&](size_t at) {
    const auto id = static_cast<uint32_t>(at);
    const NodeOwner& owner = nodes.kept_for(id);
    if (owner.user != NodeOwner::kAnyone && owner.user != q.node.user) return q.out(NodeCause::kOtherUser, id);
    if (!owner.label.empty() && owner.label != s.mcs_label) return q.out(NodeCause::kOtherLabel, id);
    if (!nodes.idle().test(at) && !admits(owner, s.newcomer(q.node.user))) q.out(NodeCause::kNotIdle, id);
  });
}

Result<> at_start(const ShareQuestion& q) {
  const RequestBody& r = q.start.request;
  const Allocation& a = q.start.allocation;
  if (!admits(owner_of(q.node), {r.uid, r.mcs_label, false, false})) return busy(q.node, "kept for another user or label");
  const Newcomer comes{r.uid, r.mcs_label, a.exclusive_user, !a.mcs_label.empty()};
  if (q.node.jobs_running > 0 && !admits(owner_of(q.node), comes)) return busy(q.node, "used by other users or labels");
  return {};
}

}  // namespace

constinit const NodeRule kNodeOwner{
    .name = "--exclusive=user, mcs", .by = HelpedBy::kJobsEnd, .leave = leave, .sort_out = sort_out, .at_start = at_start};

}  // namespace muster::sched

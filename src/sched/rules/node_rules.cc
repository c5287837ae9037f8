#include "sched/rules/node_rules.h"

#include <array>

namespace muster::sched {
namespace {

// The cheap rules come first; the others have nothing to say to `leave`.
constexpr std::array kRules = {&kNodeInService, &kReservations, &kNotWoken,   &kWholeNodes,   &kNodeOwner, &kWholeLeaves, &kLayers,
                               &kNodeLists,     &kTogether,     &kConstraint, &kNodeExtra,    &kNodeMake,  &kNodeRoom,    &kPartitionCpus,
                               &kNodeAmounts,   &kNodeLayout,   &kNodeKnown,  &kTopologyUnit, &kPromised};
// A node that several of these rules take counts for the first of them.
constexpr std::array kNarrowing = {&kConstraint, &kNodeLists, &kNodeMake, &kNodeExtra, &kNodeRoom};
// A node has one cause, that of the first rule that applies: causes that last first, then those of the moment.
constexpr std::array kByCause = {&kNodeKnown,  &kConstraint,    &kNodeExtra,    &kNodeMake,   &kNodeRoom,
                                 &kNodeLists,  &kNodeInService, &kReservations, &kNotWoken,   &kNodeOwner,
                                 &kWholeNodes, &kWholeLeaves,   &kNodeAmounts,  &kNodeLayout, &kPromised};

}  // namespace

std::span<const NodeRule* const> node_rules() { return kRules; }
std::span<const NodeRule* const> narrowing_rules() { return kNarrowing; }

Bitmap nodes_left(const NodeQuestion& question) {
  Bitmap open = question.asked.feasible;
  for (const NodeRule* rule : kRules)
    if (rule->leave) rule->leave(question, open);
  return open;
}

Hold nodes_missing(const NodeQuestion& question, const Bitmap& open) {
  for (const NodeRule* rule : kRules)
    if (rule->missing)
      if (Hold hold = rule->missing(question, open)) return hold;
  return {};
}

void sort_out(const CensusQuestion& question, Bitmap left, const std::function<void(NodeCause, const NodeRule&, uint32_t)>& out) {
  for (const NodeRule* rule : kByCause) {
    Bitmap gone(left.size());
    CensusQuestion asked = question;
    asked.out = [&](NodeCause cause, uint32_t node) {
      gone.set(node);
      out(cause, *rule, node);
    };
    rule->sort_out(asked, left);
    left -= gone;
  }
}

Result<> let_have(const ShareQuestion& question) {
  for (const NodeRule* rule : kRules)
    if (rule->at_start) MUSTER_TRY_VOID(rule->at_start(question));
  return {};
}

Result<> names_exist(const NamesQuestion& question) {
  for (const NodeRule* rule : kRules)
    if (rule->ever) MUSTER_TRY_VOID(rule->ever(question));
  return {};
}

Reason nodes_awaited(const NodeQuestion& question) {
  for (const NodeRule* rule : kRules)
    if (rule->waits)
      if (const Reason reason = rule->waits(question); reason != Reason::kNone) return reason;
  return Reason::kResources;
}

std::string rules_say(const NodeQuestion& question) {
  for (const NodeRule* rule : kRules)
    if (rule->says)
      if (std::string what = rule->says(question); !what.empty()) return what;
  return {};
}

std::string_view change_awaited(const RequestClass& asked) {
  for (size_t i = 0; i < asked.taken.size(); ++i)
    if (asked.taken[i] && !kNarrowing[i]->awaits.empty()) return kNarrowing[i]->awaits;
  return {};
}

std::string not_together(const Shape& shape) {
  for (const NodeRule* rule : kRules)
    if (rule->together)
      if (std::string why = rule->together(shape); !why.empty()) return why;
  return {};
}

std::unexpected<Error> busy(const Node& node, std::string_view what) {
  return fail(Errc::kNodesBusy, {}, node.spec->name + ": " + std::string(what));
}

}  // namespace muster::sched

#include "fields/node_filter.h"

#include "base/text.h"

namespace muster::fields {
namespace {

template <NodeState State>
bool base_is(const NodeRow& n) {
  return n.state == State;
}
template <uint32_t Flag>
bool has_flag(const NodeRow& n) {
  return n.flags & Flag;
}
bool busy(const NodeRow& n) {
  return n.has_jobs || n.state == NodeState::kAllocated || n.state == NodeState::kMixed || (n.flags & kNodeCompleting);
}

struct Name {
  std::string_view name;
  bool (*test)(const NodeRow&);
};
constexpr Name kNames[] = {
    {"alloc", [](const NodeRow& n) { return n.state == NodeState::kAllocated || n.state == NodeState::kMixed; }},
    {"allocated", [](const NodeRow& n) { return n.state == NodeState::kAllocated || n.state == NodeState::kMixed; }},
    {"blocked", has_flag<kNodeBlocked>},
    {"block", has_flag<kNodeBlocked>},
    {"cloud", has_flag<kNodeCloud>},
    {"comp", has_flag<kNodeCompleting>},
    {"completing", has_flag<kNodeCompleting>},
    {"down", base_is<NodeState::kDown>},
    {"drain", has_flag<kNodeDrain>},
    {"drained", [](const NodeRow& n) { return (n.flags & kNodeDrain) && !busy(n); }},
    {"draining", [](const NodeRow& n) { return (n.flags & kNodeDrain) && busy(n); }},
    {"drng", [](const NodeRow& n) { return (n.flags & kNodeDrain) && busy(n); }},
    {"dynamic_future", has_flag<kNodeDynamicFuture>},
    {"dynamic_norm", has_flag<kNodeDynamicNorm>},
    {"error", base_is<NodeState::kError>},
    {"external", has_flag<kNodeExternal>},
    {"fail", has_flag<kNodeFail>},
    {"failing", [](const NodeRow& n) { return (n.flags & kNodeFail) && busy(n); }},
    {"future", base_is<NodeState::kFuture>},
    {"futr", base_is<NodeState::kFuture>},
    {"idle", base_is<NodeState::kIdle>},
    {"inval", has_flag<kNodeInvalid>},
    {"invalid_reg", has_flag<kNodeInvalid>},
    {"maint", has_flag<kNodeMaint>},
    {"mix", base_is<NodeState::kMixed>},
    {"mixed", base_is<NodeState::kMixed>},
    {"no_respond", has_flag<kNodeNoRespond>},
    {"planned", has_flag<kNodePlanned>},
    {"plnd", has_flag<kNodePlanned>},
    {"power_down", has_flag<kNodePowerDownRequested>},
    {"powered_down", has_flag<kNodePoweredDown>},
    {"powering_down", has_flag<kNodePoweringDown>},
    {"powering_up", has_flag<kNodePoweringUp>},
    {"power_up", has_flag<kNodePoweringUp>},
    {"reboot_issued", has_flag<kNodeRebootIssued>},
    {"reboot_requested", has_flag<kNodeRebootRequested>},
    {"reboot", [](const NodeRow& n) { return (n.flags & (kNodeRebootIssued | kNodeRebootRequested)) != 0; }},
    {"reserved", has_flag<kNodeReserved>},
    {"resv", has_flag<kNodeReserved>},
    {"unk", base_is<NodeState::kUnknown>},
    {"unknown", base_is<NodeState::kUnknown>},
};

const Name* find_name(std::string_view text) {
  for (const Name& n : kNames)
    if (iequals(n.name, text)) return &n;
  return nullptr;
}

Error bad_state(std::string_view term) {
  std::string hint = "valid states: ";
  for (const Name& n : kNames) hint += std::string(&n == kNames ? "" : ",") + std::string(n.name);
  return Error(Errc::kError, "Bad state string: \"" + std::string(term) + "\"", std::move(hint));
}

}  // namespace

Result<NodeStateFilter> NodeStateFilter::parse(std::span<const std::string> terms) {
  NodeStateFilter filter;
  for (const std::string& term : terms) {
    if (iequals(term, "all")) return NodeStateFilter();
    std::vector<Part> parts;
    size_t at = 0;
    while (at <= term.size()) {
      size_t end = std::min(term.find_first_of("+&", at), term.size());
      std::string_view word = std::string_view(term).substr(at, end - at);
      Part part;
      if (!word.empty() && (word[0] == '~' || word[0] == '!')) {
        part.inverted = true;
        word.remove_prefix(1);
      }
      const Name* name = find_name(word);
      if (!name) return std::unexpected(bad_state(term));
      part.test = name->test;
      parts.push_back(part);
      at = end + 1;
    }
    filter.terms_.push_back(std::move(parts));
  }
  return filter;
}

bool NodeStateFilter::matches(const NodeRow& node) const {
  if (terms_.empty()) return true;
  for (const std::vector<Part>& parts : terms_) {
    bool all = true;
    for (const Part& p : parts) all = all && p.test(node) != p.inverted;
    if (all) return true;
  }
  return false;
}

bool lists_reason(const NodeRow& n) { return n.state == NodeState::kDown || (n.flags & (kNodeDrain | kNodeFail)); }
bool is_responding(const NodeRow& n) { return !(n.flags & kNodeNoRespond); }

}  // namespace muster::fields

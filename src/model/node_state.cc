// The words for node states: sinfo's single word with a suffix, and scontrol's list of everything that applies.
#include "base/text.h"
#include "model/enums.h"
#include "model/node_flag.h"

namespace muster {
namespace {

NodeStateText plain(NodeState s) {
  switch (s) {
    case NodeState::kUnknown: return {"unknown", "unk"};
    case NodeState::kDown: return {"down", "down"};
    case NodeState::kIdle: return {"idle", "idle"};
    case NodeState::kAllocated: return {"allocated", "alloc"};
    case NodeState::kError: return {"error", "error"};
    case NodeState::kMixed: return {"mixed", "mix"};
    case NodeState::kFuture: return {"future", "futr"};
  }
  return {"?", "?"};
}

bool in_use(NodeState s) { return s == NodeState::kAllocated || s == NodeState::kMixed; }

NodeStateText word(NodeState base, uint32_t flags, bool has_jobs) {
  const bool busy = has_jobs || in_use(base) || (flags & kNodeCompleting);
  if (flags & kNodeInvalid) return {"inval", "inval"};
  if (flags & kNodeRebootIssued) return {"reboot", "boot"};
  if (flags & kNodeDrain) return busy ? NodeStateText{"draining", "drng"} : NodeStateText{"drained", "drain"};
  if (flags & kNodeFail) return busy ? NodeStateText{"failing", "failg"} : NodeStateText{"fail", "fail"};
  if (base == NodeState::kIdle || base == NodeState::kUnknown) {
    if (flags & kNodeMaint) return {"maint", "maint"};
    if (flags & kNodeCompleting) return {"completing", "comp"};
    if (flags & kNodeBlocked) return {"blocked", "block"};
  }
  if (base == NodeState::kIdle) {
    if (flags & kNodeRebootRequested) return {"reboot", "boot"};
    if (flags & kNodeReserved) return {"reserved", "resv"};
    if (flags & kNodePlanned) return {"planned", "plnd"};
  }
  return plain(base);
}

// The suffix for the first flag, in this order, that the word does not express already.
char suffix(std::string_view word, uint32_t flags) {
  if ((flags & kNodeMaint) && word != "maint") return '$';
  if (flags & kNodeRebootIssued) return '^';
  if ((flags & kNodeRebootRequested) && word != "reboot") return '@';
  if (flags & kNodePoweringUp) return '#';
  if (flags & kNodePoweringDown) return '%';
  if (flags & kNodePoweredDown) return '~';
  if (flags & kNodePowerDownRequested) return '!';
  if (flags & kNodeNoRespond) return '*';
  if ((flags & kNodePlanned) && word != "planned") return '-';
  return 0;
}

struct LongName {
  uint32_t flag;
  std::string_view name;
};
constexpr LongName kLongNames[] = {
    {kNodeBlocked, "BLOCKED"},
    {kNodeCloud, "CLOUD"},
    {kNodeCompleting, "COMPLETING"},
    {kNodeDrain, "DRAIN"},
    {kNodeDynamicFuture, "DYNAMIC_FUTURE"},
    {kNodeDynamicNorm, "DYNAMIC_NORM"},
    {kNodeExternal, "EXTERNAL"},
    {kNodeInvalid, "INVALID_REG"},
    {kNodeFail, "FAIL"},
    {kNodeMaint, "MAINTENANCE"},
    {kNodePowerDownRequested, "POWER_DOWN"},
    {kNodePoweredDown, "POWERED_DOWN"},
    {kNodeRebootIssued, "REBOOT_ISSUED"},
    {kNodeRebootRequested, "REBOOT_REQUESTED"},
    {kNodeReserved, "RESERVED"},
    {kNodeNoRespond, "NOT_RESPONDING"},
    {kNodePlanned, "PLANNED"},
    {kNodePoweringDown, "POWERING_DOWN"},
    {kNodePoweringUp, "POWERING_UP"},
};

}  // namespace

NodeStateText node_state_text(NodeState base, uint32_t flags, bool has_jobs) {
  NodeStateText text = word(base, flags, has_jobs);
  text.suffix = suffix(text.base, flags);
  return text;
}

std::string node_state_long(NodeState base, uint32_t flags) {
  std::string out;
  for (char c : plain(base).base) out += static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  for (const LongName& n : kLongNames) {
    if (!(flags & n.flag)) continue;
    out += '+';
    out += n.name;
  }
  return out;
}

std::optional<uint32_t> node_flag(std::string_view word) {
  for (const LongName& n : kLongNames)
    if (iequals(n.name, word)) return n.flag;
  return std::nullopt;
}

}  // namespace muster

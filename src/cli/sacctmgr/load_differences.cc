#include "cli/sacctmgr/load_differences.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "fields/entity_view.h"
#include "fields/values.h"

namespace muster::cli {
namespace {

std::string wide(std::string_view text, size_t width) {
  std::string out(text);
  out.resize(std::max(out.size(), width), ' ');
  return out;
}
std::string right(std::string_view text, size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + std::string(text);
}

const LimitInfo& info_of(LimitKind kind) { return *std::ranges::find(kLimits, kind, &LimitInfo::kind); }

std::optional<uint64_t> limit_of(const std::vector<Limit>& limits, LimitKind kind, std::string_view tres) {
  auto value = find_limit(limits, kind, tres);
  return !value && kind == LimitKind::kShares ? 1 : value;  // what everybody has who was given none
}

std::string limit_text(const LimitChange& l, std::optional<uint64_t> value) {
  if (!value) return {};
  return (l.tres.empty() ? "" : l.tres + "=") + fields::limit_value_text(l.kind, l.tres, *value);
}

std::vector<LimitChange> different_limits(const std::vector<LimitChange>& wanted, const std::vector<Limit>& now, const Changed& changed) {
  std::vector<LimitChange> out;
  for (const LimitChange& l : wanted) {
    const auto before = limit_of(now, l.kind, l.tres);
    std::optional<uint64_t> after = l.value;
    if (l.op == ChangeOp::kClear) after = limit_of({}, l.kind, l.tres);
    if (l.op == ChangeOp::kAdd) after = before.value_or(0) + l.value;
    if (l.op == ChangeOp::kSubtract) after = before.value_or(0) - std::min(before.value_or(0), l.value);
    if (after == before) continue;
    changed.say(l.kind == LimitKind::kShares ? "fairshare" : info_of(l.kind).name, limit_text(l, before), limit_text(l, after));
    out.push_back(l);
  }
  return out;
}

std::string_view sign_of(ChangeOp op) { return op == ChangeOp::kAdd ? "+" : op == ChangeOp::kSubtract ? "-" : ""; }

std::string names_text(std::vector<std::string> names) {
  std::ranges::sort(names);
  return join(names, ",");
}

// A list of QOS that changes clear first is replaced; else the changes are additions to it and removals, which make a difference unless it
// says so already.
std::vector<NamesChange> different_qos(const std::vector<NamesChange>& wanted, const std::vector<std::string>& now,
                                       const Changed& changed) {
  if (wanted.empty()) return {};
  const bool replaces = wanted.front().op == ChangeOp::kClear || wanted.front().op == ChangeOp::kSet;
  std::vector<std::string> after;
  bool same = true;
  for (const NamesChange& c : wanted)
    for (const std::string& name : c.names) {
      const std::string text = std::string(sign_of(c.op)) + name;
      after.push_back(text);
      const bool has = std::ranges::find(now, name) != now.end() || std::ranges::find(now, "+" + name) != now.end();
      const bool lacks = std::ranges::find(now, "-" + name) != now.end();
      same = same && (c.op == ChangeOp::kSubtract ? lacks : has);
    }
  if (replaces) same = names_text(after) == names_text(now);
  if (same) return {};
  changed.say("QOS", names_text(now), names_text(after));
  return wanted;
}

std::vector<NamesChange> different_names(std::string_view what, const std::vector<NamesChange>& wanted, const std::vector<std::string>& now,
                                         const Changed& changed) {
  for (const NamesChange& c : wanted) {
    auto is_in = [&](const std::string& name) { return std::ranges::any_of(now, [&](const std::string& n) { return iequals(n, name); }); };
    const bool same = c.op == ChangeOp::kSet        ? c.names.size() == now.size() && std::ranges::all_of(c.names, is_in)
                      : c.op == ChangeOp::kSubtract ? std::ranges::none_of(c.names, is_in)
                                                    : std::ranges::all_of(c.names, is_in);
    if (same) continue;
    changed.say(what, names_text(now), std::string(sign_of(c.op)) + names_text(c.names));
    return wanted;
  }
  return {};
}

// Descriptions and modes are compared without their case: Slurm keeps them in lower case.
std::optional<std::string> different_text(std::string_view what, const std::optional<std::string>& wanted, std::string_view now,
                                          const Changed& changed) {
  if (!wanted || iequals(*wanted, now)) return std::nullopt;
  changed.say(what, now, *wanted);
  return wanted;
}

std::string factor_text(const std::optional<double>& value) {
  std::string out;
  if (value) fields::put_fixed(out, *value, 4);
  return out;
}
std::optional<double> different_factor(std::string_view what, const std::optional<double>& wanted, const std::optional<double>& now,
                                       const Changed& changed) {
  const std::optional<double> after = wanted && *wanted < 0 ? std::nullopt : wanted;
  if (!wanted || after == now) return std::nullopt;
  changed.say(what, factor_text(now), factor_text(after));
  return wanted;
}

}  // namespace

void Changed::say(std::string_view what, std::string_view before, std::string_view after) const {
  auto shown = [](std::string_view text) { return text.empty() ? "(null)" : text; };
  lines.push_back(" Changed " + wide(what, 21) + " for " + wide(kind, 7) + " " + wide(name, 10) + " " + right(shown(before), 8) + " -> " +
                  std::string(shown(after)) + "\n");
}

EntityChange difference(const EntityChange& wanted, const AssociationRecord& now, const Changed& changed) {
  EntityChange out;
  out.limits = different_limits(wanted.limits, now.limits, changed);
  out.qos = different_qos(wanted.qos, now.qos, changed);
  out.default_qos = different_text("Default QOS", wanted.default_qos, now.default_qos, changed);
  return out;
}

EntityChange difference(const EntityChange& wanted, const QosRecord& now, const Changed& changed) {
  EntityChange out;
  out.limits = different_limits(wanted.limits, now.limits, changed);
  out.description = different_text("description", wanted.description, now.description, changed);
  out.flags = different_names("Flags", wanted.flags, now.flags, changed);
  out.preempt = different_names("Preempt", wanted.preempt, now.preempt, changed);
  out.preempt_mode = different_text("PreemptMode", wanted.preempt_mode, now.preempt_mode.text(), changed);
  out.usage_factor = different_factor("UsageFactor", wanted.usage_factor, now.usage_factor, changed);
  out.usage_threshold = different_factor("UsageThreshold", wanted.usage_threshold, now.usage_threshold, changed);
  out.limit_factor = different_factor("LimitFactor", wanted.limit_factor, now.limit_factor, changed);
  return out;
}

EntityChange difference(const EntityChange& wanted, const AccountRecord& now, const Changed& changed) {
  EntityChange out;
  out.description = different_text("description", wanted.description, now.description, changed);
  if (wanted.organization && *wanted.organization != now.organization) {
    out.organization = wanted.organization;
    changed.say("organization", now.organization, *wanted.organization);
  }
  out.flags = different_names("Flags", wanted.flags, now.flags, changed);
  return out;
}

EntityChange of_new_association(EntityChange wanted) {
  std::erase_if(wanted.limits, [](const LimitChange& l) {
    return l.op == ChangeOp::kClear || (l.kind == LimitKind::kShares && l.op == ChangeOp::kSet && l.value == 1);
  });
  return wanted;
}

bool is_empty(const EntityChange& c) {
  return !c.description && !c.organization && !c.parent && !c.classification && !c.default_account && !c.default_wckey && !c.default_qos &&
         !c.admin_level && !c.preempt_mode && c.qos.empty() && c.flags.empty() && c.preempt.empty() && c.limits.empty() &&
         !c.usage_factor && !c.usage_threshold && !c.limit_factor;
}

std::string key_of(const EntityChange& c) {
  std::string out;
  for (const LimitChange& l : c.limits)
    out += join({std::to_string(static_cast<int>(l.kind)), l.tres, std::to_string(static_cast<int>(l.op)), std::to_string(l.value)}, " ") +
           ";";
  for (const NamesChange& n : c.qos) out += std::to_string(static_cast<int>(n.op)) + join(n.names, ",") + ";";
  for (const auto* text : {&c.default_qos, &c.default_account, &c.default_wckey}) out += *text ? "=" + **text + ";" : ";";
  return out + (c.admin_level ? std::to_string(static_cast<int>(*c.admin_level)) : "");
}

}  // namespace muster::cli

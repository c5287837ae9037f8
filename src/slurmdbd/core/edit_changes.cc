// How values change: limits, lists of QOS and other names.
#include <algorithm>

#include "base/text.h"
#include "slurmdbd/core/editor.h"
#include "slurmdbd/core/refusals.h"

namespace muster::slurmdbd {
namespace {

const LimitInfo* info_of(LimitKind kind) {
  for (const LimitInfo& i : kLimits)
    if (i.kind == kind) return &i;
  return nullptr;
}

uint64_t changed_value(const LimitChange& c, uint64_t before) {
  if (c.op == ChangeOp::kAdd) return c.value > kMaxLimit - std::min(before, kMaxLimit) ? kMaxLimit : before + c.value;
  if (c.op == ChangeOp::kSubtract) return before > c.value ? before - c.value : 0;
  return std::min(c.value, kMaxLimit);
}

void erase(std::vector<std::string>& list, const std::string& name) { std::erase(list, name); }
bool contains(const std::vector<std::string>& list, const std::string& name) { return std::ranges::find(list, name) != list.end(); }
bool is_delta(const std::string& name) { return name.starts_with('+') || name.starts_with('-'); }

}  // namespace

bool is_inherited(LimitKind kind) {
  switch (kind) {
    case LimitKind::kMaxJobs:
    case LimitKind::kMaxJobsAccrue:
    case LimitKind::kMaxSubmitJobs:
    case LimitKind::kMaxWall:
    case LimitKind::kMaxTresPerJob:
    case LimitKind::kMaxTresMinsPerJob:
    case LimitKind::kMaxTresPerNode:
    case LimitKind::kPriority: return true;
    default: return false;
  }
}

std::optional<uint64_t> effective_limit(const Directory& d, const AssociationRecord& a, LimitKind kind, const std::string& tres) {
  const AssociationRecord* at = &a;
  while (true) {
    if (auto own = find_limit(at->limits, kind, tres)) return own;
    auto up = d.associations.find(at->parent_id);
    if (!is_inherited(kind) || up == d.associations.end()) return std::nullopt;
    at = &up->second;
  }
}

// Plain names of its own stand for themselves; else its own additions and removals change what is above.
std::vector<std::string> effective_qos(const Directory& d, const AssociationRecord& a) {
  if (std::ranges::any_of(a.qos, [](const std::string& n) { return !is_delta(n); })) return a.qos;
  std::vector<std::string> list;
  auto up = d.associations.find(a.parent_id);
  if (up != d.associations.end()) list = effective_qos(d, up->second);
  for (const std::string& n : a.qos) {
    erase(list, n.substr(1));
    if (n.starts_with('+')) list.push_back(n.substr(1));
  }
  return list;
}

// `below` is the association whose limits these are (null for a QOS): a coordinator may not set a limit above that of the associations
// above it.
Result<> Editor::change_limits(std::vector<Limit>& limits, bool of_qos, const Association* below) const {
  for (const LimitChange& change : edit_.set.limits) {
    const LimitInfo* info = info_of(change.kind);
    if (!info || !(of_qos ? info->of_qos : info->of_associations))
      return fail(Errc::kError, std::string(info ? info->name : "a limit of number " + std::to_string(static_cast<int>(change.kind))) +
                                    " is no limit of " + (of_qos ? "a QOS" : "an association"));
    if (info->per_tres) {
      bool known = std::ranges::any_of(d_.tres, [&](const auto& t) { return tres_name(t.second) == change.tres; });
      if (!known)
        return fail(Errc::kError, std::string(info->name) + ": TRES '" + change.tres + "' is not known",
                    "sacctmgr show tres lists those that are; AccountingStorageTRES of slurm.conf adds others");
    } else if (!change.tres.empty()) {
      return fail(Errc::kError, std::string(info->name) + " is one number, not one for each TRES");
    }
    auto at = std::ranges::find_if(limits, [&](const Limit& l) { return l.kind == change.kind && l.tres == change.tres; });
    if (change.op == ChangeOp::kClear) {
      if (at != limits.end()) limits.erase(at);
      continue;
    }
    uint64_t value = changed_value(change, at == limits.end() ? 0 : at->value);
    if (!is_operator() && below && change.kind != LimitKind::kShares) {
      auto up = d_.associations.find(below->parent_id);
      auto above = up == d_.associations.end() ? std::nullopt : effective_limit(d_, up->second, change.kind, change.tres);
      if (above && value > *above)
        return fail(Errc::kAccessDenied, {},
                    std::string(info->name) + "=" + std::to_string(value) + ": a coordinator may not go above the " +
                        std::to_string(*above) + " of what is above");
    }
    if (at == limits.end()) limits.push_back({change.kind, change.tres, value});
    else at->value = value;
  }
  std::ranges::sort(limits, [](const Limit& a, const Limit& b) { return std::tie(a.kind, a.tres) < std::tie(b.kind, b.tres); });
  return {};
}

// Plain names replace what is inherited; a name after '+' is added to it, one after '-' is taken from it.
Result<> Editor::change_qos_list(std::vector<std::string>& list) const {
  for (const NamesChange& change : edit_.set.qos) {
    for (const std::string& name : change.names)
      if (!find_live(d_.qos, name))
        return fail(Errc::kInvalidQos, "QOS '" + name + "' is not known", "sacctmgr show qos lists those that are");
    if (change.op == ChangeOp::kClear || change.op == ChangeOp::kSet) {
      list = change.op == ChangeOp::kSet ? change.names : std::vector<std::string>{};
      continue;
    }
    const bool whole = std::ranges::any_of(list, [](const std::string& n) { return !is_delta(n); });
    for (const std::string& name : change.names) {
      const bool add = change.op == ChangeOp::kAdd;
      if (whole) {
        erase(list, name);
        if (add) list.push_back(name);
        continue;
      }
      erase(list, "+" + name);
      erase(list, "-" + name);
      list.push_back((add ? "+" : "-") + name);
    }
  }
  return {};
}

Result<> Editor::change_names(std::vector<std::string>& list, const std::vector<NamesChange>& changes) const {
  for (const NamesChange& c : changes) {
    if (c.op == ChangeOp::kClear) list.clear();
    if (c.op == ChangeOp::kSet) list = c.names;
    for (const std::string& name : c.names) {
      if (c.op == ChangeOp::kAdd && !contains(list, name)) list.push_back(name);
      if (c.op == ChangeOp::kSubtract) erase(list, name);
    }
  }
  return {};
}

// The controllers, which count usage, learn the moment with the record. sacctmgr(1) RawUsage.
Result<> Editor::reset_usage(Time& at) const {
  if (!edit_.set.raw_usage) return {};
  MUSTER_TRY_VOID(need_operator("setting RawUsage"));
  if (*edit_.set.raw_usage != 0) return fail(Errc::kError, "Raw usage can only be set to 0 (zero)");
  at = std::max(context_.now, at + Duration(1));  // another one each time
  return {};
}

bool Editor::changes_associations() const {
  const EntityChange& s = edit_.set;
  return !s.limits.empty() || !s.qos.empty() || s.default_qos || s.comment || s.parent || s.raw_usage;
}

// Returns true if the association is different now.
Result<bool> Editor::change_association(Association& association) const {
  Association next = association;
  MUSTER_TRY_VOID(change_limits(next.limits, false, &association));
  MUSTER_TRY_VOID(change_qos_list(next.qos));
  const EntityChange& set = edit_.set;
  if (set.default_qos) {
    if (!set.default_qos->empty() && !find_live(d_.qos, *set.default_qos))
      return fail(Errc::kInvalidQos, "DefaultQOS '" + *set.default_qos + "' is not known", "sacctmgr show qos lists those that are");
    const std::vector<std::string> allowed = effective_qos(d_, next);
    if (!set.default_qos->empty() && !allowed.empty() && !contains(allowed, *set.default_qos))
      return default_qos_not_allowed(association, *set.default_qos);
    next.default_qos = *set.default_qos;
  }
  if (set.comment) next.comment = *set.comment;
  MUSTER_TRY_VOID(reset_usage(next.usage_reset));
  bool different = next.usage_reset != association.usage_reset || next.limits != association.limits || next.qos != association.qos ||
                   next.default_qos != association.default_qos || next.comment != association.comment;
  next.modified = context_.now;
  if (different) association = std::move(next);
  return different;
}

}  // namespace muster::slurmdbd

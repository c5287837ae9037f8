#include "fields/entity_kinds.h"

#include <algorithm>
#include <cmath>

namespace muster::fields {
namespace {

void put_tres(Members& m, std::string_view type, std::string_view name, uint64_t count, const std::vector<TresRecord>* known) {
  const auto is_it = [&](const TresRecord& tres) { return tres.type == type && tres.name == name; };
  if (known)
    if (const auto at = std::ranges::find_if(*known, is_it); at != known->end()) return json_tres(m, type, name, count, at->id);
  json_tres(m, type, name, count);
}

void put_short(Members& m, const AssociationRecord& a) {
  m.text("account", a.account).text("cluster", a.cluster).text("partition", a.partition).text("user", a.user).number("id", a.id);
}

}  // namespace

void MaybeReal::json(Members& m, std::string_view key, std::optional<double> number, const Environment&) {
  const bool set = number && std::isfinite(*number);
  m.begin(key).flag("set", set).flag("infinite", false);
  m.sink().key("number");
  m.sink().real(set ? *number : 0);
  m.end();
}

void LimitTres::json(Members& members, std::string_view key, const TresLimits& limits, const Environment&) {
  std::vector<const ::muster::Limit*> of;
  for (const ::muster::Limit& l : *limits.limits)
    if (l.kind == limits.kind) of.push_back(&l);
  std::ranges::sort(of, {}, [](const ::muster::Limit* l) { return std::string_view(l->tres); });
  members.sink().key(key);
  members.sink().begin_list();
  for (const ::muster::Limit* l : of) {
    const std::string_view tres = l->tres;
    const size_t slash = std::min(tres.find('/'), tres.size());
    put_tres(members, tres.substr(0, slash), tres.substr(std::min(slash + 1, tres.size())), l->value, limits.known);
  }
  members.sink().end_list();
}

void AmountsTres::json(Members& m, std::string_view key, const KnownAmounts& amounts, const Environment&) {
  m.sink().key(key);
  m.sink().begin_list();
  each_tres(*amounts.amounts,
            [&](std::string_view type, std::string_view name, uint64_t count) { put_tres(m, type, name, count, amounts.known); });
  m.sink().end_list();
}

void Coordination::json(Members& m, std::string_view key, const std::vector<std::string>& names, const Environment&) {
  m.sink().key(key);
  m.sink().begin_list();
  for (const std::string& name : names) {
    m.sink().begin_object();
    m.text("name", name).flag("direct", true);
    m.sink().end_object();
  }
  m.sink().end_list();
}

void ShortAssociations::json(Members& m, std::string_view key, const Associations& associations, const Environment&) {
  m.sink().key(key);
  m.sink().begin_list();
  for (const AssociationRecord* a : associations) {
    m.sink().begin_object();
    put_short(m, *a);
    m.sink().end_object();
  }
  m.sink().end_list();
}

void ShortAssociation::json(Members& m, std::string_view key, const AssociationRecord* association, const Environment&) {
  m.begin(key);
  put_short(m, association ? *association : AssociationRecord());
  m.end();
}

}  // namespace muster::fields

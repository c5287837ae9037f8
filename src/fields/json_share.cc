#include "fields/json_share.h"

#include <algorithm>
#include <cmath>

#include "fields/json_values.h"
#include "fields/values.h"

namespace muster::fields {
namespace {

constexpr uint64_t kSecondsInMinute = 60;

// Writes {"set", "infinite", "number"} of a number that is no whole one.
void maybe_real(Members& m, std::string_view key, bool set, double value) {
  const bool infinite = set && std::isinf(value);
  m.begin(key).flag("set", set && !infinite).flag("infinite", infinite);
  m.sink().key("number");
  m.sink().real(set && std::isfinite(value) ? value : 0);
  m.end();
}

std::string tres_name(std::string_view kind, std::string_view name) {
  return name.empty() ? std::string(kind) : std::string(kind) + "/" + std::string(name);
}

void counts(Members& m, std::string_view key, const TresAmounts& amounts, uint64_t times) {
  m.sink().key(key);
  m.sink().begin_list();
  each_tres(amounts, [&](std::string_view kind, std::string_view name, uint64_t count) {
    m.sink().begin_object();
    m.text("name", tres_name(kind, name)).maybe("value", true, count > UINT64_MAX / times ? UINT64_MAX : count * times);
    m.sink().end_object();
  });
  m.sink().end_list();
}

// What was used is kept in whole minutes; the description has it in seconds, with a fraction.
void usage(Members& m, const TresAmounts& amounts) {
  m.sink().key("usage");
  m.sink().begin_list();
  each_tres(amounts, [&](std::string_view kind, std::string_view name, uint64_t count) {
    m.sink().begin_object();
    m.text("name", tres_name(kind, name));
    m.sink().key("value");
    m.sink().real(static_cast<double>(count) * static_cast<double>(kSecondsInMinute));
    m.sink().end_object();
  });
  m.sink().end_list();
}

void entry_member(const ShareDocument& document, const ShareEntry& entry, TreeSink& sink) {
  const ShareRow& row = entry.row;
  const ShareView view{row, document.fair_tree, document.cluster};
  Members members(sink);
  sink.begin_object();
  members.number("id", row.association).text("cluster", document.cluster).text("name", is_account(row) ? row.account : row.user);
  members.text("parent", entry.parent).text("partition", row.partition);
  maybe_real(members, "shares_normalized", true, row.norm_shares);
  members.maybe("shares", !is_root(row), std::min<uint64_t>(row.shares, UINT32_MAX));
  members.begin("tres");
  counts(members, "run_seconds", row.run_minutes, kSecondsInMinute);
  counts(members, "group_minutes", row.limit_minutes, 1);
  usage(members, row.used_minutes);
  members.end();
  maybe_real(members, "effective_usage", true, row.effective_usage);
  maybe_real(members, "usage_normalized", true, row.norm_usage);
  members.number("usage", whole_part(row.raw_usage));
  members.begin("fairshare");
  maybe_real(members, "factor", has_factor(view), row.factor);
  maybe_real(members, "level", has_level(view), row.level_fs);
  members.end();
  members.words("type", is_account(row) ? "ASSOCIATION" : "USER");
  sink.end_object();
}

}  // namespace

void json_shares(const ShareDocument& document, std::span<const ShareEntry> entries, TreeSink& sink) {
  Members m(sink);
  sink.begin_object();
  sink.key("shares");
  sink.begin_list();
  for (const ShareEntry& e : entries) entry_member(document, e, sink);
  sink.end_list();
  m.number("total_shares", static_cast<int64_t>(std::min<uint64_t>(document.total_shares, INT64_MAX)));
  sink.end_object();
}

}  // namespace muster::fields

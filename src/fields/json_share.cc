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

void entry_member(const ShareDocument& d, const ShareEntry& e, TreeSink& sink) {
  const ShareRow& r = e.row;
  const ShareView v{r, d.fair_tree, d.cluster};
  Members m(sink);
  sink.begin_object();
  m.number("id", r.association).text("cluster", d.cluster).text("name", is_account(r) ? r.account : r.user);
  m.text("parent", e.parent).text("partition", r.partition);
  maybe_real(m, "shares_normalized", true, r.norm_shares);
  m.maybe("shares", !is_root(r), std::min<uint64_t>(r.shares, UINT32_MAX));
  m.begin("tres");
  counts(m, "run_seconds", r.run_minutes, kSecondsInMinute);
  counts(m, "group_minutes", r.limit_minutes, 1);
  usage(m, r.used_minutes);
  m.end();
  maybe_real(m, "effective_usage", true, r.effective_usage);
  maybe_real(m, "usage_normalized", true, r.norm_usage);
  m.number("usage", whole_part(r.raw_usage));
  m.begin("fairshare");
  maybe_real(m, "factor", has_factor(v), r.factor);
  maybe_real(m, "level", has_level(v), r.level_fs);
  m.end();
  m.words("type", is_account(r) ? "ASSOCIATION" : "USER");
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

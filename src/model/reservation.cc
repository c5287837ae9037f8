#include "model/reservation.h"

#include <algorithm>

#include "base/text.h"

namespace muster {
namespace {

struct FlagName {
  uint64_t flag;
  std::string_view name;
};
// In the order in which they are printed.
constexpr FlagName kNames[] = {{kResvMaint, "MAINT"},
                               {kResvFlex, "FLEX"},
                               {kResvOverlap, "OVERLAP"},
                               {kResvIgnoreJobs, "IGNORE_JOBS"},
                               {kResvHourly, "HOURLY"},
                               {kResvDaily, "DAILY"},
                               {kResvWeekly, "WEEKLY"},
                               {kResvWeekday, "WEEKDAY"},
                               {kResvWeekend, "WEEKEND"},
                               {kResvSpecNodes, "SPEC_NODES"},
                               {kResvAllNodes, "ALL_NODES"},
                               {kResvAnyNodes, "ANY_NODES"},
                               {kResvStatic, "STATIC"},
                               {kResvPartNodes, "PART_NODES"},
                               {kResvFirstCores, "FIRST_CORES"},
                               {kResvTimeFloat, "TIME_FLOAT"},
                               {kResvReplace, "REPLACE"},
                               {kResvReplaceDown, "REPLACE_DOWN"},
                               {kResvPurgeComp, "PURGE_COMP"},
                               {kResvNoHold, "NO_HOLD_JOBS_AFTER_END"},
                               {kResvMagnetic, "MAGNETIC"},
                               {kResvUserDelete, "USER_DELETE"},
                               {kResvForceStart, "FORCE_START"}};
constexpr FlagName kOtherNames[] = {{kResvStatic, "STATIC_ALLOC"}, {kResvAnyNodes, "LICENSE_ONLY"}, {kResvNoHold, "NO_HOLD_JOBS_AFTER"}};

bool is_weekend(Time t) { return local_weekday(t) == 0 || local_weekday(t) == 6; }

// One repetition further.
Time step(const Reservation& r, Time from) {
  if (r.has(kResvHourly)) return from + minutes(60);
  if (r.has(kResvDaily)) return add_local_days(from, 1);
  Time next = from;
  if (r.has(kResvWeekday | kResvWeekend)) {
    for (int days = 1; days <= 7; ++days) {
      next = add_local_days(from, days);
      if (is_weekend(next) ? r.has(kResvWeekend) : r.has(kResvWeekday)) return next;
    }
  }
  return add_local_days(from, 7);
}

}  // namespace

std::string reservation_flags_text(uint64_t flags, Duration purge_after) {
  std::string out;
  for (const FlagName& f : kNames) {
    if (!(flags & f.flag)) continue;
    if (!out.empty()) out += ',';
    out += f.name;
    if (f.flag == kResvPurgeComp) out += "=" + format_span_full(purge_after);
  }
  return out;
}

std::vector<std::string_view> reservation_flag_names(uint64_t flags) {
  std::vector<std::string_view> out;
  for (const FlagName& f : kNames)
    if (flags & f.flag) out.push_back(f.name);
  return out;
}

std::optional<uint64_t> reservation_flag(std::string_view name) {
  for (const FlagName& f : kOtherNames)
    if (iequals(f.name, name)) return f.flag;
  for (const FlagName& f : kNames)
    if (iequals(f.name, name)) return f.flag;
  return std::nullopt;
}

bool AccessNames::lists(std::string_view name) const {
  return std::ranges::any_of(names, [&](const std::string& n) { return iequals(n, name); });
}

std::string AccessNames::text() const {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ",") + std::string(denied ? "-" : "") + name;
  return out;
}

bool Reservation::replaces() const {
  if (has(kResvStatic | kResvMaint | kResvSpecNodes | kResvPartNodes | kResvAllNodes | kResvAnyNodes)) return false;
  return partial.size() <= 1;
}

const NodeShare* Reservation::share_of(NodeId node) const {
  auto it = std::ranges::find(partial, node, &NodeShare::node);
  return it == partial.end() ? nullptr : &*it;
}

bool Reservation::yields_to(const Reservation& other) const {
  if (overlaps()) return false;
  return other.overlaps() || other.id < id;
}

Time next_repetition(const Reservation& r, Time now) {
  const Duration length = r.end - r.start;
  Time at = step(r, r.start);
  // Far behind: whole weeks fit every repetition, and leave the rest to single steps.
  if (const Duration behind = now - at - length; behind > minutes(14 * 24 * 60)) {
    const int64_t weeks = to_seconds(behind) / (7 * 24 * 3600) - 1;
    at = add_local_days(at, static_cast<int>(std::min<int64_t>(weeks, 500000)) * 7);
  }
  while (at + length <= now) at = step(r, at);
  return at;
}

}  // namespace muster

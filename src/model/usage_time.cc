#include "model/usage_time.h"

#include <algorithm>
#include <ctime>

namespace muster {
namespace {

constexpr Time kLast = from_unix(253'402'300'800);  // the year 10000: no record is later, and mktime knows it

Time whole(Time t) { return Time(std::chrono::floor<std::chrono::seconds>(t)); }
// The end of a record as the end of a span: an unset one is not there yet.
Time end_of(Time t) { return t == kTimeUnset ? kTimeInfinite : whole(t); }

tm local(Time t) {
  const time_t clock = unix_seconds(t);
  tm out{};
  localtime_r(&clock, &out);
  return out;
}

// Midnight of that day of the local calendar; where the clock skips it, the first moment of the day.
Time midnight(int year, int month, int day) {
  tm parts{};
  parts.tm_year = year;
  parts.tm_mon = month;
  parts.tm_mday = day;
  parts.tm_isdst = -1;
  tm wanted = parts;
  Time at = from_unix(mktime(&parts));
  wanted.tm_hour = 12;  // which puts a day like "32" into the next month
  (void)mktime(&wanted);
  if (local(at).tm_mday != wanted.tm_mday) at += minutes(60);
  return at;
}

bool strikes(const tm& parts) { return parts.tm_min == 0 && parts.tm_sec == 0; }

// The last full hour on the clock. Where a zone sets its clock by half an hour, the hour before that is longer.
Time hour_begin(Time t) {
  for (int steps = 0; steps < 4; ++steps) {
    const tm parts = local(t);
    if (strikes(parts)) break;
    t -= seconds(parts.tm_min * 60 + parts.tm_sec);
  }
  return t;
}
Time hour_after(Time begin) {
  if (const Time next = begin + minutes(60); strikes(local(next))) return next;
  for (Time t = begin + minutes(15); t <= begin + minutes(180); t += minutes(15))
    if (strikes(local(t))) return t;
  return begin + minutes(60);  // a zone of the past, off by odd minutes
}

// What of the time between two spans of one thing is in one of them alone, if all else about it is as it was.
Span difference(Span a, Span b) {
  if (a == b) return {};
  if (a.empty()) return b;
  if (b.empty()) return a;
  if (a.from == b.from) return {std::min(a.until, b.until), std::max(a.until, b.until)};
  return {std::min(a.from, b.from), std::max(a.until, b.until)};
}
Span hull(Span a, Span b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  return {std::min(a.from, b.from), std::max(a.until, b.until)};
}

bool counts_alike(const JobRecord& a, const JobRecord& b) {
  return a.account == b.account && a.user == b.user && a.qos == b.qos && a.wckey == b.wckey && a.partition == b.partition &&
         a.reservation == b.reservation && a.tres_allocated == b.tres_allocated && came_to_nothing(a) == came_to_nothing(b);
}
bool waits_alike(const JobRecord& a, const JobRecord& b) { return a.tres_requested == b.tres_requested && a.array_tasks == b.array_tasks; }
bool counts_alike(const EventRecord& a, const EventRecord& b) {
  return a.down() == b.down() && a.planned() == b.planned() && a.tres == b.tres;
}
bool counts_alike(const ReservationRecord& a, const ReservationRecord& b) {
  return a.name == b.name && a.flags == b.flags && a.tres == b.tres && a.users == b.users && a.accounts == b.accounts;
}

template <class R>
Span changed(const R* before, const R& after) {
  if (!before) return span_of(after);
  const Span was = span_of(*before), is = span_of(after);
  return counts_alike(*before, after) ? difference(was, is) : hull(was, is);
}

}  // namespace

Span used_span(const JobRecord& j) {
  if (j.started == kTimeUnset || j.state == JobState::kPending) return {};
  const Duration lost = std::chrono::floor<std::chrono::seconds>(j.suspended_total);
  Time until = end_of(j.ended);
  if (j.state == JobState::kSuspended && j.suspended != kTimeUnset) until = std::min(until, whole(j.suspended));
  // The end of a run that goes on is known no better than now, so what it was suspended counts once it has ended.
  if (until != kTimeInfinite) until -= lost;
  return {whole(j.started), std::max(whole(j.started), until)};
}

Span waiting_span(const JobRecord& j) {
  constexpr uint32_t kHeld = kJobHeldByUser | kJobHeldByAdmin;
  if (j.eligible == kTimeUnset || (j.state == JobState::kPending && (j.flags & kHeld))) return {};
  const Time until = j.state == JobState::kPending ? kTimeInfinite : j.started != kTimeUnset ? whole(j.started) : end_of(j.ended);
  return {whole(j.eligible), std::max(whole(j.eligible), until)};
}

Span span_of(const EventRecord& e) { return {whole(e.started), std::max(whole(e.started), end_of(e.ended))}; }
Span span_of(const ReservationRecord& r) { return {whole(r.started), std::max(whole(r.started), end_of(r.ended))}; }

bool came_to_nothing(const JobRecord& r) {
  switch (r.state) {
    case JobState::kFailed:
    case JobState::kNodeFail:
    case JobState::kBootFail:
    case JobState::kOutOfMemory:
    case JobState::kPreempted: return true;
    default: return is_finished(r.state) && (r.flags & kJobRequeued);
  }
}

Span changed_time(const JobRecord* before, const JobRecord& after) {
  if (!before) return hull(used_span(after), waiting_span(after));
  const Span was = used_span(*before), is = used_span(after), waited = waiting_span(*before), waits = waiting_span(after);
  const Span used = counts_alike(*before, after) ? difference(was, is) : hull(was, is);
  return hull(used, waits_alike(*before, after) ? difference(waited, waits) : hull(waited, waits));
}
Span changed_time(const EventRecord* before, const EventRecord& after) { return changed(before, after); }
Span changed_time(const ReservationRecord* before, const ReservationRecord& after) { return changed(before, after); }

std::vector<Span> united(std::vector<Span> spans) {
  std::erase_if(spans, [](const Span& s) { return s.empty(); });
  std::ranges::sort(spans, {}, &Span::from);
  std::vector<Span> out;
  for (const Span& s : spans) {
    if (!out.empty() && s.from <= out.back().until) out.back().until = std::max(out.back().until, s.until);
    else out.push_back(s);
  }
  return out;
}

Time period_begin(UsagePeriod period, Time t) {
  t = whole(std::clamp(t, Time{}, kLast));
  const tm parts = local(t);
  switch (period) {
    case UsagePeriod::kHour: return hour_begin(t);
    case UsagePeriod::kDay: return midnight(parts.tm_year, parts.tm_mon, parts.tm_mday);
    case UsagePeriod::kMonth: break;
  }
  return midnight(parts.tm_year, parts.tm_mon, 1);
}

Time period_after(UsagePeriod period, Time begin) {
  if (begin >= kLast) return kTimeInfinite;
  const tm parts = local(begin);
  Time next{};
  switch (period) {
    case UsagePeriod::kHour: return hour_after(begin);
    case UsagePeriod::kDay: next = midnight(parts.tm_year, parts.tm_mon, parts.tm_mday + 1); break;
    case UsagePeriod::kMonth: next = midnight(parts.tm_year, parts.tm_mon + 1, 1); break;
  }
  return next > begin ? next : hour_after(begin);
}

Time hour_not_before(Time t) {
  const Time begin = period_begin(UsagePeriod::kHour, t);
  return begin >= t ? begin : period_after(UsagePeriod::kHour, begin);
}

}  // namespace muster

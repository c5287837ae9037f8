// Which time of a record counts as usage, and the hours, days and months into which usage is rolled up. guide accounting, sreport(1). Pure,
// but for the process's time zone (TZ): hours, days and months are those of its clock, also where a day has 23 or 25 hours.
//
// Times are whole seconds, as sacct prints them. What a job was suspended is taken off the end of its run, so that sums agree with its
// Elapsed; which hours it was, a record does not say. Cost: O(1), a few calls of localtime.
#pragma once

#include <cstdint>
#include <vector>

#include "base/time.h"
#include "model/accounting.h"

namespace muster {

struct Span {
  Time from{}, until{};  // until kTimeInfinite: it goes on
  bool empty() const { return until <= from; }
  // How many seconds of this are within [a, b); an end that is not there yet is b.
  uint64_t seconds_within(Time a, Time b) const {
    const Time begin = std::max(from, a), end = std::min(until, b);
    return end <= begin ? 0 : static_cast<uint64_t>(to_seconds(end - begin));
  }
  bool operator==(const Span&) const = default;
};

Span used_span(const JobRecord& job);     // it held its resources
Span waiting_span(const JobRecord& job);  // it could have started and had not
Span span_of(const EventRecord& event);
Span span_of(const ReservationRecord& reservation);

// Whether a run's time was lost: it FAILED, ran OUT_OF_MEMORY, its node or boot failed, or it was put back into the queue, for another job or
// by hand. TIMEOUT, DEADLINE and CANCELLED are no loss: their jobs may have saved what they had.
bool came_to_nothing(const JobRecord& run);

// The time whose usage is another once `after` stands instead of `before` (null: there was none). Empty: no usage changes.
Span changed_time(const JobRecord* before, const JobRecord& after);
Span changed_time(const EventRecord* before, const EventRecord& after);
Span changed_time(const ReservationRecord* before, const ReservationRecord& after);
// Sorted, and those that touch made one.
std::vector<Span> united(std::vector<Span> spans);

enum class UsagePeriod : uint8_t { kHour, kDay, kMonth };  // in the database: append only
Time period_begin(UsagePeriod period, Time t);             // of the period that t is in
Time period_after(UsagePeriod period, Time begin);         // the begin of the next one
Time hour_not_before(Time t);                              // the first begin of an hour at t or later

}  // namespace muster

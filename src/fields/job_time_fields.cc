// Fields of time: points in time, limits, lengths.
#include <limits>

#include "fields/field_table.h"
#include "fields/job_values.h"
#include "fields/values.h"

namespace muster::fields {
namespace {

using V = const JobView&;
using S = std::string&;
constexpr FieldStatus kWorks = FieldStatus::kWorks;
constexpr int64_t kLast = std::numeric_limits<int64_t>::max();

int64_t order(Time t) { return t == kTimeUnset ? kLast : unix_seconds(t); }  // unknown times come last

void time_left(V v, S o) {
  if (v.row.time_limit_min == kUnlimited32) {
    o += "UNLIMITED";
    return;
  }
  Time end = end_time(v);
  if (v.row.state == JobState::kRunning && end != kTimeUnset) put_span(o, end - v.env.now);
  else put_span(o, minutes(v.row.time_limit_min) - run_time(v));
}

constexpr JobField kFields[] = {
    {'V', "SubmitTime", "", "SUBMIT_TIME", 0, kWorks, "When it was submitted", [](V v, S o) { put_time(o, v.row.submitted, v.env); },
     [](V v) { return order(v.row.submitted); }},
    {0, "EligibleTime", "", "ELIGIBLE_TIME", 0, kWorks, "When it could start at the earliest",
     [](V v, S o) { put_time(o, v.row.eligible, v.env); }, [](V v) { return order(v.row.eligible); }},
    {0, "AccrueTime", "", "ACCRUE_TIME", 0, kWorks, "Since when its priority grows with age",
     [](V v, S o) { put_time(o, accrues_since(v), v.env); }, [](V v) { return order(accrues_since(v)); }},
    {'S', "StartTime", "", "START_TIME", 0, kWorks, "Start, actual or expected", [](V v, S o) { put_time(o, start_time(v), v.env); },
     [](V v) { return order(start_time(v)); }},
    {'e', "EndTime", "", "END_TIME", 0, kWorks, "End, actual or expected",
     [](V v, S o) { put_time(o, end_time(v), v.env, ends_never(v) ? "NONE" : "N/A"); }, [](V v) { return order(end_time(v)); }},
    {'l', "TimeLimit", "", "TIME_LIMIT", kWideValue, kWorks, "Time limit",
     [](V v, S o) { put_minutes(o, v.row.time_limit_min, "UNLIMITED"); }, [](V v) { return int64_t{v.row.time_limit_min}; }},
    {'L', "TimeLeft", "", "TIME_LEFT", kWideValue, kWorks, "Time until the limit strikes", time_left,
     [](V v) { return v.row.time_limit_min == kUnlimited32 ? kLast : int64_t{v.row.time_limit_min} * 60 - to_seconds(run_time(v)); }},
    {'M', "TimeUsed", "", "TIME", kWideValue, kWorks, "Time it has run", [](V v, S o) { put_span(o, run_time(v)); },
     [](V v) { return to_seconds(run_time(v)); }},
    {0, "MinTime", "", "TIME_MIN", kWideValue, kWorks, "Least time limit it accepts",
     [](V v, S o) { put_span(o, minutes(v.request.time_min_min)); }, [](V v) { return int64_t{v.request.time_min_min}; }},
    {0, "LastSchedEval", "", "LAST_SCHED_EVAL", 0, kWorks, "When the scheduler looked at it last",
     [](V v, S o) { put_time(o, v.row.last_sched_eval, v.env); }, [](V v) { return order(v.row.last_sched_eval); }},
    {0, "ResizeTime", "", "RESIZE_TIME", 0, kWorks, "When it last gave up nodes", [](V v, S o) { put_time(o, v.row.resized, v.env); },
     [](V v) { return order(v.row.resized); }},
    {0, "Deadline", "", "DEADLINE", 0, kWorks, "When it must have ended", [](V v, S o) { put_time(o, v.request.deadline, v.env); },
     [](V v) { return order(v.request.deadline); }},
    {0, "DelayBoot", "", "DELAY_BOOT", kWideValue, kWorks, "How long it waits for nodes that need no reboot",
     [](V v, S o) { put_span(o, v.request.delay_boot); }},
    {0, "Wait4Switch", "", "WAIT4SWITCH", kWideValue, kWorks, "How long it waits for the wanted number of switches",
     [](V v, S o) { put_span(o, v.request.switches_wait); }},
    {0, "PendingTime", "", "PENDING_TIME", 0, kWorks, "Seconds from submission to the start, or until now",
     [](V v, S o) {
       bool started = v.row.started != kTimeUnset && !v.row.expected;
       put_number(o, to_seconds((started ? v.row.started : v.env.now) - v.row.submitted));
     }},
};

}  // namespace

std::span<const JobField> job_time_fields() { return kFields; }

}  // namespace muster::fields

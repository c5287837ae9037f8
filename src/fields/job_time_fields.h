// Facts of time: points in time, limits, lengths. Included by job_fields.cc alone.
#pragma once

#include <algorithm>

#include "fields/job_composites.h"
#include "fields/job_fact.h"
#include "fields/job_values.h"

namespace muster::fields::times {

inline int64_t left_order(const JobView& v) {
  return v.row.time_limit_min == kUnlimited32 ? Moment::kLast : int64_t{v.row.time_limit_min} * 60 - to_seconds(run_time(v));
}
inline int64_t pending_seconds(const JobView& v) {
  const bool started = v.row.started != kTimeUnset && !v.row.expected;
  return to_seconds((started ? v.row.started : v.env.now) - v.row.submitted);
}
inline int64_t seconds_before_suspension(const JobRow& r) {
  return r.suspended == kTimeUnset ? 0 : std::max<int64_t>(0, to_seconds(r.suspended - r.started - r.suspended_total));
}

inline bool is_preemptable(const JobView& v) { return v.row.preempt_eligible != kTimeUnset; }

constexpr JobFact kFacts[] = {
    field<Moment, &JobRow::submitted>("When it was submitted", column('V', "SubmitTime", "SUBMIT_TIME"), shown("SubmitTime", at(80, 10)),
                                      member("submit_time", 1160)),
    field<Moment, &JobRow::eligible>("When it could start at the earliest", column(0, "EligibleTime", "ELIGIBLE_TIME"),
                                     shown("EligibleTime", at(80, 20)), member("eligible_time", 370)),
    field<Moment, accrues_since>("Since when its priority grows with age", column(0, "AccrueTime", "ACCRUE_TIME"),
                                 shown("AccrueTime", at(90, 10)), member<Moment, &JobRow::eligible>("accrue_time", 20)),
    field<Moment, start_time>("Start, actual or expected", column('S', "StartTime", "START_TIME"), shown("StartTime", at(100, 10)),
                              member("start_time", 1070)),
    field<Moment, end_time>("End, actual or expected", column('e', "EndTime", "END_TIME").written(end_or_never),
                            shown("EndTime", at(100, 20)), member("end_time", 380)),
    field<Limit, &JobRow::time_limit_min>("Time limit", column('l', "TimeLimit", "TIME_LIMIT").cut(kWideValue),
                                          shown("TimeLimit", at(70, 20)), member("time_limit", 1200)),
    composite("Time until the limit strikes",
              column('L', "TimeLeft", "TIME_LEFT").none("UNLIMITED").cut(kWideValue).written(time_left).order(left_order)),
    field<Span, run_time>("Time it has run", column('M', "TimeUsed", "TIME").cut(kWideValue), shown("RunTime", at(70, 10))),
    field<Minutes, &ShownRequest::time_min_min>("Least time limit it accepts", column(0, "MinTime", "TIME_MIN").cut(kWideValue),
                                                shown("TimeMin", at(70, 30)), member("time_minimum", 1210)),
    field<Moment, &JobRow::last_sched_eval>("When the scheduler looked at it last", column(0, "LastSchedEval", "LAST_SCHED_EVAL"),
                                            shown("LastSchedEval", at(110, 30)), member("last_sched_evaluation", 570)),
    field<Moment, &JobRow::suspended>("When it was last suspended, or went on", shown("SuspendTime", at(110, 10)).none("None"),
                                      member("suspend_time", 1180)),
    field<Quantity, seconds_before_suspension>("Seconds it ran before that", shown("SecsPreSuspend", at(110, 20)),
                                               member("pre_sus_time", 870)),
    field<Moment, &JobRow::preempted>("When it was chosen to make room for another job", column(0, "PreemptTime", "PREEMPT_TIME"),
                                      shown("PreemptTime", at(105, 20)).none("None").when(is_preemptable), member("preempt_time", 850)),
    field<Moment, &JobRow::preempt_eligible>("From when on it may make room for others",
                                             shown("PreemptEligibleTime", at(105, 10)).none("None").when(is_preemptable),
                                             member("preemptable_time", 860)),
    field<Moment, &JobRow::resized>("When it last gave up nodes", column(0, "ResizeTime", "RESIZE_TIME"), member("resize_time", 970)),
    field<Moment, &ShownRequest::deadline>("When it must have ended", column(0, "Deadline", "DEADLINE"),
                                           shown("Deadline", at(100, 30)).none("N/A"), member("deadline", 330)),
    field<Span, &ShownRequest::delay_boot>("How long it waits for nodes that need no reboot",
                                           column(0, "DelayBoot", "DELAY_BOOT").cut(kWideValue), shown("DelayBoot", at(240, 40)),
                                           member("delay_boot", 340)),
    field<Span, &ShownRequest::switches_wait>("How long it waits for the wanted number of switches",
                                              column(0, "Wait4Switch", "WAIT4SWITCH").cut(kWideValue)),
    field<Number, pending_seconds>("Seconds from submission to the start, or until now", column(0, "PendingTime", "PENDING_TIME")),
};

}  // namespace muster::fields::times

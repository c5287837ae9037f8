// Facts of how the job stands: state, reason, priority, exit codes, restarts. Included by job_fields.cc alone.
#pragma once

#include "fields/job_composites.h"
#include "fields/job_fact.h"
#include "fields/job_values.h"

namespace muster::fields::state {

inline std::string_view short_state(const JobRow& r) { return job_state_shown_code(r.state, r.flags); }
inline std::string_view long_state(const JobRow& r) { return job_state_shown(r.state, r.flags); }
inline std::string_view reason_code(const JobRow& r) { return reason_name(r.reason); }
inline int64_t priority_order(const JobView& v) { return v.row.priority; }
inline bool is_held(const JobRow& r) { return r.priority == 0 && r.state == JobState::kPending; }
inline Ending ending(const JobRow& r) { return {r.exit_status, r.state}; }
inline Ending derived_ending(const JobRow& r) { return {r.derived_exit_status, r.state}; }
inline std::string_view cron_word(const JobRow& r) { return r.cron.empty() ? "No" : "Yes"; }
inline bool is_cron(const JobView& v) { return !v.row.cron.empty(); }
// A detail that is more than the longer form of the reason is what the system has to say.
inline bool says_more(const JobView& v) { return reason_text(v.row) != v.row.reason_detail; }

constexpr JobFact kFacts[] = {
    field<Text, short_state>("State, short", column('t', "StateCompact", "ST")),
    field<Text, long_state>("State", column('T', "State", "STATE"), shown("JobState", at(40, 10)),
                            member("job_state", 560).written(Shape::kTexts, json_states)),
    field<Text, reason_text>("Why it waits or failed", column('r', "Reason", "REASON"), shown("Reason", at(40, 20)).written(show_reason),
                             member<Text, reason_code>("state_reason", 1090)),
    composite("Its nodes, or the reason in parentheses",
              column('R', "ReasonList", "NODELIST(REASON)").cut(kWideHeader).parts(kRowNodes).written(nodes_or_reason)),
    composite("Priority between 0 and 1", column('p', "Priority", "PRIORITY").written(priority_fraction).order(priority_order)),
    field<Quantity, &JobRow::priority>("Priority", column('Q', "PriorityLong", "PRIORITY"), shown("Priority", at(30, 10)),
                                       member("priority", 890)),
    field<Flag, is_held>("Whether it waits to be released", member("hold", 880)),
    field<Exit, ending>("Exit code and signal", column(0, "exit_code", "EXIT_CODE"), shown("ExitCode", at(50, 50)),
                        member("exit_code", 400)),
    field<Exit, derived_ending>("Highest exit code of its steps, and signal", column(0, "DerivedEC", "DERIVED_EC"),
                                shown("DerivedExitCode", at(60, 10)).details(), member("derived_exit_code", 360)),
    field<Number, &JobRow::restarts>("How often it was restarted", column(0, "RestartCnt", "RESTART_COUNT"), shown("Restarts", at(50, 20)),
                                     member("restart_cnt", 980)),
    field<Text, system_comment>(
        "What the system noted about it, or why it was last put back into the queue", column(0, "system_comment", "SYSTEM_COMMENT"),
        shown<Text, &JobRow::reason_detail>("SystemComment", at(310, 10)).when(says_more).if_any(), member("system_comment", 1190)),
    field<Text, &JobRow::cron>("Whether scrontab made the job", column<Text, cron_word>(0, "CronJob", "CRON_JOB"),
                               shown<Text, cron_word>("CronJob", at(50, 60)).when(is_cron), member("cron", 320)),
    field<Text, &JobRow::reason_detail>("The reason in more words", member("state_description", 1080)),
};

}  // namespace muster::fields::state

#include "config/scheduler_words.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "config/record.h"
#include "config/slurm_conf.h"

namespace muster::config {
namespace {

constexpr int64_t kDay = 86400;

constexpr SchedulerWord flag(const char* name, const char* does) {
  return {name, WordStatus::kWorks, does};
}
constexpr SchedulerWord number(const char* name, int64_t min, int64_t max, const char* does) {
  return {name, WordStatus::kWorks, does, true, min, max};
}
constexpr SchedulerWord no_effect(const char* name, const char* why) { return {name, WordStatus::kNoEffect, why}; }
constexpr SchedulerWord not_yet(const char* name, const char* missing) { return {name, WordStatus::kNotYet, missing}; }

constexpr const char* kNoLock = "planning runs beside the controller and holds up no request";
constexpr const char* kByClass = "a pass costs by kinds of requests, not by jobs";
constexpr const char* kAlways = "done in any case";

constexpr SchedulerWord kWords[] = {
    flag("allow_zero_lic", "licences that do not exist, or not so many, let a job wait instead of refusing it"),
    not_yet("assoc_limit_stop", "limits of associations"),
    no_effect("batch_sched_delay", kNoLock),
    not_yet("bb_array_stage_cnt", "burst buffers"),
    not_yet("bf_allow_magnetic_slot", "reservations"),
    flag("bf_busy_nodes", "places kept are on nodes in use where there is a choice"),
    no_effect("bf_continue", kNoLock),
    not_yet("bf_hetjob_immediate", "heterogeneous jobs"),
    not_yet("bf_hetjob_prio", "heterogeneous jobs"),
    number("bf_interval", -1, 10800, "seconds after which expected starts are worked out anew at the latest; -1: no backfill"),
    number("bf_job_part_count_reserve", 0, 100000, "only so many jobs of a partition have places kept for them; 0: all"),
    no_effect("bf_licenses", kAlways),
    number("bf_max_job_array_resv", 0, 1000, "tasks of an array that have places kept for them"),
    not_yet("bf_max_job_assoc", "associations"),
    number("bf_max_job_part", 0, 1000000, "jobs of a partition that backfill looks at behind the first that waits"),
    number("bf_max_job_start", 0, 10000, "jobs that one backfill pass starts before others of more priority"),
    number("bf_max_job_test", 1, 1000000, "jobs that backfill looks at behind the first that waits; all unless given"),
    number("bf_max_job_user", 0, 1000000, "jobs of a user that backfill looks at behind the first that waits"),
    number("bf_max_job_user_part", 0, 1000000, "the same for each partition by itself"),
    no_effect("bf_max_time", kNoLock),
    number("bf_min_age_reserve", 0, 30 * kDay, "seconds a job has waited before it has a place kept and others wait for it"),
    number("bf_min_prio_reserve", 0, INT64_MAX, "priority from which a job has a place kept and others wait for it"),
    no_effect("bf_node_space_size", "the table grows as needed"),
    no_effect("bf_one_resv_per_job", kAlways),
    number("bf_resolution", 1, 3600, "seconds to which expected starts are rounded"),
    no_effect("bf_running_job_reserve", kAlways),
    no_effect("bf_topopt_enable", "it is a hook for experiments with Slurm's sources"),
    no_effect("bf_topopt_iterations", "it is a hook for experiments with Slurm's sources"),
    number("bf_window", 1, 43200, "minutes ahead within which places are kept; without end unless given"),
    no_effect("bf_window_linear", "the ends of running jobs are exact"),
    no_effect("bf_yield_interval", kNoLock),
    no_effect("bf_yield_rpc_cnt", kNoLock),
    no_effect("bf_yield_sleep", kNoLock),
    no_effect("build_queue_timeout", kByClass),
    no_effect("correspond_after_task_cnt", "aftercorr looks at the tasks themselves"),
    no_effect("default_queue_depth", kByClass),
    no_effect("defer", kNoLock),
    no_effect("defer_batch", kNoLock),
    not_yet("delay_boot", "reboots for features"),
    no_effect("disable_hetjob_steps", "there are no heterogeneous jobs yet"),
    flag("disable_job_shrink", "running jobs keep all their nodes"),
    not_yet("enable_hetjob_steps", "heterogeneous jobs"),
    flag("enable_user_top", "scontrol top for users"),
    not_yet("extra_constraints", "--extra"),
    flag("ignore_constraint_validation", "a feature that no node has lets a job wait instead of refusing it"),
    no_effect("Ignore_NUMA", "a socket is a package in any case"),
    flag("ignore_prefer_validation", "--prefer may name features that no node has"),
    number("max_array_tasks", 0, INT64_MAX, "tasks in one array"),
    no_effect("max_rpc_cnt", kNoLock),
    no_effect("max_sched_time", kByClass),
    number("max_script_size", 1, INT64_MAX, "bytes of a batch script"),
    not_yet("max_submit_line_size", "this limit"),
    number("max_switch_wait", 0, INT64_MAX, "seconds that --switches may hold a job back"),
    not_yet("no_backup_scheduling", "a standby controller"),
    flag("nohold_on_prolog_fail", "a job whose Prolog failed is requeued without being held"),
    flag("pack_serial_at_end", "jobs of one CPU go to the last nodes, not where least is left over"),
    no_effect("partition_job_depth", kByClass),
    flag("reduce_completing_frag", "CompleteWait holds back only partitions that share nodes with the completing job's"),
    not_yet("requeue_delay", "this delay"),
    not_yet("requeue_on_resume_failure", "power saving beyond resuming"),
    not_yet("salloc_wait_nodes", "this default; salloc --wait-all-nodes=1 works"),
    not_yet("sbatch_wait_nodes", "this default; sbatch --wait-all-nodes=1 works"),
    number("sched_interval", -1, INT64_MAX, "-1: jobs start by backfill passes alone; else a pass follows every change"),
    number("sched_max_job_start", 0, INT64_MAX, "jobs that one pass without backfill starts"),
    number("sched_min_interval", 0, INT64_MAX, "microseconds between two passes without backfill"),
    flag("spec_cores_first", "CoreSpecCount takes the first cores instead of the last"),
    no_effect("step_retry_count", "all steps that wait are tried when one ends"),
    no_effect("step_retry_time", "all steps that wait are tried when one ends"),
    flag("time_min_as_soft_limit", "plans count on --time-min; the job may run until --time"),
    not_yet("whole_hetjob", "heterogeneous jobs"),
};

const SchedulerWord* row_of(std::string_view name) {
  auto it = std::ranges::find_if(kWords, [&](const SchedulerWord& w) { return iequals(w.name, name); });
  return it == std::end(kWords) ? nullptr : it;
}

void unknown(std::string_view name, const SourcePos& pos, Findings& findings) {
  std::vector<std::string_view> names;
  for (const SchedulerWord& w : kWords) names.push_back(w.name);
  const std::string_view near = did_you_mean(name, names);
  findings.notice(pos, "SchedulerParameters",
                  "\"" + std::string(name) + "\" is not known and has no effect" +
                      (near.empty() ? "" : "; did you mean " + std::string(near) + "?"));
}

void check_number(const SchedulerWord& word, std::string_view text, const SourcePos& pos, Findings& findings) {
  if (parse_number<int64_t>(text, word.min, word.max)) return;
  std::string rule = "must be a number from " + std::to_string(word.min);
  if (word.max != INT64_MAX) rule += " to " + std::to_string(word.max);
  findings.error(pos, "SchedulerParameters",
                 std::string(word.name) + "=" + std::string(text) + ": " + rule);
}

}  // namespace

std::string_view word_status_name(WordStatus status) {
  switch (status) {
    case WordStatus::kWorks:
      return "works";
    case WordStatus::kNoEffect:
      return "no effect";
    case WordStatus::kNotYet:
      return "not yet";
  }
  return "";
}

std::span<const SchedulerWord> scheduler_words() { return kWords; }

void check_scheduler_words(const OptionList& given, const SourcePos& pos, Findings& findings) {
  for (const auto& [name, value] : given.items()) {
    const SchedulerWord* word = row_of(name);
    if (!word) {
      unknown(name, pos, findings);
    } else if (word->status == WordStatus::kWorks) {
      if (word->number) check_number(*word, value, pos, findings);
    } else {
      findings.notice(pos, "SchedulerParameters",
                      std::string(word->name) + " has no effect" +
                          (word->status == WordStatus::kNotYet ? ", this is not there yet: " : ": ") + word->note);
    }
  }
}

}  // namespace muster::config

// The words of SchedulerParameters. slurmctld/core/settings.cc turns the words that work into settings.
#include "config/parameter_words.h"

namespace muster::config {
namespace {

constexpr int64_t kDay = 86400;

constexpr const char* kNoLock = "planning runs beside the controller and holds up no request";
constexpr const char* kByClass = "a pass costs by kinds of requests, not by jobs";
constexpr const char* kAlways = "done in any case";

constexpr ParameterWord kWords[] = {
    flag_word("allow_zero_lic", "licences that do not exist, or not so many, let a job wait instead of refusing it"),
    flag_word("assoc_limit_stop", "no job of less priority starts in a partition where one waits for a limit of an association"),
    no_effect_word("batch_sched_delay", kNoLock),
    not_yet_word("bb_array_stage_cnt", "burst buffers"),
    no_effect_word("bf_allow_magnetic_slot", "places in magnetic reservations are kept in any case"),
    flag_word("bf_busy_nodes", "places kept are on nodes in use where there is a choice"),
    no_effect_word("bf_continue", kNoLock),
    no_effect_word("bf_hetjob_immediate", "components start as soon as all can, in any case"),
    choice_word("bf_hetjob_prio", "min|avg|max",
                "min, avg or max: a heterogeneous job has its turn with that priority of its components; max unless given"),
    number_word("bf_interval", -1, 10800, "seconds after which expected starts are worked out anew at the latest; -1: no backfill"),
    number_word("bf_job_part_count_reserve", 0, 100000, "only so many jobs of a partition have places kept for them; 0: all"),
    no_effect_word("bf_licenses", kAlways),
    number_word("bf_max_job_array_resv", 0, 1000, "tasks of an array that have places kept for them"),
    number_word("bf_max_job_assoc", 0, 1000000, "jobs of an association that backfill looks at behind the first that waits"),
    number_word("bf_max_job_part", 0, 1000000, "jobs of a partition that backfill looks at behind the first that waits"),
    number_word("bf_max_job_start", 0, 10000, "jobs that one backfill pass starts before others of more priority"),
    number_word("bf_max_job_test", 1, 1000000, "jobs that backfill looks at behind the first that waits; all unless given"),
    number_word("bf_max_job_user", 0, 1000000, "jobs of a user that backfill looks at behind the first that waits"),
    number_word("bf_max_job_user_part", 0, 1000000, "the same for each partition by itself"),
    no_effect_word("bf_max_time", kNoLock),
    number_word("bf_min_age_reserve", 0, 30 * kDay, "seconds a job has waited before it has a place kept and others wait for it"),
    number_word("bf_min_prio_reserve", 0, INT64_MAX, "priority from which a job has a place kept and others wait for it"),
    no_effect_word("bf_node_space_size", "the table grows as needed"),
    no_effect_word("bf_one_resv_per_job", kAlways),
    number_word("bf_resolution", 1, 3600, "seconds to which expected starts are rounded"),
    no_effect_word("bf_running_job_reserve", kAlways),
    no_effect_word("bf_topopt_enable", "it is a hook for experiments with Slurm's sources"),
    no_effect_word("bf_topopt_iterations", "it is a hook for experiments with Slurm's sources"),
    number_word("bf_window", 1, 43200, "minutes ahead within which places are kept; without end unless given"),
    no_effect_word("bf_window_linear", "the ends of running jobs are exact"),
    no_effect_word("bf_yield_interval", kNoLock),
    no_effect_word("bf_yield_rpc_cnt", kNoLock),
    no_effect_word("bf_yield_sleep", kNoLock),
    no_effect_word("build_queue_timeout", kByClass),
    no_effect_word("correspond_after_task_cnt", "aftercorr looks at the tasks themselves"),
    no_effect_word("default_queue_depth", kByClass),
    flag_word("defer", "a job of --immediate does not start; else it has no effect: planning holds up no request"),
    no_effect_word("defer_batch", kNoLock),
    number_word("delay_boot", 0, 35791394, "minutes that a job waits for nodes with its features before others are rebooted for it"),
    flag_word("disable_hetjob_steps", "no step runs in several components of a heterogeneous job"),
    flag_word("disable_job_shrink", "running jobs keep all their nodes"),
    no_effect_word("enable_hetjob_steps", "it is so unless disable_hetjob_steps is given"),
    flag_word("enable_user_top", "scontrol top for users"),
    flag_word("extra_constraints", "--extra of a job says what the Extra of its nodes has to say"),
    flag_word("ignore_constraint_validation", "a feature that no node has lets a job wait instead of refusing it"),
    no_effect_word("Ignore_NUMA", "a socket is a package in any case"),
    flag_word("ignore_prefer_validation", "--prefer may name features that no node has"),
    number_word("max_array_tasks", 0, INT64_MAX, "tasks in one array"),
    no_effect_word("max_rpc_cnt", kNoLock),
    no_effect_word("max_sched_time", kByClass),
    number_word("max_script_size", 1, INT64_MAX, "bytes of a batch script"),
    not_yet_word("max_submit_line_size", "this limit"),
    number_word("max_switch_wait", 0, INT64_MAX, "seconds that --switches may hold a job back"),
    not_yet_word("no_backup_scheduling", "a standby controller"),
    flag_word("nohold_on_prolog_fail", "a job whose Prolog failed is requeued without being held"),
    flag_word("pack_serial_at_end", "jobs of one CPU go to the last nodes, not where least is left over"),
    no_effect_word("partition_job_depth", kByClass),
    flag_word("reduce_completing_frag", "CompleteWait holds back only partitions that share nodes with the completing job's"),
    number_word("requeue_delay", 0, 315360000, "seconds before a requeued job may start again; AuthInfo=cred_expire= unless given"),
    not_yet_word("requeue_on_resume_failure", "power saving beyond resuming"),
    not_yet_word("salloc_wait_nodes", "this default; salloc --wait-all-nodes=1 works"),
    not_yet_word("sbatch_wait_nodes", "this default; sbatch --wait-all-nodes=1 works"),
    number_word("sched_interval", -1, INT64_MAX, "-1: jobs start by backfill passes alone; else a pass follows every change"),
    number_word("sched_max_job_start", 0, INT64_MAX, "jobs that one pass without backfill starts"),
    number_word("sched_min_interval", 0, INT64_MAX, "microseconds between two passes without backfill"),
    flag_word("spec_cores_first", "CoreSpecCount takes the first cores instead of the last"),
    no_effect_word("step_retry_count", "all steps that wait are tried when one ends"),
    no_effect_word("step_retry_time", "all steps that wait are tried when one ends"),
    flag_word("time_min_as_soft_limit", "plans count on --time-min; the job may run until --time"),
    flag_word("whole_hetjob", "cancel, hold and release of one component's own id are for the whole job"),
    flag_word("whole_pack", "whole_hetjob"),
};

}  // namespace

std::span<const ParameterWord> scheduler_words() { return kWords; }

}  // namespace muster::config

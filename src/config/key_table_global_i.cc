// slurm.conf, keys of the whole cluster, I to P.
#include "config/key_table_parts.h"

namespace muster::config {
using namespace rows;

namespace {
constexpr char kLimitNames[] = "ALL|NONE|AS|CORE|CPU|DATA|FSIZE|MEMLOCK|NOFILE|NPROC|RSS|STACK|"
                               "RLIMIT_AS|RLIMIT_CORE|RLIMIT_CPU|RLIMIT_DATA|RLIMIT_FSIZE|RLIMIT_MEMLOCK|RLIMIT_NOFILE|RLIMIT_NPROC|"
                               "RLIMIT_RSS|"
                               "RLIMIT_STACK";

constexpr KeyRow kRows[] = {
    seconds("InactiveLimit", "0", "End an allocation whose srun or salloc has been silent this long; 0 = never."),
    text("InteractiveStepOptions", "--interactive --preserve-env --pty $SHELL",
         "Options of the srun that salloc starts with LaunchParameters=use_interactive_step."),
    text("JobAcctGatherFrequency", "30", "Sampling intervals in seconds, one number or task=,energy=,network=,filesystem=."),
    one_of("JobAcctGatherType", "jobacct_gather/cgroup|jobacct_gather/linux|jobacct_gather/none", nullptr,
           "Where the usage of tasks is read.")
        .restart(),
    flags("JobAcctGatherParams", "DisableGPUAcct|no_file_cache|NoShared|OverMemoryKill|UsePss|NoOverMemoryKill", nullptr,
          "How memory is counted, and whether exceeding it kills the job."),
    text("JobCompHost", "localhost", "Host of the job completion database.").not_yet("jobcomp/mysql"),
    text("JobCompLoc", nullptr, "File, program or URL that gets the job completion records."),
    text("JobCompParams", nullptr, "Options of JobCompType: send_comment, send_script."),
    text("JobCompPass", nullptr, "Password of the job completion database.").not_yet("jobcomp/mysql").hidden(),
    path("JobCompPassScript", nullptr, "Program that prints the password.").not_yet("jobcomp/mysql"),
    row(KeyType::kPort, "JobCompPort", "0", "Port of the job completion database.").not_yet("jobcomp/mysql"),
    one_of("JobCompType",
           "jobcomp/elasticsearch|jobcomp/filetxt|jobcomp/kafka|jobcomp/lua|jobcomp/mysql|jobcomp/"
           "script|jobcomp/none",
           nullptr, "Where a record of each finished job is written."),
    text("JobCompUser", "root", "User of the job completion database.").not_yet("jobcomp/mysql"),
    number("JobFileAppend", "0", "1: output files of jobs are appended to by default, 0: cut off.").max(1),
    number("JobRequeue", "1", "1: batch jobs may be requeued unless they say no.").max(1),
    list("JobSubmitPlugins", nullptr, "Policies a submission passes through, in this order, for example lua.").not_yet("Lua filters"),
    number("KillOnBadExit", "0", "1: a task that fails ends its step.").max(1),
    seconds("KillWait", "30", "Time between SIGTERM and SIGKILL when a job reaches its time limit."),
    list("LaunchParameters", nullptr, "Options of the launch: use_interactive_step, enable_nss_slurm, test_exec …"),
    list("LicenseParameters", nullptr, "RemoteFuzzyMatch: a remote licence may be named without its server."),
    list("Licenses", nullptr, "Licences of the cluster, name[:count],…"),
    one_of("LogTimeFormat", "iso8601|iso8601_ms|rfc5424|rfc5424_ms|rfc3339|clock|short|thread_id|format_stderr", "iso8601_ms",
           "Time stamps in the daemons' logs."),
    text("MailDomain", nullptr, "Domain of mail to users who gave no address."),
    path("MailProg", "/bin/mail", "Program that sends mail."),
    number("MaxArraySize", "1001", "One more than the highest index of an array task; 0 = no arrays.").max(4000001),
    number("MaxBatchRequeue", "5", "How often a job may be requeued by itself before it is held."),
    number("MaxDBDMsgs", "0", "How many messages to slurmdbd wait while it does not answer; 0 = as many as jobs and nodes need."),
    number("MaxJobCount", "10000", "How many jobs the controller keeps.").strict().min(1).restart(),
    number("MaxJobId", "67043328", "Highest number of a job; then the numbers start again.").min(1).max(67108863),
    mem("MaxMemPerCPU", nullptr, "Most memory per allocated CPU, MiB; 0 = no limit."),
    mem("MaxMemPerNode", nullptr, "Most memory of a job on one node, MiB; 0 = no limit."),
    number("MaxNodeCount", nullptr, "Most nodes there may be; leaves room for dynamic nodes.").max(65536),
    number("MaxStepCount", "40000", "Most steps of a job.").min(1),
    number("MaxTasksPerNode", "512", "Most tasks of a step on one node.").min(1).max(65533),
    text("MCSParameters", nullptr,
         "Which jobs have a label, which keep others off their nodes, and what is hidden: ondemand or enforced, noselect, "
         "select or ondemandselect, privatedata; groups of mcs/group behind a colon."),
    one_of("MCSPlugin", "mcs/none|mcs/account|mcs/group|mcs/user|mcs/label", nullptr,
           "Labels that keep jobs of different categories off the same node.")
        .strict(),
    seconds("MessageTimeout", "10", "How long an answer may take.").min(1),
    list("MetricsAuthUsers", nullptr, "Users who may read the metrics.").not_yet("metrics"),
    list("MetricsParameters", nullptr, "Options of the metrics.").not_yet("metrics"),
    one_of("MetricsType", "metrics/openmetrics", nullptr, "Format of the metrics.").not_yet("metrics"),
    seconds("MinJobAge", "300", "How long a finished job stays listed; 0 = for ever.").max(INT32_MAX),
    text("MpiDefault", nullptr, "Kind of MPI of steps that name none: none, pmi2, pmix."),
    list("MpiParams", nullptr, "ports=first-last for --resv-ports; no variables of Hydra are set here in any case."),
    one_of("NamespaceType", "namespace/linux|namespace/tmpfs|namespace/none", nullptr,
           "A /tmp of its own for each job; namespace/linux: also processes and users.")
        .restart(),
    text("JobContainerType", nullptr, "").alias("NamespaceType"),
    list("NodeFeaturesPlugins", nullptr, "node_features/helpers: programs of the site change features of nodes, as helpers.conf says."),
    mins("OverTimeLimit", "0", "Minutes a job may run beyond its time limit.").infinite(),
    text("PluginDir", nullptr, "Directories of third-party plugins, separated by colons."),
    path("PlugStackConfig", nullptr, "File that lists the SPANK plugins; unset: plugstack.conf beside slurm.conf."),
    flags("PreemptMode", "OFF|CANCEL|GANG|REQUEUE|SUSPEND|PRIORITY|WITHIN", "OFF", "What happens to a job that must make room.").strict(),
    list("PreemptParameters", nullptr, "min_exempt_priority=, reorder_count=, send_user_signal, strict_order, youngest_first …"),
    one_of("PreemptType", "preempt/none|preempt/partition_prio|preempt/qos", nullptr, "Who may preempt whom.").strict(),
    span("PreemptExemptTime", "00:00:00", "A job runs at least this long before it may be preempted."),
    text("PrEpParameters", nullptr, "Options of PrEpPlugins.").not_yet("prolog plugins"),
    flags("PrEpPlugins", "prep/script", "prep/script", "How prolog and epilog are run; as scripts is the one way there is."),
    mins("PriorityCalcPeriod", "5", "Minutes between two reckonings of priorities.").min(1),
    span("PriorityDecayHalfLife", "7-00:00:00", "After this time usage counts half; 0 = it never decays."),
    yesno("PriorityFavorSmall", "No", "Small jobs first instead of large ones."),
    flags("PriorityFlags",
          "ACCRUE_ALWAYS|CALCULATE_RUNNING|DEPTH_OBLIVIOUS|NO_FAIR_TREE|INCR_ONLY|MAX_TRES|MAX_TRES_GRES|NO_"
          "NORMAL_ALL|"
          "NO_NORMAL_ASSOC|NO_NORMAL_PART|NO_NORMAL_QOS|NO_NORMAL_TRES|SMALL_RELATIVE_TO_TIME",
          nullptr, "Variations of the priority formula."),
    span("PriorityMaxAge", "7-00:00:00", "Waiting time at which the age factor is full."),
    text("PriorityParameters", nullptr, "Free text for the priority plugin.").not_yet("priority plugins"),
    text("PrioritySiteFactorParameters", nullptr, "Free text for the site factor.").not_yet("site priority plugins"),
    text("PrioritySiteFactorPlugin", nullptr, "Plugin that sets the site factor.").not_yet("site priority plugins"),
    one_of("PriorityUsageResetPeriod", "NONE|NOW|DAILY|WEEKLY|MONTHLY|QUARTERLY|YEARLY", "NONE",
           "When the usage of everyone starts again from zero.")
        .strict(),
    one_of("PriorityType", "priority/basic|priority/multifactor", "priority/multifactor", "How the priority of a job is reckoned.")
        .strict(),
    number("PriorityWeightAge", "0", "Weight of the waiting time."),
    number("PriorityWeightAssoc", "0", "Weight of the association's priority."),
    number("PriorityWeightFairshare", "0", "Weight of the fair share."),
    number("PriorityWeightJobSize", "0", "Weight of the job's size."),
    number("PriorityWeightPartition", "0", "Weight of the partition's PriorityJobFactor."),
    number("PriorityWeightQOS", "0", "Weight of the QOS's priority."),
    list("PriorityWeightTRES", nullptr, "Weights of single resources, CPU=1000,Mem=2000,GRES/gpu=3000."),
    flags("PrivateData", "accounts|events|jobs|nodes|partitions|reservations|usage|users|none", "none",
          "What ordinary users do not see of others."),
    one_of("ProctrackType", "proctrack/cgroup|proctrack/linuxproc|proctrack/pgid", "proctrack/cgroup",
           "How the processes of a step are kept together.")
        .restart(),
    path("Prolog", nullptr, "Programs slurmd runs as root before the first step of a job on a node.").repeat(),
    seconds("PrologEpilogTimeout", nullptr, "Time limit of prolog and epilog; unset: none.").max(65534),
    flags("PrologFlags", "Alloc|Contain|DeferBatch|NoHold|ForceRequeueOnFail|RunInJob|Serial|X11", nullptr,
          "When and how the prolog runs. X11 works as Contain alone, and a notice says so.")
        .strict(),
    path("PrologSlurmctld", nullptr, "Programs run by slurmctld before an allocation is granted.").repeat(),
    seconds("PrologTimeout", nullptr, "Time limit of the prolog; unset: PrologEpilogTimeout."),
    number("PropagatePrioProcess", "0", "0: slurmd's nice value, 1: the submitter's, 2: the submitter's, at least one above slurmd's.")
        .max(2),
    flags("PropagateResourceLimits", kLimitNames, nullptr, "Resource limits that tasks take over from the submitter.").strict(),
    flags("PropagateResourceLimitsExcept", kLimitNames, nullptr, "All resource limits are taken over but these.").strict(),
};
}  // namespace

std::span<const KeyRow> global_rows_i() { return kRows; }

}  // namespace muster::config

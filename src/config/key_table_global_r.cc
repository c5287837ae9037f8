// slurm.conf, keys of the whole cluster, R to Z.
#include "config/key_table_parts.h"

namespace muster::config {
using namespace rows;

namespace {
constexpr KeyRow kRows[] = {
    path("RebootProgram", nullptr, "Program that reboots a node."),
    flags("ReconfigFlags", "KeepPartInfo|KeepPartState|KeepPowerSaveSettings", nullptr,
          "What scontrol changed and `scontrol reconfigure` leaves alone."),
    text("RequeueExit", nullptr, "Exit codes after which a batch job is requeued, for example 1-3,5."),
    text("RequeueExitHold", nullptr, "Exit codes after which a batch job is requeued and held."),
    path("ResumeFailProgram", nullptr, "Program run for nodes that did not come up in ResumeTimeout."),
    path("ResumeProgram", nullptr, "Program that powers nodes up."),
    number("ResumeRate", "300", "Nodes powered up per minute; 0 = no limit."),
    seconds("ResumeTimeout", "60", "How long a node may take to come up.").infinite(),
    path("ResvEpilog", nullptr, "Program run by slurmctld when a reservation ends; its name is the argument."),
    mins("ResvOverRun", "0", "Minutes a job may run on after its reservation ended.").infinite(),
    path("ResvProlog", nullptr, "Program run by slurmctld when a reservation begins; its name is the argument."),
    number("ReturnToService", "0", "When a DOWN node returns: 0 by hand, 1 if it was only silent, 2 whenever it registers well.").max(2),
    list("SchedulerParameters", nullptr, "Options of the scheduler: bf_*, defer, default_queue_depth= …"),
    seconds("SchedulerTimeSlice", "30", "Time slice of gang scheduling.").min(5),
    one_of("SchedulerType", "sched/backfill|sched/builtin", "sched/backfill", "Backfill, or strictly by priority.").strict().restart(),
    list("ScronParameters", nullptr, "enable, explicit_scancel: options of scrontab."),
    one_of("SelectType", "select/cons_tres|select/linear", "select/cons_tres", "Share nodes by core, or hand out whole nodes.")
        .strict()
        .restart(),
    flags("SelectTypeParameters",
          "CR_CPU|CR_CPU_Memory|CR_Core|CR_Core_Memory|CR_Socket|CR_Socket_Memory|CR_Memory|CR_ONE_TASK_PER_"
          "CORE|"
          "CR_CORE_DEFAULT_DIST_BLOCK|CR_LLN|CR_Pack_Nodes|LL_SHARED_GRES|MULTIPLE_SHARING_GRES_PJ|ENFORCE_"
          "BINDING_GRES|"
          "ONE_TASK_PER_SHARING_GRES|CR_NO_DIST_TOPO_BLOCK|NONE",
          "CR_Core_Memory", "Smallest unit handed out, and whether memory is counted.")
        .strict()
        .restart(),
    text("SlurmUser", "root", "User slurmctld runs as.").restart(),
    text("SlurmctldAddr", nullptr, "Address at which whichever controller is active is reached.").restart(),
    level("SlurmctldDebug", "info", "How much slurmctld logs."),
    text("SlurmctldHost", nullptr, "name or name(address) of the controller; a line for each backup, in order. Required.")
        .repeat()
        .restart(),
    list("SlurmctldHttpAuthParameters", nullptr, "Who may speak HTTP to slurmctld.").not_yet("HTTP on the daemon's port"),
    path("SlurmctldLogFile", nullptr, "Log of slurmctld; unset: syslog."),
    row(KeyType::kPortRange, "SlurmctldPort", "6817", "Port or ports slurmctld listens on.").strict().restart(),
    level("SlurmctldSyslogDebug", nullptr, "How much slurmctld sends to syslog.").not_yet("syslog beside a file"),
    path("SlurmctldPrimaryOffProg", nullptr, "Program run when a controller becomes a backup.").not_yet("a standby controller"),
    path("SlurmctldPrimaryOnProg", nullptr, "Program run when a controller becomes the active one.").not_yet("a standby controller"),
    seconds("SlurmctldTimeout", "120", "How long the active controller may be silent before a backup takes over.")
        .not_yet("a standby controller"),
    list("SlurmctldParameters", nullptr, "Options of slurmctld: enable_configless, idle_on_node_suspend …"),
    level("SlurmdDebug", "info", "How much slurmd logs."),
    list("SlurmdHttpAuthParameters", nullptr, "Who may speak HTTP to slurmd.").not_yet("HTTP on the daemon's port"),
    path("SlurmdLogFile", nullptr, "Log of slurmd, with %n and %h; unset: syslog."),
    list("SlurmdParameters", nullptr, "Options of slurmd: config_overrides, numa_node_as_socket, contain_spank …"),
    path("SlurmdPidFile", "/var/run/slurmd.pid", "Where slurmd leaves its process id, with %n and %h."),
    row(KeyType::kPort, "SlurmdPort", "6818", "Port slurmd listens on.").restart(),
    path("SlurmdSpoolDir", "/var/spool/slurmd", "Directory of slurmd's state and of job scripts, with %n and %h.").restart(),
    level("SlurmdSyslogDebug", nullptr, "How much slurmd sends to syslog.").not_yet("syslog beside a file"),
    seconds("SlurmdTimeout", "300", "How long a node may be silent before it is DOWN; 0 = for ever."),
    text("SlurmdUser", "root", "User slurmd runs as.").restart(),
    path("SlurmSchedLogFile", nullptr, "Log of scheduling events.").not_yet("the log of scheduling events"),
    number("SlurmSchedLogLevel", "0", "1: log scheduling events.").max(1).not_yet("the log of scheduling events"),
    path("SlurmctldPidFile", "/var/run/slurmctld.pid", "Where slurmctld leaves its process id."),
    path("SrunEpilog", nullptr, "Program srun runs after a step."),
    row(KeyType::kPortRange, "SrunPortRange", nullptr, "Ports srun listens on; unset: any."),
    path("SrunProlog", nullptr, "Program srun runs before a step."),
    path("StateSaveLocation", "/var/spool", "Directory of the controller's state.").restart(),
    text("SuspendExcNodes", nullptr, "Nodes that stay powered, with an optional :count after each set."),
    list("SuspendExcParts", nullptr, "Partitions whose nodes stay powered."),
    flags("SuspendExcStates", "CLOUD|DOWN|DRAIN|DYNAMIC_FUTURE|DYNAMIC_NORM|FAIL|INVALID_REG|MAINTENANCE|NOT_RESPONDING|PLANNED|RESERVED",
          nullptr, "States in which nodes stay powered."),
    path("SuspendProgram", nullptr, "Program that powers nodes down."),
    number("SuspendRate", "60", "Nodes powered down per minute; 0 = no limit."),
    seconds("SuspendTime", "INFINITE", "Idle time after which a node is powered down.").max(INT32_MAX).infinite(),
    seconds("SuspendTimeout", "30", "How long powering down may take."),
    list("SwitchParameters", nullptr, "Options of SwitchType: imex_channel_count."),
    one_of("SwitchType", "switch/none|switch/hpe_slingshot|switch/nvidia_imex", nullptr, "Interconnect that needs set-up per job."),
    path("TaskEpilog", nullptr, "Program run as the user after each task."),
    list("TaskPlugin", nullptr, "How tasks are bound and confined: task/affinity, task/cgroup.").restart(),
    flags("TaskPluginParam",
          "None|Sockets|Cores|Threads|SlurmdSpecOverride|SlurmdOffSpec|OOMKillStep|Verbose|Autobind=Cores|"
          "Autobind=Sockets|"
          "Autobind=Threads|Autobind=None",
          nullptr, "Default binding of tasks.")
        .strict(),
    path("TaskProlog", nullptr, "Program run as the user before each task; its output sets the task's environment."),
    seconds("TCPTimeout", "2", "How long making a connection may take.").min(1).not_yet("tuning of connections"),
    list("TLSParameters", nullptr, "Certificates of TLSType.").not_yet("TLS with certificates"),
    one_of("TLSType", "tls/none|tls/s2n", nullptr, "TLS with certificates.").strict().not_yet("TLS with certificates").restart(),
    path("TmpFS", "/tmp", "File system whose size is the node's TmpDisk, with %n and %h."),
    list("TopologyParam", nullptr, "Options of the topology: RoutePart, TopoOptional, SwitchAsNodeRank …"),
    one_of("TopologyPlugin",
           "topology/flat|topology/default|topology/none|topology/tree|topology/block|topology/ring|topology/"
           "torus3d|topology/3d_torus",
           "topology/flat", "Shape of the network that placement takes into account.")
        .strict()
        .restart(),
    yesno("TrackWCKey", "No", "Jobs that name no workload key have their user's default one."),
    number("TreeWidth", "16", "To how many nodes a node passes a file of sbcast or srun --bcast on; messages go to each node directly.")
        .min(1)
        .max(65533),
    path("UnkillableStepProgram", nullptr, "Program run on a node when a step's processes will not die."),
    seconds("UnkillableStepTimeout", nullptr, "How long they may take to die; unset: 60 or five MessageTimeouts.").min(1),
    text("UrlParserType", nullptr, "Parser of URLs; there is one here.").not_yet("choice of the URL parser"),
    yesno("UsePAM", "No", "Open a PAM session for a job, which may set its limits.").not_yet("PAM sessions"),
    number("VSizeFactor", "0", "Virtual memory a job may use, percent of its real memory; 0 = no limit.")
        .max(65533)
        .not_yet("limits on virtual memory"),
    seconds("WaitTime", "0", "srun ends a step this long after its first task ended; 0 = never."),
    flags("X11Parameters", "home_xauthority", nullptr, "Where the X11 cookie is kept."),
};
}  // namespace

std::span<const KeyRow> global_rows_r() { return kRows; }

}  // namespace muster::config

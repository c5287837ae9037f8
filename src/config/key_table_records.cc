// slurm.conf, keys of record lines: NodeName, NodeSet, DownNodes, PartitionName, PowerAction.
#include "config/key_table_parts.h"

namespace muster::config {
using namespace rows;

namespace {
constexpr Section kN = Section::kNode;
constexpr Section kP = Section::kPartition;
constexpr char kNodeStates[] = "CLOUD|DOWN|DRAIN|FAIL|FAILING|FUTURE|UNKNOWN|EXTERNAL|IDLE";
constexpr char kCpuBind[] = "none|socket|ldom|core|thread|sockets|ldoms|cores|threads|off";

constexpr KeyRow kNodes[] = {
    hosts("NodeName", nullptr, "Names of the nodes the line describes; DEFAULT sets defaults for the lines below.").in(kN).restart(),
    hosts("NodeHostname", nullptr, "What `hostname -s` says on them; unset: NodeName.").in(kN).restart(),
    hosts("NodeAddr", nullptr, "Names or addresses by which they are reached; unset: NodeHostname.").in(kN).restart(),
    hosts("BcastAddr", nullptr, "Addresses for the traffic of sbcast; unset: NodeAddr.").in(kN).not_yet("a network of its own for sbcast"),
    number("Boards", "1", "Baseboards.").strict().min(1).max(65533).in(kN).restart(),
    number("CoreSpecCount", "0", "Cores kept for the system.").max(65533).in(kN),
    number("CoresPerSocket", "1", "Cores of one socket.").strict().min(1).max(65533).in(kN).restart(),
    one_of("CpuBind", kCpuBind, nullptr, "Binding of tasks that ask for none.").in(kN),
    number("CPUs", nullptr, "Logical processors; unset: the product of boards, sockets, cores and threads.")
        .strict()
        .min(1)
        .max(1u << 20)
        .in(kN)
        .restart(),
    text("CpuSpecList", nullptr, "CPU numbers kept for the system.").in(kN),
    list("Features", nullptr, "Words that --constraint can ask for.").in(kN),
    list("Feature", nullptr, "").alias("Features").in(kN),
    row(KeyType::kGres, "Gres", nullptr, "Generic resources, name[:type][:no_consume]:count,…").in(kN),
    mem("MemSpecLimit", "0", "Memory kept for the system, MiB.").in(kN),
    list("Parameters", nullptr, "SlurmdParameters of these nodes only.").in(kN),
    text("Port", nullptr, "Port of slurmd, or a range of as many ports as names; unset: SlurmdPort.").in(kN).restart(),
    number("Procs", nullptr, "").alias("CPUs").in(kN),
    mem("RealMemory", "1", "Memory, MiB.").in(kN).restart(),
    text("Reason", nullptr, "Why the node is DOWN, DRAIN or FAIL.").in(kN),
    number("RestrictedCoresPerGPU", "0", "Cores per GPU that only jobs with a GPU get.").max(65533).in(kN),
    number("Sockets", "1", "Sockets; with Boards, sockets of one board.").strict().min(1).max(65533).in(kN).restart(),
    number("SocketsPerBoard", "1", "Sockets of one board.").strict().min(1).max(65533).in(kN).restart(),
    one_of("State", kNodeStates, "UNKNOWN", "State at the first start.").strict().in(kN),
    seconds("SuspendTime", nullptr, "Idle time after which these nodes are powered down.").max(INT32_MAX).infinite().in(kN),
    number("ThreadsPerCore", "1", "Hardware threads of one core.").strict().min(1).max(65533).in(kN).restart(),
    mem("TmpDisk", "0", "Size of TmpFS, MiB.").in(kN).restart(),
    text("Topology", nullptr, "Where the nodes are in the topology, name:unit,…").in(kN),
    list("TRESWeights", nullptr, "Weights of single resources in the node's billing.").in(kN).not_yet("billing weights by node"),
    number("Weight", "1", "Nodes of low weight are used first.").in(kN),

    text("NodeSet", nullptr, "Name of a set of nodes for use in PartitionName lines.").in(Section::kNodeSet),
    text("Feature", nullptr, "Nodes with this feature belong to the set.").in(Section::kNodeSet),
    hosts("Nodes", nullptr, "Nodes of the set.").in(Section::kNodeSet),

    hosts("DownNodes", nullptr, "Nodes that are down for now.").in(Section::kDownNodes),
    text("Reason", nullptr, "Why.").in(Section::kDownNodes),
    one_of("State", "DOWN|DRAIN|FAIL|FAILING|FUTURE", "DOWN", "Their state.").in(Section::kDownNodes),

    text("PowerAction", nullptr, "Name of a program for power up, power down or reboot.").in(Section::kPowerAction),
    one_of("Location", "slurmctld|slurmd", nullptr, "Where it runs.").in(Section::kPowerAction),
    path("Program", nullptr, "Program and its arguments.").in(Section::kPowerAction),
};

constexpr KeyRow kPartitions[] = {
    text("PartitionName", nullptr, "Name of the partition; DEFAULT sets defaults for the lines below.").in(kP),
    hosts("AllocNodes", "ALL", "Nodes from which jobs may be submitted to it.").in(kP),
    list("AllowAccounts", "ALL", "Accounts whose jobs it takes.").in(kP),
    list("AllowGroups", "ALL", "Groups whose members may use it.").in(kP),
    list("AllowQos", "ALL", "QOS whose jobs it takes.").in(kP),
    text("Alternate", nullptr, "Partition that takes the jobs while this one is DRAIN or INACTIVE.").in(kP),
    one_of("CpuBind", kCpuBind, nullptr, "Binding of tasks that ask for none.").in(kP),
    yesno("Default", "No", "Jobs that name no partition come here.").in(kP),
    span("DefaultTime", nullptr, "Time limit of jobs that give none; unset: MaxTime.").infinite().in(kP),
    number("DefCpuPerGPU", nullptr, "CPUs per GPU when the job does not say.").in(kP),
    mem("DefMemPerCPU", nullptr, "Memory per CPU when the job does not say, MiB.").in(kP),
    mem("DefMemPerGPU", nullptr, "Memory per GPU when the job does not say, MiB.").in(kP),
    mem("DefMemPerNode", nullptr, "Memory per node when the job does not say, MiB.").in(kP),
    list("DenyAccounts", nullptr, "Accounts whose jobs it does not take; without effect beside AllowAccounts.").in(kP),
    list("DenyQos", nullptr, "QOS whose jobs it does not take; without effect beside AllowQos.").in(kP),
    yesno("DisableRootJobs", nullptr, "Refuse jobs of user root; unset: as for the cluster.").in(kP),
    one_of("Exclusive", "NO|NODE|USER|TOPO", nullptr, "Whole nodes per job, one user per node, or one job per segment.").strict().in(kP),
    yesno("ExclusiveTopo", "No", "Older spelling of Exclusive=TOPO.").in(kP),
    yesno("ExclusiveUser", "No", "Older spelling of Exclusive=USER.").in(kP),
    seconds("GraceTime", "0", "Warning time of a job that is preempted.").max(INT32_MAX).in(kP),
    yesno("Hidden", "No", "Not listed by default.").in(kP),
    text("JobDefaults", nullptr, "DefCpuPerGPU=,DefMemPerGPU= in one value.").in(kP),
    yesno("LLN", "No", "Use the least loaded nodes first.").in(kP),
    number("MaxCPUsPerNode", "UNLIMITED", "Most CPUs of a node for jobs of this partition.").infinite().in(kP),
    number("MaxCPUsPerSocket", "UNLIMITED", "Most CPUs of a socket for jobs of this partition.").infinite().in(kP),
    number("MaxCPUsPerUser", "UNLIMITED", "Most CPUs one user's running jobs hold here (elsewhere a limit of the partition's QOS).")
        .infinite()
        .in(kP),
    mem("MaxMemPerCPU", nullptr, "Most memory per CPU, MiB.").in(kP),
    mem("MaxMemPerNode", nullptr, "Most memory of a job on one node, MiB.").in(kP),
    number("MaxNodes", "UNLIMITED", "Most nodes of a job.").infinite().in(kP),
    span("MaxTime", "UNLIMITED", "Longest time limit of a job.").infinite().in(kP),
    number("MinNodes", "0", "Fewest nodes of a job.").in(kP),
    hosts("Nodes", nullptr, "Nodes and node sets of the partition; ALL for every node.").in(kP),
    text("OverSubscribe", "NO", "NO, YES[:n], FORCE[:n] or EXCLUSIVE: may jobs share a resource.").in(kP),
    text("Shared", nullptr, "").alias("OverSubscribe").in(kP),
    mins("OverTimeLimit", nullptr, "Minutes a job may run beyond its time limit.").infinite().in(kP),
    yesno("PowerDownOnIdle", "No", "Power its nodes down as soon as they are idle.").in(kP),
    flags("PreemptMode", "OFF|CANCEL|GANG|REQUEUE|SUSPEND|PRIORITY|WITHIN", nullptr, "What happens to its jobs when they are preempted.")
        .strict()
        .in(kP),
    number("PriorityJobFactor", "1", "Partition factor of the priority.").max(65533).in(kP),
    number("PriorityTier", "1", "Partitions of a higher tier are scheduled first.").max(65533).in(kP),
    number("Priority", nullptr, "Older key: sets PriorityJobFactor and PriorityTier.").max(65533).in(kP),
    text("QOS", nullptr, "QOS whose limits hold in the partition.").in(kP),
    yesno("ReqResv", "No", "Jobs must name a reservation.").in(kP),
    seconds("ResumeTimeout", nullptr, "How long its nodes may take to come up.").infinite().in(kP),
    yesno("RootOnly", "No", "Only root and SlurmUser allocate here.").in(kP),
    flags("SelectTypeParameters", "CR_Core|CR_Core_Memory|CR_Socket|CR_Socket_Memory|CR_CPU|CR_CPU_Memory|NONE", nullptr,
          "Smallest unit handed out in this partition.")
        .strict()
        .in(kP),
    one_of("State", "UP|DOWN|DRAIN|INACTIVE", "UP", "Whether it takes and starts jobs.").strict().in(kP),
    seconds("SuspendTime", nullptr, "Idle time after which its nodes are powered down.").max(INT32_MAX).infinite().in(kP),
    seconds("SuspendTimeout", nullptr, "How long powering its nodes down may take.").in(kP),
    text("Topology", nullptr, "Name of the topology its jobs use.").in(kP),
    list("TRESBillingWeights", nullptr, "Weights of single resources in the bill of a job, CPU=1.0,Mem=0.25G,GRES/gpu=2.").in(kP),
};
}  // namespace

std::span<const KeyRow> node_rows() { return kNodes; }
std::span<const KeyRow> partition_rows() { return kPartitions; }

}  // namespace muster::config

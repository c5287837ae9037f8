// gres.conf, topology.conf and cgroup.conf.
#include "config/key_table_parts.h"

namespace muster::config {
using namespace rows;

namespace {
constexpr ConfFile kG = ConfFile::kGres;
constexpr ConfFile kT = ConfFile::kTopology;
constexpr ConfFile kC = ConfFile::kCgroup;
constexpr Section kL = Section::kGresLine;

constexpr KeyRow kRows[] = {
    one_of("AutoDetect", "full|nrt|nvidia|nvml|off|oneapi|rsmi", nullptr,
           "How devices are found by themselves; alone on a line for all nodes, with NodeName for some.")
        .of(kG)
        .in(kL),
    row(KeyType::kCount, "Count", nullptr, "How many; unset: as many as files, else 1.").of(kG).in(kL),
    text("Cores", nullptr, "Logical cores next to the device.").of(kG).in(kL).restart(),
    text("CPUs", nullptr, "").alias("Cores").of(kG).in(kL),
    path("File", nullptr, "Device files, for example /dev/nvidia[0-3].").of(kG).in(kL),
    flags("Flags",
          "CountOnly|env_uuid|explicit|one_sharing|all_sharing|nvidia_gpu_env|amd_gpu_env|intel_gpu_env|"
          "opencl_env|no_gpu_env",
          nullptr, "Which environment variables are set and how the resource is shared.")
        .of(kG)
        .in(kL),
    text("Link", nullptr, "").alias("Links").of(kG).in(kL),
    text("Links", nullptr, "Number of connections to device 0, 1, …; -1 for itself.").of(kG).in(kL),
    path("MultipleFiles", nullptr, "Device files that together are one resource (MIG).").of(kG).in(kL),
    text("Name", nullptr, "Name of the resource, as in GresTypes.").of(kG).in(kL),
    hosts("NodeName", nullptr, "Nodes the line is for; unset: all.").of(kG).in(kL),
    text("Type", nullptr, "Kind of the resource, for example h100.").of(kG).in(kL),

    text("SwitchName", nullptr, "Name of a switch.").of(kT).in(Section::kSwitch),
    hosts("Switches", nullptr, "Switches below it.").of(kT).in(Section::kSwitch),
    hosts("Nodes", nullptr, "Nodes on it.").of(kT).in(Section::kSwitch),
    text("LinkSpeed", nullptr, "Speed of the link, in any unit; kept, not used.").of(kT).in(Section::kSwitch),
    text("BlockName", nullptr, "Name of a block of close nodes.").of(kT).in(Section::kBlock),
    hosts("Nodes", nullptr, "Nodes of the block.").of(kT).in(Section::kBlock),
    list("BlockSizes", nullptr, "Size of the smallest block planned with, then of the larger ones.").of(kT),
    text("RingName", nullptr, "Name of a ring of nodes.").of(kT).in(Section::kRing),
    hosts("Nodes", nullptr, "Nodes of the ring in order, at most 16.").of(kT).in(Section::kRing),

    path("CgroupMountpoint", "/sys/fs/cgroup", "Where the cgroup file system is.").of(kC),
    one_of("CgroupPlugin", "autodetect|cgroup/v1|cgroup/v2|disabled", "autodetect", "Which cgroup interface is used.").of(kC),
    text("CgroupSlice", "system.slice", "Slice the step scope is started in (v2).").of(kC).restart(),
    yesno("CgroupJobIdPaths", "no", "Name the cgroup directories of jobs by job number (v2).").of(kC),
    row(KeyType::kMilliseconds, "SystemdTimeout", "1000", "How long systemd may take to prepare the scope (v2).").of(kC),
    yesno("IgnoreSystemd", "no", "Make the hierarchy without systemd (v2).").of(kC),
    yesno("IgnoreSystemdOnFailure", "no", "Make it without systemd when systemd does not answer (v2).").of(kC),
    yesno("EnableControllers", "no", "Switch the controllers on from the root of the tree down (v2).")
        .of(kC)
        .not_yet("controllers beyond cpu, cpuset and memory"),
    flags("EnableExtraControllers", "all|io|pids|rdma|hugetlb|misc", nullptr, "Further controllers to switch on for jobs (v2).")
        .of(kC)
        .not_yet("controllers beyond cpu, cpuset and memory"),
    percent("AllowedRAMSpace", "100", "Hard memory limit, percent of the allocated memory.").of(kC),
    percent("AllowedSwapSpace", "0", "Swap, percent of the allocated memory.").of(kC),
    yesno("ConstrainCores", "no", "Keep tasks on their cores.").of(kC),
    yesno("ConstrainDevices", "no", "Keep tasks off devices they do not hold.").of(kC),
    yesno("ConstrainRAMSpace", "no", "Keep jobs within their memory.").of(kC),
    yesno("ConstrainSwapSpace", "no", "Keep jobs within their swap.").of(kC),
    percent("MaxRAMPercent", "100", "Upper bound of the memory limit, percent of RealMemory.").of(kC),
    percent("MaxSwapPercent", "100", "Upper bound of RAM plus swap, percent of RealMemory.").of(kC),
    number("MemorySwappiness", nullptr, "Swappiness of a job, 0 to 100 (v1).").max(100).of(kC),
    mem("MinRAMSpace", "30", "Lower bound of the memory limit, MiB.").of(kC),
    yesno("SignalChildrenProcesses", "no", "Signals go to all processes of a step, not only to the tasks.").of(kC),
};
}  // namespace

std::span<const KeyRow> resource_file_rows() { return kRows; }

}  // namespace muster::config

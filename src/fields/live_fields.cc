// The columns of sstat. Widths, headers and the order of the default are those that Debian's Slurm 22.05 and Slurm 26.11 print.
#include "fields/live_view.h"

#include <algorithm>

#include "base/text.h"
#include "fields/record_values.h"
#include "fields/usage_columns.h"
#include "fields/values.h"

namespace muster::fields {
namespace {

using V = const LiveView&;
using S = std::string&;
constexpr FieldStatus kWorks = FieldStatus::kWorks, kConstant = FieldStatus::kConstant;
constexpr std::string_view kEnergy = "energy accounting (AcctGatherEnergyType)", kClock = "sampling of clock rates";

void zero(V, S o) { o += '0'; }

void put_sorted_tres(const std::string& text, S o) {
  std::vector<std::string_view> parts = split(text, ',');
  std::ranges::sort(parts);
  for (size_t i = 0; i < parts.size(); ++i) (o += i ? "," : "") += parts[i];
}

constexpr LiveField kFields[] = {
    {"AllocTRES", "AllocTRES", 10, Fit::kMarked, kWorks, "Trackable resources of the step",
     [](V v, S o) { put_sorted_tres(tres_text(v.row.tres), o); }},
    {"AveCPU", "AveCPU", 10, Fit::kMarked, kWorks, "CPU time of the tasks, on average", average_used<LiveView, &StepUsage::cpu>},
    {"AveCPUFreq", "AveCPUFreq", 10, Fit::kMarked, kConstant, "Clock rate of the tasks, on average", zero, "", kClock},
    {"AveDiskRead", "AveDiskRead", 12, Fit::kMarked, kWorks, "Bytes read of the tasks, on average",
     average_used<LiveView, &StepUsage::disk_read>},
    {"AveDiskWrite", "AveDiskWrite", 12, Fit::kMarked, kWorks, "Bytes written of the tasks, on average",
     average_used<LiveView, &StepUsage::disk_write>},
    {"AvePages", "AvePages", 10, Fit::kMarked, kWorks, "Page faults of the tasks, on average", average_used<LiveView, &StepUsage::pages>},
    {"AveRSS", "AveRSS", 10, Fit::kMarked, kWorks, "Resident memory of the tasks, on average", average_used<LiveView, &StepUsage::rss>},
    {"AveVMSize", "AveVMSize", 10, Fit::kMarked, kWorks, "Virtual memory of the tasks, on average", average_used<LiveView, &StepUsage::vm>},
    {"ConsumedEnergy", "ConsumedEnergy", 14, Fit::kMarked, kConstant, "Energy used, in joules", zero, "", kEnergy},
    {"ConsumedEnergyRaw", "ConsumedEnergyRaw", 17, Fit::kMarked, kConstant, "Energy used, in joules, without a unit", zero, "", kEnergy},
    {"JobID", "JobID", -12, Fit::kMarked, kWorks, "The step, as 12.0", [](V v, S o) { o += v.id; }},
    {"MaxDiskRead", "MaxDiskRead", 12, Fit::kMarked, kWorks, "Most bytes read of a task", most_used<LiveView, &StepUsage::disk_read>},
    {"MaxDiskReadNode", "MaxDiskReadNode", 15, Fit::kMarked, kWorks, "The node of that task",
     most_used_node<LiveView, &StepUsage::disk_read>},
    {"MaxDiskReadTask", "MaxDiskReadTask", 15, Fit::kMarked, kWorks, "The number of that task",
     most_used_task<LiveView, &StepUsage::disk_read>},
    {"MaxDiskWrite", "MaxDiskWrite", 12, Fit::kMarked, kWorks, "Most bytes written of a task", most_used<LiveView, &StepUsage::disk_write>},
    {"MaxDiskWriteNode", "MaxDiskWriteNode", 16, Fit::kMarked, kWorks, "The node of that task",
     most_used_node<LiveView, &StepUsage::disk_write>},
    {"MaxDiskWriteTask", "MaxDiskWriteTask", 16, Fit::kMarked, kWorks, "The number of that task",
     most_used_task<LiveView, &StepUsage::disk_write>},
    {"MaxPages", "MaxPages", 8, Fit::kMarked, kWorks, "Most page faults of a task", most_used<LiveView, &StepUsage::pages>},
    {"MaxPagesNode", "MaxPagesNode", 12, Fit::kMarked, kWorks, "The node of that task", most_used_node<LiveView, &StepUsage::pages>},
    {"MaxPagesTask", "MaxPagesTask", 14, Fit::kMarked, kWorks, "The number of that task", most_used_task<LiveView, &StepUsage::pages>},
    {"MaxRSS", "MaxRSS", 10, Fit::kMarked, kWorks, "Most resident memory of a task", most_used<LiveView, &StepUsage::rss>},
    {"MaxRSSNode", "MaxRSSNode", 10, Fit::kMarked, kWorks, "The node of that task", most_used_node<LiveView, &StepUsage::rss>},
    {"MaxRSSTask", "MaxRSSTask", 10, Fit::kMarked, kWorks, "The number of that task", most_used_task<LiveView, &StepUsage::rss>},
    {"MaxVMSize", "MaxVMSize", 10, Fit::kMarked, kWorks, "Most virtual memory of a task", most_used<LiveView, &StepUsage::vm>},
    {"MaxVMSizeNode", "MaxVMSizeNode", 14, Fit::kMarked, kWorks, "The node of that task", most_used_node<LiveView, &StepUsage::vm>},
    {"MaxVMSizeTask", "MaxVMSizeTask", 14, Fit::kMarked, kWorks, "The number of that task", most_used_task<LiveView, &StepUsage::vm>},
    {"MinCPU", "MinCPU", 10, Fit::kMarked, kWorks, "Least CPU time of a task", least_cpu<LiveView>},
    {"MinCPUNode", "MinCPUNode", 10, Fit::kMarked, kWorks, "The node of that task", least_cpu_node<LiveView>},
    {"MinCPUTask", "MinCPUTask", 10, Fit::kMarked, kWorks, "The number of that task", least_cpu_task<LiveView>},
    {"Nodelist", "Nodelist", 20, Fit::kMarked, kWorks, "The nodes of the step",
     [](V v, S o) { o += v.node.empty() ? std::string_view(v.row.node_list) : v.node; }},
    {"NTasks", "NTasks", 8, Fit::kWhole, kWorks, "Tasks of the step", [](V v, S o) { put_number(o, v.row.tasks); }},
    {"Pids", "Pids", 20, Fit::kMarked, kWorks, "Processes of the step", [](V v, S o) { o += v.pids; }},
    {"ReqCPUFreq", "ReqCPUFreq", 10, Fit::kMarked, kWorks, "Highest CPU clock rate asked for",
     [](V v, S o) { put_frequency(v.row.cpu_freq, FrequencyPart::kMax, o); }},
    {"ReqCPUFreqGov", "ReqCPUFreqGov", 13, Fit::kMarked, kWorks, "CPU governor asked for",
     [](V v, S o) { put_frequency(v.row.cpu_freq, FrequencyPart::kGovernor, o); }},
    {"ReqCPUFreqMax", "ReqCPUFreqMax", 13, Fit::kMarked, kWorks, "Highest CPU clock rate asked for",
     [](V v, S o) { put_frequency(v.row.cpu_freq, FrequencyPart::kMax, o); }},
    {"ReqCPUFreqMin", "ReqCPUFreqMin", 13, Fit::kMarked, kWorks, "Lowest CPU clock rate asked for",
     [](V v, S o) { put_frequency(v.row.cpu_freq, FrequencyPart::kMin, o); }},
    {"SLUID", "SLUID", 20, Fit::kMarked, kWorks, "The sortable unique id of this run", [](V v, S o) { o += sluid_text(v.sluid); }},
    {"TRESUsageInAve", "TRESUsageInAve", 14, Fit::kMarked, kWorks, "Resources that came into the tasks: on average",
     tres_used<LiveView, UsageDirection::kIn, UsageKind::kAverage>},
    {"TRESUsageInMax", "TRESUsageInMax", 14, Fit::kMarked, kWorks, "Resources that came into the tasks: of a task, at most",
     tres_used<LiveView, UsageDirection::kIn, UsageKind::kMax>},
    {"TRESUsageInMaxNode", "TRESUsageInMaxNode", 18, Fit::kMarked, kWorks, "Resources that came into the tasks: the nodes of those tasks",
     tres_used<LiveView, UsageDirection::kIn, UsageKind::kMaxNode>},
    {"TRESUsageInMaxTask", "TRESUsageInMaxTask", 18, Fit::kMarked, kWorks, "Resources that came into the tasks: the numbers of those tasks",
     tres_used<LiveView, UsageDirection::kIn, UsageKind::kMaxTask>},
    {"TRESUsageInMin", "TRESUsageInMin", 14, Fit::kMarked, kWorks, "Resources that came into the tasks: of a task, at least",
     tres_used<LiveView, UsageDirection::kIn, UsageKind::kMin>},
    {"TRESUsageInMinNode", "TRESUsageInMinNode", 18, Fit::kMarked, kWorks, "Resources that came into the tasks: the nodes of those tasks",
     tres_used<LiveView, UsageDirection::kIn, UsageKind::kMinNode>},
    {"TRESUsageInMinTask", "TRESUsageInMinTask", 18, Fit::kMarked, kWorks, "Resources that came into the tasks: the numbers of those tasks",
     tres_used<LiveView, UsageDirection::kIn, UsageKind::kMinTask>},
    {"TRESUsageInTot", "TRESUsageInTot", 14, Fit::kMarked, kWorks, "Resources that came into the tasks: of all tasks",
     tres_used<LiveView, UsageDirection::kIn, UsageKind::kTotal>},
    {"TRESUsageOutAve", "TRESUsageOutAve", 15, Fit::kMarked, kWorks, "Resources that came out of the tasks: on average",
     tres_used<LiveView, UsageDirection::kOut, UsageKind::kAverage>},
    {"TRESUsageOutMax", "TRESUsageOutMax", 15, Fit::kMarked, kWorks, "Resources that came out of the tasks: of a task, at most",
     tres_used<LiveView, UsageDirection::kOut, UsageKind::kMax>},
    {"TRESUsageOutMaxNode", "TRESUsageOutMaxNode", 19, Fit::kMarked, kWorks,
     "Resources that came out of the tasks: the nodes of those tasks", tres_used<LiveView, UsageDirection::kOut, UsageKind::kMaxNode>},
    {"TRESUsageOutMaxTask", "TRESUsageOutMaxTask", 19, Fit::kMarked, kWorks,
     "Resources that came out of the tasks: the numbers of those tasks", tres_used<LiveView, UsageDirection::kOut, UsageKind::kMaxTask>},
    {"TRESUsageOutMin", "TRESUsageOutMin", 15, Fit::kMarked, kWorks, "Resources that came out of the tasks: of a task, at least",
     tres_used<LiveView, UsageDirection::kOut, UsageKind::kMin>},
    {"TRESUsageOutMinNode", "TRESUsageOutMinNode", 19, Fit::kMarked, kWorks,
     "Resources that came out of the tasks: the nodes of those tasks", tres_used<LiveView, UsageDirection::kOut, UsageKind::kMinNode>},
    {"TRESUsageOutMinTask", "TRESUsageOutMinTask", 19, Fit::kMarked, kWorks,
     "Resources that came out of the tasks: the numbers of those tasks", tres_used<LiveView, UsageDirection::kOut, UsageKind::kMinTask>},
    {"TRESUsageOutTot", "TRESUsageOutTot", 15, Fit::kMarked, kWorks, "Resources that came out of the tasks: of all tasks",
     tres_used<LiveView, UsageDirection::kOut, UsageKind::kTotal>},
};

constexpr LiveField kPidFields[] = {
    {"JobID", "JobID", -12, Fit::kMarked, kWorks, "The step, as 12.0", [](V v, S o) { o += v.id; }},
    {"Nodelist", "Nodelist", 20, Fit::kMarked, kWorks, "A node of the step", [](V v, S o) { o += v.node; }},
    {"Pids", "Pids", 20, Fit::kMarked, kWorks, "Its processes there", [](V v, S o) { o += v.pids; }},
};

}  // namespace

const std::string_view kLiveDefault =
    "jobid,alloctres,maxvmsize,maxvmsizenode,maxvmsizetask,avevmsize,maxrss,maxrssnode,maxrsstask,averss,maxpages,maxpagesnode,"
    "maxpagestask,"
    "avepages,mincpu,mincpunode,mincputask,avecpu,ntasks,avecpufreq,reqcpufreqmin,reqcpufreqmax,reqcpufreqgov,consumedenergy,maxdiskread,"
    "maxdiskreadnode,maxdiskreadtask,avediskread,maxdiskwrite,maxdiskwritenode,maxdiskwritetask,avediskwrite,tresusageinave,tresusageinmax,"
    "tresusageinmaxnode,tresusageinmaxtask,tresusageinmin,tresusageinminnode,tresusageinmintask,tresusageintot,tresusageoutave,"
    "tresusageoutmax,tresusageoutmaxnode,tresusageoutmaxtask,tresusageoutmin,tresusageoutminnode,tresusageoutmintask,tresusageouttot";

std::span<const LiveField> live_fields() { return kFields; }
std::span<const LiveField> pid_fields() { return kPidFields; }

std::string live_help() {
  std::vector<std::string_view> names;
  for (const LiveField& f : kFields) names.push_back(f.name);
  return column_help(names);
}

}  // namespace muster::fields

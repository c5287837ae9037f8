// The columns of sstat. Widths, headers and the order of the default are those that Debian's Slurm 22.05 and Slurm 26.11 print.
#include "fields/live_view.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "fields/record_values.h"
#include "fields/usage_columns.h"
#include "fields/values.h"

namespace muster::fields {
namespace {

using V = const LiveView&;
using S = std::string&;
constexpr FieldStatus kWorks = FieldStatus::kWorks;
uint64_t joules(V v) { return v.usage && v.usage->energy.parts ? v.usage->energy.total : 0; }

void put_sorted_tres(const std::string& text, S o) {
  std::vector<std::string_view> parts = split(text, ',');
  std::ranges::sort(parts);
  for (size_t i = 0; i < parts.size(); ++i) (o += i ? "," : "") += parts[i];
}

constexpr auto kOwn = std::to_array<LiveField>({
    {"AllocTRES", "AllocTRES", 10, Fit::kMarked, kWorks, "Trackable resources of the step",
     [](V v, S o) { put_sorted_tres(tres_text(v.row.tres), o); }},
    {"AveCPUFreq", "AveCPUFreq", 10, Fit::kMarked, kWorks, "Clock rate of the tasks, on average",
     [](V v, S o) { put_clock(average_clock(v.usage), v.style, o); }},
    {"ConsumedEnergy", "ConsumedEnergy", 14, Fit::kMarked, kWorks, "Energy used, in joules",
     [](V v, S o) { put_energy(joules(v), v.style, o); }},
    {"ConsumedEnergyRaw", "ConsumedEnergyRaw", 17, Fit::kMarked, kWorks, "Energy used, in joules, without a unit",
     [](V v, S o) { put_number(o, joules(v)); }},
    {"JobID", "JobID", -12, Fit::kMarked, kWorks, "The step, as 12.0", [](V v, S o) { o += v.id; }},
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
});
constexpr auto kFields = by_name(together(kOwn, usage_columns<LiveView>(12)));

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

std::string live_help() { return column_help(names_of(kFields)); }

}  // namespace muster::fields

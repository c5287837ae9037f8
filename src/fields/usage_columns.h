// The columns of what a step has used, which sacct and sstat share. A view says where its StepUsage is, and how amounts print:
//   const StepUsage* usage_of(const View&)   null: nothing is known, and the columns are empty
//   UsageStyle usage_style(const View&)
#pragma once

#include <array>
#include <string>

#include "fields/columns.h"
#include "fields/usage_values.h"
#include "fields/values.h"

namespace muster::fields {

inline void put_used(Duration d, UsageStyle, std::string& out) { put_cpu_time(d, out); }
inline void put_used(Bytes b, UsageStyle style, std::string& out) { put_bytes_used(b, style, out); }
inline void put_used(uint64_t n, UsageStyle, std::string& out) { put_number(out, n); }

template <class View, auto Measure>
void average_used(const View& v, std::string& out) {
  if (const StepUsage* u = usage_of(v)) put_used(average(u->*Measure, u->tasks), usage_style(v), out);
}
template <class View, auto Measure>
void most_used(const View& v, std::string& out) {
  if (const StepUsage* u = usage_of(v)) put_used((u->*Measure).max, usage_style(v), out);
}
template <class View, auto Measure>
void most_used_node(const View& v, std::string& out) {
  if (const StepUsage* u = usage_of(v)) out += node_name(*u, (u->*Measure).max_at);
}
template <class View, auto Measure>
void most_used_task(const View& v, std::string& out) {
  if (const StepUsage* u = usage_of(v)) put_number(out, (u->*Measure).max_at.task);
}
template <class View>
void least_cpu(const View& v, std::string& out) {
  if (const StepUsage* u = usage_of(v)) put_cpu_time(u->cpu.min, out);
}
template <class View>
void least_cpu_node(const View& v, std::string& out) {
  if (const StepUsage* u = usage_of(v)) out += node_name(*u, u->cpu.min_at);
}
template <class View>
void least_cpu_task(const View& v, std::string& out) {
  if (const StepUsage* u = usage_of(v)) put_number(out, u->cpu.min_at.task);
}
template <class View, UsageDirection Direction, UsageKind Kind>
void tres_used(const View& v, std::string& out) {
  if (const StepUsage* u = usage_of(v)) put_tres_used(*u, Direction, Kind, usage_style(v), out);
}

template <class View>
constexpr ColumnField<View> used(std::string_view name, int16_t width, std::string_view doc, void (*text)(const View&, std::string&)) {
  return {name, name, width, Fit::kMarked, FieldStatus::kWorks, doc, text};
}

// The columns, in the order of their names. sacct and sstat give averages of files columns of different widths.
template <class View>
constexpr auto usage_columns(int16_t average_of_files) {
  using Use = StepUsage;
  using enum UsageKind;
  constexpr auto kIn = UsageDirection::kIn, kOut = UsageDirection::kOut;
  constexpr std::string_view kNode = "The node of that task", kTask = "The number of that task";
  constexpr std::string_view kNodes = "The nodes of those tasks", kTasks = "The numbers of those tasks";
  return std::to_array<ColumnField<View>>({
      used("AveCPU", 10, "CPU time of the tasks, on average", average_used<View, &Use::cpu>),
      used("AveDiskRead", average_of_files, "Bytes read by the tasks, on average", average_used<View, &Use::disk_read>),
      used("AveDiskWrite", average_of_files, "Bytes written by the tasks, on average", average_used<View, &Use::disk_write>),
      used("AvePages", 10, "Page faults of the tasks, on average", average_used<View, &Use::pages>),
      used("AveRSS", 10, "Resident memory of the tasks, on average", average_used<View, &Use::rss>),
      used("AveVMSize", 10, "Virtual memory of the tasks, on average", average_used<View, &Use::vm>),
      used("MaxDiskRead", 12, "Most bytes read by a task", most_used<View, &Use::disk_read>),
      used("MaxDiskReadNode", 15, kNode, most_used_node<View, &Use::disk_read>),
      used("MaxDiskReadTask", 15, kTask, most_used_task<View, &Use::disk_read>),
      used("MaxDiskWrite", 12, "Most bytes written by a task", most_used<View, &Use::disk_write>),
      used("MaxDiskWriteNode", 16, kNode, most_used_node<View, &Use::disk_write>),
      used("MaxDiskWriteTask", 16, kTask, most_used_task<View, &Use::disk_write>),
      used("MaxPages", 8, "Most page faults of a task", most_used<View, &Use::pages>),
      used("MaxPagesNode", 12, kNode, most_used_node<View, &Use::pages>),
      used("MaxPagesTask", 14, kTask, most_used_task<View, &Use::pages>),
      used("MaxRSS", 10, "Most resident memory of a task", most_used<View, &Use::rss>),
      used("MaxRSSNode", 10, kNode, most_used_node<View, &Use::rss>),
      used("MaxRSSTask", 10, kTask, most_used_task<View, &Use::rss>),
      used("MaxVMSize", 10, "Most virtual memory of a task", most_used<View, &Use::vm>),
      used("MaxVMSizeNode", 14, kNode, most_used_node<View, &Use::vm>),
      used("MaxVMSizeTask", 14, kTask, most_used_task<View, &Use::vm>),
      used("MinCPU", 10, "Least CPU time of a task", least_cpu<View>),
      used("MinCPUNode", 10, kNode, least_cpu_node<View>),
      used("MinCPUTask", 10, kTask, least_cpu_task<View>),
      used("TRESUsageInAve", 14, "Resources that came into the tasks, on average", tres_used<View, kIn, kAverage>),
      used("TRESUsageInMax", 14, "Resources that came into a task, at most", tres_used<View, kIn, kMax>),
      used("TRESUsageInMaxNode", 18, kNodes, tres_used<View, kIn, kMaxNode>),
      used("TRESUsageInMaxTask", 18, kTasks, tres_used<View, kIn, kMaxTask>),
      used("TRESUsageInMin", 14, "Resources that came into a task, at least", tres_used<View, kIn, kMin>),
      used("TRESUsageInMinNode", 18, kNodes, tres_used<View, kIn, kMinNode>),
      used("TRESUsageInMinTask", 18, kTasks, tres_used<View, kIn, kMinTask>),
      used("TRESUsageInTot", 14, "Resources that came into all tasks", tres_used<View, kIn, kTotal>),
      used("TRESUsageOutAve", 15, "Resources that came out of the tasks, on average", tres_used<View, kOut, kAverage>),
      used("TRESUsageOutMax", 15, "Resources that came out of a task, at most", tres_used<View, kOut, kMax>),
      used("TRESUsageOutMaxNode", 19, kNodes, tres_used<View, kOut, kMaxNode>),
      used("TRESUsageOutMaxTask", 19, kTasks, tres_used<View, kOut, kMaxTask>),
      used("TRESUsageOutMin", 15, "Resources that came out of a task, at least", tres_used<View, kOut, kMin>),
      used("TRESUsageOutMinNode", 19, kNodes, tres_used<View, kOut, kMinNode>),
      used("TRESUsageOutMinTask", 19, kTasks, tres_used<View, kOut, kMinTask>),
      used("TRESUsageOutTot", 15, "Resources that came out of all tasks", tres_used<View, kOut, kTotal>),
  });
}

}  // namespace muster::fields

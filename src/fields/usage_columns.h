// The columns of what a step has used, which sacct and sstat share. A view says where its StepUsage is, and how amounts print:
//   const StepUsage* usage_of(const View&)   null: nothing is known, and the columns are empty
//   UsageStyle usage_style(const View&)
#pragma once

#include <string>

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

}  // namespace muster::fields

// Columns of squeue that are made of several values.
#include "fields/job_composites.h"

#include <cstdio>

#include "fields/job_values.h"
#include "fields/values.h"

namespace muster::fields {
void put_number_or_star(std::string& out, uint32_t number) { put_number_or(out, number, "*"); }

void job_id(const JobView& v, std::string& out) { put_job_id(out, v.row, v.env); }

void end_or_never(const JobView& v, std::string& out) { put_time(out, end_time(v), v.env, ends_never(v) ? "NONE" : "N/A"); }

void time_left(const JobView& v, std::string& out) {
  if (v.row.time_limit_min == kUnlimited32) return;
  const Time end = end_time(v);
  if (v.row.state == JobState::kRunning && end != kTimeUnset) put_span(out, end - v.env.now);
  else put_span(out, minutes(v.row.time_limit_min) - run_time(v));
}

void shape(const JobView& v, std::string& out) {
  put_number_or_star(out, v.request.sockets_per_node);
  out += ':';
  put_number_or_star(out, v.request.cores_per_socket);
  out += ':';
  put_number_or_star(out, v.request.threads_per_core);
}

void core_spec(const JobView& v, std::string& out) {
  if (!v.request.core_spec) return;
  put_number(out, v.request.core_spec);
  if (v.request.core_spec_is_threads) out += " Threads";
}

void mem_per_tres_column(const JobView& v, std::string& out) {
  if (!v.request.mem_per_gpu_mb) return;
  out += "gres/gpu:";
  put_number_or(out, *v.request.mem_per_gpu_mb, "N/A");
}

void nodes_or_reason(const JobView& v, std::string& out) {
  if (!shows_reason(v.row)) {
    put(out, v.row.node_list);
    return;
  }
  out += '(';
  put(out, reason_text(v.row));
  out += ')';
}

void priority_fraction(const JobView& v, std::string& out) {
  char text[32];
  const int n = std::snprintf(text, sizeof text, "%.14f", v.row.priority / 4294967295.0);
  out.append(text, static_cast<size_t>(n));
}

}  // namespace muster::fields

#include "fields/job_values.h"

#include <algorithm>

#include "base/bitmap.h"
#include "base/saturating.h"
#include "base/text.h"
#include "fields/values.h"
#include "model/array_spec.h"
#include "model/file_pattern.h"
#include "model/sharing_words.h"
#include "model/sluid.h"

namespace muster::fields {

std::string array_tasks_text(const JobRow& row, uint32_t length) {
  if (row.array_task != kNoArrayTask) return std::to_string(row.array_task);
  if (row.array_tasks.empty()) return {};
  return bounded_array_tasks(row.array_tasks, row.array_max_running, length);
}

std::string bounded_array_tasks(const std::string& list, uint32_t max_running, uint32_t length) {
  ArrayTasks tasks;
  tasks.max_running = max_running;
  std::string_view indices = std::string_view(list).substr(0, list.find('%'));
  if (!Bitmap::parse_ranges(indices, tasks.pending, kMaxArrayTaskId + 1)) return list;
  return format_array_tasks(tasks, length);
}

void put_job_id(std::string& out, const JobRow& row, const Environment& env) {
  if (!row.array_job_id) {
    out += component_name(row.id, row.het);
    return;
  }
  put_number(out, row.array_job_id.value);
  if (row.array_task != kNoArrayTask) {
    out += '_';
    put_number(out, row.array_task);
  } else if (!row.array_tasks.empty()) {
    out += "_[";
    out += array_tasks_text(row, env.array_text_length);
    out += ']';
  }
}

Duration run_time(const JobView& v) {
  const JobRow& r = v.row;
  if (r.state == JobState::kPending || r.expected || r.started == kTimeUnset) return Duration::zero();
  Time until = v.env.now;
  if (is_finished(r.state) && r.ended != kTimeUnset) until = r.ended;
  if (r.state == JobState::kSuspended && r.suspended != kTimeUnset) until = r.suspended;
  return until - r.started - r.suspended_total;
}

Time start_time(const JobView& v) {
  if (v.row.started != kTimeUnset) return v.row.started;
  if (v.row.state == JobState::kPending && v.request.begin > v.env.now) return v.request.begin;
  return v.row.ended;  // ended without a start
}

bool ends_never(const JobView& v) { return v.row.state == JobState::kRunning && v.row.time_limit_min == kUnlimited32; }

Time accrues_since(const JobView& v) {
  bool waits = v.row.state == JobState::kPending && (v.row.priority == 0 || !v.row.dependency.empty());
  return waits ? kTimeUnset : v.row.eligible;
}

Time end_time(const JobView& v) {
  const JobRow& r = v.row;
  if (r.ended != kTimeUnset) return r.ended;
  if (r.ends != kTimeUnset) return r.ends;
  Time start = start_time(v);
  if (start == kTimeUnset || r.time_limit_min == kUnlimited32) return kTimeUnset;
  return start + minutes(r.time_limit_min);
}

std::string_view reason_text(const JobRow& row) {
  std::string_view name = reason_name(row.reason);
  if (row.reason != Reason::kNone && std::string_view(row.reason_detail).starts_with(name)) return row.reason_detail;
  return name;
}

std::string_view system_comment(const JobView& v) { return v.row.reason_detail.empty() ? v.row.restart : v.row.reason_detail; }

std::string_view reservation_of(const JobView& v) {
  return v.row.reservation.empty() ? std::string_view(v.request.reservation.text()) : v.row.reservation;
}

bool shows_reason(const JobRow& row) {
  switch (row.state) {
    case JobState::kPending:
    case JobState::kFailed:
    case JobState::kTimeout:
    case JobState::kDeadline:
    case JobState::kOutOfMemory: return !(row.flags & kJobCompleting);
    default: return false;
  }
}

uint32_t min_cpus_per_node(const ShownRequest& r) {
  uint32_t per_task = std::max(1u, r.cpus_per_task);
  return std::max(r.min_cpus_per_node, std::max(1u, r.ntasks_per_node) * per_task);
}

MinMemory min_memory(const ShownRequest& r) {
  if (r.mem_per_cpu_mb) return {*r.mem_per_cpu_mb, MinMemory::kCpu};
  if (r.mem_per_gpu_mb) return {*r.mem_per_gpu_mb, MinMemory::kGpu};
  return {r.mem_per_node_mb.value_or(0), MinMemory::kNode};
}

std::string_view oversubscribe_text(const JobView& v) {
  return v.row.oversubscribe.empty() ? oversubscribe_word(v.request.exclusive, nullptr) : std::string_view(v.row.oversubscribe);
}

std::string_view exclusive_text(const JobView& v) {
  return v.row.exclusive.empty() ? exclusive_word(v.request.exclusive, nullptr) : std::string_view(v.row.exclusive);
}

std::string wckey_text(const ShownRequest& r) { return r.wckey_is_default ? "*" + r.wckey : r.wckey; }

std::string_view command_text(const ShownRequest& r) { return r.argv.empty() ? std::string_view() : std::string_view(r.argv.front()); }

std::string licenses_text(const std::vector<LicenseShare>& held) {
  std::string out;
  for (const LicenseShare& l : held) out += (out.empty() ? "" : ",") + l.name + ":" + std::to_string(l.count);
  return out;
}

std::string licenses_text(const ShownRequest& r, uint32_t tasks) {
  std::string out = r.licenses.text();
  for (const Tres& t : r.tres_per_task->items())
    if (t.kind == "license") out += (out.empty() ? "" : ",") + t.name + ":" + std::to_string(mul_sat(t.count, tasks));
  return out;
}

std::string tres_per_task_text(const AskedBody& r) {
  std::string out;
  if (r.cpus_per_task) out = "cpu=" + std::to_string(r.cpus_per_task);
  const std::string others = r.tres_per_task->equated();
  if (out.empty() || others.empty()) return out + others;
  return out + "," + others;
}

uint32_t most_nodes(const JobView& v) {
  if (v.row.max_nodes) return std::max(v.row.max_nodes, v.row.nodes);
  return v.row.state == JobState::kPending ? std::max(v.row.tasks, v.row.nodes) : v.row.nodes;
}

std::string expand_file_pattern(std::string_view pattern, const JobView& v) {
  FileNames names;
  names.job = v.row.id;
  names.array_job = v.row.array_job_id;
  names.array_task = v.row.array_task;
  names.node = v.row.batch_host;
  names.restarts = v.row.restarts;
  names.sluid = sluid_of(v.row.id, v.row.submitted, v.row.restarts);
  names.job_name = v.request.name;
  put_user(names.user, v.request.uid, v.request.user_name, v.env);
  return muster::expand_file_pattern(pattern, names);
}

std::string stream_pattern(const JobView& v, Stream stream) {
  const ShownRequest& r = v.request;
  if (r.kind != JobKind::kBatch) return {};
  if (stream == Stream::kErr) return r.std_err;
  const std::string& asked = stream == Stream::kIn ? r.std_in : r.std_out;
  if (!asked.empty()) return asked;
  if (stream == Stream::kIn) return "/dev/null";
  return v.row.array_job_id ? "slurm-%A_%a.out" : "slurm-%j.out";
}

std::string stream_path(const JobView& v, Stream stream) {
  std::string pattern = stream_pattern(v, stream);
  if (pattern.empty()) return {};
  if (pattern == "none") return "/dev/null";
  if (pattern[0] != '/') pattern = v.request.work_dir + "/" + pattern;
  return expand_file_pattern(pattern, v);
}

}  // namespace muster::fields

#include "fields/job_values.h"

#include <algorithm>

#include "base/bitmap.h"
#include "base/text.h"
#include "fields/values.h"
#include "hostlist/hostlist.h"
#include "model/array_spec.h"

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
    put_number(out, row.id.value);
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

std::string hosts_text(const std::string& list) {
  if (list.find(',') == list.npos) return list;
  Result<std::vector<std::string>> hosts = expand_hosts(list);
  return hosts ? compress_hosts_sorted(*hosts) : list;
}

bool ends_never(const JobView& v) {
  return v.row.state == JobState::kRunning && v.row.time_limit_min == kUnlimited32;
}

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
  if (row.reason != Reason::kNone && std::string_view(row.reason_detail).starts_with(name))
    return row.reason_detail;
  return name;
}

bool shows_reason(const JobRow& row) {
  switch (row.state) {
    case JobState::kPending:
    case JobState::kFailed:
    case JobState::kTimeout:
    case JobState::kDeadline:
    case JobState::kOutOfMemory:
      return !(row.flags & kJobCompleting);
    default:
      return false;
  }
}

uint32_t min_cpus_per_node(const JobRequest& r) {
  uint32_t per_task = std::max(1u, r.cpus_per_task);
  return std::max(r.min_cpus_per_node, std::max(1u, r.ntasks_per_node) * per_task);
}

MinMemory min_memory(const JobRequest& r) {
  if (r.mem_per_cpu_mb) return {*r.mem_per_cpu_mb, MinMemory::kCpu};
  if (r.mem_per_gpu_mb) return {*r.mem_per_gpu_mb, MinMemory::kGpu};
  return {r.mem_per_node_mb.value_or(0), MinMemory::kNode};
}

std::string_view oversubscribe_text(const JobRequest& r) {
  if (r.exclusive == Exclusive::kOversubscribe) return "YES";
  return r.exclusive == Exclusive::kDefault ? "OK" : "NO";
}

std::string_view exclusive_text(const JobRequest& r) {
  switch (r.exclusive) {
    case Exclusive::kNode:
      return "NODE";
    case Exclusive::kUser:
      return "USER";
    case Exclusive::kMcs:
      return "MCS";
    case Exclusive::kTopo:
      return "TOPO";
    default:
      return "NO";
  }
}

std::string command_text(const JobRequest& r) { return join(r.argv, " "); }

namespace {

// One %-specifier of a file name; sbatch(1) FILENAME PATTERN.
void put_specifier(std::string& out, char c, size_t width, const JobView& v) {
  const JobRow& r = v.row;
  auto number = [&](uint64_t n) {
    std::string text = std::to_string(n);
    if (text.size() < width) out.append(width - text.size(), '0');
    out += text;
  };
  switch (c) {
    case '%':
      out += '%';
      break;
    case 'A':
      number(r.array_job_id ? r.array_job_id.value : r.id.value);
      break;
    case 'a':
      number(r.array_task == kNoArrayTask ? 0xfffffffeu : r.array_task);
      break;
    case 'J':
    case 'j':
      number(r.id.value);
      break;
    case 'N':
      out += r.batch_host.substr(0, r.batch_host.find('.'));
      break;
    case 'n':
    case 't':
      number(0);
      break;
    case 's':
      out += "batch";
      break;
    case 'u':
      put_user(out, v.request.uid, v.request.user_name, v.env);
      break;
    case 'x':
      out += v.request.name;
      break;
    default:
      out += '%';
      out += c;
  }
}

}  // namespace

std::string expand_file_pattern(std::string_view pattern, const JobView& v) {
  std::string out;
  if (pattern.find('\\') != std::string_view::npos) {  // a backslash switches the patterns off
    for (char c : pattern)
      if (c != '\\') out += c;
    return out;
  }
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%' || i + 1 == pattern.size()) {
      out += pattern[i];
      continue;
    }
    size_t width = 0;
    size_t at = i + 1;
    while (at + 1 < pattern.size() && pattern[at] >= '0' && pattern[at] <= '9')
      width = std::min<size_t>(10, width * 10 + static_cast<size_t>(pattern[at++] - '0'));
    put_specifier(out, pattern[at], width, v);
    i = at;
  }
  return out;
}

std::string stream_path(const JobView& v, Stream stream, bool expand_it) {
  const JobRequest& r = v.request;
  if (r.kind != JobKind::kBatch) return {};
  std::string pattern = stream == Stream::kIn ? r.std_in : r.std_out;
  if (stream == Stream::kErr && !r.std_err.empty()) pattern = r.std_err;
  if (pattern.empty()) {
    if (stream == Stream::kIn) return "/dev/null";
    pattern = v.row.array_job_id ? "slurm-%A_%a.out" : "slurm-%j.out";
  }
  if (pattern == "none") return "/dev/null";
  if (pattern[0] != '/') pattern = r.work_dir + "/" + pattern;
  return expand_it ? expand_file_pattern(pattern, v) : pattern;
}

void put_exit_status(std::string& out, int32_t status) {
  uint32_t s = static_cast<uint32_t>(status);
  uint32_t signal = s & 0x7f;
  put_number(out, (s >> 8) & 0xff);
  out += ':';
  put_number(out, signal == 0x7f ? 0u : signal);
}

}  // namespace muster::fields

#include "fields/record_values.h"

#include <algorithm>
#include <cmath>

#include "base/saturating.h"
#include "base/text.h"
#include "base/tres_mem.h"
#include "fields/job_values.h"
#include "fields/values.h"
#include "hostlist/hostlist.h"

namespace muster::fields {
namespace {

void put_step_id(std::string& out, StepId id) {
  if (id == kBatchStep) out += "batch";
  else if (id == kExternStep) out += "extern";
  else if (id == kInteractiveStep) out += "interactive";
  else put_number(out, id.value);
}

void put_step_part(const RecordView& v, std::string& out) {
  if (!v.step) return;
  out += '.';
  put_step_id(out, v.step->id);
}

// Times are shown in whole seconds, and lengths are computed from the times shown.
Time whole(Time t) { return Time(std::chrono::floor<std::chrono::seconds>(t)); }
Time started(const RecordView& v) { return whole(v.step ? v.step->started : v.job.started); }
// A step ends with its job at the latest, but outlives the part of a resized job in which it began.
Time ended(const RecordView& v) { return whole(v.step && (v.step->ended != kTimeUnset || v.job.resized()) ? v.step->ended : v.job.ended); }
JobState state_of(const RecordView& v) { return v.step ? v.step->state : v.job.state; }
// Since when it is suspended, and how long it was before.
Time suspended_since(const RecordView& v) {
  if (v.step) return v.step->suspended;
  return v.job.state == JobState::kSuspended ? v.job.suspended : kTimeUnset;
}
Duration suspended_before(const RecordView& v) { return v.step ? v.step->suspended_total : v.job.suspended_total; }

// The flags that are shown instead of the state. A run that others took the nodes of says so, also where the job came back into the queue.
uint32_t shown_flags(const JobRecord& job) {
  return job.state == JobState::kPreempted ? 0u : job.flags & (kJobRequeued | kJobResizing | kJobRevoked);
}

uint32_t limit_of(const std::string& tasks) {
  size_t percent = tasks.find('%');
  if (percent == tasks.npos) return 0;
  return parse_number<uint32_t>(std::string_view(tasks).substr(percent + 1)).value_or(0);
}

// Sizes are in MiB; K is the one unit that is smaller.
void put_in_unit(uint64_t mb, char unit, std::string& out) {
  double value = static_cast<double>(mb);
  constexpr std::string_view kUnits = "MGTP";
  if (unit == 'K') value *= 1024;
  else
    for (size_t i = 0; i < kUnits.find(unit); ++i) value /= 1024;
  char text[48];
  int n =
      value == std::floor(value) ? snprintf(text, sizeof text, "%.0f%c", value, unit) : snprintf(text, sizeof text, "%.2f%c", value, unit);
  out.append(text, static_cast<size_t>(n));
}

}  // namespace

void put_record_id(const RecordView& v, std::string& out) {
  const JobRecord& j = v.job;
  if (j.array_job_id) put_number(out, j.array_job_id.value);
  else out += component_name(j.key.id, j.het);
  if (j.array_job_id && j.array_task != kNoArrayTask) {
    out += '_';
    put_number(out, j.array_task);
  } else if (j.array_job_id && !j.array_tasks.empty()) {
    out += "_[" + bounded_array_tasks(j.array_tasks, limit_of(j.array_tasks), v.env.array_text_length) + "]";
  }
  put_step_part(v, out);
}

void put_record_id_raw(const RecordView& v, std::string& out) {
  put_number(out, v.job.key.id.value);
  put_step_part(v, out);
}

Time record_start(const RecordView& v) {
  Time t = started(v);
  if (!v.style.truncate) return t;
  if (t == kTimeUnset) return ended(v) == kTimeUnset ? v.style.until : t;
  return std::clamp(t, v.style.from, std::max(v.style.from, v.style.until));
}

Time record_end(const RecordView& v) {
  Time t = ended(v);
  if (!v.style.truncate) return t;
  return t == kTimeUnset ? v.style.until : std::min(t, v.style.until);
}

Duration record_suspended(const RecordView& v) {
  const Time since = suspended_since(v);
  return suspended_before(v) + (since == kTimeUnset ? Duration::zero() : std::max(v.env.now - since, Duration::zero()));
}

Duration record_elapsed(const RecordView& v) {
  if (started(v) == kTimeUnset) return Duration::zero();
  Time until = ended(v) == kTimeUnset ? v.env.now : ended(v);
  if (const Time since = suspended_since(v); since != kTimeUnset) until = std::min(until, since);
  if (v.style.truncate) until = std::min(until, v.style.until);
  return std::max(Duration::zero(), until - record_start(v) - suspended_before(v));
}

std::optional<Duration> record_planned(const RecordView& v) {
  if (v.step || v.job.eligible == kTimeUnset) return std::nullopt;
  Time until = started(v) != kTimeUnset ? started(v) : ended(v) != kTimeUnset ? ended(v) : v.env.now;
  return std::max(Duration::zero(), until - whole(v.job.eligible));
}

CpuTimes record_cpu_times(const RecordView& v) {
  CpuTimes sum;
  for (const StepRecord& s : v.step ? std::span(v.step, 1) : v.steps) {
    if (!s.usage) continue;
    sum.user += s.usage->user_time;
    sum.system += s.usage->system_time;
  }
  return sum;
}

uint64_t record_energy(const RecordView& v) {
  uint64_t whole = 0, steps = 0;
  for (const StepRecord& s : v.step ? std::span(v.step, 1) : v.steps) {
    if (!s.usage || s.usage->energy.parts == 0) continue;
    const uint64_t joules = s.usage->energy.total;
    if (s.id == kBatchStep || s.id == kExternStep) whole = std::max(whole, joules);
    else steps = add_sat(steps, joules);
  }
  return std::max(whole, steps);
}

uint32_t record_cpus(const RecordView& v) {
  if (v.step) return v.step->cpus;
  return v.job.cpus ? v.job.cpus : v.job.requested_cpus;
}

uint32_t record_nodes(const RecordView& v) {
  if (v.step) return v.step->nodes;
  return v.job.nodes ? v.job.nodes : v.job.requested_nodes;
}

void put_record_mem(std::string_view mem, const RecordView& v, std::string& out) {
  const uint64_t mb = parse_tres_mem_mb(mem);
  if (!mb || (!v.style.units && !v.env.noconvert)) out += mem;
  else if (v.style.units) put_in_unit(mb, v.style.units, out);
  else put_mem(out, mb, true);
}

void put_record_tres(const TresAmounts& tres, const RecordView& v, std::string& out) {
  std::vector<std::string> parts;
  each_tres(tres, [&](std::string_view kind, std::string_view name, uint64_t count) {
    std::string& part = parts.emplace_back(kind);
    if (!name.empty()) part.append("/").append(name);
    part += '=';
    if (kind == "mem") put_record_mem(format_tres_mem(count), v, part);
    else part += std::to_string(count);
  });
  std::ranges::sort(parts);
  for (const std::string& part : parts) out.append(&part == parts.data() ? "" : ",").append(part);
}

void put_gres_of_tres(const TresAmounts& tres, std::string& out) {
  const size_t begin = out.size();
  for (const GresAmount& g : tres.gres) {
    // "gres/gpu=2" counts the same GPUs as "gres/gpu:a100=2", so it is left out beside that one.
    auto typed = [&](const GresAmount& other) { return other.name == g.name && !other.type.empty(); };
    if (g.type.empty() && std::ranges::any_of(tres.gres, typed)) continue;
    if (out.size() > begin) out += ',';
    out.append(gres_name(g.name, g.type)).append(":").append(std::to_string(g.count));
  }
}

std::string_view record_state(const RecordView& v) {
  return v.step ? job_state_name(v.step->state) : job_state_shown(v.job.state, shown_flags(v.job));
}

void put_record_state(const RecordView& v, std::string& out) {
  out += record_state(v);
  if (state_of(v) != JobState::kCancelled || (!v.step && shown_flags(v.job))) return;
  if (v.step && v.step->id.value >= kInteractiveStep.value) return;  // such a step ends with its job
  out += " by ";
  put_number(out, v.step ? v.step->cancelled_by.value : v.job.cancelled_by.value);
}

namespace {

// The job as far as the patterns of its files and their defaults depend on it.
struct StreamJob {
  JobRow row;
  ShownRequest request;
  explicit StreamJob(const RecordView& view) {
    const JobRecord& record = view.job;
    row.id = record.key.id;
    row.array_job_id = record.array_job_id;
    row.array_task = record.array_task;
    auto hosts = expand_hosts(view.step ? view.step->node_list : record.node_list);
    if (hosts && !hosts->empty()) row.batch_host = hosts->front();
    request.kind = JobKind::kBatch;
    request.uid = record.uid;
    request.user_name = record.user;
    request.name = record.name;
    request.work_dir = record.work_dir;
    request.std_in = record.std_in;
    request.std_out = record.std_out;
    request.std_err = record.std_err;
  }
};

const std::string& pattern_of(const auto& record, RecordStream stream) {
  switch (stream) {
    case RecordStream::kIn: return record.std_in;
    case RecordStream::kOut: return record.std_out;
    case RecordStream::kErr: break;
  }
  return record.std_err;
}

}  // namespace

void put_record_stream(const RecordView& view, RecordStream stream, std::string& out) {
  const bool expand = view.env.expand_patterns;
  if (view.job.flags & kRecordWithoutStdio) return;
  if (!view.step && view.job.has_script) {  // with the defaults of a batch job
    StreamJob job(view);
    // sacct names the file that errors went to even where it is the output's.
    const bool errors = stream == RecordStream::kErr && !job.request.std_err.empty();
    const Stream which = stream == RecordStream::kIn ? Stream::kIn : errors ? Stream::kErr : Stream::kOut;
    const JobView of_job{job.row, job.request, view.env};
    const std::string text = expand ? stream_path(of_job, which) : stream_pattern(of_job, which);
    if (!expand && text != "none" && !text.starts_with('/')) out += job.request.work_dir + "/";
    out += !expand && text == "none" ? "/dev/null" : text;
    return;
  }
  std::string pattern = view.step ? pattern_of(*view.step, stream) : pattern_of(view.job, stream);
  if (!expand || pattern.find('%') == pattern.npos) {
    out += pattern;
    return;
  }
  std::string id;
  if (view.step) put_step_id(id, view.step->id);
  if (view.step)
    for (size_t at; (at = pattern.find("%s")) != pattern.npos;) pattern.replace(at, 2, id);
  StreamJob job(view);
  out += expand_file_pattern(pattern, {job.row, job.request, view.env});
}

void put_frequency(std::string_view text, FrequencyPart part, std::string& out) {
  const size_t colon = text.find(':');
  const bool numbers = !text.empty() && text[0] >= '0' && text[0] <= '9';
  std::string_view range = colon != text.npos || numbers ? text.substr(0, colon) : std::string_view();
  std::string_view governor = colon != text.npos ? text.substr(colon + 1) : numbers ? std::string_view() : text;
  const size_t dash = range.find('-');
  std::string_view value;
  if (part == FrequencyPart::kGovernor) value = governor;
  else if (part == FrequencyPart::kMax) value = dash == range.npos ? range : range.substr(dash + 1);
  else if (dash != range.npos) value = range.substr(0, dash);
  out += value.empty() ? std::string_view("Unknown") : value;
}

}  // namespace muster::fields

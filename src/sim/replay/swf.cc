#include "sim/replay/swf.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/text.h"

namespace muster::sim::replay {
namespace {

constexpr size_t kFields = 18, kNeeded = 11;
constexpr int64_t kLatest = 4102444800;  // 2100-01-01

enum Field : size_t {
  kJob,
  kSubmit,
  kWait,
  kRun,
  kHad,
  kCpuTime,
  kMemoryHad,
  kAsked,
  kTimeAsked,
  kMemoryAsked,
  kStatus,
  kUser,
  kGroup,
  kApplication,
  kQueue,
  kPartition,
  kPreceding,
  kThink
};

using Values = std::array<double, kFields>;

struct Header {
  int64_t begin = 0;                                  // UnixStartTime
  std::map<int64_t, std::string> queues, partitions;  // names by number
};

// "; Queue: 2 batch", "; Partition: 1 gpu": the name that a number stands for.
void name_of_number(std::string_view value, const TraceLimits& limits, std::map<int64_t, std::string>& names) {
  value = trim(value);
  const size_t space = value.find_first_of(" \t");
  const auto number = parse_number<int64_t>(value.substr(0, space));
  if (!number || space == value.npos) return;
  std::string_view name = trim(value.substr(space));
  name = name.substr(0, name.find_first_of(" \t(,;"));
  if (!name.empty() && name.size() <= limits.name && names.size() < limits.names) names.emplace(*number, name);
}

void read_comment(std::string_view line, const TraceLimits& limits, Header& header) {
  while (!line.empty() && line.front() == ';') line.remove_prefix(1);
  const size_t colon = line.find(':');
  if (colon == line.npos) return;
  const std::string_view key = trim(line.substr(0, colon)), value = trim(line.substr(colon + 1));
  if (iequals(key, "UnixStartTime")) {
    if (auto begin = parse_number<int64_t>(value, 0, kLatest)) header.begin = *begin;
  } else if (iequals(key, "Queue")) {
    name_of_number(value, limits, header.queues);
  } else if (iequals(key, "Partition")) {
    name_of_number(value, limits, header.partitions);
  }
}

// The numbers of a line; an error text for what is none.
std::string read_numbers(std::string_view line, Values& values) {
  values.fill(-1);
  size_t count = 0;
  while (true) {
    const size_t begin = line.find_first_not_of(" \t");
    if (begin == line.npos) break;
    line.remove_prefix(begin);
    const std::string_view word = line.substr(0, line.find_first_of(" \t"));
    line.remove_prefix(word.size());
    if (count == kFields) return "it has more than 18 fields";
    double value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(value) || std::abs(value) > 1e15)
      return "field " + std::to_string(count + 1) + " is no number: " + std::string(word.substr(0, 40));
    values[count++] = value;
  }
  return count < kNeeded ? "it has " + std::to_string(count) + " fields of 18" : "";
}

int64_t whole(double value) { return static_cast<int64_t>(std::llround(value)); }

std::string check(const Values& v, const TraceLimits& limits) {
  const double most = static_cast<double>(limits.seconds);
  if (v[kJob] < 0) return "the job has no number";
  if (v[kSubmit] < 0 || v[kSubmit] > most) return "the submit time is none: " + std::to_string(whole(v[kSubmit]));
  if (v[kRun] > most || v[kWait] > most) return "it waited or ran for more than a hundred years";
  if (std::max(v[kAsked], v[kHad]) > 1000.0 * limits.nodes) return "it has more processors than there can be";
  return {};
}

Fate fate_of(int64_t status) { return status == 0 ? Fate::kFailed : status == 5 ? Fate::kCancelled : Fate::kCompleted; }

std::string named(const std::map<int64_t, std::string>& names, double number) {
  const auto at = names.find(whole(number));
  return at != names.end() ? at->second : std::to_string(whole(number));
}

TraceJob job_of(const Values& values, const Header& header, const ReadOptions& options, Trace& trace) {
  TraceJob job;
  job.number = static_cast<uint64_t>(whole(values[kJob]));
  job.submit = job.eligible = header.begin + whole(values[kSubmit]);
  job.fate = fate_of(whole(values[kStatus]));
  job.exit_code = job.fate == Fate::kFailed ? 1 : 0;
  const bool ran = values[kRun] > 0 || (values[kRun] == 0 && job.fate != Fate::kCancelled);
  // Where a model tells no wait, the start is only known to have happened.
  const int64_t wait = values[kWait] >= 0 ? whole(values[kWait]) : 0;
  if (ran) {
    job.run = whole(values[kRun]);
    job.start = job.submit + wait;
    job.end = job.start + job.run;
  } else if (job.fate == Fate::kCancelled && values[kWait] >= 0) {
    job.end = job.submit + wait;
  }
  const auto processors = static_cast<uint32_t>(std::max<int64_t>(0, whole(values[kAsked] > 0 ? values[kAsked] : values[kHad])));
  if (options.processors == Processors::kNodes) job.nodes = std::min(processors, options.limits.nodes);
  else if (options.processors == Processors::kGpus) job.gpus = processors;
  else job.cpus = processors;
  const double memory = values[kMemoryAsked] > 0 ? values[kMemoryAsked] : 0;
  job.mem_mb = static_cast<uint64_t>(std::min(std::ceil(memory * processors / 1024), 1e12));
  if (values[kTimeAsked] > 0)
    job.limit_min = static_cast<uint32_t>(std::clamp<int64_t>((whole(values[kTimeAsked]) + 59) / 60, 1, options.limits.seconds / 60));
  if (values[kUser] >= 0) job.user = trace.users.add("user" + std::to_string(whole(values[kUser])));
  if (values[kGroup] >= 0) job.account = trace.accounts.add("group" + std::to_string(whole(values[kGroup])));
  if (values[kQueue] >= 0 && header.queues.contains(whole(values[kQueue])))
    job.qos = trace.qos.add(to_lower(named(header.queues, values[kQueue])));
  if (values[kPartition] >= 0) job.partition = trace.partitions.add(named(header.partitions, values[kPartition]));
  if (values[kPreceding] > 0) job.after = static_cast<uint64_t>(whole(values[kPreceding]));
  return job;
}

}  // namespace

Result<Trace> read_swf(std::string_view text, const ReadOptions& options) {
  Trace trace;
  trace.format = "swf";
  Header header;
  bool waits = false;
  Lines lines(text, options.limits.line);
  while (lines.next()) {
    const std::string_view line = trim(lines.line());
    if (line.empty()) continue;
    if (line.front() == ';') {
      read_comment(line, options.limits, header);
      continue;
    }
    ++trace.lines;
    if (trace.jobs.size() >= options.limits.jobs)
      return fail(Errc::kInvalidReq, "the trace has more than " + std::to_string(options.limits.jobs) + " jobs");
    Values values{};
    std::string wrong = lines.too_long() ? "it is too long" : read_numbers(line, values);
    if (wrong.empty()) wrong = check(values, options.limits);
    if (!wrong.empty()) {
      wrong_line(trace, options, lines.number(), std::move(wrong));
      continue;
    }
    const int64_t status = whole(values[kStatus]);
    if (status >= 2 && status <= 4) {
      ++trace.parts_of_jobs;
      continue;
    }
    waits |= values[kWait] > 0;
    trace.jobs.push_back(job_of(values, header, options, trace));
  }
  if (!waits) trace.notes.push_back("the trace tells no waits (it may be a model's): there is nothing to compare with");
  MUSTER_TRY_VOID(finish_trace(trace));
  return trace;
}

}  // namespace muster::sim::replay

#include "sim/replay/trace.h"

#include <algorithm>

#include "base/text.h"
#include "sim/replay/sacct.h"
#include "sim/replay/swf.h"

namespace muster::sim::replay {

uint32_t Names::add(std::string_view name) {
  if (name.empty()) return 0;
  if (auto at = numbers_.find(name); at != numbers_.end()) return at->second;
  const uint32_t number = size();
  all_.emplace_back(name);
  numbers_.emplace(name, number);
  return number;
}

bool Lines::next() {
  if (text_.empty()) return false;
  const size_t end = text_.find('\n');
  line_ = text_.substr(0, end);
  text_.remove_prefix(end == text_.npos ? text_.size() : end + 1);
  if (!line_.empty() && line_.back() == '\r') line_.remove_suffix(1);
  ++number_;
  too_long_ = line_.size() > longest_;
  if (too_long_) line_ = line_.substr(0, longest_);
  return true;
}

void wrong_line(Trace& trace, const ReadOptions& options, uint64_t line, std::string what) {
  ++trace.wrong_lines;
  if (trace.problems.size() < options.limits.told) trace.problems.push_back({line, std::move(what)});
}

Result<> finish_trace(Trace& trace) {
  // A job that is still waiting or running when the trace ends has no run time yet: what it ran so far is all that is known.
  std::erase_if(trace.jobs, [&](const TraceJob& j) {
    const bool cancelled_in_queue = j.fate == Fate::kCancelled && !j.started() && j.end != kNever;
    const bool unknown = !j.started() && !cancelled_in_queue;
    trace.never_started += unknown;
    return unknown;
  });
  for (const TraceJob& j : trace.jobs) trace.unfinished += j.fate == Fate::kUnfinished;
  std::ranges::stable_sort(trace.jobs, {}, [](const TraceJob& j) { return std::pair(j.submit, j.number); });
  if (trace.jobs.empty()) return fail(Errc::kInvalidReq, "the trace has no job that could be replayed");
  return {};
}

Result<Trace> read_trace(std::string_view text, const ReadOptions& options) {
  if (text.size() > options.limits.bytes)
    return fail(Errc::kInvalidReq, "the trace is larger than " + std::to_string(options.limits.bytes >> 20) + " MiB");
  if (text.find('\0') != text.npos) return fail(Errc::kInvalidReq, "the trace is no text: it has a byte 0");
  Lines lines(text, options.limits.line);
  while (lines.next()) {
    const std::string_view line = trim(lines.line());
    if (line.empty()) continue;
    if (line.front() == '{')
      return fail(Errc::kInvalidReq, "this looks like JSON: write the trace with sacct -P instead (see docs/replay.md)");
    // A header of sacct names its columns; SWF has comments and numbers only.
    return line.find('|') != line.npos ? read_sacct(text, options) : read_swf(text, options);
  }
  return fail(Errc::kInvalidReq, "the trace is empty");
}

}  // namespace muster::sim::replay

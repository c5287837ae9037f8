// A trace: the jobs of some weeks as a file has them, whatever its format. Readers (swf.h, sacct.h) make it from text, the generator
// (generate.h) from published figures; request.h makes job requests of it. Plain values; times are seconds of the trace's own clock.
//
// Hostile input is safe: lines, fields, names and jobs are bounded (TraceLimits). A line that is wrong is named, counted and left out; the
// rest of the file still counts. Cost: O(bytes).
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster::sim::replay {

inline constexpr int64_t kNever = std::numeric_limits<int64_t>::min();  // a time that the trace does not tell
inline constexpr uint32_t kNoLimit = 0xffffffffu;                       // UNLIMITED

struct TraceLimits {
  size_t bytes = size_t{4} << 30, line = 64 << 10, jobs = 20'000'000, names = 1'000'000, name = 256;
  size_t told = 20;                              // problems that are told one by one
  uint32_t nodes = 1u << 20;                     // of one job; CPUs and GPUs: a thousand times that
  int64_t seconds = int64_t{100} * 366 * 86400;  // the longest time that a job may have waited or run, or be limited to
};

// Names as numbers: 0 is "no name".
class Names {
 public:
  uint32_t add(std::string_view name);
  const std::string& of(uint32_t number) const { return all_[number]; }
  uint32_t size() const { return static_cast<uint32_t>(all_.size()); }

 private:
  std::vector<std::string> all_{""};
  std::map<std::string, uint32_t, std::less<>> numbers_;
};

enum class Fate : uint8_t { kCompleted, kFailed, kCancelled, kTimeout, kNodeFail, kOutOfMemory, kUnfinished };

struct TraceJob {
  uint64_t number = 0;  // as the trace calls it
  int64_t submit = kNever, eligible = kNever, start = kNever, end = kNever;
  int64_t run = kNever;                                                             // seconds that it ran
  std::optional<uint32_t> limit_min;                                                // kNoLimit: none; unset: the partition's default
  uint32_t nodes = 0;                                                               // 0: not said
  uint32_t cpus = 0, gpus = 0;                                                      // in all, 0: not said, none
  uint64_t mem_mb = 0;                                                              // in all, 0: not said
  uint32_t gpu_type = 0, user = 0, group = 0, account = 0, partition = 0, qos = 0;  // in Trace's names
  uint32_t licenses = 0;                                                            // the same; as --licenses has them: "app:2,db:1"
  Fate fate = Fate::kCompleted;
  uint8_t exit_code = 0;
  uint64_t after = 0;  // number of a job whose end it waits for; 0: none
  bool started() const { return run != kNever && run >= 0 && start != kNever; }
};

struct TraceProblem {
  uint64_t line = 0;
  std::string text;
};

struct Trace {
  std::string format;          // "swf", "sacct"
  std::vector<TraceJob> jobs;  // in the order of their submission
  Names users, groups, accounts, partitions, qos, gpu_types, licenses;
  // What was left out, and what was not as it should be.
  uint64_t lines = 0, wrong_lines = 0, never_started = 0, unfinished = 0, parts_of_jobs = 0;
  std::vector<TraceProblem> problems;  // the first of the wrong lines
  std::vector<std::string> notes;      // what a reader of the report should know
  int64_t first_submit() const { return jobs.empty() ? 0 : jobs.front().submit; }
  int64_t last_submit() const { return jobs.empty() ? 0 : jobs.back().submit; }
};

// What an SWF trace counts as processors.
enum class Processors : uint8_t { kCpus, kGpus, kNodes };

struct ReadOptions {
  Processors processors = Processors::kCpus;
  TraceLimits limits;
};

// Reads a trace in whichever of the formats it is. Errors: no job in it, not one of the formats, more than the limits.
Result<Trace> read_trace(std::string_view text, const ReadOptions& options);

// ---- for readers
// Whole lines with their numbers, without CR LF; a line longer than `longest` is cut there and said to be too long.
class Lines {
 public:
  Lines(std::string_view text, size_t longest) : text_(text), longest_(longest) {}
  bool next();
  std::string_view line() const { return line_; }
  uint64_t number() const { return number_; }
  bool too_long() const { return too_long_; }

 private:
  std::string_view text_, line_;
  size_t longest_;
  uint64_t number_ = 0;
  bool too_long_ = false;
};

void wrong_line(Trace& trace, const ReadOptions& options, uint64_t line, std::string what);
// Sorts by submission, and counts what cannot be replayed out of it. Errors: nothing is left.
Result<> finish_trace(Trace& trace);

}  // namespace muster::sim::replay

// `muster report efficiency`: what jobs used of the CPUs, the memory and the GPUs they held, by job, user or account, and what to ask for next
// time. Of jobs that ended in a period. Pure.
//
//   held   what was allocated, times how long
//   used   CPU time of all steps; memory of the step that used the most, as long as the job ran (fields/efficiency.h);
//          GPUs as busy as they were at the peak of the step that kept most at work, all the time: a bound from above
//   spare  of what was held: what would not have been missed with a fifth more than was used
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "fields/record_view.h"
#include "fields/tree_sink.h"
#include "muster/report_words.h"

namespace muster::front {

enum class EfficiencyBy : uint8_t { kUser, kAccount, kJob };

struct EfficiencyAsk {
  EfficiencyBy by = EfficiencyBy::kUser;
  Time from{}, until{};
  ReportForm form = ReportForm::kText;
};
// Reads "--by job --month 2026-10 --csv" or "--start 2026-10-01 --end 2026-10-08".
Result<EfficiencyAsk> parse_efficiency(std::span<const std::string> arguments, Time now);
rpc::QueryRecords query_of(const EfficiencyAsk& ask, const std::string& cluster);

// CPU-seconds, GPU-seconds, or byte-seconds.
struct Held {
  double used = 0, held = 0, spare = 0;
  double percent() const { return held > 0 ? 100 * used / held : 0; }
};
struct EfficiencyRow {
  std::string name;           // of the user or account, or the job's id
  std::string user, account;  // of a job
  std::string next;           // of a job: what to ask for next time; empty if nothing is to change
  uint64_t jobs = 0;
  Held cpu, memory;
  Held gpu;  // of jobs whose GPUs were watched; never spare, since the time at a peak is not known
};
struct EfficiencyReport {
  EfficiencyAsk ask;
  std::string cluster;
  std::vector<EfficiencyRow> rows;  // the most unused CPU time first
  EfficiencyRow total;
  uint64_t unknown = 0;   // jobs that ran and of which nothing was gathered: in no row
  uint64_t left_out = 0;  // jobs that are in the total, but beyond kMostJobRows
};

// By job: this many rows, those of the most unused CPU time.
inline constexpr size_t kMostJobRows = 10'000;

// Takes job by job. Memory: that of the rows; by job, at most twice kMostJobRows of them.
class EfficiencySums {
 public:
  EfficiencySums(const EfficiencyAsk& ask, std::string cluster, size_t most_job_rows = kMostJobRows);
  void add(const fields::RecordView& job);  // with its steps
  EfficiencyReport end();

 private:
  void add_job(const fields::RecordView& job, EfficiencyRow&& row);
  void keep_most();

  EfficiencyReport out_;
  std::map<std::string, EfficiencyRow> groups_;
  size_t most_;
};

std::string to_text(const EfficiencyReport& report);
std::string to_csv(const EfficiencyReport& report);
void to_tree(const EfficiencyReport& report, fields::TreeSink& sink);

}  // namespace muster::front

// The words of a report: "cluster AccountUtilizationByUser start=2026-11-01 account=team-a tree". sreport(1). Pure: the time is a parameter.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "cli/common/options.h"
#include "fields/report_view.h"

namespace muster::cli {

using fields::Report;

struct ReportRequest {
  Report report{};
  Time from{}, until{};  // whole hours
  bool all_clusters = false, tree = false, flat = false, as_parent = false, group = false, job_count = false;
  TextList clusters, accounts, users, wckeys, gids, jobs, nodes, partitions, names;
  std::string format;
  std::vector<uint64_t> bounds = {50, 250, 500, 1000};  // of sizes of jobs, ascending
  bool each_size = false;                               // grouping=individual
  uint32_t top = 10;

  bool is_sizes() const { return report >= Report::kSizesByAccount && report <= Report::kSizesByWckey; }
};

// Errors have Slurm's sentence, and what may stand there as a hint. Without start= and end= it is the day before `now`; with a start= after
// that day, what has passed since.
Result<ReportRequest> parse_report(std::span<const std::string> words, Time now);

// "Cluster/Account/User Utilization 2026-11-01T00:00:00 - 2026-11-01T23:59:59 (86400 secs)"
std::string report_title(const ReportRequest& r);

}  // namespace muster::cli

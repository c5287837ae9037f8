// `muster report gpu-hours`: GPU-hours by account, user, partition or QOS, of a month, as text, CSV, JSON, SVG or a page. Pure.
//
//   allocated   GPUs that jobs held, times how long
//   wasted      of that: runs that came to nothing (model/usage_time.h came_to_nothing)
//   used        the rest of it
//   idle, down  GPUs of the cluster that nobody held; that could not be held
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "fields/tree_sink.h"
#include "model/usage_report.h"
#include "muster/report_words.h"

namespace muster::front {

struct GpuHoursAsk {
  UsagePart by = kUsageAccount;
  Time from{}, until{};
  ReportForm form = ReportForm::kText;
};
// Reads "--by user --month 2026-10 --csv"; a value may also follow '='. Without --month it is this month, as far as it has come.
Result<GpuHoursAsk> parse_gpu_hours(std::span<const std::string> arguments, Time now);
rpc::QueryUsage query_of(const GpuHoursAsk& ask, const std::string& cluster);

struct GpuHoursRow {
  std::string name;
  uint64_t allocated = 0, wasted = 0;  // GPU-seconds
  uint64_t used() const { return allocated - wasted; }
};
struct GpuHours {
  std::string cluster, by;
  Time from{}, until{};
  std::vector<GpuHoursRow> rows;  // the most first
  GpuHoursRow total;
  uint64_t idle = 0, down = 0, reported = 0;  // of the cluster
};
GpuHours gpu_hours_of(const GpuHoursAsk& ask, const std::string& cluster, const Usage& usage);

std::string to_text(const GpuHours& g);
std::string to_csv(const GpuHours& g);
std::string to_svg(const GpuHours& use);
std::string to_html(const GpuHours& use);
void to_tree(const GpuHours& hours, fields::TreeSink& sink);

}  // namespace muster::front

#include "fields/runaway_view.h"
#include "fields/values.h"

namespace muster::fields {
namespace {

using V = const RunawayView&;
using S = std::string&;
constexpr FieldStatus kWorks = FieldStatus::kWorks;

constexpr RunawayField kFields[] = {
    {"Cluster", "Cluster", 10, Fit::kMarked, kWorks, "The cluster that it ran on", [](V v, S o) { o += v.job.cluster; }},
    {"ID", "ID", 12, Fit::kWhole, kWorks, "Its number", [](V v, S o) { put_number(o, v.job.key.id.value); }, "JobID"},
    {"Name", "Name", 10, Fit::kMarked, kWorks, "Its name", [](V v, S o) { o += v.job.name; }, "JobName"},
    {"Partition", "Partition", 10, Fit::kMarked, kWorks, "Its partition", [](V v, S o) { o += v.job.partition; }},
    {"State", "State", 10, Fit::kMarked, kWorks, "What the database has", [](V v, S o) { o += job_state_name(v.job.state); }},
    {"TimeEnd", "TimeEnd", 19, Fit::kCut, kWorks, "Its recorded end", [](V v, S o) { o += format_time(v.job.ended, "Unknown"); }, "End"},
    {"TimeStart", "TimeStart", 19, Fit::kCut, kWorks, "Its start", [](V v, S o) { o += format_time(v.job.started, "Unknown"); }, "Start"},
    {"TimeSubmit", "TimeSubmit", 19, Fit::kCut, kWorks, "Its submission",
     [](V v, S o) { o += format_time(v.job.key.submitted, "Unknown"); }, "Submit"},
};

}  // namespace

std::span<const RunawayField> runaway_fields() { return kFields; }

}  // namespace muster::fields

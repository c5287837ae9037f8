#include <algorithm>

#include "fields/held_view.h"
#include "fields/values.h"
#include "model/reservation.h"

namespace muster::fields {
namespace {

using V = const HeldView&;
using S = std::string&;
constexpr FieldStatus kWorks = FieldStatus::kWorks;

const ReservationRecord& of(V v) { return v.held.reservation; }

constexpr HeldField kFields[] = {
    {"Associations", "Assocs", 10, Fit::kMarked, kWorks, "The associations that may run in it", [](V v, S o) { o += v.associations; }},
    {"Cluster", "Cluster", 10, Fit::kMarked, kWorks, "The cluster", [](V v, S o) { o += of(v).cluster; }},
    {"End", "TimeEnd", 19, Fit::kCut, kWorks, "Its end", [](V v, S o) { o += format_time(of(v).ended, "Unknown"); }, "TimeEnd"},
    {"Flags", "Flags", 20, Fit::kMarked, kWorks, "Its flags", [](V v, S o) { o += reservation_flags_text(of(v).flags, {}); }},
    {"ID", "ID", 6, Fit::kWhole, kWorks, "Its number", [](V v, S o) { put_number(o, of(v).id); }},
    {"Name", "Name", 15, Fit::kMarked, kWorks, "Its name", [](V v, S o) { o += of(v).name; }},
    {"NodeNames", "NodeNames", 20, Fit::kMarked, kWorks, "Its nodes", [](V v, S o) { o += of(v).nodes; }},
    {"Start", "TimeStart", 19, Fit::kCut, kWorks, "Its begin", [](V v, S o) { o += format_time(of(v).started, "Unknown"); }, "TimeStart"},
    {"TRES", "TRES", 30, Fit::kMarked, kWorks, "What it holds", [](V v, S o) { o += tres_text(of(v).tres); }},
    {"UnusedWall", "UnusedWall", 10, Fit::kWhole, kWorks, "The seconds that no job used",
     [](V v, S o) { put_fixed(o, unused_seconds(v.held, v.env.now), 6); }},
};

}  // namespace

std::span<const HeldField> held_fields() { return kFields; }

double unused_seconds(const rpc::ReservationUsage& held, Time now) {
  const Duration lasted = std::min(held.reservation.ended, now) - held.reservation.started;
  const double all = std::max<double>(0, static_cast<double>(to_seconds(lasted)));
  const auto cpus = static_cast<double>(held.reservation.tres.cpus.value_or(0));
  if (cpus == 0) return all;
  return std::max(0.0, all - static_cast<double>(held.allocated.cpus.value_or(0)) / cpus);
}

}  // namespace muster::fields

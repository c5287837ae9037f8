// The columns of `sacctmgr show reservation`: reservations as the database has them. sacctmgr(1) LIST/SHOW RESERVATION FORMAT OPTIONS.
// How tables are printed: columns.h.
#pragma once

#include <span>

#include "fields/columns.h"
#include "fields/environment.h"
#include "model/usage_report.h"

namespace muster::fields {

struct HeldView {
  const rpc::ReservationUsage& held;
  const Environment& env;
  std::string_view associations;  // "4,7": who may run in it
};
using HeldField = ColumnField<HeldView>;
std::span<const HeldField> held_fields();
inline constexpr std::string_view kHeldDefaultColumns = "Cluster,Name,TRES,Start,End,UnusedWall";

// The seconds until `now` that no job used: a job of half its CPUs uses half of its time.
double unused_seconds(const rpc::ReservationUsage& held, Time now);

}  // namespace muster::fields

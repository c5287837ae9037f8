// The columns of `sacctmgr show runawayjobs`: jobs that the database has as running and that their controller does not know.
// sacctmgr(1) LIST/SHOW RUNAWAYJOB FORMAT OPTIONS. How tables are printed: columns.h.
#pragma once

#include <span>

#include "fields/columns.h"
#include "model/accounting.h"

namespace muster::fields {

struct RunawayView {
  const JobRecord& job;
};
using RunawayField = ColumnField<RunawayView>;
std::span<const RunawayField> runaway_fields();
inline constexpr std::string_view kRunawayDefaultColumns = "ID,Name,Partition,Cluster,State,TimeSubmit,TimeStart,TimeEnd";

}  // namespace muster::fields

// The columns of `sacctmgr show event`: when nodes were not at work, and what clusters were made of. sacctmgr(1) LIST/SHOW EVENT FORMAT
// OPTIONS. How tables are printed: columns.h.
#pragma once

#include <span>

#include "fields/columns.h"
#include "fields/environment.h"
#include "model/accounting.h"

namespace muster::fields {

struct EventView {
  const EventRecord& event;
  const Environment& env;
};
using EventField = ColumnField<EventView>;
std::span<const EventField> event_fields();
inline constexpr std::string_view kEventDefaultColumns = "Cluster,NodeName,TimeStart,TimeEnd,State,Reason,User";

// "down", "drain", "drng": the short form that sinfo has; "" of a cluster.
std::string_view event_state(const EventRecord& event);

}  // namespace muster::fields

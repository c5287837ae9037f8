// What a column of sstat sees: a step that runs, and what its nodes say it has used until now. sstat(1) Job Status Fields.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "fields/columns.h"
#include "fields/usage_values.h"
#include "model/rows.h"
#include "model/sluid.h"

namespace muster::fields {

struct LiveView {
  std::string_view id;  // "12.0", "12_3.batch"
  Sluid sluid{};
  const StepRow& row;
  const StepUsage* usage;  // null: nothing is gathered
  UsageStyle style;
  // Of a line of --pidformat: a node, and its processes "4711,4712".
  std::string_view node = {}, pids = {};
};
inline const StepUsage* usage_of(const LiveView& v) { return v.usage; }
inline UsageStyle usage_style(const LiveView& v) { return v.style; }

using LiveField = ColumnField<LiveView>;

// Every column of sstat in the order of --helpformat.
std::span<const LiveField> live_fields();
// Those of --pidformat.
std::span<const LiveField> pid_fields();
std::string live_help();
extern const std::string_view kLiveDefault;

}  // namespace muster::fields

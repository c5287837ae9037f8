// What sprio prints: a pending job's priority in one of its partitions, and the factors it is the sum of. sprio(1) -o. The rows are in
// priority_fields.cc; how formats are written: format.h. sprio(1) says that a dot puts a value to the left; its own examples show that the
// dot puts it to the right, as squeue's does, and so it is here.
#pragma once

#include <string_view>

#include "fields/environment.h"
#include "fields/field_table.h"

namespace muster::fields {

struct PriorityView {
  const PriorityRow& row;
  const Environment& env;
  bool weights = false;  // the row is that of the configured weights and of no job
};

inline constexpr std::string_view kSprioFormat = "%.15i %9r %.10Y %.10S %.10A %.10B %.10F %.10J %.10P %.10Q %.20T";
inline constexpr std::string_view kSprioLongFormat =
    "%.15i %9r %.8u %.8o %.10Y %.10S %.10A %.10B %.10F %.10J %.10P %.10n %.10Q %.11N %.20T";
// What an administrator adds (%S) has no normalized form. sprio(1) writes the first one's TRES without the dot; they are printed to the right.
inline constexpr std::string_view kSprioNormalFormat = "%.15i %9r %10y %10a %10b %10f %10j %10p %10q %20t";
inline constexpr std::string_view kSprioNormalLongFormat = "%.15i %9r %.8u %.8o %10y %10a %10b %10f %10j %10p %.10n %10q %.11N %20t";
inline constexpr std::string_view kSprioSort = "i";

// Whether the letter is that of a factor which has a weight, or of anything else. sprio's own formats leave the rest out.
bool has_weight(char letter, const PriorityRow& weights);

}  // namespace muster::fields

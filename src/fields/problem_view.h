// The columns of `sacctmgr show problem`. sacctmgr(1). How tables are printed: columns.h.
#pragma once

#include <span>
#include <string>

#include "fields/columns.h"

namespace muster::fields {

struct ProblemView {
  std::string cluster, account, user, problem;
  bool operator==(const ProblemView&) const = default;
};
using ProblemField = ColumnField<ProblemView>;
std::span<const ProblemField> problem_fields();
inline constexpr std::string_view kProblemDefaultColumns = "Cluster,Account,User,Problem";

}  // namespace muster::fields

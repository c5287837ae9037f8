// How sreport and `muster report` ask slurmdbd: answers of several parts, put together.
#pragma once

#include <vector>

#include "cli/common/session.h"
#include "cli/sreport/report_rows.h"

namespace muster::cli {

inline constexpr Duration kReportTime = minutes(5);  // slurmdbd may have to read a million records

Result<std::vector<ClusterUsage>> ask_usage(Session& session, const rpc::QueryUsage& query);
// The associations of accounts on these clusters, in the order of their trees, deleted ones too.
Result<std::vector<AssociationRecord>> ask_accounts(Session& session, const TextList& clusters);

}  // namespace muster::cli

// The values of limits as sacctmgr's words and its flat files write them: "10", "-1", "parent", "1-00:00:00", "cpu=4,gres/gpu+=2,mem=-1".
// sacctmgr(1). Pure. Cost: O(length of the text).
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/accounts.h"

namespace muster {

// The limit of this name, in any case of letters; also by its longer names ("MaxTRESPerJob" of "MaxTRES", "Shares" of "Fairshare").
// nullptr: there is none. Names of parts of limits (GrpNodes) are in kOldLimits.
const LimitInfo* limit_named(std::string_view name);

// Adds the changes that a value asks for; `op` is the operator before it, which each TRES may override. -1 clears. Memory is in MiB or has a
// unit; times are minutes or 1-00:00:00. kInvalidReq names the limit, the value and, as hint, the rule; `out` is then as it was.
Result<> read_limit(const LimitInfo& limit, ChangeOp op, std::string_view value, std::vector<LimitChange>& out);

// A number of 0 or more, or -1 (which asks for the default); nullopt for anything else.
std::optional<double> read_factor(std::string_view value);

// "None", "Operator", "Administrator", or the beginning of one of them.
std::optional<AdminLevel> read_admin_level(std::string_view value);

}  // namespace muster

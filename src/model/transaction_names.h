// What a change of accounts, users, QOS … is called in the list of transactions: "Add Users". sacctmgr(1) list transactions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/accounts.h"

namespace muster {

std::string entity_plural(Entity entity);  // "Users"
std::string transaction_action(EditVerb verb, Entity entity);
// That name as it is stored, whatever the case of the text; none: no change is called so.
std::optional<std::string> read_transaction_action(std::string_view text);

}  // namespace muster

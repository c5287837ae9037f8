// What sacctmgr tells of an edit: what would be (or was) added, changed or deleted, in the words that Slurm's has.
// Pure.
#pragma once

#include <string>

#include "model/accounts.h"

namespace muster::cli {

// `typed_settings`: something was said besides names. Empty when nothing is changed.
std::string told(const EntityEdit& edit, const rpc::Entities& changed, bool typed_settings);
// " Nothing new added.", " Nothing modified", " Nothing deleted".
std::string told_nothing(EditVerb verb);

}  // namespace muster::cli

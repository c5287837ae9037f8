// The lines that sacctmgr prints about an edit: what would be (or was) added, changed or deleted, in the words of Slurm's sacctmgr. Pure.
#pragma once

#include <string>

#include "model/accounts.h"

namespace muster::cli {

// `typed_settings`: something besides names was typed. Empty when nothing is changed.
std::string told(const EntityEdit& edit, const rpc::Entities& changed, bool typed_settings);
// One of " Nothing new added.", " Nothing modified", " Nothing deleted".
std::string told_nothing(EditVerb verb);

}  // namespace muster::cli

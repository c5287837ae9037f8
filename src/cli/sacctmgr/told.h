// The lines that sacctmgr prints about an edit: what would be (or was) added, changed or deleted, in the words of Slurm's sacctmgr. Pure.
#pragma once

#include <string>

#include "model/accounts.h"

namespace muster::cli {

// `typed_settings`: something besides names was typed. Empty when nothing is changed.
std::string told(const EntityEdit& edit, const rpc::Entities& changed, bool typed_settings);
// What is said where nothing changes: " Nothing new added.", " Nothing modified", " Nothing deleted", or which clusters are there already.
std::string told_nothing(const EntityEdit& edit);

}  // namespace muster::cli

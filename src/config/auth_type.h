// What an absent AuthType means. slurm.conf(5) says auth/munge; at a site that put a cluster key beside its slurm.conf it means auth/slurm
// (docs/adr/0004). Pure: the files come through `files`.
#pragma once

#include <string>

#include "config/parser.h"

namespace muster::config {

// "auth/slurm" if there is a slurm.key in `directory`, else "auth/munge".
std::string auth_type_if_absent(FileSource& files, const std::string& directory);

}  // namespace muster::config

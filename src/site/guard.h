// Files and folders that only the cluster's own accounts may read or change. A daemon that finds them open to others does
// not start: what was readable for a while is known, and what was writable may be anybody's. Owned by root, by `slurm_user`,
// or by whoever runs us (rootless). slurm.conf(5), slurmdbd.conf(5).
//
// Errors: kAccessDenied "/etc/slurm/slurm.key: mode 0644 lets others read it; the cluster key wants mode 0600 or 0400"; the hint
// is the command that mends it. What is not there is no error here: who opens it says so.
#pragma once

#include <optional>
#include <string>

#include "base/ids.h"
#include "base/result.h"

namespace muster::site {

// Nobody else reads or writes it. No `slurm_user`: whoever owns it is believed, as by a command that only reads it.
Result<> check_secret(const std::string& path, const std::string& what, std::optional<Uid> slurm_user);
// The same, but its group may read it (slurmdbd.conf: 600 or 640).
Result<> check_secret_of_group(const std::string& path, const std::string& what, Uid slurm_user);
// Nobody else changes what is in it: "StateSaveLocation".
Result<> check_folder(const std::string& path, const std::string& what, Uid slurm_user);

}  // namespace muster::site

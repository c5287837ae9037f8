// Files and folders that only the cluster's own accounts may read or change. A daemon that finds them open to others does not start: a
// key that was readable for a while may be known to others, and a file that was writable may hold anybody's content. The owner has to be
// root, `slurm_user`, or the user who runs us (without root). slurm.conf(5), slurmdbd.conf(5).
//
// Errors: kAccessDenied "/etc/slurm/slurm.key: mode 0644 lets others read it; the cluster key wants mode 0600 or 0400"; the hint is the
// command that mends it. A missing file is no error here: the code that opens it reports that.
#pragma once

#include <optional>
#include <string>

#include "base/ids.h"
#include "base/result.h"

namespace muster::site {

// Checks that nobody else reads or writes the file. Without `slurm_user` any owner is believed, as for a command that only reads it.
Result<> check_secret(const std::string& path, const std::string& what, std::optional<Uid> slurm_user);
// The same, but the file's group may read it (slurmdbd.conf: 600 or 640).
Result<> check_secret_of_group(const std::string& path, const std::string& what, Uid slurm_user);
// Checks that nobody else can change the folder's content: "StateSaveLocation".
Result<> check_folder(const std::string& path, const std::string& what, Uid slurm_user);
// Checks that nobody else can change a program that is run with our rights: "StoragePassScript".
Result<> check_program(const std::string& path, const std::string& what, Uid slurm_user);

}  // namespace muster::site

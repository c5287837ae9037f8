// A directory that belongs to one user inside a directory that does not: made for a step's helpers, and removed with all
// that the user put there. As root everything below it is touched with the owner's rights only, so nothing that the owner
// may swap (links, renames) makes us reach further.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "os/process.h"

namespace muster::os {

// Makes it with mode 0700, owned by `who` (nullopt: us). One that is left from before is removed first. Errors: kIo with the path.
Result<> make_private_directory(const std::string& path, const std::optional<Credentials>& who);
// Makes a new directory named `prefix` and six random letters, in a place where others may make what they like: nothing of theirs is
// touched. Returns its path.
Result<std::string> make_fresh_directory(const std::string& prefix, const std::optional<Credentials>& who);
// Absent is fine.
Result<> remove_private_directory(const std::string& path);

}  // namespace muster::os

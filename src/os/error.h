// errno as an Error: "what: No such file or directory", with the code callers react to.
#pragma once

#include <cerrno>
#include <string>
#include <string_view>

#include "base/result.h"

namespace muster::os {

// ENOENT → kNotFound, EACCES/EPERM → kAccessDenied, ENOSPC/EDQUOT → kDiskFull; EAGAIN, EMFILE,
// ENFILE and ENOMEM → kTryAgainLater: nothing is wrong with what was asked for. Else kIo.
Error system_error(std::string_view what, int err = errno);
inline std::unexpected<Error> fail_errno(std::string_view what, int err = errno) { return std::unexpected(system_error(what, err)); }

}  // namespace muster::os

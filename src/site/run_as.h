// A daemon started by root continues as SlurmUser.
#pragma once

#include <string>

#include "base/result.h"

namespace muster::site {

// Does nothing if we are not root, or if the user is root. Takes the user's groups.
Result<> become_user(const std::string& name);

}  // namespace muster::site

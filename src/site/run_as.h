// A daemon started by root goes on as SlurmUser.
#pragma once

#include <string>

#include "base/result.h"

namespace muster::site {

// Nothing when we are not root, or the user is. Groups are the user's.
Result<> become_user(const std::string& name);

}  // namespace muster::site

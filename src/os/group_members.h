// Who is in a group, by names, through NSS: whom the group's line lists, and the user of the same name whose login group it is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster::os {

// Asks NSS, and blocks: a file costs about 20 µs, a directory service milliseconds or a time-out. kNotFound: there is no such group; kIo: NSS
// failed, which says nothing about the group.
Result<std::vector<std::string>> group_members(std::string_view group);

}  // namespace muster::os

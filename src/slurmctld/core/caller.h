// Caller: who asks, as the connection proved it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"

namespace muster::slurmctld {

struct Caller {
  Uid uid{};
  Gid gid{};
  std::vector<std::string> groups;  // names, the login group first; filled only where the files ask (AllowGroups, mcs/group)
  std::string host;                 // the host the command runs on
  std::string name;                 // filled only where it is asked for: by accounting, or where labels are user names (mcs/user)
  uint32_t session = 0;             // the session that the command runs in, on its host; 0: not known
  std::string address;              // by which other hosts reach the one that the command runs on; "": not known
  static Caller root() { return {}; }
};

}  // namespace muster::slurmctld

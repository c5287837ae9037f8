// Caller: who asks, as the connection proved it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "model/subject.h"

namespace muster::slurmctld {

struct TokenNames;

struct Caller {
  Uid uid{};
  Gid gid{};
  std::vector<std::string> groups;  // names, the login group first; filled only where the files ask (AllowGroups, mcs/group)
  std::string host;                 // the host the command runs on
  std::string name;                 // filled only where it is asked for: by accounting, or where labels are user names (mcs/user)
  uint32_t session = 0;             // the session that the command runs in, on its host; 0: not known
  std::string address;              // by which other hosts reach the one that the command runs on; "": not known
  // The host that passed the request on, where it is known by a certificate of its own; passed_on.h says what then counts. kUser: there is none,
  // or it has the cluster key.
  Subject through;
  std::optional<NodeId> through_node;  // which node that is; of a node that joins in its own name, that one
  // Of one who joins as a node with the cluster key: which names are for tokens (token_book.h). Null: no name is kept from the caller.
  std::shared_ptr<const TokenNames> token_names;
  static Caller root() { return {}; }
};

}  // namespace muster::slurmctld

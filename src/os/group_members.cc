#include "os/group_members.h"

#include "os/users.h"

namespace muster::os {

Result<std::vector<std::string>> group_members(std::string_view name) {
  MUSTER_TRY(group, find_group(name));
  std::vector<std::string> out = std::move(group.members);
  if (auto own = find_user(name); own && own->gid == group.gid) out.push_back(own->name);
  return out;
}

}  // namespace muster::os

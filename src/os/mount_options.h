// The options of a mount as its file says them: "noexec,nosuid,size=8g". namespace.yaml(5), dir_confs.
#pragma once

#include <string>
#include <string_view>

namespace muster::os {

struct MountOptions {
  unsigned long flags = 0;  // MS_*
  std::string data;         // what is no flag: for the file system
};
MountOptions read_mount_options(std::string_view text);

}  // namespace muster::os

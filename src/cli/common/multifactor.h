// What sshare and sprio say where PriorityType=priority/basic works out no factors.
#pragma once

#include "cli/common/client_conf.h"
#include "cli/common/command.h"

namespace muster::cli {

// False after saying so.
inline bool has_multifactor(const ClientConf& conf, const os::CliLog& log) {
  if (conf.multifactor) return true;
  log.error("You are not running a supported priority plugin\n(priority/basic).\nOnly 'priority/multifactor' is supported.");
  return false;
}

}  // namespace muster::cli

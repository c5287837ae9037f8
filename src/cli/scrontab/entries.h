// The request that a crontab makes: a job for each of its entries. scrontab(1).
#pragma once

#include <string>
#include <vector>

#include "cli/common/client_conf.h"
#include "model/crontab.h"
#include "os/users.h"

namespace muster::cli {

struct CrontabRequest {
  rpc::InstallCrontab request;
  std::vector<std::string> warnings;  // "line 3: …"
  std::vector<std::string> faults;    // not empty: it cannot be installed
};
// `user`: whose crontab it is. Nothing of the environment or of the working directory of this process becomes part of the jobs.
CrontabRequest make_request(const std::string& text, const os::User& user, const ClientConf& conf, Time now);

}  // namespace muster::cli

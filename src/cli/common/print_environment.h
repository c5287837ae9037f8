// What printed fields need beside their rows: the time, names of users and groups (looked up once each), formats set by environment
// variables.
#pragma once

#include <string>
#include <unordered_map>

#include "cli/common/client_conf.h"
#include "cli/common/options.h"
#include "fields/environment.h"

namespace muster::cli {

// Keeps the names already looked up in this run.
class Names {
 public:
  std::string user(Uid uid);
  std::string group(Gid gid);

 private:
  std::unordered_map<uint32_t, std::string> users_, groups_;
};

// The result keeps a reference to `names`.
fields::Environment print_environment(const ClientConf& conf, const QueryCommon& options, Names& names);

// Reports an error in the form that queries have, on stderr and without the program's name: "slurm_load_jobs error: Unable to contact slurm
// controller (connect failure)". The hint follows, unless the controller is simply not there.
void show_query_error(const Error& e, const std::string& prefix);

}  // namespace muster::cli

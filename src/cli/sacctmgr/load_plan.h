// What sacctmgr load does: the edits that lead from what slurmdbd holds to what a flat file says, all in one request, and the lines that
// tell of them. What a file leaves out stays as it is; nothing is removed but by `clean`. sacctmgr(1), FLAT FILE DUMP AND LOAD. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "config/accounts_file.h"
#include "model/accounts.h"

namespace muster::cli {

struct LoadChoices {
  std::string cluster;  // other than the file's; empty: the file's
  // clean: the cluster and its associations are removed first; with clean_*, also accounts and users that no other cluster has, and QOS that
  // no other cluster's association names
  bool clean = false, clean_accounts = false, clean_users = false, clean_qos = false;
};

struct LoadPlan {
  std::string cluster;
  std::vector<EntityEdit> edits;     // none: everything is so already
  std::vector<std::string> changed;  // " Changed fairshare             for Account lab               1 -> 4", of what exists already
};

// `known`: all clusters, accounts, users, QOS and wckeys, and the associations of all clusters as set on each. Errors name the line: a QOS, a
// default account or an account of a coordinator that neither the file nor the database has; a file without a Cluster line. Users whose
// lines say the same share an edit. Cost: O((records + lines) × log).
Result<LoadPlan> plan_load(const config::AccountsFile& file, const LoadChoices& choices, rpc::Entities known);

}  // namespace muster::cli

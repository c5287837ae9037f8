// The folder in which a host without slurm.conf keeps the files that slurmctld gave it: conf-cache in SlurmdSpoolDir, or conf in sackd's
// RUNTIME_DIRECTORY. The folder is replaced as a whole: who reads sees all files of one version. It belongs to the daemon's user, nobody else
// may write it, and what somebody may have put in its place, a link above all, is never followed. Beside the files is a link to the cluster
// key, which stays where it is: programs look for it beside slurm.conf. Guide configless_slurm.
#pragma once

#include <string>

#include "agent/config_download.h"
#include "base/result.h"

namespace muster::agent {

// Writes all files and puts them in the place of what was there; the version is durable when this returns. `key`: the path of the cluster
// key; "": there is none (munge). Errors: the folder above is one that others may write (kAccessDenied), kIo …; then what was there stays.
Result<> write_conf_cache(const std::string& folder, const FetchedConfig& config, const std::string& key);
// What is in the folder of earlier; what cannot be read is left out. For comparing with what slurmctld has.
FetchedConfig read_conf_cache(const std::string& folder);
// Makes `link` (/run/slurm/conf) lead to the folder. Errors: something that is no link is in its place (kAlreadyDone), kIo.
Result<> link_to_cache(const std::string& link, const std::string& folder);

}  // namespace muster::agent

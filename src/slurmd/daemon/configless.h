// slurmd without slurm.conf: the files come from slurmctld, before anything else of slurmd begins, and again whenever slurmctld says that it
// has others. They are in conf-cache of SlurmdSpoolDir, where all programs of the node read them. slurmd(8) --conf-server, guide
// configless_slurm; src/agent has how they are fetched and kept.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "agent/config_download.h"
#include "base/result.h"
#include "os/log.h"
#include "slurmd/daemon/arguments.h"
#include "slurmd/daemon/controller_link.h"

namespace muster::slurmd {

// Does nothing where there is a local slurm.conf (agent/conf_servers.h has the order). Else fetches the files, and fills in conf_file and
// `configless`. Waits for a slurmctld that does not answer, and says so once. Errors: what the server answers, what is wrong with the files,
// a spool that others may write.
Result<> fetch_configuration(Arguments& arguments);

// slurmd --token-file: joins, and fills in `membership`. The name is that of -N, else of the host; with -F slurmctld chooses it. slurmctld is
// where fetch_configuration() would look for it, else where slurm.conf says. Errors: agent/membership.h.
Result<> join_by_token(Arguments& arguments);

// SlurmdSpoolDir/conf-cache. `config` is not on the disk yet. Without -N, %n is the node of this host, else the host's name.
Result<std::string> cache_folder(const agent::FetchedConfig& config, const Arguments& arguments);

class ConfigFollower {
 public:
  ConfigFollower(os::Log& log, ControllerLink& link, const std::optional<Configless>& configless) : log_(log), link_(link) {
    if (!configless) return;
    kept_ = *configless;
    configless_ = true;
  }

  // Takes from an order which version slurmctld has. Returns whether it is another than is here and the order asks for no reading by itself.
  bool on_order(const NodeOrder& order);
  // Runs `then` once the version that slurmctld has is here: at once where it is. When it cannot be had, `then` does not run, and the log
  // says why; the next registration tries again.
  void bring(std::function<void()> then);

 private:
  void fetched(Result<agent::FetchedConfig> config);

  os::Log& log_;
  ControllerLink& link_;
  Configless kept_;
  bool configless_ = false, fetching_ = false;
  std::string wanted_;
  std::vector<std::function<void()>> waiting_;
};

}  // namespace muster::slurmd

// Settings: what the controller's decisions need of the configuration, ready to use. Immutable; replaced on reconfigure.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "acct/admission.h"
#include "config/kept_up.h"
#include "config/load.h"
#include "model/account_directory.h"
#include "sched/planner.h"

namespace muster::slurmctld {

struct PrologRules {           // PrologFlags
  bool at_allocation = false;  // Alloc, and what implies it
  bool defer_batch = false;    // the batch script waits for the prologs of all nodes
  bool contain = false;        // Contain, and what implies it: each node of a job has an external step
  bool no_hold = false;        // salloc and srun do not wait for them
  bool force_requeue_on_fail = false;
};

struct Settings {
  std::shared_ptr<const config::LoadedConfig> loaded;
  sched::Params sched;
  sched::PriorityParams priority;
  std::shared_ptr<const BillingMethod> billing;
  PrologRules prolog;
  std::vector<config::KeptUp> kept_up;  // SuspendExcNodes
  Duration requeue_delay{};             // before a requeued job may start again
  Uid slurm_user{};                     // may do what root may
  bool rootless = false;                // everything runs as slurm_user, also jobs

  const config::Config& config() const { return loaded->config; }
};

// `slurm_user`: the uid behind SlurmUser, looked up by the caller (core asks no name service).
Settings make_settings(std::shared_ptr<const config::LoadedConfig> loaded, Uid slurm_user, bool rootless);

// Makes the licences those of slurm.conf, the remote ones that slurmdbd tells of (null: none), and the layers of resources.yaml, with their
// nodes as the cluster numbers them (null: it has none yet). Cost: O(licences + layers · nodes).
using NodeNumbers = std::unordered_map<std::string, uint32_t>;
void set_licenses(Settings& settings, const AccountDirectory* directory, const NodeNumbers* nodes);

}  // namespace muster::slurmctld

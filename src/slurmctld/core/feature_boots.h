// Features that a boot changes: which nodes of a job have to boot before it starts, and what is active on a node by its registration. The
// sets of features are model/changeable_features.h, the placement sched/rules/constraint.cc. helpers.conf(5); sbatch(1) --constraint,
// --reboot; guide power_save. Cost: O(nodes of the job x features asked for).
#pragma once

#include "slurmctld/core/decide.h"

namespace muster::slurmctld {

// Begins the reboots that the job's nodes need, for its features or for --reboot, and sets what nodes that are powered down come up with.
// Whether any node boots. kNodesBusy: they are no longer as the placement found them.
Result<bool> boot_for_job(const View& view, const Job& job, const Allocation& allocation, Events& out);

// What the registering node is known by here: only features that helpers.conf of this host lists count.
NodeHardware known_features(const View& view, const NodeHardware& told);

// The features that are active now that the node registers; `booted`: the reboot under way is over. What it should have brought and did not
// is the node's fault.
struct FeaturesFound {
  FeatureList active;
  std::string fault;  // "": none
};
FeaturesFound features_found(const View& view, const Node& node, const node_rpc::Register& report, bool booted);

// The active features of a node when slurm.conf is read: of the changeable ones those that were (null: none, it is new).
FeatureList features_configured(const View& view, const Node* known, const NodeSpec& spec);

// The machine is off: what a boot had brought is gone.
void forget_features(const View& view, const Node& node, Events& out);

// A node's attributes as NodeUpdated carries them, to be altered by the caller.
event::NodeUpdated attributes_of(const Node& node);

}  // namespace muster::slurmctld

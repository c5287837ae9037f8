// NodePlaces: where the slurmd of a node is reached. slurm.conf says so of the nodes that it has; of those that came later, and of FUTURE nodes
// that a machine has become, the credentials of steps do, which slurmctld signs. kMost bounds what is remembered; after a restart of slurmd it
// is learned anew.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include "model/step_rpc.h"
#include "slurmd/daemon/setup.h"

namespace muster::slurmd {

class NodePlaces {
 public:
  static constexpr size_t kMost = 65536;
  explicit NodePlaces(const Setup& setup) : setup_(setup) {}

  // Takes over the addresses that differ from what slurm.conf says. The credential has been verified.
  void learn(const rpc::StepCredential& credential) {
    for (const rpc::StepNode& node : credential.nodes) {
      const auto configured = in_conf(node.address.name);
      if (configured && configured->host == node.address.host && configured->port == node.address.port) learned_.erase(node.address.name);
      else if (learned_.size() < kMost || learned_.contains(node.address.name)) learned_[node.address.name] = node.address;
    }
  }
  // nullopt: nothing is known of such a node. O(1).
  std::optional<rpc::NodeAddress> find(const std::string& node) const {
    const auto at = learned_.find(node);
    return at == learned_.end() ? in_conf(node) : std::optional(at->second);
  }

 private:
  std::optional<rpc::NodeAddress> in_conf(const std::string& node) const {
    const auto index = setup_.config().node_index(node);
    if (!index) return std::nullopt;
    const config::NodeConfig& n = setup_.config().nodes[*index];
    return rpc::NodeAddress{node, n.address(), n.port};
  }

  const Setup& setup_;
  std::unordered_map<std::string, rpc::NodeAddress> learned_;
};

}  // namespace muster::slurmd

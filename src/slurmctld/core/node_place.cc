#include "slurmctld/core/node_place.h"

namespace muster::slurmctld {

std::optional<NodeSpec> moved_by(const View& view, const Node& node, const node_rpc::Register& registration) {
  const config::Config& config = view.settings.config();
  const NodeSpec& known = *node.spec;
  if (!known.cloud || registration.address.empty() || known.address == registration.address) return std::nullopt;
  if (config.slurmctld_parameters.has("cloud_dns")) return std::nullopt;
  // An address that is given, in slurm.conf or by scontrol, stands: the node may be reached another way than it comes.
  const auto line = config.node_index(known.name);  // none: scontrol created it
  if (known.address != (line ? config.nodes[*line].hostname() : known.name)) return std::nullopt;
  if (line && !config.nodes[*line].given_address.empty()) return std::nullopt;
  NodeSpec moved = known;
  moved.address = registration.address;
  return moved;
}

void keep_place(const Node& known, const config::NodeConfig& line, NodeSpec& spec) {
  const bool future = known.flags & kNodeDynamicFuture;  // the slurmd that came with -F said it
  const bool cloud = spec.cloud && known.spec->cloud;
  if (future || (cloud && line.given_address.empty())) spec.address = known.spec->address;
  if (future || (cloud && line.given_hostname.empty())) spec.hostname = known.spec->hostname;
}

void forget_place(const View& view, NodeSpec& spec) {
  spec.address = spec.hostname = spec.name;
  const auto line = view.settings.config().node_index(spec.name);
  if (!line) return;
  spec.address = view.settings.config().nodes[*line].address();
  spec.hostname = view.settings.config().nodes[*line].hostname();
}

std::optional<NodeSpec> without_machine(const View& view, const Node& node) {
  if (!node.spec->cloud || !view.settings.config().node_index(node.spec->name)) return std::nullopt;
  NodeSpec spec = *node.spec;
  forget_place(view, spec);
  if (spec == *node.spec) return std::nullopt;
  return spec;
}

}  // namespace muster::slurmctld

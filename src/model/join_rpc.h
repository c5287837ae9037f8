// What a slurmd says before it registers when slurm.conf alone does not tell which node it is: `slurmd -Z` describes a node of its own,
// `slurmd -F` asks for one that waits as FUTURE. The answer comes once the node is in the log. slurmd(8), guide dynamic_nodes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/describe.h"
#include "model/rpc.h"

namespace muster::rpc {

enum class JoinAs : uint8_t { kNormal, kFuture };  // -Z, -F

struct JoinNode {
  JoinAs as = JoinAs::kNormal;
  std::string name;                  // kNormal: the NodeName that it wants; kFuture: what becomes the NodeHostname
  std::string hostname;              // kNormal: what becomes the NodeHostname
  uint16_t port = 0;                 // kNormal: where slurmd is going to listen
  std::vector<KeyValue> definition;  // of a NodeName line: what the machine has, and --conf
  std::string feature;               // kFuture: one that the node must have; "": any node will do
  std::string boot_id;               // of the machine, as in NodeHardware
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "as", self.as);
    field(2, "name", self.name);
    field(3, "hostname", self.hostname);
    field(4, "port", self.port);
    field(5, "definition", self.definition);
    field(6, "feature", self.feature);
    field(7, "boot_id", self.boot_id);
  }
};

struct NodeJoined {
  std::string name;                  // the NodeName that its slurmd has now
  std::vector<KeyValue> definition;  // the keys of its NodeName line, as slurmctld has it
  std::string note;                  // for slurmd's log: what of the request does not count, and why; "": all of it does
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "name", self.name);
    field(2, "definition", self.definition);
    field(3, "note", self.note);
  }
};

}  // namespace muster::rpc

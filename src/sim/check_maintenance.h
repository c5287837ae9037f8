// Checks of rolling maintenances, by what the log says: nodes move forward only, never more of them are held than the owner said, each is drained
// and empty when it is told to reboot, has another boot and is in service when it is done, and a maintenance is over when all of them are. That
// no machine is told twice is seen where it is told (NodeHost).
#pragma once

#include <map>
#include <string>
#include <utility>

#include "model/cluster.h"
#include "model/event.h"

namespace muster::sim {

class MaintenanceWatch {
 public:
  // `before`: the state that the event is about to change. What is wrong; "": nothing.
  std::string take(const Event& event, const Cluster& before);

 private:
  std::string moved(const event::MaintenanceNodeMoved& move, const Cluster& before);

  std::map<std::pair<uint32_t, uint32_t>, std::string> boots_;  // which boot a node had when it was drained, by maintenance and index
};

}  // namespace muster::sim

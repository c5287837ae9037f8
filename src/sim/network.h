// Network: the one connection between each node and the controller. It is ordered and reliable while it lasts. What is under way when it
// breaks is lost or, rarely, arrives late over the next one (with its old session number), and messages may come twice. A partition
// swallows everything until both sides notice.
#pragma once

#include <cstdint>
#include <vector>

#include "model/node_rpc.h"

namespace muster::sim {

class World;

class Network {
 public:
  Network(World& world, size_t nodes) : world_(world), lines_(nodes) {}

  // A node dials. 0: no answer. Otherwise the new connection's number.
  uint64_t dial(uint32_t node);
  void to_controller(uint32_t node, uint64_t connection, Numbered<NodeReport> message);
  void to_node(uint32_t node, uint64_t connection, Numbered<NodeOrder> message);
  // Both sides notice a little later.
  void cut(uint32_t node, const char* why);
  void cut_all();
  uint64_t last_connection() const { return last_connection_; }
  void set_partitioned(uint32_t node, bool on);
  bool partitioned(uint32_t node) const { return lines_[node].partitioned; }

 private:
  struct Line {
    uint64_t connection = 0;  // 0: none
    bool partitioned = false;
    bool lost = false;            // a message of this connection
    Time up_free{}, down_free{};  // when the last message under way arrives, each way
  };
  template <class F>
  void carry(uint32_t node, uint64_t connection, Time& free, F deliver);

  World& world_;
  std::vector<Line> lines_;
  uint64_t last_connection_ = 0;
};

}  // namespace muster::sim

// Cloud: the machines behind the CLOUD nodes of a cluster. One is asked for when ResumeProgram is told of its node, boots for a while, and is let go when
// SuspendProgram is told; it is paid for from the one to the other. Capacity fails: for spans of time no machine comes, and a machine may be taken
// away while it is in use. Pure: time is what the caller says, chance is the seed's.
#pragma once

#include <optional>
#include <vector>

#include "base/random.h"
#include "base/time.h"

namespace muster::sim::elastic {

struct CloudRules {
  Duration boot_least = seconds(60), boot_most = seconds(240);
  Duration good_span = minutes(180), bad_span = minutes(40);  // how long there is capacity, and is none, on the average
  Duration machine_life = minutes(60 * 40);                   // until a machine is taken away, on the average
};

class Cloud {
 public:
  Cloud(CloudRules rules, uint32_t nodes, uint64_t seed, Time begin);

  struct Asked {
    Time boots_at{};       // when its slurmd registers
    Time taken_at{};       // when it is taken away
    uint32_t machine = 0;  // a number of its own
  };
  // nullopt: no capacity. Asking for a node that has a machine gives that one again.
  std::optional<Asked> ask(uint32_t node, Time now);
  void let_go(uint32_t node) { machines_[node].reset(); }

  bool has(uint32_t node) const { return machines_[node].has_value(); }
  // Whether the node's machine is this one still.
  bool is(uint32_t node, uint32_t machine) const { return has(node) && machines_[node]->machine == machine; }
  uint64_t asked() const { return asked_; }
  uint64_t refused() const { return refused_; }

 private:
  bool has_capacity(Time now);
  Duration about(Duration mean);

  CloudRules rules_;
  Random random_;
  std::vector<std::optional<Asked>> machines_;
  Time turns_at_;  // when capacity goes or comes back
  bool capacity_ = true;
  uint32_t last_ = 0;
  uint64_t asked_ = 0, refused_ = 0;
};

}  // namespace muster::sim::elastic

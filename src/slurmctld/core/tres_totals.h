// TresTotals: sums of what is held or configured, and the one text form of them for jobs, steps, nodes and partitions alike:
// "cpu=4,mem=8G,node=2,billing=4,gres/gpu=2,gres/gpu:h100=2". Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/job.h"
#include "model/node.h"
#include "model/resources.h"

namespace muster::slurmctld {

class TresTotals {
 public:
  // What the text lists besides CPUs and devices. Memory that is not 0 is listed in any case.
  enum Listed : uint32_t { kMem = 1, kNodes = 2, kBilling = 4 };

  // Adds what a job or a step holds on one more node.
  void hold(const NodeShare& share);
  void hold(const StepShare& share);
  void configure(const NodeSpec& node);
  void use(const Node& node);
  void keep_gres(const std::vector<std::string>& tres);  // drops all GRES but those named, as "gres/gpu:h100"

  uint64_t cpus() const { return cpus_; }
  std::string text(uint32_t listed) const;

 private:
  void add(uint64_t cpus, uint64_t mem_mb, const std::vector<GresShare>& gres);
  void add_gres(const std::string& name, const std::string& type, uint64_t count);

  uint64_t cpus_ = 0, mem_mb_ = 0, nodes_ = 0;
  std::map<std::string, uint64_t> by_name_;  // "gpu"
  std::map<std::pair<std::string, std::string>, uint64_t> by_type_;
};

// "gpu:h100:8".
std::string gres_text(const std::vector<GresShare>& gres);

// "gpu:h100:16": what shares of several nodes hold together.
template <class Shares>
std::string gres_held(const Shares& shares) {
  std::vector<GresShare> whole;
  for (const auto& share : shares)
    for (const GresShare& g : share.gres) add_gres(whole, {g.name, g.type, g.count, {}, {}});
  return gres_text(whole);
}

}  // namespace muster::slurmctld

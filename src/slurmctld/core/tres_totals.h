// TresTotals: sums of what is asked for, held or configured, and the one text form of them for jobs, steps, nodes and partitions alike:
// "cpu=4,mem=8G,node=2,billing=4,gres/gpu=2,gres/gpu:h100=2,license/matlab=1". Pure.
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
  // What a job that waits asks for in all.
  void want(uint64_t cpus, uint64_t mem_mb, uint64_t nodes);
  void add_gres(const std::string& name, const std::string& type, uint64_t count);
  void add_license(const std::string& name, uint64_t count);
  void keep_gres(const std::vector<std::string>& tres);  // drops all GRES but those named, as "gres/gpu:h100"

  uint64_t cpus() const { return cpus_; }
  std::string text(uint32_t listed) const;

 private:
  void add(uint64_t cpus, uint64_t mem_mb, const std::vector<GresShare>& gres);

  uint64_t cpus_ = 0, mem_mb_ = 0, nodes_ = 0;
  std::map<std::string, uint64_t> by_name_;  // "gpu"
  std::map<std::pair<std::string, std::string>, uint64_t> by_type_;
  std::vector<std::pair<std::string, uint64_t>> licenses_;
};

}  // namespace muster::slurmctld

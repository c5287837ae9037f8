// Judges what is known of the node's GPUs (model/gpu_readings.h): which of it makes the node unfit for jobs, and which is only for the log. The
// rules are the same for all vendors; which figures there are differs (os/node/gpu_health.h, gpu_sysfs.h). SlurmdParameters=gpu_checks, Muster's own; docs/gpu.md, Health, has the table of rules. Pure. Cost: O(cards and links).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/gpu_readings.h"

namespace muster::slurmd {

struct GpuFinding {
  std::optional<GpuId> gpu;  // none: all of them
  std::string what;          // "4 uncorrectable ECC errors"
  uint64_t figure = 0;       // the count or bit that it goes by
  const char* rule = "";     // "ecc"
  bool serious = false;      // the node is drained
  std::string text() const;  // "GPU 3: 4 uncorrectable ECC errors", "GPU renderD129: …"
  bool operator==(const GpuFinding& other) const {
    return gpu == other.gpu && what == other.what && figure == other.figure && std::string_view(rule) == other.rule &&
           serious == other.serious;
  }
};

// `expected`: the cards that this node registered. `before`: what is remembered of earlier readings; null: there was none.
std::vector<GpuFinding> judge_gpus(const GpuReadings& now, const GpuReadings* before, const std::vector<GpuId>& expected);

// What the next reading is compared with: this one, but a link that ever was active counts as one that should be, and a card that does not
// answer is as it was.
GpuReadings remembered(const GpuReadings* before, const GpuReadings& now);

// The reason of a node with these findings: "gpu_checks: GPU 3: 4 uncorrectable ECC errors; …"; "" where none is serious.
std::string gpu_reason(const std::vector<GpuFinding>& findings);

}  // namespace muster::slurmd

// Clocks of GPUs for the time that a step holds them. A change stands in the spool directory until it is put back, so that a slurmd that is
// killed meanwhile puts it back at its next start. Where steps share a GPU (a job's script and its srun), the last that began rules its
// clocks, and after it the one before.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "os/log.h"
#include "slurmd/core/gpu_clock_rules.h"

namespace muster::slurmd {

class GpuClocks {
 public:
  // `library`: NVIDIA's management library, for dlopen.
  GpuClocks(os::Log& log, std::string spool, std::string library) : log_(log), spool_(std::move(spool)), library_(std::move(library)) {}

  // `step`: a name that no other step has, without "/". Returns the lines for the step's stderr.
  std::vector<std::string> begin(const std::string& step, const GpuClockOrder& order);
  // Puts the clocks of its GPUs back, or sets what other steps that hold them wish.
  void end(const std::string& step);
  // After a start: finds the steps of an earlier slurmd that changed something.
  void find_again();
  std::vector<std::string> steps() const;

 private:
  struct Change {
    uint64_t turn = 0;  // grows with every step that begins
    GpuFrequencyWish wish;
    std::vector<std::string> files;  // of the devices
  };
  static std::string text_of(const Change& change);
  static std::optional<Change> parse(std::string_view text);
  void set_again(const std::vector<std::string>& files);

  os::Log& log_;
  std::string spool_, library_;
  std::map<std::string, Change> changed_;  // by step
};

}  // namespace muster::slurmd

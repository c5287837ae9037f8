// Clocks of GPUs for the time that a step holds them. What was changed stands in the spool directory until it is put back, so
// that a slurmd which is killed meanwhile does so at its next start. Where steps share a GPU (a job's script and its srun), the
// last that began rules its clocks, and after it the one before.
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

  // `step`: a name that is its alone, without "/". What is to be said on the step's stderr.
  std::vector<std::string> begin(const std::string& step, const GpuClockOrder& order);
  // The clocks of its GPUs are put back, or to what other steps wish that hold them too.
  void end(const std::string& step);
  // After a start: which steps of an earlier slurmd changed something.
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

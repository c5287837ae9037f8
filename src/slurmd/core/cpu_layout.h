// CpuLayout: hands the CPUs of a step to its tasks, one task after the other, by the socket and core parts of
// --distribution. Inside slurmd/core only. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bitmap.h"
#include "model/cpu_map.h"
#include "model/distribution.h"

namespace muster::slurmd {

class CpuLayout {
 public:
  // `whole_cores`: cores are handed out, not CPUs. `threads`: usable threads of a core, 0 = all.
  CpuLayout(const Bitmap& cpus, const CpuMap& machine, Distribution::Cpus sockets, Distribution::Cpus cores, uint32_t threads,
            bool whole_cores);
  size_t units() const { return units_; }  // CPUs or cores to hand out
  // The next task's `count` units, as CPUs. When none are left all of them are free again: tasks then share.
  Bitmap take(uint32_t count);

 private:
  struct Core {
    std::vector<Bitmap> units;  // of the step, in order
    size_t used = 0;
    size_t left() const { return units.size() - used; }
  };
  struct Socket {
    std::vector<Core> cores;
    size_t left = 0, next = 0;
  };
  void refill();
  size_t pick_socket(uint32_t wanted);
  Bitmap take_from(Socket& socket);

  Distribution::Cpus by_socket_, by_core_;
  std::vector<Socket> sockets_;
  size_t units_ = 0, left_ = 0, next_ = 0, last_ = 0;
};

}  // namespace muster::slurmd

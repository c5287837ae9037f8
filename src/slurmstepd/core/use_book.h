// UseBook: what each task of a step has used so far, from looks at its processes while it runs and from the kernel's last word when it has
// ended. Pure: no I/O, no clock.
//
// A look is the sum over the processes that a task has at that moment. What the kernel counts up (CPU time, faults, bytes) never goes back
// here, although it does in a look: a process that a task does not wait for takes its figures along. Memory is kept as it is and at its
// peak. The peak of a task that ends before the first look is that of its largest process (getrusage(2), ru_maxrss).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/step_usage.h"

namespace muster::slurmstepd {

// What a task's processes have used, and hold at this moment.
struct UseLook {
  Duration user_time{}, system_time{};
  uint64_t pages = 0;
  Bytes read{}, written{};
  Bytes resident{}, virtual_size{};
  Bytes resident_peak{};  // where the kernel keeps it
  uint64_t khz = 0;       // of the core that its busiest process ran on; 0: not known

  void add(const UseLook& o);
};

// What a task's processes use of the step's GPUs now; none: it is not looked at.
struct GpuLook {
  std::optional<uint64_t> util;  // percent
  std::optional<Bytes> memory;
};

class UseBook {
 public:
  explicit UseBook(size_t tasks = 0) : tasks_(tasks) {}

  void look(size_t task, const UseLook& now);
  void gpus(size_t task, const GpuLook& now);
  // A process of the task that was adopted from it has ended, and will be in no look any more.
  void adopted_ended(size_t task, const UseLook& used);
  // The task itself has ended. `used`: with the children that it waited for.
  void ended(size_t task, const UseLook& used);

  Bytes resident_now() const;  // of all tasks
  // What a task has used up to now; memory and clock as they were last seen, with the peak of the former.
  UseLook so_far(size_t task) const;
  GpuLook gpus_now(size_t task) const { return task < tasks_.size() ? tasks_[task].gpu : GpuLook(); }
  // `ranks`: of the tasks, in their order. sstat shows the memory held now in total and on average, sacct the peaks; most and least are of
  // peaks in both.
  enum class Memory : uint8_t { kNow, kPeaks };
  StepUsage usage(const std::vector<uint32_t>& ranks, const std::string& node, Memory memory) const;

 private:
  struct Task {
    UseLook most;  // CPU time, pages and bytes as far as they have come; memory at its peak
    UseLook gone;  // of processes that no look shows any more
    Bytes resident{}, virtual_size{};
    GpuLook gpu_most, gpu;
    uint64_t khz = 0;
    double clocked = 0, clocked_time = 0;  // kHz times the CPU time that was used at that clock, in seconds; that time
    std::optional<uint64_t> clock() const;
  };
  void count(Task& t, const UseLook& used);
  std::vector<Task> tasks_;
};

}  // namespace muster::slurmstepd

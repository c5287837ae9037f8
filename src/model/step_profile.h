// The time series of a step on one node as slurmstepd records them: who the step is, and of each task and of the node a sample at each look.
// acct_gather.conf(5) acct_gather_profile/hdf5, sh5util(1). Plain values; wire/profile_file.h makes the bytes of a file of them.
//
// What counts up (CPU time, pages, bytes) is what has been added since the sample before; memory and clocks are as they are at that moment.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/describe.h"
#include "base/ids.h"
#include "base/time.h"
#include "model/step_usage.h"

namespace muster {

// Once, first.
struct ProfileHeader {
  JobId job{};
  StepId step{};
  std::string node;
  uint32_t node_id = 0;  // within the step
  uint32_t tasks = 0;    // here
  uint32_t cpus_per_task = 0;
  Time started{};
  bool operator==(const ProfileHeader&) const = default;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "job", self.job);
    field(2, "step", self.step);
    field(3, "node", self.node);
    field(4, "node_id", self.node_id);
    field(5, "tasks", self.tasks);
    field(6, "cpus_per_task", self.cpus_per_task);
    field(7, "started", self.started);
  }
};

struct TaskSample {
  uint32_t task = 0;   // rank in the step
  Duration elapsed{};  // since the step began here
  Time at{};
  uint64_t khz = 0;     // of the core that it ran on; 0: not known
  Duration cpu{};       // user and system
  Duration interval{};  // in which that was
  Bytes rss{}, vm{};
  uint64_t pages = 0;
  Bytes read{}, written{};
  std::optional<uint64_t> gpu_util;  // percent; of several GPUs the sum
  std::optional<Bytes> gpu_memory;
  bool operator==(const TaskSample&) const = default;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "task", self.task);
    field(2, "elapsed", self.elapsed);
    field(3, "at", self.at);
    field(4, "khz", self.khz);
    field(5, "cpu", self.cpu);
    field(6, "interval", self.interval);
    field(7, "rss", self.rss);
    field(8, "vm", self.vm);
    field(9, "pages", self.pages);
    field(10, "read", self.read);
    field(11, "written", self.written);
    field(12, "gpu_util", self.gpu_util);
    field(13, "gpu_memory", self.gpu_memory);
  }
};

// Of the whole node.
struct EnergySample {
  Duration elapsed{};
  Time at{};
  uint64_t watts = 0;  // on average since the sample before
  uint64_t khz = 0;    // of its cores on average; 0: not known
  bool operator==(const EnergySample&) const = default;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "elapsed", self.elapsed);
    field(2, "at", self.at);
    field(3, "watts", self.watts);
    field(4, "khz", self.khz);
  }
};

// What is recorded at once.
struct ProfileChunk {
  std::optional<ProfileHeader> header;
  std::vector<TaskSample> tasks;
  std::vector<EnergySample> energy;
  bool empty() const { return !header && tasks.empty() && energy.empty(); }
  bool operator==(const ProfileChunk&) const = default;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "header", self.header);
    field(2, "tasks", self.tasks);
    field(3, "energy", self.energy);
  }
};

// "0", "batch", "interactive", "extern": the step in names of files and groups.
std::string profile_step_name(StepId step);
// The file of a step on a node, below the user's folder: "12_0_n1.samples".
std::string profile_file_name(JobId job, StepId step, const std::string& node);

}  // namespace muster

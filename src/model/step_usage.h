// What the processes of a step have used: CPU time, and of each thing that is measured the sum over its tasks, the most and the least that
// one task used, and which task on which node that was. A node makes one of its own tasks; parts of several nodes are merged into that of
// the step. sacct(1), sstat(1): TotalCPU, MaxRSS, AveDiskRead, TRESUsageIn…
//
// A task's figure of memory is its peak, of everything else what it has used from its start. Merging does not depend on the order of parts.
// Use of GPUs, energy and clocks are known of some tasks and nodes only; there, averages and the least are of those.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/describe.h"
#include "base/ids.h"
#include "base/time.h"

namespace muster {

using Bytes = StrongId<struct BytesTag, uint64_t>;

// A task by its rank in the step, and its node as an index into StepUsage::nodes.
struct TaskPlace {
  uint32_t task = 0, node = 0;
  bool operator==(const TaskPlace&) const = default;
};

template <class Amount>
struct Spread {
  Amount total{}, max{}, min{};
  TaskPlace max_at, min_at;  // of equal ones the lowest task
  bool operator==(const Spread&) const = default;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "total", self.total);
    field(2, "max", self.max);
    field(3, "min", self.min);
    field(4, "max_task", self.max_at.task);
    field(5, "max_node", self.max_at.node);
    field(6, "min_task", self.min_at.task);
    field(7, "min_node", self.min_at.node);
  }
};
struct TimeSpread : Spread<Duration> {};
struct ByteSpread : Spread<Bytes> {};
struct CountSpread : Spread<uint64_t> {};

// What is known of some of a step's parts only: `parts` of them; 0: of none, and the rest has no meaning.
template <class Amount>
struct PartialSpread : Spread<Amount> {
  uint32_t parts = 0;
  bool operator==(const PartialSpread&) const = default;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    Spread<Amount>::describe(self, field);
    field(8, "parts", self.parts);
  }
};
struct PartialBytes : PartialSpread<Bytes> {};
struct PartialCount : PartialSpread<uint64_t> {};

struct StepUsage {
  uint32_t tasks = 0;              // whose figures these are; 0: nothing was gathered
  std::vector<std::string> nodes;  // those that a Spread points to
  Duration user_time{}, system_time{};
  TimeSpread cpu;        // both together
  ByteSpread rss, vm;    // resident and virtual memory
  CountSpread pages;     // page faults that had to wait for a disk
  ByteSpread disk_read;  // what read(2) and write(2) were asked for, whichever file it was
  ByteSpread disk_write;
  PartialCount gpu_util;    // percent of a GPU that its tasks kept at work, at its peak; of several GPUs the sum
  PartialBytes gpu_memory;  // at its peak
  PartialCount energy;      // joules that whole nodes took while the step ran there; its parts are nodes, and no task is named
  PartialCount clock;       // kHz of the cores that its tasks ran on, on average over the CPU time of each
  bool operator==(const StepUsage&) const = default;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "tasks", self.tasks);
    field(2, "nodes", self.nodes);
    field(3, "user_time", self.user_time);
    field(4, "system_time", self.system_time);
    field(5, "cpu", self.cpu);
    field(6, "rss", self.rss);
    field(7, "vm", self.vm);
    field(8, "pages", self.pages);
    field(9, "disk_read", self.disk_read);
    field(10, "disk_write", self.disk_write);
    field(11, "gpu_util", self.gpu_util);
    field(12, "gpu_memory", self.gpu_memory);
    field(13, "energy", self.energy);
    field(14, "clock", self.clock);
  }
};
using StepUsagePtr = std::shared_ptr<const StepUsage>;  // null: nothing is known

// What one task has used.
struct TaskUsage {
  uint32_t task = 0;  // rank in the step
  Duration user_time{}, system_time{};
  Bytes rss{}, vm{}, disk_read{}, disk_write{};
  uint64_t pages = 0;
  std::optional<uint64_t> gpu_util;
  std::optional<Bytes> gpu_memory;
  std::optional<uint64_t> clock;  // kHz
};

void add_task(StepUsage& to, const TaskUsage& task, const std::string& node);
// The energy that `node` took. For a usage that has tasks.
void add_energy(StepUsage& to, uint64_t joules, const std::string& node);
void merge(StepUsage& into, const StepUsage& part);
// The same with `node` as the only name: what a node says is of that node.
StepUsagePtr on_node(const StepUsagePtr& usage, const std::string& node);
StepUsagePtr merged(const StepUsagePtr& a, const StepUsagePtr& b);  // either may be null

// Who has told what they used: nodes of a step, and what their tasks there used together.
struct StepUse {
  StepId step{};
  std::vector<NodeId> nodes;
  StepUsagePtr usage;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "step", self.step);
    field(2, "nodes", self.nodes);
    field(3, "usage", self.usage);
  }
};

// The step's total divided by its tasks.
template <class Amount>
Amount average(const Spread<Amount>& spread, uint32_t tasks) {
  if (tasks == 0) return {};
  if constexpr (requires { spread.total.value; }) return Amount(spread.total.value / tasks);
  else return spread.total / tasks;
}

}  // namespace muster

// Events of steps.
// Part of model/event.h, which says what holds for all events.
#pragma once

#include <cstdint>
#include <vector>

#include "base/describe.h"
#include "model/job.h"

namespace muster::event {

struct StepCreated {
  static constexpr uint32_t kNumber = 20;
  static constexpr const char* kName = "StepCreated";
  JobId job{};
  Step step;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "job", self.job);
    field(2, "step", self.step);
  }
};

struct StepNodesDone {
  static constexpr uint32_t kNumber = 21;
  static constexpr const char* kName = "StepNodesDone";
  JobId job{};
  StepId step{};
  Bitmap nodes;  // by index in the allocation
  int32_t exit_status = 0;
  bool out_of_memory = false;
  StepUsagePtr usage;  // on these nodes
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "job", self.job);
    field(2, "step", self.step);
    field(3, "nodes", self.nodes);
    field(4, "exit_status", self.exit_status);
    field(5, "out_of_memory", self.out_of_memory);
    field(6, "usage", self.usage);
  }
};

struct StepEnded {
  static constexpr uint32_t kNumber = 22;
  static constexpr const char* kName = "StepEnded";
  JobId job{};
  StepId step{};
  int32_t exit_status = 0;
  Time time{};
  JobState state = JobState::kPending;  // what accounting says of it; PENDING: what its exit status says
  StepUsagePtr usage;                   // on the nodes that tell it with this event
  std::vector<NodeId> untold;           // nodes that may still tell theirs
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "job", self.job);
    field(2, "step", self.step);
    field(3, "exit_status", self.exit_status);
    field(4, "time", self.time);
    field(5, "state", self.state);
    field(6, "usage", self.usage);
    field(7, "untold", self.untold);
  }
};

struct StepUpdated {  // scontrol update step
  static constexpr uint32_t kNumber = 26;
  static constexpr const char* kName = "StepUpdated";
  JobId job{};
  StepId step{};
  uint32_t time_limit_min = kUnlimited32;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "job", self.job);
    field(2, "step", self.step);
    field(3, "time_limit_min", self.time_limit_min);
  }
};

struct StepsTold {  // the manager of the job's steps has told so many news of them; what they say are events of their own
  static constexpr uint32_t kNumber = 390;
  static constexpr const char* kName = "StepsTold";
  JobId job{};
  uint64_t news = 0;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "job", self.job);
    field(2, "news", self.news);
  }
};

struct StepUsed {  // nodes have told what a step used there after its end, or what the batch script or the external step used
  static constexpr uint32_t kNumber = 395;
  static constexpr const char* kName = "StepUsed";
  JobId job{};
  StepUse use;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "job", self.job);
    field(2, "use", self.use);
  }
};

}  // namespace muster::event

// Events of steps.
// Part of model/event.h, which says what holds for all events.
#pragma once

#include <cstdint>

#include "base/describe.h"
#include "model/job.h"

namespace muster::event {

struct StepCreated {
  static constexpr uint32_t kNumber = 20;
  static constexpr const char* kName = "StepCreated";
  JobId job{};
  Step step;
  template <class S, class V>
  static void describe(S& s, V&& v) {
    v(1, "job", s.job);
    v(2, "step", s.step);
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
  template <class S, class V>
  static void describe(S& s, V&& v) {
    v(1, "job", s.job);
    v(2, "step", s.step);
    v(3, "nodes", s.nodes);
    v(4, "exit_status", s.exit_status);
    v(5, "out_of_memory", s.out_of_memory);
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
  template <class S, class V>
  static void describe(S& s, V&& v) {
    v(1, "job", s.job);
    v(2, "step", s.step);
    v(3, "exit_status", s.exit_status);
    v(4, "time", s.time);
    v(5, "state", s.state);
  }
};

struct StepUpdated {  // scontrol update step
  static constexpr uint32_t kNumber = 26;
  static constexpr const char* kName = "StepUpdated";
  JobId job{};
  StepId step{};
  uint32_t time_limit_min = kUnlimited32;
  template <class S, class V>
  static void describe(S& s, V&& v) {
    v(1, "job", s.job);
    v(2, "step", s.step);
    v(3, "time_limit_min", s.time_limit_min);
  }
};

struct StepsTold {  // the manager of the job's steps has told so many news of them; what they say are events of their own
  static constexpr uint32_t kNumber = 390;
  static constexpr const char* kName = "StepsTold";
  JobId job{};
  uint64_t news = 0;
  template <class S, class V>
  static void describe(S& s, V&& v) {
    v(1, "job", s.job);
    v(2, "news", s.news);
  }
};

}  // namespace muster::event

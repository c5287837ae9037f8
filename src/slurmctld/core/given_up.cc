#include "slurmctld/core/given_up.h"

#include <algorithm>

namespace muster::slurmctld {

Bitmap moved(const Bitmap& before, const std::vector<uint32_t>& place) {
  Bitmap now;
  before.for_each([&](size_t i) {
    if (place[i] != kGivenUp) now.set(place[i]);
  });
  return now;
}

void move_steps(Job& job, const std::vector<uint32_t>& place) {
  for (Step& s : job.steps) {
    std::erase_if(s.shares, [&](const StepShare& x) { return place[x.node_index] == kGivenUp; });
    for (StepShare& x : s.shares) x.node_index = place[x.node_index];
  }
  std::erase_if(job.steps, [](const Step& s) { return s.shares.empty() && s.state != StepState::kPending; });
}

}  // namespace muster::slurmctld

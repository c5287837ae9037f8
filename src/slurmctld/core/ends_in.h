// Whether events that are not applied yet end a job: the state still has it running.
#pragma once

#include <algorithm>
#include <variant>
#include <vector>

#include "model/event.h"

namespace muster::slurmctld {

// Cost: O(events).
inline bool ends_in(const std::vector<Event>& events, JobId job) {
  return std::ranges::any_of(events, [&](const Event& e) {
    const auto* ending = std::get_if<event::JobEnding>(&e);
    return ending && ending->job == job;
  });
}

}  // namespace muster::slurmctld

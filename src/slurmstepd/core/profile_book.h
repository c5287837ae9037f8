// ProfileBook: samples of a step's time series from what UseBook knows at each look. What counts up is given as what came since the sample
// before. Pure: no I/O, no clock.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/step_profile.h"
#include "slurmstepd/core/use_book.h"

namespace muster::slurmstepd {

// When a look was: since the step's tasks began, and by the calendar.
struct LookTime {
  Duration elapsed{};
  Time at{};
};

class ProfileBook {
 public:
  explicit ProfileBook(std::vector<uint32_t> ranks) : tasks_(ranks.size()), ranks_(std::move(ranks)) {}

  TaskSample look(size_t task, const UseBook& book, LookTime now) { return sample(task, book, now, false); }
  // The last one: memory is what the sample before saw, and the peak where there was none.
  TaskSample ended(size_t task, const UseBook& book, LookTime now) { return sample(task, book, now, true); }
  // Joules that the node has taken; none of the first, from which the next counts, nor of one at the same moment as the one before.
  std::optional<EnergySample> energy(uint64_t joules, LookTime now, uint64_t khz);

 private:
  struct Last {
    UseLook use;
    Bytes rss{}, vm{};
    Duration elapsed{};
    bool any = false;
  };
  struct Power {
    uint64_t joules = 0;
    Duration elapsed{};
  };
  TaskSample sample(size_t task, const UseBook& book, LookTime now, bool last);
  std::vector<Last> tasks_;
  const std::vector<uint32_t> ranks_;
  std::optional<Power> power_;
};

}  // namespace muster::slurmstepd

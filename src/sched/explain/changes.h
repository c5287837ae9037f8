// Changes: what a waiting job could ask for instead, tried one after the other, and which of that would start it sooner. Cheap changes come
// first: dropping a wish, then time, another partition, then less of something. Where smaller and smaller amounts are tried, the result is the
// largest that starts the job as early as the smallest does. Cost: at most kMaxForecasts forecasts.
#pragma once

#include <optional>
#include <vector>

#include "model/explanation.h"
#include "sched/explain/what_if.h"

namespace muster::sched {

inline constexpr uint32_t kMaxForecasts = 64;
inline constexpr size_t kMaxAlternatives = 5;

struct Alternatives {
  std::vector<Alternative> list;  // those that start it at once first; at most kMaxAlternatives
  uint32_t tried = 0;
};
// `as_it_is`: when the job starts unchanged; none: not within sight. `free_nodes`: how many nodes could take a part of it now.
Alternatives find_alternatives(const Cluster& cluster, const Job& job, WhatIf& queue, Time now, std::optional<Time> as_it_is,
                               uint32_t free_nodes);

}  // namespace muster::sched

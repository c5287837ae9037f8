// What an idle node has too little of for one task of a request, and what such a task asks for, in words.
#pragma once

#include <cstdint>
#include <string>

#include "sched/fit/node_fit.h"

namespace muster::sched {

enum class Shortage : uint8_t { kNone, kCpus, kMemory, kDevices, kTogether };  // kTogether: of none alone, but of all together

// What an idle node of this kind has too little of for the least that the request has on a node. Cost: a few counts of count_tasks().
Shortage shortage_on(const Shape& shape, const Kind& kind);

// "one task asks for 2 CPUs, 2048M (1024M by DefMemPerCPU), gres/gpu:1".
std::string task_asks(const RequestBody& request, const Shape& shape, const Kind& kind);

}  // namespace muster::sched

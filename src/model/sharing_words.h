// How a job shares its nodes, as its environment (SLURM_JOB_EXCLUSIVE, SLURM_JOB_OVERSUBSCRIBE), squeue and scontrol say it. Where a
// partition is given, its rule overrides what the job asked for. Pure.
#pragma once

#include <string_view>

#include "model/job_request.h"
#include "model/partition.h"

namespace muster {

enum class Shares : uint8_t { kUnknown, kNo, kYes, kOk };  // kOk: its partition has jobs share what asks for it
// What it has for itself: kDefault for nothing.
Exclusive exclusive_held(Exclusive asked, const Partition* partition);
Shares shares(Exclusive asked, const Partition* partition);

std::string_view word_of(Exclusive held);  // NO, NODE, USER, MCS, TOPO
std::string_view word_of(Shares shares);   // NO, YES, OK; "": unknown
std::string_view exclusive_word(Exclusive asked, const Partition* partition);
std::string_view oversubscribe_word(Exclusive asked, const Partition* partition);

}  // namespace muster

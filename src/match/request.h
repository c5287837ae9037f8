// Turns the words after allocate and submit into a request: an optional name, then the options of sbatch, read by the same tables. Options
// that concern only sbatch itself or files are refused rather than passed over.
#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "model/job_request.h"

namespace muster::match {

inline constexpr Uid kDefaultUser{1000};  // --uid=N for another

struct MadeRequest {
  JobRequest request;
  std::string warnings;  // whole lines
};
Result<MadeRequest> make_request(std::span<const std::string> words, std::string default_name, Time now);

}  // namespace muster::match

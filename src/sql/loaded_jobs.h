// LoadedJobs: the records of a few jobs and their steps, read with one statement each. With a database server a round trip for each job and another
// for its steps would be most of what a long answer costs. Steps that are too many for one part of an answer are left to Storage::load_steps.
// Internal to sql. Cost: two statements; at most kAtOnce records, kPartSteps steps and kPartBytes of them in memory.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "model/accounting.h"
#include "sql/connection.h"

namespace muster::sql {

class LoadedJobs {
 public:
  static constexpr size_t kAtOnce = 64;
  // At most kAtOnce numbers; those that do not exist any more are left out.
  static Result<LoadedJobs> load(Connection& connection, std::span<const int64_t> numbers, bool steps);

  struct One {
    JobRecord record;
    size_t bytes = 0, step_bytes = 0;  // as they are stored
    std::vector<StepRecord> steps;     // in sacct's order
  };
  One* find(int64_t number) {
    const auto at = jobs_.find(number);
    return at == jobs_.end() ? nullptr : &at->second;
  }
  bool has_steps() const { return has_steps_; }  // all of them

 private:
  std::map<int64_t, One> jobs_;
  bool has_steps_ = false;
};

// SQL for where a step stands in sacct's order: batch, extern and interactive before the numbered ones.
const std::string& step_rank();

}  // namespace muster::sql

// sprio's lines: its columns and order, which pending jobs are shown, and the row of weights. All lines are kept until they can be sorted,
// about 150 bytes each.
#pragma once

#include <string>
#include <vector>

#include "cli/common/options.h"
#include "fields/format.h"
#include "fields/priority_fields.h"
#include "fields/sort.h"
#include "model/rpc.h"

namespace muster::cli {

// What to print and in which order, known before anything is asked.
struct PriorityListing {
  fields::Format<fields::PriorityView> format;
  std::vector<fields::SortKey<fields::PriorityView>> sort;
  std::vector<std::string> messages;  // of the format and the order
  bool own_columns = false;           // the columns are sprio's own: factors without a weight are left out
  bool failed = false;                // nothing of the format could be understood, or not all of the order
};
PriorityListing make_priority_listing(const SprioOptions& options);

struct PriorityFilter {
  std::vector<rpc::JobSelector> jobs;
  std::vector<Uid> users;
  TextList partitions;
  bool keeps(const PriorityRow& row) const;  // empty lists keep all
};
// Errors: unknown users, words that are no job ids, steps and array tasks.
Result<PriorityFilter> make_priority_filter(const SprioOptions& options);

class PriorityLines {
 public:
  PriorityLines(const SprioOptions& options, PriorityListing listing, PriorityFilter filter, const fields::Environment& env);
  // Of the parts of an answer, the first has the weights.
  void add(const rpc::PriorityRows& part);
  // Appends the header and the lines in their order; with --weights the row of weights instead of jobs.
  void print(std::string& out) const;
  // Jobs were named, and no row came of any of them.
  bool found_nothing() const;
  // The jobs of --jobs of which no row came.
  std::vector<std::string> missing() const;

 private:
  void begin(const PriorityRow& weights);

  const SprioOptions& options_;
  PriorityListing listing_;
  PriorityFilter filter_;
  const fields::Environment& env_;
  bool begun_ = false;
  PriorityRow weights_;
  fields::RowSorter<fields::PriorityView> sorter_;
  std::vector<std::string> lines_;
  std::vector<bool> found_;  // for each of filter_.jobs
};

}  // namespace muster::cli

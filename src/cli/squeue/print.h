// squeue's lines in the format and order asked for. Rows are printed as they come, because the controller sorts them in squeue's own order.
// For another order, each line and its keys are kept until all are there, about 100 bytes a line.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/common/command.h"
#include "cli/common/session.h"
#include "fields/format.h"
#include "fields/sort.h"

namespace muster::cli {

// Lines that wait until they can be sorted, in one piece of memory.
class Lines {
 public:
  std::string& text() { return text_; }
  void end() { ends_.push_back(text_.size()); }
  std::string_view operator[](size_t i) const {
    size_t from = i ? ends_[i - 1] : 0;
    return std::string_view(text_).substr(from, ends_[i] - from);
  }

 private:
  std::string text_;
  std::vector<size_t> ends_;
};

// What to print and in which order, known before anything is asked.
struct Listing {
  fields::Format<fields::JobView> jobs;
  fields::Format<fields::StepView> steps;
  std::vector<fields::SortKey<fields::JobView>> job_sort;
  std::vector<fields::SortKey<fields::StepView>> step_sort;
  uint32_t parts = 0;                                        // RowPart bits the fields need
  bool queue_order = false;                                  // the order wanted is the controller's: job_sort is empty
  std::vector<fields::SortKey<fields::JobView>> watch_sort;  // the order wanted in any case
  std::vector<std::string> messages;                         // of the format and the order
  bool failed = false;                                       // nothing of the format could be understood
};
Listing make_listing(const SqueueOptions& options);

// The list of fields that -O help and -o help print.
std::optional<std::string> format_help(const SqueueOptions& options);

Result<> print_jobs(Session& session, const SqueueOptions& options, const Listing& listing, const rpc::QueryJobs& query,
                    const fields::Environment& env, Out& out);
Result<> print_steps(Session& session, const SqueueOptions& options, const Listing& listing, const rpc::QueryJobs& query,
                     const fields::Environment& env, Out& out);

// For --json and --yaml: each job (or step, -s) is written as it comes; the memory used does not depend on their number.
Result<> print_document(Session& session, const SqueueOptions& options, const rpc::QueryJobs& query, const fields::Environment& env,
                        Out& out);

}  // namespace muster::cli

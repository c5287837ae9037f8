// squeue's lines: the format and order it was told, rows as they come where no order asks for all of them
// first.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/common/command.h"
#include "cli/common/session.h"
#include "fields/format.h"
#include "fields/sort.h"

namespace muster::cli {

// What to print and in which order, before anything was asked.
struct Listing {
  fields::Format<fields::JobView> jobs;
  fields::Format<fields::StepView> steps;
  std::vector<fields::SortKey<fields::JobView>> job_sort;
  std::vector<fields::SortKey<fields::StepView>> step_sort;
  uint32_t parts = 0;                 // RowPart bits the fields need
  std::vector<std::string> messages;  // of the format and the order
  bool failed = false;                // nothing of the format could be understood
};
Listing make_listing(const SqueueOptions& options);

// -O help, -o help: the list of fields.
std::optional<std::string> format_help(const SqueueOptions& options);

Result<> print_jobs(Session& session, const SqueueOptions& options, const Listing& listing,
                    const rpc::QueryJobs& query, const fields::Environment& env, Out& out);
Result<> print_steps(Session& session, const SqueueOptions& options, const Listing& listing,
                     const rpc::QueryJobs& query, const fields::Environment& env, Out& out);

// --json, --yaml: each job is written as it comes; the memory used does not depend on their number.
Result<> print_document(Session& session, const SqueueOptions& options, const rpc::QueryJobs& query,
                        const fields::Environment& env, Out& out);

}  // namespace muster::cli

// sacct's lines: its columns, and each part of slurmdbd's answer printed as it comes. The memory used is that of one part.
#pragma once

#include <functional>

#include "cli/common/command.h"
#include "cli/common/session.h"
#include "cli/sacct/query.h"
#include "fields/json.h"
#include "fields/record_view.h"

namespace muster::cli {

// For an unknown column the error is kInvalidReq, with the name as its text.
Result<fields::Table<fields::RecordView>> record_table(const SacctOptions& options);

// Prints the lines of one part. A record of pending array tasks is one line, or with --array one for each task.
void print_records(const SacctOptions& options, const std::vector<rpc::JobSelector>& selectors,
                   const fields::Table<fields::RecordView>& table, const fields::RecordStyle& style, const fields::Environment& env,
                   const rpc::JobRecords& part, Out& out);

// Writes the same for --json and --yaml.
void write_records(const SacctOptions& options, const std::vector<rpc::JobSelector>& selectors, const fields::RecordStyle& style,
                   const fields::Environment& env, const rpc::JobRecords& part, fields::TreeSink& sink, Out& out);

// Gives each job with all its steps. A part may begin with the last job of the part before and go on with its steps, so that job is kept
// back until it is known to be complete.
class WholeJobs {
 public:
  using Each = std::function<void(const rpc::JobRecords& part)>;
  explicit WholeJobs(Each each) : each_(std::move(each)) {}
  void add(rpc::JobRecords&& part);
  void end();  // of the answer

 private:
  Each each_;
  rpc::JobRecords last_;  // one job or none
};

}  // namespace muster::cli

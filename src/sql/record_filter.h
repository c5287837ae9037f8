// Which job records a question asks for: the whole rule of JobRecordFilter (model/accounting.h), and the part of it that SQL can use so
// that few records have to be looked at. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/bitmap.h"
#include "model/accounting.h"
#include "model/record_audience.h"
#include "sql/connection.h"

namespace muster::sql {

// Which node lists have one of some nodes. No nodes: all have.
class NodeRule {
 public:
  // kInvalidNodeName: one is not a node list, or together more than kMaxHosts.
  static Result<NodeRule> make(const std::vector<std::string>& lists);
  bool empty() const { return nodes_.empty(); }
  bool matches(const std::string& node_list) const;

 private:
  std::unordered_set<std::string> nodes_;
};

// The whole rule except `duplicates`, which is about several records. Its lists are prepared once, so that a record costs about the
// length of its own node list, however long the lists are.
class RecordRule {
 public:
  // `filter` must outlive it. kInvalidNodeName: the nodes are not a node list, or more than kMaxHosts; kInvalidArray: the task lists
  // are malformed, or together longer than kMostTasks.
  static Result<RecordRule> make(const rpc::JobRecordFilter& filter);
  bool matches(const JobRecord& record) const;
  // Whether a selector names this run by its SLUID: it is then found also where only the last run of each job is wanted.
  bool names_run(const JobRecord& record) const;

  static constexpr size_t kMostTasks = size_t{64} << 20;  // 8 MiB

 private:
  struct Tasks {  // tasks that one selector names
    Sluid run{};  // 0: whichever
    uint32_t task = kNoArrayTask;
    Bitmap list;
    bool whole = false;  // all of the job
    std::optional<uint32_t> component;
  };
  using Numbers = std::vector<uint32_t>;               // sorted
  using Names = std::unordered_set<std::string_view>;  // views of the filter
  explicit RecordRule(const rpc::JobRecordFilter& filter);
  bool selected(const JobRecord& record) const;

  const rpc::JobRecordFilter* filter_;
  std::unordered_multimap<uint32_t, Tasks> jobs_;
  Numbers users_, groups_;
  Names clusters_, accounts_, names_, qos_, wckeys_, reservations_, partitions_, features_, reasons_;
  NodeRule nodes_;
};

// sacct(1) --jobs: a pending job that is not eligible yet is shown only to a question that names jobs and asks for no state.
bool shows_waiting(const rpc::JobRecordFilter& filter, JobState state, Time eligible);

// Whether the job was in one of the states in [from, until): pending from its submission to its start or end, running until its end,
// and in its last state at its end.
bool was_in_state(const rpc::JobRecordFilter& filter, JobState state, Time submitted, Time started, Time ended);

// A " WHERE …" that every match satisfies which the audience may see, with its values, which refer to both.
struct Where {
  std::string text;
  std::vector<Value> values;
};
Where where_of(const rpc::JobRecordFilter& filter, const RecordAudience& audience);

// Whether a match can be told only from the record itself, since SQL and the columns do not suffice. Otherwise those that satisfy
// where_of() and was_in_state() are those that match. RecordAudience::sees() is asked of each in either case.
bool needs_record(const rpc::JobRecordFilter& filter);

}  // namespace muster::sql

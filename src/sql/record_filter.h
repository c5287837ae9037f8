// Which job records a question is about: the whole rule of JobRecordFilter (model/accounting.h), and as much of it as SQL can
// use to look at few of them. Pure.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/bitmap.h"
#include "model/accounting.h"
#include "sql/connection.h"

namespace muster::sql {

// The whole rule but `duplicates`, which is about several records; its lists are made ready once, so that a record costs about the
// length of its own node list, however long the lists are.
class RecordRule {
 public:
  // `filter` must outlive it. kInvalidNodeName: the nodes are no node list, or more than kMaxHosts; kInvalidArray: task lists that
  // are none, or longer than kMostTasks together.
  static Result<RecordRule> make(const rpc::JobRecordFilter& filter);
  bool matches(const JobRecord& record) const;

  static constexpr size_t kMostTasks = size_t{64} << 20;  // 8 MiB

 private:
  struct Tasks {  // of one selector
    uint32_t task = kNoArrayTask;
    Bitmap list;
    bool whole = false;  // all of the job
  };
  using Numbers = std::vector<uint32_t>;               // sorted
  using Names = std::unordered_set<std::string_view>;  // views of the filter
  explicit RecordRule(const rpc::JobRecordFilter& filter);
  bool selected(const JobRecord& record) const;
  bool on_nodes(const std::string& node_list) const;

  const rpc::JobRecordFilter* filter_;
  std::unordered_multimap<uint32_t, Tasks> jobs_;
  Numbers users_, groups_;
  Names clusters_, accounts_, names_, qos_, wckeys_, reservations_, partitions_, features_, reasons_;
  std::unordered_set<std::string> nodes_;
};

// sacct(1) --jobs: what waits and is not eligible yet is listed for those alone who name it, and is in no state.
bool shows_waiting(const rpc::JobRecordFilter& filter, JobState state, Time eligible);

// What a job was in [from, until) counts: pending from its submission to its start or end, running until its end, and its last
// state at its end.
bool was_in_state(const rpc::JobRecordFilter& filter, JobState state, Time submitted, Time started, Time ended);

// " WHERE …" that every match meets, with its values; they refer to `filter`.
struct Where {
  std::string text;
  std::vector<Value> values;
};
Where where_of(const rpc::JobRecordFilter& filter);

}  // namespace muster::sql

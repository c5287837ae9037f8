// What a printed field may depend on besides its row: the caller's clock reading, names of users and groups, and the variables of squeue(1)
// and sinfo(1) that change texts. The command fills it in; nothing here looks anything up by itself. Here, too, are the views that the
// getters of each table get. Views are references, good only while the rows they name live.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/ids.h"
#include "base/time.h"
#include "model/job_request.h"
#include "model/rows.h"

namespace muster::fields {

// Prints times as format_time() does. The times of a list mostly lie within a few minutes of each other, so it keeps the text of the last one's
// minute: to ask the calendar for each took a tenth of a list's time.
class LastMinute {
 public:
  void put(std::string& out, Time when);

 private:
  int64_t minute_ = -1;
  std::string text_;  // of its first second
};

struct Environment {
  Time now{};
  std::string cluster;                        // ClusterName
  bool in_federation = false;                 // sinfo %V prints the cluster only then
  std::function<std::string(Uid)> user_name;  // empty function or empty answer: the number is printed
  std::function<std::string(Gid)> group_name;
  uint32_t array_text_length = 64;  // SLURM_BITSTR_LEN; 0 = no bound
  std::string time_format;          // SLURM_TIME_FORMAT: "", "standard", "relative" or for strftime
  bool noconvert = false;           // --noconvert: 2048M stays 2048M
  bool expand_patterns = false;     // --expand-patterns: %j in StdOut becomes the job id
  mutable LastMinute last_minute;   // for one thread, like what else prints
};

struct JobView {
  const JobRow& row;
  const ShownRequest& request;
  const Environment& env;
};

struct StepView {
  const StepRow& row;
  const Environment& env;
};

struct NodeView {
  const NodeRow& row;
  const Environment& env;
};

struct PartitionView {
  const PartitionRow& row;
  const Environment& env;
};

}  // namespace muster::fields

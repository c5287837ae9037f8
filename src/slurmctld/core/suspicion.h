// SuspicionBook: how the last jobs on each node ended, and which node that makes a suspect. Pure; Muster's own (SlurmctldParameters=quarantine=).
//
// A node is suspected when the last ends there, four or more, are failures of at least two users, while of the ends on other nodes in the same
// hour (those in quarantine left out) at most a quarter were: jobs of one user may fail as they like, and a broken file system is no node's fault. What a job's owner or its
// limits ended says nothing of its node, nor does a failure after more than a minute. A launch that fails by the node's own fault drains it at
// once, whatever is here (lifecycle.cc).
//
// Nothing of this is in the log: after a restart the book is made from the ended jobs that are still in the table. Cost: O(nodes of the job) an
// end; suspect() O(kKept).
#pragma once

#include <array>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/job.h"

namespace muster::slurmctld {

// Whether the end of this job speaks against its nodes; none: it says nothing.
std::optional<bool> speaks_against_nodes(const Job& job);

// Ends and failures of the last hour, in steps of ten minutes.
class HourCount {
 public:
  struct Sum {
    uint64_t ends = 0, failed = 0;
  };
  void add(Time now, bool failed);
  Sum sum(Time now) const;

 private:
  struct Part {
    int64_t number = -1;  // of ten minutes since 1970
    Sum sum;
  };
  std::array<Part, 6> parts_;
};

struct Suspicion {
  std::vector<JobId> jobs;  // that failed, as they ended
  size_t users = 0;
  std::string text() const;  // "the last 5 jobs of 3 users failed here (jobs 11,12,13,14,15)"
};

class SuspicionBook {
 public:
  static constexpr size_t kKept = 16;  // ends of a node
  static constexpr size_t kFailures = 4, kUsers = 2;
  static constexpr Duration kStarting = minutes(1);   // within which a failure counts
  static constexpr Duration kOld = minutes(24 * 60);  // ends from before say nothing

  // Takes in the end of a job. The nodes that it says something bad of: none for a good end.
  std::vector<NodeId> take(const Job& ended);
  // `aside`: nodes that are known to be broken, whose failures say nothing of the cluster's others.
  std::optional<Suspicion> suspect(NodeId node, Time now, const std::set<NodeId>& aside = {}) const;
  // Its ends speak neither for nor against it any more; of the last hour it is still known which failures were its own.
  void forget(NodeId node) { nodes_[node].ends.clear(); }
  // The same of ends until `time` alone.
  void forget_until(NodeId node, Time time) {
    std::erase_if(nodes_[node].ends, [&](const End& end) { return end.time <= time; });
  }
  void clear() { *this = {}; }

 private:
  struct End {
    JobId job{};
    Uid user{};
    bool failed = false;
    Time time{};
  };
  struct Page {
    std::deque<End> ends;  // the newest last
    HourCount hour;
  };
  std::map<NodeId, Page> nodes_;
  HourCount all_;
};

}  // namespace muster::slurmctld

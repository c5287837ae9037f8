// MinuteWatch: when the minutes of a limit are used up by jobs that run (GrpTRESMins, GrpWall, MaxTRESMins), so that they end at that
// moment (acct/exhaustion.h). It follows from the state and is made anew after a restart; events of jobs move it by what they touch.
//
// Cost: rebuild O(running jobs), and O(limits) for each user of an account in a QOS; touch O(depth of the association x limits set there); nothing where no such limit is set or
// AccountingStorageEnforce=safe sees to it that minutes are enough.
#pragma once

#include <compare>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "slurmctld/core/decide.h"

namespace muster::slurmctld {

class MinuteWatch {
 public:
  // What to look at: all jobs of an association or of a QOS, or one job.
  struct Whom {
    uint32_t association = 0;
    std::string qos;
    JobId job{};
    auto operator<=>(const Whom&) const = default;
  };

  bool on() const { return on_; }  // there is something to look at
  void rebuild(const View& v);
  // The job changed from what it was (null: it was not there).
  void touch(const View& v, const Job* was, const Job* is);
  Time next() const { return queue_.empty() ? kTimeInfinite : queue_.begin()->first; }
  // Those that are due; each is forgotten until it is looked at again.
  std::vector<Whom> take_due(Time now);
  // After jobs were ended for one of those.
  void look_again(const View& v, const Whom& whom);

 private:
  void set(const Whom& whom, Time at);
  void look_at(const View& v, const Job& job);
  bool on_ = false;
  std::map<Whom, Time> times_;
  std::set<std::pair<Time, Whom>> queue_;
};

// Ends the jobs that have used up the minutes of a limit of their own.
void end_used_up(const View& v, const MinuteWatch::Whom& whom, Events& out);

}  // namespace muster::slurmctld

// LateLaunches: launches that wait for the user database of this host, which may be slow for a while (a directory service that is being
// restarted). A late answer of the database is kept, so asking again costs nothing; only when it has been silent for kPatience does the
// launch fail, as this node's fault.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "net/loop.h"

namespace muster::slurmd {

class LateLaunches {
 public:
  using Key = std::pair<JobId, StepId>;
  static constexpr Duration kPatience = seconds(15), kPause = milliseconds(250);
  explicit LateLaunches(net::Loop& loop, Duration patience = kPatience, Duration pause = kPause)
      : loop_(loop), patience_(patience), pause_(pause) {}

  // Calls `again` in a moment. False: the launch has waited for long enough.
  bool wait(Key key, std::function<void()> again) { return wait(key, std::move(again), patience_); }
  // The same for what takes another time, and is told with wake().
  bool wait(Key key, std::function<void()> again, Duration patience) {
    Waiting& w = waiting_[key];
    const Duration now = net::Loop::monotonic();
    if (!w.timer) w.since = now;
    if (w.timer && now - w.since >= patience) {
      waiting_.erase(key);
      return false;
    }
    w.again = std::move(again);
    w.timer = loop_.after(pause_, w.again);
    return true;
  }
  // Has all launches of a job tried again now.
  void wake(JobId job) {
    for (auto at = waiting_.lower_bound({job, StepId(0)}); at != waiting_.end() && at->first.first == job; ++at)
      at->second.timer = loop_.after(Duration{}, at->second.again);
  }
  // The launch has been carried out, or will not be. True: it was waiting.
  bool over(Key key) { return waiting_.erase(key) > 0; }
  // The same for all launches of a job; returns the steps that were waiting.
  std::vector<StepId> over(JobId job) {
    std::vector<StepId> out;
    for (auto at = waiting_.lower_bound({job, StepId(0)}); at != waiting_.end() && at->first.first == job; at = waiting_.erase(at))
      out.push_back(at->first.second);
    return out;
  }

 private:
  struct Waiting {
    Duration since{};
    std::function<void()> again;
    std::unique_ptr<net::Loop::Timer> timer;
  };
  net::Loop& loop_;
  const Duration patience_, pause_;
  std::map<Key, Waiting> waiting_;
};

}  // namespace muster::slurmd

// The promise to the first job of the queue: see checkers.h, which says what can be said of promises across plans.
#pragma once

#include <optional>
#include <string>

#include "model/cluster.h"
#include "model/event.h"
#include "sched/params.h"

namespace muster::sim {

class PromiseWatch {
 public:
  // What happens may move a promise; then the next one is taken as it comes.
  void take(const Event& event, const Cluster& before);
  void forget() { first_.reset(); }
  // After a full pass at this time that has started nothing. What is wrong; "": nothing.
  std::string look(const Cluster& cluster, const sched::Params& params, Time now);

 private:
  struct Promise {
    JobId job{};
    RequestBodyPtr request;
    Time start{};
  };
  bool harmless(const Event& event, const Cluster& before) const;
  std::optional<Promise> first_;
};

}  // namespace muster::sim

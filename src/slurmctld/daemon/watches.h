// Watches: who is told of changed rows as they happen (squeue --watch). A watcher gets what changed since it was last told, at most once in
// its interval and only while it reads: what changes meanwhile is told together. Between two notices a watch holds the snapshot of its last
// look and no rows. Lives on the I/O thread; looks are taken on the query thread.
#pragma once

#include <memory>
#include <unordered_map>

#include "model/cluster.h"
#include "model/rpc.h"
#include "net/channel.h"
#include "net/query_thread.h"
#include "slurmctld/core/privacy.h"

namespace muster::slurmctld {

inline constexpr size_t kMaxWatches = 1024, kMaxWatchesOfUser = 32;
inline constexpr Duration kLeastWatchInterval = milliseconds(100);

class Watches {
 public:
  using TakeSnapshot = std::function<std::shared_ptr<const Cluster>()>;
  Watches(net::Loop& loop, net::QueryThread& queries, TakeSnapshot snapshot)
      : loop_(loop), queries_(queries), snapshot_(std::move(snapshot)) {}

  // A connection has one watch; a second one takes the place of the first. Errors: there are too many watches, or the first has not looked
  // yet.
  Result<> add(const net::ChannelPtr& channel, rpc::WatchJobs request, Privacy privacy);
  void forget(const net::Channel* channel);
  void state_changed();  // a new snapshot is out
  size_t size() const { return watches_.size(); }

 private:
  struct Watch;
  void look(const std::shared_ptr<Watch>& watch);
  void make_part(const std::shared_ptr<Watch>& watch, bool first);
  void tell(const std::shared_ptr<Watch>& watch);
  void rest(const std::shared_ptr<Watch>& watch);

  net::Loop& loop_;
  net::QueryThread& queries_;
  TakeSnapshot snapshot_;
  std::unordered_map<const net::Channel*, std::shared_ptr<Watch>> watches_;
};

}  // namespace muster::slurmctld

#include "slurmctld/daemon/watches.h"

#include <algorithm>

#include "slurmctld/core/job_watch.h"
#include "wire/instances.h"

namespace muster::slurmctld {

struct Watches::Watch {
  Watch(rpc::QueryJobs query, Privacy privacy) : jobs(std::move(query), std::move(privacy)) {}
  std::weak_ptr<net::Channel> channel;
  Uid uid{};
  Duration interval{};
  bool busy = false, stale = false;  // busy: a look is being taken or told, or the interval is not over
  bool making = false;               // with the query thread, or waiting for it
  std::unique_ptr<net::Loop::Timer> timer;
  // These belong to the query thread while a part is made, to the I/O thread after that.
  JobWatch jobs;
  rpc::JobChanges part;
  bool changed = false;
  std::string bytes;
};

Result<> Watches::add(const net::ChannelPtr& channel, rpc::WatchJobs request, Privacy privacy) {
  Uid uid = channel->peer().uid;
  auto of_user = std::ranges::count_if(watches_, [&](const auto& w) { return w.second->uid == uid; });
  bool again = watches_.contains(channel.get());
  if (!again && (watches_.size() >= kMaxWatches || static_cast<size_t>(of_user) >= kMaxWatchesOfUser))
    return fail(Errc::kError, "too many watchers: at most " + std::to_string(kMaxWatches) + " in all and " +
                                  std::to_string(kMaxWatchesOfUser) + " of a user");
  // A look that waits for the query thread cannot be taken back, so there is one at a time.
  if (again && watches_[channel.get()]->making)
    return fail(Errc::kTryAgainLater, {}, "the watch asked for before on this connection has not looked yet");
  auto w = std::make_shared<Watch>(std::move(request.query), std::move(privacy));
  w->channel = channel;
  w->uid = uid;
  w->interval = std::max<Duration>(milliseconds(request.interval_ms), kLeastWatchInterval);
  watches_[channel.get()] = w;
  look(w);
  return {};
}

void Watches::forget(const net::Channel* channel) {
  auto at = watches_.extract(channel);
  if (at.empty()) return;
  at.mapped()->timer.reset();
  // The watch may hold the last reference to an old state, which is not let go of on this thread.
  queries_.post([w = std::move(at.mapped())] {});
}

void Watches::state_changed() {
  for (auto& [channel, w] : watches_) {
    if (w->busy) w->stale = true;
    else look(w);
  }
}

void Watches::look(const std::shared_ptr<Watch>& w) {
  w->busy = true;
  w->stale = false;
  make_part(w, true);
}

void Watches::make_part(const std::shared_ptr<Watch>& watch, bool first) {
  watch->making = true;
  queries_.post(
      [this, w = watch, first]() mutable {
        w->changed = !first || w->jobs.look(snapshot_());
        w->bytes.clear();
        if (w->changed) {
          w->part.more = w->jobs.next(w->part);
          wire::encode(w->part, w->bytes);
        }
        loop_.post([this, w = std::move(w)] { tell(w); });  // the last reference is not let go of here: it has a timer
      },
      watch->uid.value);
}

// The last notice of a look has no rows: it tells the watcher that it sees all there is.
void Watches::tell(const std::shared_ptr<Watch>& w) {
  w->making = false;
  net::ChannelPtr c = w->channel.lock();
  auto at = c ? watches_.find(c.get()) : watches_.end();
  if (at == watches_.end() || at->second != w) return;  // closed, or replaced
  if (!w->changed) return rest(w);
  bool more = w->part.more;
  c->notify(rpc::JobChanges::kNumber, std::move(w->bytes));
  c->when_writable([this, w, more] { more ? make_part(w, false) : rest(w); });
}

void Watches::rest(const std::shared_ptr<Watch>& w) {
  w->timer = loop_.after(w->interval, [this, w = w.get()] {
    w->busy = false;
    auto c = w->channel.lock();
    auto at = c ? watches_.find(c.get()) : watches_.end();
    if (at != watches_.end() && w->stale) look(at->second);
  });
}

}  // namespace muster::slurmctld

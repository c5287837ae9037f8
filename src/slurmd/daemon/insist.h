// Insist: tries something again until it has worked, at growing intervals and without blocking the loop.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>

#include "net/loop.h"

namespace muster::slurmd {

class Insist {
 public:
  // `attempt` returns true when it has worked; it is called until then, for the last time (with `last` true) when `patience` is over. An
  // attempt that returns true may have destroyed this object.
  Insist(net::Loop& loop, Duration patience, std::function<bool(bool last)> attempt)
      : loop_(loop), end_(net::Loop::monotonic() + patience), attempt_(std::move(attempt)) {
    wait();
  }
  Insist(const Insist&) = delete;
  Insist& operator=(const Insist&) = delete;

 private:
  static constexpr Duration kFirstPause = milliseconds(2), kLongestPause = seconds(1);

  void wait() {
    timer_ = loop_.after(pause_, [this] { again(); });
    pause_ = std::min(2 * pause_, kLongestPause);
  }
  void again() {
    const bool last = net::Loop::monotonic() >= end_;
    auto attempt = std::move(attempt_);
    if (attempt(last) || last) return;
    attempt_ = std::move(attempt);
    wait();
  }

  net::Loop& loop_;
  Duration end_, pause_ = kFirstPause;
  std::function<bool(bool)> attempt_;
  std::unique_ptr<net::Loop::Timer> timer_;
};

}  // namespace muster::slurmd

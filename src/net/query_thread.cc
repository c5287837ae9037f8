#include "net/query_thread.h"

#include <algorithm>

#include "net/loop.h"

namespace muster::net {
namespace {

constexpr size_t kManyRemembered = 1024;

}  // namespace

QueryThread::QueryThread(std::optional<TimeShares> shares) : shares_(shares), thread_([this] { run(); }) {}

QueryThread::~QueryThread() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void QueryThread::post(std::function<void()> work, uint64_t whom) {
  {
    std::lock_guard lock(mutex_);
    auto& line = work_[whom];
    if (line.empty()) turns_.push_back(whom);
    line.push_back(std::move(work));
  }
  wake_.notify_one();
}

Duration QueryThread::left_of(const Spent& s, Duration now) const { return std::max(s.time - (now - s.at) / shares_->part, Duration{}); }

void QueryThread::charge(uint64_t whom, Duration began, Duration now) {
  if (!shares_ || whom == 0 || whom == kOurs) return;
  if (spent_.size() >= kManyRemembered) std::erase_if(spent_, [&](const auto& s) { return left_of(s.second, now) == Duration{}; });
  Spent& s = spent_[whom];
  s = {left_of(s, now) + (now - began), now};
}

// The first user in line who has time left. If none has, `again` says when to look next.
std::optional<uint64_t> QueryThread::next(Duration now, Duration& again) {
  for (size_t i = 0; i < turns_.size(); ++i) {
    const uint64_t whom = turns_[i];
    auto spent = spent_.find(whom);
    const Duration over = spent == spent_.end() ? Duration{} : left_of(spent->second, now) - shares_->burst;
    if (over <= Duration{}) {
      turns_.erase(turns_.begin() + static_cast<ptrdiff_t>(i));
      return whom;
    }
    again = std::min(again, over * shares_->part);
  }
  return {};
}

void QueryThread::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [&] { return stopping_ || !turns_.empty(); });
    if (stopping_) return;
    const Duration began = Loop::monotonic();
    Duration again = seconds(1);
    const auto whom = next(began, again);
    if (!whom) {
      wake_.wait_for(lock, again);
      continue;
    }
    auto at = work_.find(*whom);
    auto work = std::move(at->second.front());
    at->second.pop_front();
    if (at->second.empty()) work_.erase(at);
    else turns_.push_back(*whom);
    lock.unlock();
    work();
    work = nullptr;
    charge(*whom, began, Loop::monotonic());
    lock.lock();
  }
}

}  // namespace muster::net

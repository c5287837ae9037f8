// WaitingList: commands that wait for something, each by a key (a job, a position of the log), counted by user and gone with the connection
// on which the answer would leave. What they wait for, and how many may wait, is decided in waiters.h and record_waits.h. Lives on the core
// thread, by turns: what a turn added that was refused, and so never was, waits for nothing. Cost: O(log n) to add and to take; forget() and forget_all() look at all.
#pragma once

#include <compare>
#include <cstdint>
#include <iterator>
#include <map>
#include <unordered_map>
#include <utility>

#include "base/ids.h"
#include "slurmctld/turn/task.h"

namespace muster::slurmctld {

// Where an answer leaves: a connection and, where a node daemon passes requests on over it, which of its askers is meant.
struct Line {
  const void* connection = nullptr;
  uint64_t asker = 0;  // 0: whoever the connection itself belongs to
  auto operator<=>(const Line&) const = default;
};

template <class Key, class What>
class WaitingList {
 public:
  size_t size() const { return list_.size(); }
  size_t of(Uid user) const {
    const auto at = of_user_.find(user.value);
    return at == of_user_.end() ? 0 : at->second;
  }
  void add(Key key, Line line, Uid user, What what) {
    list_.emplace(key, Waiting{line, user, turn_, std::move(what)});
    ++of_user_[user.value];
  }
  void forget(Line line) {
    take_if([&](const Waiting& w) { return w.line == line; });
  }
  void forget_all(const void* connection) {
    take_if([&](const Waiting& w) { return w.line.connection == connection; });
  }
  void begin_turn() { ++turn_; }
  void forget_turn() {  // the present one was refused
    take_if([&](const Waiting& w) { return w.turn == turn_; });
  }
  // Removes the commands of one key for which `done` is true.
  template <class F>
  void take(const Key& key, F done) {
    auto [first, last] = list_.equal_range(key);
    for (auto it = first; it != last;) it = done(it->second.what) ? erase(it) : std::next(it);
  }
  // Removes the commands up to a key, in the order of the keys, and gives each to `each`.
  template <class F>
  void take_until(const Key& last, F each) {
    while (!list_.empty() && !(last < list_.begin()->first)) {
      each(list_.begin()->second.what);
      erase(list_.begin());
    }
  }
  template <class F>
  void take_all(F each) {
    for (auto& [key, w] : std::exchange(list_, {})) each(w.what);
    of_user_.clear();
  }

 private:
  struct Waiting {
    Line line;
    Uid user{};
    uint64_t turn = 0;  // that added it
    What what;
  };
  using List = std::multimap<Key, Waiting>;

  typename List::iterator erase(typename List::iterator at) {
    const auto count = of_user_.find(at->second.user.value);
    if (--count->second == 0) of_user_.erase(count);
    return list_.erase(at);
  }
  template <class F>
  void take_if(F f) {
    for (auto it = list_.begin(); it != list_.end();) it = f(it->second) ? erase(it) : std::next(it);
  }

  List list_;
  uint64_t turn_ = 0;
  std::unordered_map<uint32_t, size_t> of_user_;
};

}  // namespace muster::slurmctld

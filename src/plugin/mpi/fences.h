// Fences: one node's part in the collectives of a step. A fence is entered once on each node that has a process of its
// group; when the last has entered, everybody has the data of all. The lowest node of the group is its root: the others
// send it their data, it sends the whole to each in one letter (2 N letters, two hops). Groups may overlap, and a group
// may start its next fence as soon as it left the one before; a letter of a fence not entered here yet is kept.
//
// Ends without data: a node that did not enter is gone (kConnectFailed), the deadline passed (kTimedOut), there is more data
// than `limit` (kFrameTooLong). The root decides and tells the others, also when a node that cannot give its data says so; the texts
// name nodes and numbers. What a node says that does not take part changes nothing.
// Pure: letters leave through Ports, time is an argument. Cost: a map lookup and a copy of the data for each letter.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "plugin/mpi/letter.h"

namespace muster::mpi {

class Fences {
 public:
  using Send = std::function<void(const std::vector<uint32_t>& to, const Letter& letter)>;
  using Done = std::function<void(Result<std::string> data)>;
  // `names`: the step's nodes, for the texts of errors. `limit`: bytes of all data of one fence together.
  Fences(uint32_t self, std::vector<std::string> names, size_t limit, Send send)
      : self_(self), names_(std::move(names)), limit_(limit), send_(std::move(send)) {}

  // `nodes`: the nodes that take part, ascending and without repetition, this one among them. `group` names the processes that take part,
  // in the same text on each node. `done` is called once, maybe at once.
  void enter(const std::string& group, std::vector<uint32_t> nodes, std::string data, Duration deadline, Done done);
  void on_letter(uint32_t from, Letter letter);
  void lost(uint32_t node);
  // Ends the fences that are overdue at `now`; returns the earliest deadline after that, if there is one.
  std::optional<Duration> expire(Duration now);
  size_t open() const { return open_.size(); }

 private:
  using Key = std::pair<std::string, uint64_t>;
  struct Fence {
    std::vector<uint32_t> nodes;  // empty: not entered here
    std::map<uint32_t, std::string> parts;
    size_t bytes = 0;
    Duration deadline{};
    Done done;
    std::map<uint32_t, Error> failed;  // who said so before we entered
  };

  bool is_root(const Fence& f) const { return f.nodes.front() == self_; }
  std::vector<uint32_t> others(const Fence& f) const;
  std::string names_of(const std::vector<uint32_t>& nodes) const;
  std::string missing(const Fence& f) const;
  static bool takes_part(const Fence& f, uint32_t node);
  // Whose word ends the fence here: its root's; to the root, that of each node that takes part.
  bool may_end(const Fence& f, uint32_t node) const { return is_root(f) ? takes_part(f, node) : f.nodes.front() == node; }
  static Letter failure(const Key& key, const Error& error);
  void too_much(const Key& key, size_t bytes);
  void on_failed(const Key& key, uint32_t from, Error error);
  void add_part(const Key& key, uint32_t from, std::string data);
  void look_at(const Key& key);
  void finish(const Key& key, Result<std::string> result);
  void fail_all(const Key& key, const Error& error);
  void expire_one(const Key& key);

  uint32_t self_;
  std::vector<std::string> names_;
  size_t limit_;
  Send send_;
  std::map<std::string, uint64_t> entered_;  // fences of each group that were entered here
  std::map<Key, Fence> open_;
  std::set<uint32_t> lost_;
};

}  // namespace muster::mpi

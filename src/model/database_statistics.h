// What slurmdbd counts of its own work: sacctmgr show stats. sacctmgr(1) stats.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/describe.h"
#include "base/ids.h"
#include "base/time.h"

namespace muster::rpc {

#define MUSTER_FIELDS(...)                   \
  template <class S, class V>                \
  static void describe(S& self, V&& field) { \
    __VA_ARGS__                              \
  }

// How often something was done, and how long that took.
struct WorkCount {
  uint64_t count = 0;
  Duration total{}, longest{}, last{};
  void add(Duration took) {
    ++count;
    total += took;
    longest = std::max(longest, took);
    last = took;
  }
  bool operator==(const WorkCount&) const = default;
  MUSTER_FIELDS(field(1, "count", self.count); field(2, "total", self.total); field(3, "longest", self.longest);
                field(4, "last", self.last);)
};
struct RequestCount {
  uint16_t number = 0;  // of model/messages.def
  std::string name;
  WorkCount work;
  MUSTER_FIELDS(field(1, "number", self.number); field(2, "name", self.name); field(3, "work", self.work);)
};
struct CallerCount {
  Uid uid{};
  std::string name;
  WorkCount work;
  MUSTER_FIELDS(field(1, "uid", self.uid); field(2, "name", self.name); field(3, "work", self.work);)
};
struct QueryDatabaseStatistics {
  bool clear = false;  // counts anew from here; for operators
  MUSTER_FIELDS(field(1, "clear", self.clear);)
};
struct DatabaseStatistics {
  Time since{}, now{};
  Time rolled_up{};  // when that was last looked after
  WorkCount roll_ups;
  std::vector<RequestCount> requests;
  std::vector<CallerCount> callers;
  MUSTER_FIELDS(field(1, "since", self.since); field(2, "now", self.now); field(3, "rolled_up", self.rolled_up);
                field(4, "roll_ups", self.roll_ups); field(5, "requests", self.requests); field(6, "callers", self.callers);)
};

#undef MUSTER_FIELDS

}  // namespace muster::rpc

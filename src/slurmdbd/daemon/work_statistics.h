// What slurmdbd has done since it started, or since sacctmgr clear stats: for sacctmgr show stats. Lives on the I/O thread.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "base/ids.h"
#include "model/database_statistics.h"

namespace muster::slurmdbd {

std::string name_of_message(uint16_t number);  // "StoreRecords"; "unknown"

class WorkStatistics {
 public:
  explicit WorkStatistics(Time now) : since_(now) {}
  // A request that was answered. `took` is from its arrival to its answer, waiting for its turn with it.
  void answered(uint16_t message, Uid uid, const std::string& name, Duration took);
  void rolled_up(Time now, Duration took);
  rpc::DatabaseStatistics told(Time now) const;

 private:
  static constexpr size_t kMostCallers = 10'000;  // of more users nothing is counted by user
  Time since_{}, rolled_up_{};
  rpc::WorkCount roll_ups_;
  std::map<uint16_t, rpc::WorkCount> requests_;
  std::map<uint32_t, std::pair<std::string, rpc::WorkCount>> callers_;  // by uid
};

}  // namespace muster::slurmdbd

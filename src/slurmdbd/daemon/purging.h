// Purges what is older than slurmdbd.conf lets it be (core/purge.h), a piece at a time, so that records are stored between two pieces. Belongs
// to the thread that owns the Storage. Usage stays: records go only once their time is rolled up, docs/adr/0015.
#pragma once

#include <string>
#include <vector>

#include "os/log.h"
#include "slurmdbd/core/directory.h"
#include "slurmdbd/core/settings.h"
#include "sql/storage.h"

namespace muster::slurmdbd {

class Purging {
 public:
  Purging(sql::Storage& storage, os::Log& log) : storage_(storage), log_(log) {}

  // Deletes at most MaxPurgeLimit rows. Returns when to call it again: at once while there is more, in a minute where roll-ups are behind,
  // else when the next hour begins. Logs a line for each kind and cluster of which something went. An error is logged; what is left is then
  // tried at the next hour.
  Time next_piece(const Settings& settings, const Directory& directory, Time now);

 private:
  struct Order {
    sql::PurgeKind kind{};
    std::string cluster;  // "": of all
    Time before{};
    size_t gone = 0;
  };
  Result<> give_orders(const Settings& settings, const Directory& directory, Time now);
  Result<Time> rolled_until(const std::string& cluster);

  sql::Storage& storage_;
  os::Log& log_;
  std::vector<Order> orders_;  // of this hour, the next one last
  bool roll_ups_behind_ = false;
};

}  // namespace muster::slurmdbd

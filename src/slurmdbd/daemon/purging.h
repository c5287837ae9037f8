// Purges what is older than slurmdbd.conf or sacctmgr archive dump lets it be (core/purge.h), and archives it first where that is asked for.
// Belongs to the thread that owns the Storage; each piece is one transaction, and records are stored between two pieces. Usage stays: records
// go only once their time is rolled up, docs/adr/0015.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "os/log.h"
#include "slurmdbd/core/directory.h"
#include "slurmdbd/core/settings.h"
#include "sql/storage.h"

namespace muster::slurmdbd {

// One walk through what is due.
class Purging {
 public:
  // `place` is where archive files go.
  Purging(sql::Storage& storage, os::Log& log, std::shared_ptr<const Settings> settings, NamedPlace place, Uid slurm_user)
      : storage_(storage), log_(log), settings_(std::move(settings)), place_(std::move(place)), slurm_user_(slurm_user) {}

  // Finds what is due: first of all, once.
  Result<> begin(const Directory& directory, Time now);
  bool over() const { return orders_.empty(); }
  // Deletes at most MaxPurgeLimit rows. What is to be archived is in a file, on disk, before it is deleted; after an error nothing of this
  // piece is. Logs a line for each kind and cluster of which something went.
  Result<> piece();
  // Whether some records stay only since their time is not rolled up yet.
  bool roll_ups_behind() const { return roll_ups_behind_; }
  // The variables of ArchiveScript for this walk.
  std::vector<std::string> script_variables() const;
  // What went, in the order of the walk.
  const std::vector<rpc::PurgedRecords>& purged() const { return purged_; }
  const Settings& settings() const { return *settings_; }

 private:
  struct Order {
    RecordKind kind{};
    std::string cluster;  // "": of all
    Time before{};
    rpc::PurgedRecords gone;
  };
  Result<Time> rolled_until(const std::string& cluster);
  Result<sql::Purged> purge(Order& order);
  void tell(const rpc::PurgedRecords& gone);

  sql::Storage& storage_;
  os::Log& log_;
  std::shared_ptr<const Settings> settings_;
  NamedPlace place_;
  Uid slurm_user_;
  std::vector<Order> orders_;  // the next one last
  std::vector<rpc::PurgedRecords> purged_;
  bool roll_ups_behind_ = false;
};

// When to look again after a walk at `now`: in a minute where roll-ups are behind, else when the next hour begins.
Time next_purge(Time now, bool roll_ups_behind);

}  // namespace muster::slurmdbd

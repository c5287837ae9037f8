// ReservationGroups: finds out again and again who is in the groups that reservations name, and tells the core. At the start, at reconfigure,
// and once in GroupUpdateTime; with GroupUpdateForce=0 then only where /etc/group was changed. The user database may be slow: a thread of its own
// asks it. A group that it does not know, or an answer that does not come, changes nothing: the members stay those that were known. scontrol(1)
// Groups=; slurm.conf(5); guide reservations.
//
// Lives on the I/O thread. Cost: a question for each group that a reservation names, each time.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/cluster.h"
#include "net/loop.h"
#include "net/query_thread.h"
#include "os/group_members.h"
#include "os/log.h"
#include "slurmctld/core/reservations.h"

namespace muster::slurmctld {

// When /etc/group was last written; 0: nobody knows.
int64_t group_file_written();

class ReservationGroups {
 public:
  struct Ports {
    std::function<std::shared_ptr<const Snapshot>()> snapshot;
    // The members of all groups of the reservation, as long as it still names those.
    std::function<void(const GroupMembers&)> known;
    std::function<Result<std::vector<std::string>>(const std::string& group)> ask = os::group_members;  // may block
    std::function<int64_t()> changed = group_file_written;  // a number that is another when /etc/group is
  };
  ReservationGroups(net::Loop& loop, os::Log& log, Ports ports);

  // Looks now, and from now on so often; `every` 0: no more by itself. `force`: also where the file did not change.
  void configure(Duration every, bool force);

 private:
  void look();
  void wait();

  net::Loop& loop_;
  os::Log& log_;
  Ports ports_;
  Duration every_{};
  bool force_ = true;
  int64_t seen_ = 0;  // what `changed` said last
  std::unique_ptr<net::Loop::Timer> timer_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for answers that come after this object is destroyed
  net::QueryThread thread_;
};

}  // namespace muster::slurmctld

// RelayPlaces: at whose cost a request is served that another host passes on, and, of a node with a certificate, whether the user whom it names
// has a job there (passed_on.h). A host with the cluster key is believed: the user pays. So he does where he has a job on the node, and for what a
// login host passes on. All else is at the cost of the host that says it, or somebody could use up another's share.
//
// Lives on the I/O thread. Whether there is a job the core thread says, by its index: O(jobs on the node), and no walk over all jobs here.
#pragma once

#include <functional>
#include <memory>

#include "slurmctld/core/caller.h"
#include "slurmctld/core/settings.h"
#include "slurmctld/daemon/core_thread.h"

namespace muster::slurmctld {

struct RelayPlace {
  std::shared_ptr<void> held;  // given back with the last copy
  bool has_job = false;        // of a node with a certificate: its user has a job there
};

class RelayPlaces {
 public:
  struct Ports {
    std::function<std::shared_ptr<const Settings>()> settings;
    std::function<Result<std::shared_ptr<void>>(Uid uid, size_t bytes)> at_user;
    std::function<Result<std::shared_ptr<void>>(const Subject& host, size_t bytes)> at_host;
  };
  RelayPlaces(CoreThread& core, Ports ports) : core_(core), ports_(std::move(ports)) {}

  // For `who`, whom a host with the cluster key or a login host names. kTryAgainLater: there is no place.
  Result<RelayPlace> take(const Caller& who, size_t bytes) const;
  // For one whom the node who.through_node names: `then` is called later, from the loop. An error comes at once.
  Result<> take_by_node(const Caller& who, size_t bytes, std::function<void(Result<RelayPlace>)> then) const;

 private:
  CoreThread& core_;
  Ports ports_;
};

}  // namespace muster::slurmctld

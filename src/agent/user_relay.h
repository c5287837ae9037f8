// UserRelay: passes the requests of this host's users on to slurmctld. The agent socket says who asks, slurmctld judges; a user needs no
// cluster key. Who asked is named to slurmctld where it would wait for him alone, so that it forgets the request when he goes.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "agent/controller_connection.h"

namespace muster::agent {

class UserRelay {
 public:
  // `host`: what slurmctld is told of where the requests come from: the NodeName, or the host's name.
  UserRelay(ControllerConnection& link, std::function<std::string()> host) : link_(link), host_(std::move(host)) {}

  // Takes a kRequest frame of an agent socket's channel, and answers it there. Error: the channel is none of a user of this host.
  Result<> pass_on(const net::ChannelPtr& channel, const net::Frame& frame);
  void closed(const net::Channel* channel);  // its user is gone

 private:
  ControllerConnection& link_;
  std::function<std::string()> host_;
  std::map<const net::Channel*, uint64_t> askers_;  // those for whom slurmctld was asked to wait
  uint64_t last_asker_ = 0;
};

}  // namespace muster::agent

// Which clusters have a controller connected, by the connections that registered them. Lives on the I/O thread.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "net/channel.h"

namespace muster::slurmdbd {

class ControllerWatch {
 public:
  void registered(const net::Channel* connection, const std::string& cluster) { cluster_of_[connection] = cluster; }
  // The cluster that has no controller any more, now that this connection is closed.
  std::optional<std::string> ended(const net::Channel* connection) {
    const auto at = cluster_of_.find(connection);
    if (at == cluster_of_.end()) return std::nullopt;
    std::string cluster = std::move(at->second);
    cluster_of_.erase(at);
    const bool another = std::ranges::any_of(cluster_of_, [&](const auto& entry) { return entry.second == cluster; });
    return another ? std::nullopt : std::optional(std::move(cluster));
  }

 private:
  std::map<const net::Channel*, std::string> cluster_of_;
};

}  // namespace muster::slurmdbd

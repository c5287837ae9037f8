// DirectoryFetch: fetches accounts, users, associations and QOS from slurmdbd, over the connection that accounting_link.h keeps. It waits
// until they may have changed since the last fetch (rpc::AwaitDirectory), asks for them, and hands them on as one value. slurmdbd takes the next
// wait for a word that what was fetched is known here (whoever changed it waits for that), so it comes as soon as that is so. When they do not
// arrive, are too many, or are not taken, it asks again after a pause; what was known is kept. Lives on the I/O thread; answers are decoded
// on the thread that it is given.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/accounts.h"
#include "net/backoff.h"
#include "net/channel.h"
#include "net/query_thread.h"
#include "os/log.h"

namespace muster::slurmctld {

inline constexpr size_t kMostDirectoryBytes = size_t{256} << 20;  // of the answers of one fetch

class DirectoryFetch {
 public:
  using Directory = std::shared_ptr<const rpc::Entities>;
  struct Ports {
    // One of the two is called, on the I/O thread: `known` once the directory is recorded, `refused` where it could not be.
    std::function<void(Directory, std::function<void()> known, std::function<void(const Error&)> refused)> learned;
  };
  DirectoryFetch(net::Loop& loop, os::Log& log, net::QueryThread& decoder, Ports ports);
  ~DirectoryFetch();

  void begin(net::ChannelPtr channel, const std::string& cluster);
  void end();  // the connection is gone, or about to go

 private:
  struct Round {                          // one wait, and the answers that follow
    std::weak_ptr<net::Channel> channel;  // the link keeps the channel, and the channel keeps the round in its callbacks
    std::string cluster;
    uint64_t version = 0;  // which version of the directory is being fetched
    Duration began{};      // when it was asked for
    size_t asked = 0;      // how many of the questions were asked
    std::vector<std::string> parts;
    size_t bytes = 0;
  };
  using RoundPtr = std::shared_ptr<Round>;
  void await(const net::ChannelPtr& channel, const std::string& cluster, uint64_t version);
  void ask(const RoundPtr& round);
  void decode(const RoundPtr& round);
  void decoded(const RoundPtr& round, Result<Directory> directory);
  void again(const Error& why);
  // Whether the round is the current one; `alive` says whether there still is a DirectoryFetch.
  bool current(const std::shared_ptr<bool>& alive, const RoundPtr& round) const { return *alive && round_ == round; }

  net::Loop& loop_;
  os::Log& log_;
  net::QueryThread& decoder_;
  Ports ports_;
  RoundPtr round_;  // null: not connected. Callbacks of an older one come too late
  net::Backoff pauses_{seconds(1), seconds(60), net::Backoff::random_seed()};
  uint32_t failures_ = 0;
  Duration rest_{};  // before the next fetch: as long as the last one took
  std::unique_ptr<net::Loop::Timer> timer_, listen_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace muster::slurmctld

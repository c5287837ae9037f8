// Neighbours: what this slurmd tells the slurmds of other nodes about steps (docs/adr/0011), until they have it. Each node has a queue of
// its own, in order, with one request under way; a node that cannot be reached is tried again, less and less often. Any answer of the node,
// an error too, ends a request. kMostWaiting bounds each queue: what is beyond it is not taken.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "net/backoff.h"
#include "net/channel.h"
#include "os/log.h"
#include "slurmd/daemon/node_places.h"
#include "slurmd/daemon/setup.h"

namespace muster::slurmd {

class Neighbours {
 public:
  static constexpr size_t kMostWaiting = 16384;
  Neighbours(net::Loop& loop, os::Log& log, const Setup& setup, const NodePlaces& places)
      : loop_(loop), log_(log), setup_(setup), places_(places) {}

  // `told` (may be empty) is called once that node has it. False: nobody knows where that node is, or it has too much waiting for it already.
  bool tell(const std::string& node, JobId job, uint16_t message, std::string payload, std::function<void()> told);
  // Drops what is waiting about this job: nobody is interested in it any more.
  void forget(JobId job);

 private:
  struct Letter {
    JobId job{};
    uint16_t message = 0;
    std::string payload;
    std::function<void()> told;
  };
  struct Line {
    std::deque<Letter> letters;
    net::ChannelPtr channel;
    bool busy = false;  // it connects, or a letter is under way
    net::Backoff pauses{milliseconds(50), seconds(10), net::Backoff::random_seed()};
    std::unique_ptr<net::Loop::Timer> timer;
  };
  void go_on(const std::string& node);
  void connect(const std::string& node);
  void answered(const std::string& node, const Result<net::Frame>& answer);
  void try_again(const std::string& node, const Error& why);

  net::Loop& loop_;
  os::Log& log_;
  const Setup& setup_;
  const NodePlaces& places_;
  std::map<std::string, Line> lines_;
};

}  // namespace muster::slurmd

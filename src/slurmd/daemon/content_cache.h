// ContentCache: scripts and environments that launches name by their hash, in the spool of this node (mode 600 in a directory of mode 700).
// The controller is asked for what is not here, a piece at a time and one content after the other, so a node takes large scripts at its own
// pace however many launches name them; tasks of an array share one. Bounded: beyond `most_bytes` the contents used longest ago go, except
// those that wait to be started. Lives on the loop's thread.
//
// While a job is started its content is in memory, until slurmstepd has taken it: so jobs are told one after the other, and those that are
// being started have at most `at_once` bytes together.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/node_rpc.h"
#include "net/loop.h"
#include "os/log.h"

namespace muster::slurmd {

class ContentCache {
 public:
  struct Ports {
    std::function<void(const rpc::FetchContent&, std::function<void(Result<rpc::ContentPiece>)>)> fetch;
    // The job's contents are all here, or the error says why they will not come (`node_fault`: it is this node's). Not called when the
    // controller is lost: the next session asks again.
    std::function<void(JobId job, uint32_t generation, Result<> found, bool node_fault)> done;
  };
  static constexpr uint64_t kMostBytes = uint64_t{256} << 20, kAtOnce = uint64_t{8} << 20;
  static constexpr uint64_t kLongest = uint64_t{64} << 20;  // of one content
  ContentCache(net::Loop& loop, os::Log& log, std::string directory, Ports ports, uint64_t most_bytes = kMostBytes,
               uint64_t at_once = kAtOnce)
      : loop_(loop), log_(log), directory_(std::move(directory)), ports_(std::move(ports)), most_bytes_(most_bytes), at_once_(at_once) {}

  Result<> open();  // makes the directory and looks at what is in it
  void find(JobId job, uint32_t generation, std::vector<std::string> hashes);
  // A content that cannot be read, or is damaged, is forgotten: it may be fetched again.
  Result<std::string> read(const std::string& hash);
  void let_go(JobId job);                       // taken by its slurmstepd, or over
  void let_go(JobId job, uint32_t generation);  // not that of a later run
  uint64_t bytes() const { return bytes_; }

 private:
  struct Wanted {
    uint32_t generation = 0;
    std::vector<std::string> hashes;
    bool told = false;
    uint64_t size = 0;  // set when it is told: then part of under_way_
  };
  struct Kept {
    uint64_t size = 0, used = 0;  // `used` counts up
  };
  std::string path_of(const std::string& hash) const { return directory_ + "/" + hash; }
  bool is_wanted(const std::string& hash) const;
  void look(JobId job);
  void look_at_all();
  void forget(JobId job);
  void fetch_next();
  void ask(JobId job, const std::string& hash);
  void take(const std::string& hash, Result<rpc::ContentPiece> piece);
  void finish(const std::string& hash);
  void give_up(const std::string& hash, const Error& why, bool node_fault);
  void make_room();

  net::Loop& loop_;
  os::Log& log_;
  std::string directory_;
  Ports ports_;
  uint64_t most_bytes_, at_once_, bytes_ = 0, under_way_ = 0, clock_ = 0;
  std::map<std::string, Kept> kept_;
  std::map<JobId, Wanted> wanted_;
  std::string fetching_, arrived_;  // the hash that is being fetched, and what has come of it
  std::unique_ptr<net::Loop::Timer> retry_;
};

}  // namespace muster::slurmd

// Runs walks through what is to be purged (purging.h): each hour, and for sacctmgr archive dump. ArchiveScript comes first, if there is one,
// while everything else goes on; then the pieces follow on the writer thread, other writes between them. Lives on the I/O thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/loop.h"
#include "net/query_thread.h"
#include "slurmdbd/daemon/purging.h"

namespace muster::slurmdbd {

// Runs a program with these variables besides our own; `done` gets "", or what went wrong.
using RunProgram = std::function<void(const std::string& path, std::vector<std::string> variables, std::function<void(std::string)> done)>;

// How long ArchiveScript may take: it copies what may be months of records.
inline constexpr Duration kMostOfArchiveScript = minutes(60);

class PurgeWalks {
 public:
  struct Ports {
    net::Loop& loop;
    net::QueryThread& writer;
    std::function<std::shared_ptr<const Directory>()> directory;  // from the writer thread
    RunProgram run_program;
  };
  explicit PurgeWalks(Ports ports) : ports_(std::move(ports)) {}

  // `over` is called on the I/O thread once the walk is: everything is done, or an error has ended it. `walk` says what was purged.
  using Over = std::function<void(const Purging& walk, const Result<>& done)>;
  void start(std::unique_ptr<Purging> walk, Over over);

 private:
  struct Walk {
    std::unique_ptr<Purging> purging;
    Over over;
  };
  using WalkPtr = std::shared_ptr<Walk>;
  void begun(const WalkPtr& walk, const Result<>& done);
  void next_piece(const WalkPtr& walk);
  // Runs `work` on the writer thread, then `then` here with what it returned.
  void on_writer(std::function<Result<>()> work, std::function<void(const Result<>&)> then);

  Ports ports_;
};

}  // namespace muster::slurmdbd

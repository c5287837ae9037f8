// squeue --watch: the list as it stands, kept up by what the controller tells of changes; nothing is asked again and
// again. On a terminal the list is redrawn in place, until q or Ctrl-C; elsewhere each changed line is printed as it
// comes, so that a script may read them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/common/options.h"
#include "cli/common/request_table.h"
#include "cli/squeue/print.h"
#include "os/cli_log.h"

namespace muster::cli {

inline constexpr uint32_t kWatchPerSecond = 2, kMaxWatchPerSecond = 10;

// The rows being watched, as the controller's notices leave them.
class WatchedJobs {
 public:
  WatchedJobs(const SqueueOptions& options, const Listing& listing) : options_(options), listing_(listing) {}

  // Takes a notice. The lines that changed by it; that time goes by is no change.
  std::vector<std::string> apply(rpc::JobChanges&& changes, const fields::Environment& env);
  // The connection was lost: the next notices tell everything again; what they do not name is gone.
  void begin_again();
  void end_of_look();

  // The list in its order, a line each without '\n', the header first unless --noheader.
  std::vector<std::string> lines(const fields::Environment& env) const;
  size_t jobs() const { return rows_.size(); }

 private:
  struct Watched {
    JobRow row;
    std::shared_ptr<const ShownRequest> request;
    std::string key;  // its lines, with elapsed times that stand still
    bool confirmed = true;
  };
  bool wanted(const JobRow& row, const ShownRequest& request, Time now) const;
  std::string text_of(const JobRow& row, const ShownRequest& request, const fields::Environment& env) const;

  const SqueueOptions& options_;
  const Listing& listing_;
  RequestTable requests_;
  std::map<uint32_t, Watched> rows_;  // by job id
  Time fixed_now_{};                  // of the first notice
};

// Until q, Ctrl-C, a signal, or the controller stays away. squeue's exit code.
int watch_jobs(const SqueueOptions& options, const Listing& listing, const os::CliLog& log);

}  // namespace muster::cli

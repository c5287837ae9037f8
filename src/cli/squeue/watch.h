// squeue --watch: the list as it is, kept current by the controller's notices of changes, without polling. On a terminal the list is
// redrawn in place, until q or Ctrl-C; elsewhere each changed line is printed as it comes, so that a script may read them.
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

// The rows being watched, with the controller's notices applied.
class WatchedJobs {
 public:
  WatchedJobs(const SqueueOptions& options, const Listing& listing) : options_(options), listing_(listing) {}

  // Applies a notice. Gives the lines that it changed; elapsed time alone is no change.
  std::vector<std::string> apply(rpc::JobChanges&& changes, const fields::Environment& env);
  // To be called when the connection was lost: the next notices tell everything again; rows that they do not name are gone.
  void begin_again();
  void end_of_look();

  // The list in its order, without '\n' in the lines; the header comes first unless --noheader.
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

// Runs until q, Ctrl-C, a signal, or until the controller stays away. Gives squeue's exit code.
int watch_jobs(const SqueueOptions& options, const Listing& listing, const os::CliLog& log);

}  // namespace muster::cli

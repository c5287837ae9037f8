// Asking for an allocation, telling the user how it goes, giving it back. salloc(1).
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <vector>

#include "cli/common/options.h"
#include "cli/common/session.h"
#include "os/cli_log.h"

namespace muster::cli {

// A job that waits for its nodes, shared with the thread that watches signals.
struct Pending {
  std::atomic<uint32_t> job = 0;  // once it is known
  std::mutex telling;             // held while lines are printed; protects the members below
  bool told_waiting = false;      // "Pending job allocation …" was printed
  bool granted = false;           // it has its nodes, which may not be ready yet
};

// Waits until the job has its nodes. `pending.job` is set as soon as it is known, so that a signal can cancel the job. nullopt after an
// error, which was reported.
// `components`: one, or those of a heterogeneous job; the result has as many. `stays`: this command lives as long as the job is wanted, so
// InactiveLimit may end the job when it is gone.
std::optional<std::vector<rpc::Allocated>> allocate(Session& session, const std::vector<AskedRequest>& components, bool stays,
                                                    const os::CliLog& log, Pending& pending);

// Tells the user and gives the job back.
void relinquish(const ClientConf& conf, JobId job, int wait_status, const os::CliLog& log);

}  // namespace muster::cli

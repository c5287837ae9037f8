#include "muster/down.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/common/session.h"
#include "os/clock.h"
#include "os/files.h"

namespace muster::front {
namespace {

constexpr Duration kJobsEnd = seconds(8), kDaemonsEnd = seconds(10);

void pause_ms(long ms) {
  timespec t{0, ms * 1'000'000};
  nanosleep(&t, nullptr);
}

Result<cli::Session> session_of(const Place& place) {
  setenv("SLURM_CONF", place.conf().c_str(), 1);
  return cli::Session::find(cli::Patience::kNone);
}

struct JobCounts {
  size_t running = 0, pending = 0;
};
Result<JobCounts> count_jobs(cli::Session& session) {
  JobCounts out;
  MUSTER_TRY_VOID(session.stream(rpc::QueryJobs{}, [&](rpc::JobRows&& part) -> Result<> {
    for (const JobRow& j : part.jobs) {
      if (j.state == JobState::kPending) ++out.pending;
      else if (!is_finished(j.state) || (j.flags & kJobCompleting)) ++out.running;
    }
    return {};
  }));
  return out;
}

// Cancels what runs, so that no step lives on without its daemons.
void cancel_running(const Place& place) {
  Result<cli::Session> session = session_of(place);
  if (!session) return;
  rpc::SignalJobs cancel;
  cancel.filter.states = 1u << static_cast<unsigned>(JobState::kRunning) | 1u << static_cast<unsigned>(JobState::kSuspended);
  if (!session->call(cancel)) return;
  Time until = os::monotonic_now() + kJobsEnd;
  while (os::monotonic_now() < until) {
    Result<JobCounts> jobs = count_jobs(*session);
    if (!jobs || jobs->running == 0) return;
    pause_ms(20);
  }
}

}  // namespace

Result<std::vector<NodeRow>> query_nodes(const Place& place) {
  MUSTER_TRY(session, session_of(place));
  std::vector<NodeRow> out;
  MUSTER_TRY_VOID(session.stream(rpc::QueryNodes{"", {}, true}, [&](rpc::NodeRows&& part) -> Result<> {
    for (NodeRow& n : part.nodes) out.push_back(std::move(n));
    return {};
  }));
  return out;
}

size_t end_daemons(const Place& place) {
  std::vector<Daemon> daemons = running_daemons(place);
  for (const Daemon& d : daemons)
    if (d.pid > 1) kill(d.pid, SIGTERM);
  Time until = os::monotonic_now() + kDaemonsEnd;
  while (!running_daemons(place).empty() && os::monotonic_now() < until) pause_ms(10);
  for (const Daemon& d : running_daemons(place)) {
    fprintf(stderr, "muster: %s (process %d) did not end by itself and is killed\n", d.name.c_str(), d.pid);
    if (d.pid > 1) kill(d.pid, SIGKILL);
  }
  return daemons.size();
}

int down(const Place& place) {
  if (running_daemons(place).empty()) {
    printf("Nothing is up in %s.\n", place.directory.c_str());
    return 0;
  }
  if (controller_pid(place)) cancel_running(place);
  size_t ended = end_daemons(place);
  printf("Down: %zu daemons ended. The queue and the settings stay in %s.\n", ended, place.directory.c_str());
  return 0;
}

int status(const Place& place) {
  int pid = controller_pid(place);
  if (!pid) {
    printf("Nothing is up in %s; `muster up` starts a cluster.\n", place.directory.c_str());
    return 1;
  }
  Result<std::vector<NodeRow>> nodes = query_nodes(place);
  Result<cli::Session> session = session_of(place);
  Result<JobCounts> jobs = session ? count_jobs(*session) : Result<JobCounts>(std::unexpected(session.error()));
  if (!nodes || !jobs) {
    const Error& e = nodes ? jobs.error() : nodes.error();
    fprintf(stderr, "muster: slurmctld (process %d) does not answer: %s\n", pid, std::string(e.message()).c_str());
    return 1;
  }
  size_t with_daemon = 0;
  bool accounting = false;
  for (const Daemon& d : running_daemons(place)) {
    accounting = accounting || d.name == "slurmdbd";
    with_daemon += d.name != "slurmctld" && d.name != "slurmdbd";
  }
  printf("Up in %s: slurmctld is process %d%s, %zu of %zu nodes have a slurmd; %zu jobs running, %zu waiting.\n", place.directory.c_str(),
         pid, accounting ? ", slurmdbd runs" : "", with_daemon, nodes->size(), jobs->running, jobs->pending);
  for (const NodeRow& n : *nodes)
    printf("  %-6s %-12s %u of %u CPUs%s%s\n", n.name.c_str(), node_state_long(n.state, n.flags).c_str(), n.cpus_allocated, n.cpus,
           n.gres.empty() ? "" : ", ", n.gres.c_str());
  printf("  export SLURM_CONF=%s\n", place.conf().c_str());
  return 0;
}

int logs(const Place& place, const std::string& name, size_t lines) {
  std::vector<std::string> daemons;
  if (!name.empty()) {
    daemons.push_back(name);
  } else {
    daemons.push_back("slurmctld");
    if (access(place.log("slurmdbd").c_str(), R_OK) == 0) daemons.push_back("slurmdbd");
    for (uint32_t i = 1; i <= kMaxNodes; ++i) {
      std::string node = "n" + std::to_string(i);
      if (access(place.log(node).c_str(), R_OK) == 0) daemons.push_back(node);
    }
  }
  int code = 0;
  for (const std::string& d : daemons) {
    Result<std::string> text = os::read_file(place.log(d), size_t{256} << 20);
    if (!text) {
      fprintf(stderr, "muster: no log of %s: %s\n", d.c_str(), std::string(text.error().message()).c_str());
      code = 1;
      continue;
    }
    size_t at = text->size();
    for (size_t n = 0; n <= lines && at != std::string::npos && at > 0; ++n) at = text->rfind('\n', at - 1);
    std::string tail = at == std::string::npos || at == 0 ? *text : text->substr(at + 1);
    printf("==> %s\n%s", place.log(d).c_str(), tail.c_str());
  }
  return code;
}

}  // namespace muster::front

#include "muster/up.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cli/common/session.h"
#include "muster/down.h"
#include "os/clock.h"
#include "os/files.h"
#include "os/process.h"

namespace muster::front {
namespace {

constexpr Duration kStartTime = seconds(20);

Result<> require_program(const std::string& path) {
  if (access(path.c_str(), X_OK) == 0) return {};
  return fail(Errc::kNotFound, path + " is not there", "muster starts the daemons of its own installation: bin/ and sbin/ side by side");
}

// A daemon that is starting: it goes to the background by itself, and its first process ends once the daemon has started.
struct Starting {
  std::string name;
  pid_t pid = 0;
};

Result<Starting> begin(const Place& place, const std::string& name) {
  os::SpawnSpec spec;
  const bool node = name != "slurmctld" && name != "slurmdbd";
  spec.path = sbin_directory() + "/" + (node ? "slurmd" : name);
  spec.argv = {spec.path, "-f", name == "slurmdbd" ? place.dbd_conf() : place.conf()};
  if (node) spec.argv.insert(spec.argv.end(), {"-N", name});
  spec.cwd = place.directory;
  MUSTER_TRY(pid, os::spawn(spec));
  return Starting{name, pid};
}

Result<> finish(const Starting& s) {
  MUSTER_TRY(ended, os::wait_child(s.pid, kStartTime));
  if (ended.status.ok()) return {};
  return fail(Errc::kError, s.name + " could not start (exit code " + std::to_string(ended.status.code) + ")");
}

Result<> start_daemons(const Place& place, const Plan& plan) {
  std::vector<Starting> nodes;  // and slurmdbd, for which the controller waits
  if (plan.accounting) {
    MUSTER_TRY(dbd, begin(place, "slurmdbd"));
    nodes.push_back(std::move(dbd));
  }
  MUSTER_TRY(controller, begin(place, "slurmctld"));
  MUSTER_TRY_VOID(finish(controller));
  for (const std::string& name : node_names(plan)) {
    MUSTER_TRY(node, begin(place, name));
    nodes.push_back(std::move(node));
  }
  for (const Starting& n : nodes) MUSTER_TRY_VOID(finish(n));
  return {};
}

bool ready(const NodeRow& n) {
  if (n.flags & (kNodeNoRespond | kNodeDrain | kNodeInvalid | kNodeFail)) return false;
  return n.state == NodeState::kIdle || n.state == NodeState::kMixed || n.state == NodeState::kAllocated;
}

// Asks the controller for its nodes until all of them are ready.
Result<> wait_until_idle(const Place& place, const Plan& plan) {
  Time until = os::monotonic_now() + kStartTime;
  std::string missing;
  while (os::monotonic_now() < until) {
    MUSTER_TRY(nodes, query_nodes(place));
    missing.clear();
    size_t good = 0;
    for (const NodeRow& n : nodes) {
      if (ready(n)) ++good;
      else
        missing += (missing.empty() ? "" : ", ") + n.name + " is " + node_state_long(n.state, n.flags) +
                   (n.reason.empty() ? "" : " (" + n.reason + ")");
    }
    if (good >= plan.nodes) return {};
    timespec pause{0, 10'000'000};
    nanosleep(&pause, nullptr);
  }
  return fail(Errc::kTimedOut, "not all nodes came up: " + missing);
}

// Until the database has the cluster: before that no account can be added.
Result<> wait_for_accounting() {
  rpc::QueryEntities query;
  query.what = Entity::kCluster;
  std::string why = "it has not heard of the cluster";
  for (Time until = os::monotonic_now() + kStartTime; os::monotonic_now() < until;) {
    auto session = cli::Session::find(cli::Patience::kNone, cli::Whom::kDatabase);
    bool known = false;
    const auto look = [&](const rpc::Entities& part) -> Result<> { return known |= !part.clusters.empty(), Result<>(); };
    const Result<rpc::Empty> asked = session ? session->stream(query, look) : std::unexpected(session.error());
    if (known) return {};
    if (!asked) why = asked.error().message();
    timespec pause{0, 10'000'000};
    nanosleep(&pause, nullptr);
  }
  return fail(Errc::kTimedOut, "slurmdbd is not ready: " + why);
}

void show_success(const Place& place, const Plan& plan, Duration took) {
  bool colour = isatty(1) && !getenv("NO_COLOR");
  const char* bold = colour ? "\033[1;32m" : "";
  const char* plain = colour ? "\033[0m" : "";
  printf("%sUp%s in %.1f s: %u node%s, each with %u CPUs, %llu MiB", bold, plain, static_cast<double>(took.count()) / 1e6, plan.nodes,
         plan.nodes == 1 ? "" : "s", plan.cpus, static_cast<unsigned long long>(plan.memory_mb));
  if (plan.gpus_per_node) printf(" and %u %s GPUs (counted, not real)", plan.gpus_per_node, plan.gpu_type.c_str());
  printf(".\n\nUse it from any shell:\n\n  export SLURM_CONF=%s\n  export PATH=%s:$PATH\n\n", place.conf().c_str(),
         bin_directory().c_str());
  printf("then for example: sinfo; srun -N%u hostname; sbatch train.sh\n", plan.nodes > 1 ? 2 : 1);
  printf("End it with: muster down%s\n", plan.state.empty() ? "" : (" --state=" + place.directory).c_str());
}

}  // namespace

int up(const Place& place, const Plan& plan) {
  if (int pid = controller_pid(place)) {
    fprintf(stderr,
            "muster: already up in %s (slurmctld is process %d); `muster status` shows it, `muster down` "
            "ends it\n",
            place.directory.c_str(), pid);
    return 1;
  }
  Time began = os::monotonic_now();
  // The daemons read the configuration from -f; programs that they start must not find another one.
  setenv("SLURM_CONF", place.conf().c_str(), 1);
  Result<> done = require_program(sbin_directory() + "/slurmctld");
  if (done) done = require_program(sbin_directory() + "/slurmd");
  if (done && plan.accounting) done = require_program(sbin_directory() + "/slurmdbd");
  if (done) done = furnish(place, plan);
  if (!done) {
    fprintf(stderr, "muster: %s\n", std::string(done.error().message()).c_str());
    if (!done.error().hint.empty()) fprintf(stderr, "muster: %s\n", done.error().hint.c_str());
    return 1;
  }
  done = start_daemons(place, plan);
  if (done) done = wait_until_idle(place, plan);
  if (done && plan.accounting) done = wait_for_accounting();
  if (!done) {
    fprintf(stderr, "muster: %s\n", std::string(done.error().message()).c_str());
    if (!done.error().hint.empty()) fprintf(stderr, "muster: %s\n", done.error().hint.c_str());
    logs(place, "", 10);
    end_daemons(place);
    return 1;
  }
  show_success(place, plan, os::monotonic_now() - began);
  return 0;
}

}  // namespace muster::front

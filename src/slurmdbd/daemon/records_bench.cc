// The driver of bench/accounting.py: writes records of ended jobs, with two steps each, of the 90 days before a time.
//   muster-bench-records store DATABASE CLUSTER JOBS UNTIL   through Storage, which is the quickest way to write real ones
//   muster-bench-records roll DATABASE CLUSTER UNTIL         rolls up all that is due
//   muster-bench-records send SOCKET CLUSTER JOBS UNTIL [RATE]  to a slurmdbd, as slurmctld uploads them: 1,000 in a message, one on its way
// RATE: records a second; without it as many as it takes.
// DATABASE: sqlite:FILE, or maria:SOCKET, where root has no password and slurm_acct_db is meant. UNTIL: seconds since 1970. `send` numbers
// its jobs from 100,000,001 on, so that none of them is known.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <thread>

#include "net/client.h"
#include "slurmdbd/daemon/bench_records.h"
#include "slurmdbd/daemon/usage_rolling.h"
#include "sql/storage.h"
#include "wire/accounting_instances.h"
#include "wire/messages.h"

namespace muster::slurmdbd {
namespace {

constexpr int64_t kLong = 90 * 24 * 3600;
constexpr uint32_t kFirstSent = 100'000'000;
// The last job is submitted so long before the end that it has ended by then.
constexpr int64_t kLongest = 6 * 3600;

// One of the users exists on each host, so that `sacct -u` can name it.
constexpr Uid kNobody{65534};

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point began) { return std::chrono::duration<double>(Clock::now() - began).count(); }

struct Plan {
  std::string cluster;
  uint32_t jobs = 0;
  Time until{};
  double rate = 0;  // 0: as fast as it goes
  Time from() const { return until - seconds(kLong); }
};

StepRecord step(const JobRecord& job, StepId id) {
  StepRecord s;
  s.job = job.key;
  s.id = id;
  s.position = job.position;
  s.name = id == kBatchStep ? "batch" : "python";
  s.state = job.state;
  s.started = job.started;
  s.ended = job.ended;
  s.nodes = id == kBatchStep ? 1 : 4;
  s.tasks = s.nodes;
  s.cpus = s.nodes * 16;
  s.node_list = id == kBatchStep ? "n1" : "n[1-4]";
  s.tres_allocated = job.tres_allocated;
  return s;
}

void add(rpc::StoreRecords& m, const Plan& plan, uint32_t index, uint32_t first_id) {
  JobRecord job = bench_job(index, plan.jobs, plan.from(), kLong - kLongest);
  job.key.id = JobId(first_id + index);
  if (index % 500 == 7) job.uid = kNobody;
  job.gid = Gid(1000);
  job.group = "users";
  job.requested_cpus = job.cpus = 64;
  job.requested_nodes = job.nodes = job.tasks = 4;
  job.requested_mem = "512G";
  job.gres_allocated = "gpu:h100:32";
  job.time_limit_min = 600;
  job.std_in = "/dev/null";
  job.std_out = job.std_err = "/home/user/project/slurm-%j.out";
  job.has_script = true;
  job.exit_status = job.state == JobState::kFailed ? 256 : 0;
  for (StepId id : {kBatchStep, StepId(0)}) m.steps.push_back(step(job, id));
  m.jobs.push_back(std::move(job));
}

// Makes the records, `in_message` at a time, and tells how far it is on stderr. Records: a job and its two steps are three.
Result<> write_all(const Plan& plan, uint32_t in_message, uint32_t first_id,
                   const std::function<Result<>(const rpc::StoreRecords&)>& write) {
  const auto began = Clock::now();
  auto told = began;
  auto in_time = [&](uint32_t jobs) {
    return began + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(3.0 * jobs / plan.rate));
  };
  for (uint32_t next = 1; next <= plan.jobs;) {
    rpc::StoreRecords m;
    m.cluster = plan.cluster;
    for (; next <= plan.jobs && m.jobs.size() + m.steps.size() + 3 <= in_message; ++next) add(m, plan, next, first_id);
    m.position = first_id + next;
    MUSTER_TRY_VOID(write(m));
    if (plan.rate > 0) std::this_thread::sleep_until(in_time(next - 1));
    if (seconds_since(told) < 10) continue;
    told = Clock::now();
    std::fprintf(stderr, "  %u of %u jobs, %.0f records/s\n", next - 1, plan.jobs, 3.0 * (next - 1) / seconds_since(began));
  }
  const double took = seconds_since(began);
  std::printf("%u jobs, %.3f s, %.0f records/s\n", plan.jobs, took, 3.0 * plan.jobs / took);
  return {};
}

Result<std::unique_ptr<sql::Storage>> open_database(std::string_view where) {
  const std::string place(where.substr(where.find(':') + 1));
  if (where.starts_with("sqlite:")) {
    MUSTER_TRY(connection, sql::open_sqlite(place));
    return sql::Storage::open(std::move(connection));
  }
  if (!where.starts_with("maria:")) return fail(Errc::kInvalidArgument, std::string(where) + ": not sqlite:FILE or maria:SOCKET");
  sql::MariaDbOptions options;
  options.socket = place;
  options.user = "root";
  MUSTER_TRY(connection, sql::open_mariadb(options));
  return sql::Storage::open(std::move(connection));
}

Result<> store(std::string_view database, const Plan& plan) {
  MUSTER_TRY(storage, open_database(database));
  EventRecord made;
  made.started = plan.from() - minutes(60);
  made.ended = plan.until;
  made.tres = TresAmounts::from_text("cpu=640000,mem=5120000G,node=10000,billing=640000,gres/gpu=80000");
  MUSTER_TRY_VOID(storage->store_cluster_events(plan.cluster, {made}));
  return write_all(plan, 6000, 0, [&](const rpc::StoreRecords& m) { return storage->store(m); });
}

Result<> roll(std::string_view database, const Plan& plan) {
  MUSTER_TRY(storage, open_database(database));
  Directory directory;
  directory.clusters[plan.cluster].name = plan.cluster;
  const auto began = Clock::now();
  for (bool more = true; more;) {
    MUSTER_TRY(left, roll_some(*storage, directory, plan.cluster, plan.until));
    more = left;
  }
  std::printf("rolled up in %.3f s\n", seconds_since(began));
  return {};
}

Result<> send(const char* socket, const Plan& plan) {
  net::ClientOptions options;
  options.agent_sockets = {socket};
  options.trusted_uids = {0, ::geteuid()};
  MUSTER_TRY(client, net::connect_client(options));
  return write_all(plan, 1000, kFirstSent, [&](const rpc::StoreRecords& m) -> Result<> {
    std::string bytes;
    wire::encode(m, bytes);
    MUSTER_TRY(answer, client->request(wire::number_of<rpc::StoreRecords>, bytes, seconds(60)));
    static_cast<void>(answer);
    return {};
  });
}

int usage() {
  std::fprintf(stderr, "usage: muster-bench-records store DATABASE CLUSTER JOBS UNTIL | roll DATABASE CLUSTER UNTIL | send SOCKET CLUSTER "
                       "JOBS UNTIL [RATE]\n");
  return 2;
}

}  // namespace
}  // namespace muster::slurmdbd

int main(int argc, char** argv) {
  using namespace muster;
  using namespace muster::slurmdbd;
  setenv("TZ", "UTC", 1);
  const std::string_view what = argc > 1 ? argv[1] : "";
  const bool rolls = what == "roll";
  const bool paced = what == "send" && argc == 7;
  if ((argc != (rolls ? 5 : 6) && !paced) || !(rolls || what == "store" || what == "send")) return usage();
  Plan plan{argv[3], rolls ? 0 : static_cast<uint32_t>(std::atoi(argv[4])), from_unix(std::atoll(argv[rolls ? 4 : 5]))};
  if (paced) plan.rate = std::atof(argv[6]);
  const Result<> done = rolls ? roll(argv[2], plan) : what == "store" ? store(argv[2], plan) : send(argv[2], plan);
  if (!done) std::fprintf(stderr, "muster-bench-records: %s\n", std::string(done.error().message()).c_str());
  return done ? 0 : 1;
}

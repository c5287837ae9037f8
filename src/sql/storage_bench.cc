// Figures for README.md: storage_bench [JOBS]. Fills an SQLite file with jobs of two steps each and asks as sacct does.
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "sql/storage.h"
#include "sql/testing.h"

namespace muster::sql {
namespace {

template <class F>
double seconds_of(F&& f) {
  auto began = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

void fill(Storage& s, uint32_t jobs) {
  constexpr uint32_t kPerMessage = 1000;
  for (uint32_t first = 1; first <= jobs; first += kPerMessage) {
    rpc::StoreRecords m;
    m.cluster = "c";
    for (uint32_t id = first; id < first + kPerMessage && id <= jobs; ++id) {
      JobRecord r;
      r.key = {JobId(id), from_unix(1'700'000'000 + id), 0};
      r.position = id;
      r.uid = Uid(1000 + id % 500);
      r.user = r.account = "user" + std::to_string(id % 500);
      r.name = "train";
      r.partition = "main";
      r.state = JobState::kCompleted;
      r.started = r.key.submitted + seconds(10);
      r.ended = r.started + minutes(5);
      r.node_list = "n[1-4]";
      r.tres_allocated = r.tres_requested = TresAmounts::from_text("cpu=64,mem=512G,node=4,billing=64,gres/gpu=32");
      r.work_dir = "/home/user/project";
      r.submit_line = "sbatch --nodes=4 --gres=gpu:8 train.sh";
      m.jobs.push_back(r);
      for (StepId step : {kBatchStep, StepId(0)}) {
        StepRecord t;
        t.job = r.key;
        t.id = step;
        t.position = id;
        t.started = r.started;
        t.ended = r.ended;
        m.steps.push_back(t);
      }
    }
    if (auto ok = s.store(m); !ok) std::printf("%s\n", std::string(ok.error().message()).c_str());
  }
}

void ask(Storage& s, const char* what, const rpc::JobRecordFilter& f) {
  size_t jobs = 0;
  double took = seconds_of([&] {
    auto numbers = s.find_jobs(f, RecordAudience::everybody());
    std::span<const int64_t> rest = *numbers;
    int64_t next_step = 0;
    while (!rest.empty()) {
      rpc::JobRecords part;
      size_t taken = 0;
      if (!s.load_jobs(rest.subspan(0, std::min<size_t>(rest.size(), 500)), true, part, taken, &next_step) || (!taken && !next_step)) break;
      rest = rest.subspan(taken);
      jobs += taken;
    }
  });
  std::printf("%-32s %9.2f ms, %zu jobs\n", what, took * 1000, jobs);
}

}  // namespace
}  // namespace muster::sql

int main(int argc, char** argv) {
  using namespace muster;
  using namespace muster::sql;
  const auto jobs = static_cast<uint32_t>(argc > 1 ? std::atoi(argv[1]) : 1'000'000);
  TemporaryDirectory directory;
  auto storage = std::move(*Storage::open(std::move(*open_sqlite(directory.path + "/a.db"))));
  double took = seconds_of([&] { fill(*storage, jobs); });
  std::printf("%u jobs with two steps stored in %.1f s: %.0f a second\n", jobs, took, jobs / took);
  rpc::JobRecordFilter f;
  f.jobs.emplace_back().job = JobId(jobs / 2);
  ask(*storage, "one job", f);
  ask(*storage, "the same again", f);
  f = {};
  f.users = {Uid(1007)};
  f.from = from_unix(1'700'000'000 + jobs - 3600);
  ask(*storage, "a user's last hour", f);
  f.users.clear();
  ask(*storage, "everybody's last hour", f);
  f = {};
  f.users = {Uid(1007)};
  ask(*storage, "all of a user's", f);
  return 0;
}

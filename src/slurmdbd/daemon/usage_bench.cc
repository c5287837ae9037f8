// Figures for README.md: a month of jobs rolled up, reports of it, and the edits of a large sacctmgr load. usage_bench [JOBS]; built on request only.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "slurmdbd/core/edit.h"
#include "slurmdbd/daemon/bench_records.h"
#include "slurmdbd/daemon/report_answers.h"
#include "slurmdbd/daemon/usage_rolling.h"
#include "sql/testing.h"
#include "wire/accounting_instances.h"

namespace muster::slurmdbd {
namespace {

constexpr int64_t kMonth = 30 * 24 * 3600;
const Time kStart = from_unix(1'790'812'800);  // 2026-10-01T00:00:00Z

template <class F>
void timed(const char* what, F&& f) {
  const auto began = std::chrono::steady_clock::now();
  const size_t n = f();
  const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  std::printf("%-44s %10.1f ms, %zu\n", what, took * 1000, n);
  std::fflush(stdout);
}

JobRecord job(uint32_t id, uint32_t of) { return bench_job(id, of, kStart, kMonth); }

size_t fill(sql::Storage& s, uint32_t jobs) {
  for (uint32_t first = 1; first <= jobs; first += 1000) {
    rpc::StoreRecords m;
    m.cluster = "c";
    for (uint32_t id = first; id < first + 1000 && id <= jobs; ++id) m.jobs.push_back(job(id, jobs));
    if (auto ok = s.store(m); !ok) std::printf("%s\n", std::string(ok.error().message()).c_str());
  }
  return jobs;
}

// As a file of 300 accounts and 9,000 users makes them, into an empty directory.
rpc::EditEntities edits_of_load() {
  rpc::EditEntities m;
  auto add = [&](Entity entity) -> EntityEdit& {
    EntityEdit& e = m.edits.emplace_back();
    e.verb = EditVerb::kAdd;
    e.entity = entity;
    e.where.clusters = {"c"};
    return e;
  };
  for (int i = 0; i < 300; ++i) {
    EntityEdit& e = add(Entity::kAccount);
    e.where.accounts = {"a" + std::to_string(i)};
    if (i >= 10) e.set.parent = "a" + std::to_string(i % 10);
  }
  for (int i = 0; i < 9000; ++i) {
    EntityEdit& e = add(Entity::kUser);
    e.where.users = {"u" + std::to_string(i)};
    e.where.accounts = {"a" + std::to_string(i % 300)};
  }
  return m;
}

void time_load() {
  Directory d = initial_directory(kStart);
  Touched touched;
  add_cluster(d, "c", "", kStart, touched);
  const rpc::EditEntities m = edits_of_load();
  const Settings settings;
  timed("edits of sacctmgr load; records touched", [&] {
    auto done = edit(d, m, {settings, "root", AdminLevel::kAdministrator, kStart, {}, {}});
    return done ? done->touched.keys.size() : 0;
  });
}

}  // namespace
}  // namespace muster::slurmdbd

int main(int argc, char** argv) {
  using namespace muster;
  using namespace muster::slurmdbd;
  setenv("TZ", "UTC", 1);
  time_load();
  const auto jobs = static_cast<uint32_t>(argc > 1 ? std::atoi(argv[1]) : 1'000'000);
  sql::TemporaryDirectory directory;
  auto storage = std::move(*sql::Storage::open(std::move(*sql::open_sqlite(directory.path + "/a.db"))));
  Directory d;
  d.clusters["c"].name = "c";
  EventRecord made;
  made.started = kStart - minutes(60);
  made.tres = TresAmounts::from_text("cpu=640000,mem=5120000G,node=10000,billing=640000,gres/gpu=80000");
  (void)storage->store_cluster_events("c", {made});
  const Time end = kStart + seconds(kMonth);
  timed("jobs stored", [&] { return fill(*storage, jobs); });
  auto roll = [&] {
    size_t pieces = 0;
    for (;; ++pieces) {
      auto more = roll_some(*storage, d, "c", end + minutes(60 * 24 * 2));
      if (!more || !*more) return pieces + 1;
    }
  };
  timed("a month rolled up; pieces", roll);
  timed("nothing is due; pieces", roll);
  rpc::StoreRecords late;
  late.cluster = "c";
  late.jobs = {job(jobs / 2, jobs)};
  late.jobs[0].position = jobs + 1;
  late.jobs[0].account = "other";
  timed("a job in the middle of it changes; stored", [&] { return storage->store(late).has_value(); });
  timed("  and rolled again; pieces", roll);
  rpc::QueryUsage q;
  q.from = kStart;
  q.until = period_after(UsagePeriod::kMonth, kStart);
  q.parts = kUsageAccount | kUsageUser;
  auto ask = [&] {
    size_t bytes = 0;
    auto answer = answer_usage({*storage, d, end + minutes(60 * 24 * 2), [] { return true; }}, q, {});
    for (std::string part; answer && (*answer)->next(part);) bytes += part.size();
    return bytes;
  };
  timed("AccountUtilizationByUser, a month; bytes", ask);
  timed("  again", ask);
  q.from = kStart + minutes(60 * 30);
  q.until = kStart + minutes(60 * 24 * 28 + 300);
  timed("  of days and hours", ask);
  rpc::QueryJobSizes sizes;
  sizes.filter.clusters = {"c"};
  sizes.filter.from = kStart;
  sizes.filter.until = end;
  timed("SizesByAccount, a month; found", [&] {
    return static_cast<size_t>(
        answer_sizes({*storage, d, end + minutes(60 * 24 * 2), [] { return true; }}, sizes, RecordAudience::everybody()).has_value());
  });
  return 0;
}

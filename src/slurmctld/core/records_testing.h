// A bench for tests of accounting records, which takes in what slurmdbd would get.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "slurmctld/core/core_testing.h"
#include "slurmctld/core/records.h"

namespace muster::slurmctld {

inline constexpr char kOn[] = "AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageTRES=gres/gpu\nGresTypes=gpu\n";

struct RecordBench : Bench {
  explicit RecordBench(const std::string& more = "") : Bench(kOn + more) {}

  // The upload of the last turn, as slurmdbd would get it.
  std::optional<rpc::StoreRecords> upload() const {
    for (const Effect& e : effects)
      if (auto* u = std::get_if<UploadRecords>(&e)) return make_upload(core.cluster(), *u, recorded_parts(settings.config()));
    return std::nullopt;
  }
  void connect() {
    turn([&] { core.records_stored(0); });
  }
  // Stores what is uploaded until nothing more comes; the last state of each record counts.
  void drain() {
    if (!upload()) connect();  // what an earlier turn sent was lost on its way
    for (auto u = upload(); u; u = upload()) {
      for (JobRecord& r : u->jobs) jobs[r.key] = r;
      for (StepRecord& s : u->steps) steps[{s.job, s.id}] = s;
      ++uploads;
      turn([&] { core.records_stored(u->position); });
    }
  }
  const JobRecord* record(JobId id, uint32_t restarts = 0) const {
    for (const auto& [key, r] : jobs)
      if (key.id == id && key.restarts == restarts) return &r;
    return nullptr;
  }
  const StepRecord* step(JobId id, StepId step) const {
    for (const auto& [key, r] : steps)
      if (key.first.id == id && key.second == step) return &r;
    return nullptr;
  }

  std::map<JobRecordKey, JobRecord> jobs;
  std::map<std::pair<JobRecordKey, StepId>, StepRecord> steps;
  size_t uploads = 0;
};

inline StepId make_step(Bench& b, JobId job, bool overlap = false) {
  rpc::CreateStep c;
  c.job = job;
  c.request.name = "work";
  c.request.overlap = overlap;
  Result<rpc::StepCreated> r = fail(Errc::kError);
  b.turn([&] { r = b.core.run(Caller{Uid(1000), {}, {}, {}}, c); });
  EXPECT_TRUE(r.has_value());
  return r ? r->step : StepId{};
}

}  // namespace muster::slurmctld

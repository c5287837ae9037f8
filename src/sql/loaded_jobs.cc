#include "sql/loaded_jobs.h"

#include "base/check.h"
#include "sql/columns.h"
#include "sql/storage.h"
#include "sql/stored_records.h"

namespace muster::sql {
namespace {

// "(?,?,…)": always as many, so that the statement is prepared once.
std::string places() {
  std::string out = "(?";
  for (size_t i = 1; i < LoadedJobs::kAtOnce; ++i) out += ",?";
  return out + ")";
}

}  // namespace

const std::string& step_rank() {
  static const std::string kRank = [] {
    std::string text = "(CASE step";
    int rank = 0;
    for (StepId s : {kBatchStep, kExternStep, kInteractiveStep})
      text += " WHEN " + std::to_string(s.value) + " THEN " + std::to_string(rank++);
    return text + " ELSE step + 3 END)";
  }();
  return kRank;
}

Result<LoadedJobs> LoadedJobs::load(Connection& connection, std::span<const int64_t> numbers, bool steps) {
  static const std::string kJobs = "SELECT id, " + std::string(kJobColumns) + " FROM muster_jobs WHERE id IN " + places();
  static const std::string kSteps =
      "SELECT j.id, " + step_rank() +
      ", s.step, s.position, s.ended, s.record FROM muster_jobs j JOIN muster_steps s ON s.job = j.job AND s.cluster = j.cluster AND "
      "s.submitted = j.submitted AND s.restarts = j.restarts WHERE j.id IN " +
      places() + " ORDER BY 1, 2 LIMIT " + std::to_string(kPartSteps + 1);
  MUSTER_CHECK(numbers.size() <= kAtOnce);
  LoadedJobs out;
  if (numbers.empty()) return out;
  std::vector<Value> keys(numbers.begin(), numbers.end());
  keys.resize(kAtOnce, Value(numbers.back()));
  MUSTER_TRY_VOID(connection.query(kJobs, keys, [&](const Row& row) -> Result<> {
    One& one = out.jobs_[row.number(0)];
    one.bytes = row.bytes(1).size() + kLeftOutOfJob;
    MUSTER_TRY_VOID(read_job(row, 1, one.record));
    one.record.db_index = static_cast<uint64_t>(row.number(0));
    return {};
  }));
  if (!steps) return out;
  size_t count = 0, bytes = 0;
  MUSTER_TRY_VOID(connection.query(kSteps, keys, [&](const Row& row) -> Result<> {
    bytes += row.bytes(5).size() + kLeftOutOfStep;
    One* one = out.find(row.number(0));
    if (++count > kPartSteps || bytes > kPartBytes || !one) return {};
    one->step_bytes += row.bytes(5).size() + kLeftOutOfStep;
    return read_step(row, 2, one->record.key, one->steps.emplace_back());
  }));
  out.has_steps_ = count <= kPartSteps && bytes <= kPartBytes;
  return out;
}

}  // namespace muster::sql

#include "slurmd/daemon/ended_runs.h"

namespace muster::slurmd {

std::vector<EndedRuns::Run> EndedRuns::read(Time now) {
  std::vector<Run> out;
  for (const auto& [job, generation, ended] : write_anew(now)) out.emplace_back(JobId(job), generation);
  return out;
}

std::vector<EndedRuns::Rows::Row> EndedRuns::write_anew(Time now) {
  std::vector<Rows::Row> recent = rows_.read();
  std::erase_if(recent, [oldest = unix_seconds(now - kKept)](const Rows::Row& row) { return std::get<2>(row) < oldest; });
  if (Result<> done = rows_.replace(recent); !done) log_.error("{}", done.error().message());
  return recent;
}

void EndedRuns::add(JobId job, uint32_t generation, Time now) {
  if (rows_.size() > kLargest) write_anew(now);
  if (Result<> done = rows_.add({job.value, generation, unix_seconds(now)}); !done) log_.error("{}", done.error().message());
}

}  // namespace muster::slurmd

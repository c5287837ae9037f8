#include "slurmctld/daemon/statistics.h"

#include <algorithm>

#include "slurmctld/core/command.h"

namespace muster::slurmctld {
namespace {

// Exporters know calls by Slurm's names and numbers: those of the call that does the same there. Calls without one keep
// their own name, numbered from 60000.
struct SlurmCall {
  uint16_t message;
  const char* name;
  uint32_t number;
};
template <class Request>
constexpr SlurmCall as(const char* name, uint32_t number) {
  return {number_of<Request>, name, number};
}
constexpr SlurmCall kSlurmCalls[] = {
    as<rpc::SubmitJob>("REQUEST_SUBMIT_BATCH_JOB", 4003),
    as<rpc::Allocate>("REQUEST_RESOURCE_ALLOCATION", 4001),
    as<rpc::WillRun>("REQUEST_JOB_WILL_RUN", 4012),
    as<rpc::WaitJob>("REQUEST_JOB_INFO_SINGLE", 2021),  // sbatch --wait and salloc ask that, again and again
    as<rpc::FinishAllocation>("REQUEST_COMPLETE_JOB_ALLOCATION", 5017),
    as<rpc::AttachAllocation>("REQUEST_HET_JOB_ALLOC_INFO", 4027),
    as<rpc::CreateStep>("REQUEST_JOB_STEP_CREATE", 5001),
    as<rpc::FinishStep>("REQUEST_STEP_COMPLETE", 5016),
    as<rpc::SignalJobs>("REQUEST_KILL_JOB", 5032),
    as<rpc::UpdateJob>("REQUEST_UPDATE_JOB", 3001),
    as<rpc::UpdateNode>("REQUEST_UPDATE_NODE", 3002),
    as<rpc::UpdatePartition>("REQUEST_UPDATE_PARTITION", 3005),
    as<rpc::Reconfigure>("REQUEST_RECONFIGURE", 1003),
    as<rpc::Ping>("REQUEST_PING", 1008),
    as<rpc::QueryJobs>("REQUEST_JOB_INFO", 2003),
    as<rpc::QueryNodes>("REQUEST_NODE_INFO", 2007),
    as<rpc::QueryPartitions>("REQUEST_PARTITION_INFO", 2009),
    as<rpc::QueryText>("REQUEST_BUILD_INFO", 2001),
    as<rpc::QueryStatistics>("REQUEST_STATS_INFO", 2035),
};

rpc::CallCount named(uint16_t message) {
  for (const SlurmCall& c : kSlurmCalls)
    if (c.message == message) return {c.name, c.number, 0, 0};
  const CommandRow* row = command_row(message);
  return {"MUSTER_" + std::string(row ? row->name : "UNKNOWN"), 60000u + message, 0, 0};
}

}  // namespace

rpc::CycleCounts CycleStats::counts() const {
  rpc::CycleCounts counts;
  counts.cycles = cycles;
  counts.last_us = last_us;
  counts.max_us = max_us;
  counts.total_us = total_us;
  counts.depth_total = depth_total;
  counts.last_depth = last_depth;
  counts.classes_total = classes_total;
  counts.last_classes = last_classes;
  counts.queue_length = queue_length;
  counts.queue_total = queue_total;
  counts.table_size = table_size;
  counts.table_total = table_total;
  counts.when = Time(Duration(when.load()));
  return counts;
}

rpc::Statistics Statistics::counts(Time now) const {
  rpc::Statistics statistics;
  statistics.now = now;
  statistics.since = since;
  statistics.submitted = submitted;
  statistics.started = started;
  statistics.completed = completed;
  statistics.canceled = canceled;
  statistics.failed = failed;
  statistics.backfilled = backfilled;
  statistics.backfilled_since = backfilled_since;
  statistics.backfilled_components = backfilled_components;
  statistics.main_cycles = quick.counts();
  statistics.backfill_cycles = full.counts();
  statistics.records_waiting = records_waiting;
  statistics.passing = passing;
  statistics.main_ends = {{"end_job_queue", 0, quick_ends.queue, 0}, {"max_job_start", 0, quick_ends.starts, 0}};
  statistics.backfill_ends = {
      {"end_job_queue", 0, full_ends.queue, 0}, {"bf_max_job_start", 0, full_ends.starts, 0}, {"bf_max_job_test", 0, full_ends.tests, 0}};
  std::lock_guard lock(mutex_);
  for (const auto& [message, calls] : by_message_) {
    rpc::CallCount c = named(message);
    c.count = calls.count;
    c.total_us = calls.total_us;
    statistics.by_message.push_back(std::move(c));
  }
  for (const auto& [uid, calls] : by_user_) statistics.by_user.push_back({{}, uid, calls.count, calls.total_us});
  return statistics;
}

}  // namespace muster::slurmctld

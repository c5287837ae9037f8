// Records for the accounting database, and which of them slurmdbd still has to get (AccountingStorageType).
//
// Every event that changes what sacct shows of a job marks the job with its position (Job::record_position). Whatever an event takes away
// (a step that ends, a part of a run that ends as the job gives up nodes, a run that is requeued, a job that is purged) becomes a KeptRecord first. Indexes::unrecorded holds both, the oldest
// first. The daemon sends a batch and says when it is stored; an event (RecordsStored) records that, so a restart of either side goes on
// where it was. Cost: nothing but a test of Cluster::accounting while it is off; a mark is two steps in a set, a kept record takes a few
// microseconds.
#pragma once

#include <optional>
#include <vector>

#include "config/slurm_conf.h"
#include "model/accounts.h"
#include "model/cluster.h"
#include "model/event.h"
#include "slurmctld/core/indexes.h"

namespace muster::sched {
class PriorityRule;
}

namespace muster::slurmctld {

bool keeps_records(const config::Config& config);

// ---- record_marks.cc, called by apply alone
void keep_records(Cluster& cluster, Indexes& indexes, const Event& event);  // before the event is applied
void mark_records(Cluster& cluster, Indexes& indexes, const Event& event);  // after
void mark_record(Cluster& cluster, Indexes& indexes, JobId job);
void keep_record(Cluster& cluster, Indexes& indexes, KeptRecord record);  // at the cluster's position
void forget_record(Cluster& cluster, Indexes& indexes, uint32_t number);  // a kept one, with the hold on its script and environment
void forget_all_records(Cluster& cluster, Indexes& indexes);

// ---- node_records.cc: the nodes that an event may take out of work or give back, as they are before it, and what came of it
struct NodeBefore {
  NodeId id{};
  std::optional<EventRecord> out;  // as it was not at work; none: it was
};
std::vector<NodeBefore> nodes_before(const Cluster& cluster, const Event& event);
void keep_node_records(Cluster& cluster, Indexes& indexes, const std::vector<NodeBefore>& before, Time now);
ReservationRecord make_reservation_record(const Cluster& cluster, const Reservation& reservation);

// ---- records.cc
JobRecord make_run_record(const Cluster& cluster, const Job& job);  // the whole run, although its job gave up nodes
JobRecord make_job_record(const Cluster& cluster, const Job& job);  // the last part of the run, which is all of it if the job gave up none
// The last part as it ends, when the job gives up nodes at that moment.
JobRecord make_part_record(const Cluster& cluster, const Job& job, Time ended);
StepRecord make_step_record(const Cluster& cluster, const Job& job, const Step& step);
// Whether the batch script ran; make_batch_record() describes it as the step that users know it as.
bool has_batch_record(const Job& job);
StepRecord make_batch_record(const Cluster& cluster, const Job& job);
bool has_external_record(const Job& job);  // likewise of the external step
StepRecord make_external_record(const Cluster& cluster, const Job& job);

// What slurmdbd gets in one message: the oldest records that it does not have, all up to `position`.
struct UploadRecords {
  uint64_t position = 0;
  std::vector<JobId> jobs;
  std::vector<uint32_t> kept;  // numbers in Cluster::kept_records
};
// About `most` records, more only if one event changed more. Where there are none, `position` is 0.
UploadRecords next_upload(const Indexes& indexes, size_t most);
// The position up to which slurmdbd has to have records to know all that happened to the job, array or heterogeneous job; 0: it has them.
uint64_t newest_record_of(const Cluster& cluster, const Indexes& indexes, JobId job);
// What of jobs and steps is recorded: AccountingStoreFlags, and nojobs and nosteps of AccountingStorageEnforce.
struct RecordedParts {
  bool jobs = true, steps = true;
  bool comment = true, extra = true, stdio = true, script = true, environment = true;
};
RecordedParts recorded_parts(const config::Config& config);
// Made from a snapshot of the same state or a later one. Names of the jobs' groups are left to a caller who may look up names. Where neither
// jobs nor steps are recorded, the upload says its position alone. With `priorities` a waiting job's is what it is by them; it is not told
// again when time moves it.
rpc::StoreRecords make_upload(const Cluster& cluster, const UploadRecords& upload, const RecordedParts& parts = {},
                              const sched::PriorityRule* priorities = nullptr);
// The kept records to give up so that no more than MaxDBDMsgs wait: steps first, then jobs, the oldest first.
std::vector<uint32_t> excess_records(const Cluster& cluster, const Indexes& indexes, const config::Config& config);

// What the database is told of this cluster.
rpc::RegisterCluster make_registration(const Cluster& cluster, const config::Config& config);

}  // namespace muster::slurmctld

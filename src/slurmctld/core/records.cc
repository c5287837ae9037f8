#include "slurmctld/core/records.h"
#include "slurmctld/core/decide.h"

#include <algorithm>

#include "base/same_fields.h"
#include "base/text.h"
#include "base/tres_mem.h"
#include "hostlist/hostlist.h"
#include "model/array_spec.h"
#include "sched/queue/priority.h"
#include "slurmctld/core/rows.h"
#include "slurmctld/core/run_parts.h"

namespace muster::slurmctld {
namespace {

constexpr uint32_t kRpcVersion = 1;

void add_request(const Cluster& cluster, const RequestBody& r, uint32_t partition, JobRecord& out) {
  copy_same_fields(r, out);
  out.user = r.user_name;
  out.requested_cpus = wanted_cpus(r);
  out.requested_nodes = wanted_nodes(r);
  out.tasks = wanted_tasks(r);
  out.tres_requested = tres_requested(cluster, r, partition);
  if (out.tres_requested.mem_mb) out.requested_mem = format_tres_mem(*out.tres_requested.mem_mb);
  out.has_script = r.kind == JobKind::kBatch;
}

void add_allocation(const Cluster& cluster, const Allocation& a, JobRecord& out) {
  out.nodes = static_cast<uint32_t>(a.nodes.size());
  out.cpus = a.total_cpus();
  out.tasks = std::max(1u, a.total_tasks());
  out.node_list = node_list_of(cluster, a);
  out.tres_allocated = tres_of(cluster, a);
  out.gres_allocated = gres_text(gres_sum(a.nodes));
}

template <class Record>
void leave_out_files(Record& r) {
  r.std_in.clear();
  r.std_out.clear();
  r.std_err.clear();
}

void leave_out(const RecordedParts& parts, JobRecord& r) {
  if (!parts.comment) r.comment.clear();
  if (!parts.extra) r.extra.clear();
  if (!parts.script) r.script_hash.clear();
  if (!parts.environment || !r.has_script) r.environment_hash.clear();  // of batch jobs alone
  if (parts.stdio) return;
  leave_out_files(r);
  r.flags |= kRecordWithoutStdio;
}

JobState batch_state(const Job& j) {
  if (!j.finished()) return JobState::kRunning;
  return j.state == JobState::kTimeout || j.state == JobState::kDeadline || j.state == JobState::kPreempted ? JobState::kCancelled
                                                                                                            : j.state;
}

// What a step's record has of the part of the run in which the step began, and of the time that the job was suspended since then.
void begin_step(const Job& job, Time began, Duration suspended_before, StepRecord& out) {
  const bool suspended = job.state == JobState::kSuspended;
  out.job = key_of(job, began);
  out.position = job.record_position;
  out.started = began;
  out.suspended_total = std::max(job.run->suspended_total - suspended_before, Duration::zero());
  if (suspended) out.suspended = std::max(job.run->suspended, began);
}

// Whether somebody else ended the job: then it did not fail, whatever its script said on the way.
bool was_ended(JobState state) {
  return state == JobState::kCancelled || state == JobState::kTimeout || state == JobState::kDeadline || state == JobState::kPreempted;
}

}  // namespace

bool keeps_records(const config::Config& c) { return c.accounting_storage_type == "accounting_storage/slurmdbd"; }

JobRecord make_run_record(const Cluster& cluster, const Job& job) {
  JobRecord record;
  copy_same_fields(job, record);
  record.key = {job.id, job.submitted, job.restarts};
  record.position = job.record_position;
  record.cluster = cluster.name;
  if (was_ended(job.state)) record.exit_status = 0;
  if (job.array_tasks) record.array_tasks = format_array_tasks(*job.array_tasks);
  record.flags = job.flags & ~(kJobCompleting | kJobResizing);       // these are about its nodes, which are no matter of accounting
  if (record.flags & kJobRequeueHold) record.flags |= kJobRequeued;  // that it is held then is its next run's
  if (job.detail) record.detail = *job.detail;
  if (job.pending() && job.dependencies) record.eligible = {};  // it only says when to look again
  record.partition = partition_text(cluster, job);
  add_request(cluster, *job.request, job.partition, record);
  copy_same_fields(job.own.unpack(), record);
  const Partition* partition = cluster.partitions.find(job.partition);
  record.exclusive = exclusive_held(job.request->exclusive, partition);
  record.shares = shares(job.request->exclusive, partition);
  record.reservation_id = job.run->reservation;
  record.reservation = job.run->reservation ? job.run->reservation_name : record.reservation.substr(0, record.reservation.find(','));
  if (job.allocation) add_allocation(cluster, *job.allocation, record);
  if (job.run->has_failed_node)
    if (const Node* n = cluster.nodes.find(job.run->failed_node.value)) record.failed_node = n->spec->name;
  // Why this run began again, or why it makes room.
  if (job.is_preempted()) record.system_comment = "preempted by job " + std::to_string(job.run->preempted_by.value);
  else record.system_comment = why_restarted(cluster, job);
  return record;
}

JobRecord make_job_record(const Cluster& cluster, const Job& job) {
  JobRecord record = make_run_record(cluster, job);
  if (job.run->resizes.empty()) return record;
  const Resize& last = job.run->resizes.back();
  record.key.submitted = last.at;
  record.first_submitted = job.submitted;
  record.eligible = record.started = last.at;
  if (record.ended != kTimeUnset) record.ended = std::max(record.ended, last.at);  // the clock may have been set back
  record.suspended_total = std::max(record.suspended_total - last.suspended_before, Duration::zero());
  record.suspended = std::max(record.suspended, last.at);
  return record;
}

JobRecord make_part_record(const Cluster& cluster, const Job& job, Time ended) {
  JobRecord record = make_job_record(cluster, job);
  record.state = JobState::kRunning;
  record.flags |= kJobResizing;
  record.ended = ended;
  record.suspended = kTimeUnset;
  const std::vector<Resize>& resizes = job.run->resizes;
  record.suspended_total = suspended_since(job, resizes.empty() ? Duration::zero() : resizes.back().suspended_before, ended);
  return record;
}

StepRecord make_step_record(const Cluster& cluster, const Job& job, const Step& step) {
  StepRow row = make_step_row(cluster, job, step);
  StepRecord record;
  copy_same_fields(row, record);
  begin_step(job, step.start, step.suspended_before, record);
  record.tres_allocated = row.tres;
  record.gres_allocated = gres_text(gres_sum(step.shares));
  record.layout = row.distribution;
  record.container = step.request->container;
  record.work_dir = step.request->work_dir;
  record.exit_status = step.exit_status;
  record.usage = step.usage;
  return record;
}

bool has_batch_record(const Job& j) {
  if (!j.allocation || j.request->kind != JobKind::kBatch) return false;
  // A node that was out of touch reports only the end.
  bool ended_by_itself = (j.state == JobState::kCompleted || j.state == JobState::kFailed || j.state == JobState::kOutOfMemory) &&
                         !(j.flags & kJobLaunchFailed);
  return j.launched || ended_by_itself;
}

StepRecord make_batch_record(const Cluster& cluster, const Job& job) {
  StepRow row = make_batch_step_row(cluster, job);
  StepRecord record;
  copy_same_fields(row, record);
  begin_step(job, job.started, {}, record);
  record.state = batch_state(job);
  record.ended = job.ended;
  record.tres_allocated = row.tres;
  record.gres_allocated = gres_text(job.batch_share().gres);
  record.container = job.request->container;
  RequestOwn own = job.own.unpack();
  record.work_dir = std::move(own.work_dir);
  record.std_in = std::move(own.std_in);
  record.std_out = std::move(own.std_out);
  record.std_err = std::move(own.std_err);
  record.exit_status = job.exit_status;
  record.cancelled_by = job.cancelled_by;
  record.usage = job.run->batch_usage;
  return record;
}

bool has_external_record(const Job& job) { return has_external_step(job) && (job.launched || has_batch_record(job)); }

// It ends with its job, whatever becomes of that.
StepRecord make_external_record(const Cluster& cluster, const Job& job) {
  StepRow row = make_external_step_row(cluster, job);
  StepRecord record;
  copy_same_fields(row, record);
  begin_step(job, job.started, {}, record);
  record.state = job.finished() ? JobState::kCompleted : JobState::kRunning;
  if (job.state == JobState::kNodeFail) record.state = job.state;
  record.ended = job.ended;
  record.tres_allocated = row.tres;
  record.gres_allocated = gres_text(gres_sum(job.allocation->nodes));
  record.usage = job.run->external_usage;
  return record;
}

UploadRecords next_upload(const Indexes& indexes, size_t most) {
  UploadRecords out;
  size_t count = 0;
  for (const Indexes::Unrecorded& r : indexes.unrecorded()) {
    if (++count > most && r.position != out.position) break;  // all of one event go together
    out.position = r.position;
    if (r.kept) out.kept.push_back(r.id);
    else out.jobs.push_back(JobId(r.id));
  }
  return out;
}

// For an array this is the newest record of all: its tasks are not looked up one by one.
uint64_t newest_record_of(const Cluster& cluster, const Indexes& indexes, JobId job) {
  if (indexes.unrecorded().empty()) return 0;
  const Job* j = cluster.jobs.find(job.value);
  if (cluster.arrays.contains(job.value) || (j && j->het)) return indexes.unrecorded().rbegin()->position;
  return j && j->record_position > cluster.recorded_position ? j->record_position : 0;
}

RecordedParts recorded_parts(const config::Config& config) {
  auto flag = [&](std::string_view word) {
    return std::ranges::any_of(config.accounting_store_flags, [&](const std::string& given) { return iequals(given, word); });
  };
  return {.jobs = !config.enforce.no_jobs,
          .steps = !config.enforce.no_steps,
          .comment = flag("job_comment"),
          .extra = flag("job_extra"),
          .stdio = !flag("no_stdio"),
          .script = flag("job_script"),
          .environment = flag("job_env")};
}

rpc::StoreRecords make_upload(const Cluster& cluster, const UploadRecords& upload, const RecordedParts& parts,
                              const sched::PriorityRule* priorities) {
  rpc::StoreRecords out;
  out.cluster = cluster.name;
  out.position = upload.position;
  for (uint32_t number : upload.kept) {
    const KeptRecord* k = cluster.kept_records.find(number);
    if (k && k->job) out.jobs.push_back(*k->job);
    if (k && k->step) out.steps.push_back(*k->step);
    if (k && k->event) out.events.push_back(*k->event);
    if (k && k->reservation) out.reservations.push_back(*k->reservation);
  }
  for (JobId id : upload.jobs) {
    const Job* j = cluster.jobs.find(id.value);
    if (!j) continue;  // purged since then: a later batch has what was kept of it
    out.jobs.push_back(make_job_record(cluster, *j));
    if (priorities && j->pending()) out.jobs.back().priority = priorities->of(*j);
    for (const Step& s : j->steps)
      if (s.state != StepState::kPending) out.steps.push_back(make_step_record(cluster, *j, s));
    if (has_batch_record(*j)) out.steps.push_back(make_batch_record(cluster, *j));
    if (has_external_record(*j)) out.steps.push_back(make_external_record(cluster, *j));
  }
  if (!parts.jobs) out.jobs.clear();
  if (!parts.steps) out.steps.clear();
  for (JobRecord& r : out.jobs) leave_out(parts, r);
  if (!parts.stdio) std::ranges::for_each(out.steps, leave_out_files<StepRecord>);
  return out;
}

std::vector<uint32_t> excess_records(const Cluster& cluster, const Indexes& indexes, const config::Config& c) {
  constexpr size_t kLeast = 10000;
  size_t most = c.max_dbd_msgs ? std::max<size_t>(kLeast, c.max_dbd_msgs)
                               : std::max<size_t>(kLeast, size_t{c.max_job_count} * 2 + cluster.nodes.size() * 4);
  if (indexes.unrecorded().size() <= most || cluster.kept_records.empty()) return {};
  size_t surplus = indexes.unrecorded().size() - most + most / 10;  // room for a while, not one record a turn
  std::vector<uint32_t> steps, jobs;
  cluster.kept_records.for_each([&](uint32_t number, const KeptRecord& r) { (r.step ? steps : jobs).push_back(number); });
  steps.insert(steps.end(), jobs.begin(), jobs.end());
  if (steps.size() > surplus) steps.resize(surplus);
  return steps;
}

rpc::RegisterCluster make_registration(const Cluster& cluster, const config::Config& config) {
  rpc::RegisterCluster request;
  request.cluster.name = cluster.name;
  if (!config.slurmctld_hosts.empty())
    request.cluster.control_host =
        config.slurmctld_hosts[0].address.empty() ? config.slurmctld_hosts[0].name : config.slurmctld_hosts[0].address;
  request.cluster.control_port = static_cast<uint16_t>(config.slurmctld_port.first);
  request.cluster.rpc_version = kRpcVersion;
  std::vector<std::string> names;
  TresAmounts totals{.cpus = 0, .mem_mb = 0};
  uint64_t billing = 0;
  cluster.nodes.for_each([&](uint32_t, const Node& n) {
    names.push_back(n.spec->name);
    totals.configure(*n.spec);
    billing += billing_of_node(cluster, n);
  });
  request.cluster.nodes = compress_hosts(names);
  request.cluster.node_count = static_cast<uint32_t>(names.size());
  request.tracked_tres = config.accounting_storage_tres;
  totals.nodes = names.size();
  totals.billing = billing;
  totals.keep_gres(request.tracked_tres);
  for (const auto& [name, count] : config.licenses)
    if (std::ranges::any_of(request.tracked_tres, [&](const std::string& tres) { return iequals(tres, tres_of_license(name)); }))
      totals.licenses.push_back({name, count});
  request.cluster.tres = totals;
  return request;
}

}  // namespace muster::slurmctld

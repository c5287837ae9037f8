#include "sql/stored_records.h"

#include "sql/columns.h"
#include "wire/accounting_instances.h"

namespace muster::sql {
namespace {

// A name of that many bytes may go on beyond its column.
void leave_out(std::string& name) {
  if (name.size() < kNameBytes) name.clear();
}
void put_back(std::string& name, std::string_view column) {
  if (name.empty()) name = column;
}

}  // namespace

std::string stored_job(JobRecord r) {
  r.key = {};
  r.position = 0;
  for (std::string* name : {&r.cluster, &r.account, &r.partition, &r.name, &r.qos, &r.wckey}) leave_out(*name);
  r.uid = Uid{};
  r.gid = Gid{};
  r.state = JobState::kPending;
  r.eligible = r.started = r.ended = Time{};
  if (r.std_err == r.std_out) r.std_err.clear();
  if (r.tres_requested == r.tres_allocated) r.tres_requested = {};
  return wire::encoded(r);
}

Result<> read_job(const Row& row, int first, JobRecord& record) {
  MUSTER_TRY_VOID(wire::decode(row.bytes(first), record, wire::kOfOurOwn));
  int at = first;
  record.key = {JobId(static_cast<uint32_t>(row.number(at + 1))), Time(Duration(row.number(at + 2))),
                static_cast<uint32_t>(row.number(at + 3))};
  at += 3;
  put_back(record.cluster, row.bytes(++at));
  record.position = static_cast<uint64_t>(row.number(++at));
  record.uid = Uid(static_cast<uint32_t>(row.number(++at)));
  record.gid = Gid(static_cast<uint32_t>(row.number(++at)));
  for (std::string* name : {&record.account, &record.partition, &record.name, &record.qos, &record.wckey}) put_back(*name, row.bytes(++at));
  record.state = static_cast<JobState>(row.number(++at));
  record.eligible = Time(Duration(row.number(++at)));
  record.started = Time(Duration(row.number(++at)));
  record.ended = time_of(row.number(++at));
  if (record.std_err.empty()) record.std_err = record.std_out;
  if (record.tres_requested == TresAmounts()) record.tres_requested = record.tres_allocated;
  return {};
}

std::string stored_step(StepRecord r) {
  r.job = {};
  r.id = {};
  r.position = 0;
  r.ended = Time{};
  return wire::encoded(r);
}

Result<> read_step(const Row& row, int first, const JobRecordKey& job, StepRecord& r) {
  MUSTER_TRY_VOID(wire::decode(row.bytes(first + 3), r, wire::kOfOurOwn));
  r.job = job;
  r.id = StepId(static_cast<uint32_t>(row.number(first)));
  r.position = static_cast<uint64_t>(row.number(first + 1));
  // -1: a row of version 2 whose record alone says it.
  if (const int64_t ended = row.number(first + 2); ended != -1) r.ended = time_of(ended);
  return {};
}

}  // namespace muster::sql

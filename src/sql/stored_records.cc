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

Result<> read_job(const Row& row, int first, JobRecord& r) {
  MUSTER_TRY_VOID(wire::decode(row.bytes(first), r, wire::kOfOurOwn));
  int at = first;
  r.key = {JobId(static_cast<uint32_t>(row.number(at + 1))), Time(Duration(row.number(at + 2))), static_cast<uint32_t>(row.number(at + 3))};
  at += 3;
  put_back(r.cluster, row.bytes(++at));
  r.position = static_cast<uint64_t>(row.number(++at));
  r.uid = Uid(static_cast<uint32_t>(row.number(++at)));
  r.gid = Gid(static_cast<uint32_t>(row.number(++at)));
  for (std::string* name : {&r.account, &r.partition, &r.name, &r.qos, &r.wckey}) put_back(*name, row.bytes(++at));
  r.state = static_cast<JobState>(row.number(++at));
  r.eligible = Time(Duration(row.number(++at)));
  r.started = Time(Duration(row.number(++at)));
  r.ended = time_of(row.number(++at));
  if (r.std_err.empty()) r.std_err = r.std_out;
  if (r.tres_requested == TresAmounts()) r.tres_requested = r.tres_allocated;
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

// The look-ups of Storage that come before writing.
#include "sql/record_filter.h"
#include "sql/storage.h"
#include "wire/accounting_instances.h"

namespace muster::sql {

Result<> Storage::keep_charged(rpc::StoreRecords& records) {
  for (JobRecord& r : records.jobs) {
    if (!r.account.empty() && !r.qos.empty()) continue;
    const Value key[] = {int64_t{r.key.id.value}, Text{records.cluster}, r.key.submitted.time_since_epoch().count(),
                         int64_t{r.key.restarts}};
    MUSTER_TRY_VOID(
        connection_->query("SELECT account, qos FROM muster_jobs WHERE job = ? AND cluster = ? AND submitted = ? AND restarts = ?", key,
                           [&](const Row& row) -> Result<> {
                             if (r.account.empty()) r.account = row.bytes(0);
                             if (r.qos.empty()) r.qos = row.bytes(1);
                             return {};
                           }));
  }
  return {};
}

Result<bool> Storage::any_job(const rpc::JobRecordFilter& filter, const std::string& user, const std::string& partition) {
  bool found = false;
  MUSTER_TRY(rule, RecordRule::make(filter));
  Where where = where_of(filter);
  auto done = connection_->scan("SELECT record FROM muster_jobs" + where.text, where.values, [&](const Row& row) -> Result<> {
    JobRecord record;
    MUSTER_TRY_VOID(wire::decode(row.bytes(0), record));
    found = rule.matches(record) && (user.empty() || record.user == user) && (partition.empty() || record.partition == partition);
    return found ? Result<>(fail(Errc::kError)) : Result<>();  // an error ends the query
  });
  if (!done && !found) return std::unexpected(done.error());
  return found;
}

}  // namespace muster::sql

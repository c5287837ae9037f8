// AccountingHost: slurmdbd and the way to it, as far as the controller sees them. Records are stored or lost, acknowledgements come late or
// never, the link breaks and comes back. What is stored stays. It also tells of accounts, QOS and limits, which admins change now and then.
#pragma once

#include <map>

#include "base/random.h"
#include "model/accounting.h"
#include "model/accounts.h"
#include "slurmctld/core/records.h"

namespace muster::sim {

class World;

class AccountingHost {
 public:
  explicit AccountingHost(World& world);

  void schedule(Duration horizon);  // changes of accounts
  void heal();                      // every user may use every account and QOS, without limits
  void controller_started();
  void upload(const slurmctld::UploadRecords& batch);

  const JobRecord* job(JobId id, uint32_t restarts) const;  // of that run the last part
  const JobRecord* last_run(JobId id) const;
  const std::map<JobRecordKey, JobRecord>& jobs() const { return jobs_; }
  const std::map<std::pair<JobRecordKey, StepId>, StepRecord>& steps() const { return steps_; }

 private:
  void connect();
  void deliver(const slurmctld::UploadRecords& batch);
  void store(const rpc::StoreRecords& records);
  bool breaks();  // here and now
  void change_accounts();
  void set_limits();
  void set_more_limits();
  void tell_accounts();
  template <class F>
  void later(Duration low, Duration high, F f);  // unless the controller dies before

  World& world_;
  uint64_t incarnation_ = 0;
  Random more_limits_;  // of its own: the worlds of earlier seeds stay as they are
  rpc::Entities accounts_;
  std::map<JobRecordKey, JobRecord> jobs_;
  std::map<std::pair<JobRecordKey, StepId>, StepRecord> steps_;
};

}  // namespace muster::sim

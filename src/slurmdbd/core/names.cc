#include "slurmdbd/core/names.h"

#include "base/text.h"

namespace muster::slurmdbd {

void lower(std::vector<std::string>& names) {
  for (std::string& n : names) n = to_lower(n);
}

void lower_names(rpc::StoreRecords& m) {
  m.cluster = to_lower(m.cluster);
  for (JobRecord& r : m.jobs)
    for (std::string* name : {&r.account, &r.qos, &r.wckey}) *name = to_lower(*name);
}

void lower_names(rpc::JobRecordFilter& f) {
  for (auto* names : {&f.clusters, &f.accounts, &f.qos, &f.wckeys}) lower(*names);
}

void lower_names(EntityFilter& f) {
  for (auto* names : {&f.accounts, &f.clusters, &f.parents, &f.qos, &f.wckeys, &f.default_accounts, &f.default_qos, &f.default_wckeys,
                      &f.tres, &f.federations})
    lower(*names);
}

}  // namespace muster::slurmdbd

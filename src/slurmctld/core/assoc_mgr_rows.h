// Answers of scontrol show assoc_mgr: users, associations and QOS as the controller knows them, with what their jobs have and have used. Pure;
// called on the query thread. scontrol(1). Cost: O(associations x (TRES + log)) and O(users with jobs) for each QOS.
#pragma once

#include <string>
#include <vector>

#include "acct/fair_share.h"
#include "model/assoc_mgr.h"
#include "model/cluster.h"
#include "slurmctld/core/privacy.h"

namespace muster::slurmctld {

// `tracked`: AccountingStorageTRES, whose amounts are listed. Users and accounts whom PrivateData hides are left out.
rpc::AssocMgrRows query_assoc_mgr(const Cluster& cluster, const acct::FairShareRule& rule, const std::vector<std::string>& tracked,
                                  Time now, const rpc::QueryAssocMgr& query, const Privacy& privacy);

// The same in parts.
class AssocMgrQuery {
 public:
  using Rows = rpc::AssocMgrRows;
  explicit AssocMgrQuery(rpc::AssocMgrRows all) : all_(std::move(all)) {}
  bool next(rpc::AssocMgrRows& part);

 private:
  rpc::AssocMgrRows all_;
  size_t users_ = 0, associations_ = 0, qos_ = 0;
};

}  // namespace muster::slurmctld

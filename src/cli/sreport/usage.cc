#include "cli/sreport/usage.h"

#include <algorithm>
#include <iterator>

#include "wire/accounting_instances.h"

namespace muster::cli {

Result<std::vector<ClusterUsage>> ask_usage(Session& session, const rpc::QueryUsage& query) {
  std::vector<ClusterUsage> out;
  MUSTER_TRY_VOID(session.stream(
      query,
      [&](rpc::UsageAnswer&& part) -> Result<> {
        collect(out, std::move(part));
        return {};
      },
      kReportTime));
  return out;
}

Result<std::vector<AssociationRecord>> ask_accounts(Session& session, const TextList& clusters) {
  rpc::QueryEntities query;
  query.what = Entity::kAssociation;
  query.filter.clusters = clusters;
  query.filter.with_deleted = true;
  std::vector<AssociationRecord> out;
  MUSTER_TRY_VOID(session.stream(query, [&](rpc::Entities&& part) -> Result<> {
    for (AssociationRecord& a : part.associations)
      if (a.user.empty()) out.push_back(std::move(a));
    return {};
  }));
  return out;
}

}  // namespace muster::cli

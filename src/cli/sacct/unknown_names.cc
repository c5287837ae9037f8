#include "cli/sacct/unknown_names.h"

#include <algorithm>

#include "base/text.h"
#include "wire/accounting_instances.h"

namespace muster::cli {
namespace {

using NameList = std::vector<std::string>;

void drop(NameList& names, std::string_view known) {
  std::erase_if(names, [&](const std::string& name) { return iequals(name, known); });
}

NameList lower(const NameList& names) {
  NameList out;
  for (const std::string& name : names) out.push_back(to_lower(name));
  return out;
}

// Removes from `names` those that the database has. Names that were deleted count as known, because their records are still there.
Result<> drop_known(Session& session, Entity entity, NameList EntityFilter::*field, NameList& names) {
  rpc::QueryEntities query;
  query.what = entity;
  query.filter.*field = lower(names);
  query.filter.with_deleted = true;
  MUSTER_TRY_VOID(session.stream(query, [&](rpc::Entities&& part) -> Result<> {
    auto drop_each = [&](const auto& records) {
      for (const auto& r : records) drop(names, r.name);
    };
    drop_each(part.accounts);
    drop_each(part.qos);
    drop_each(part.wckeys);
    drop_each(part.clusters);
    return {};
  }));
  return {};
}

}  // namespace

Result<> check_record_clusters(Session& session, const rpc::JobRecordFilter& filter, const std::string& own) {
  NameList names = filter.clusters;
  drop(names, own);
  if (names.empty()) return {};
  MUSTER_TRY_VOID(drop_known(session, Entity::kCluster, &EntityFilter::clusters, names));
  if (names.empty()) return {};
  return fail(Errc::kInvalidClusterName, "'" + names.front() + "' can't be reached now, or it is an invalid entry for --cluster.",
              "`sacctmgr list clusters` shows those that the database has");
}

UnknownNames::UnknownNames(const rpc::JobRecordFilter& f)
    : kinds_{{Entity::kAccount, "account", &EntityFilter::accounts, &JobRecord::account, f.accounts},
             {Entity::kQos, "QOS", &EntityFilter::qos, &JobRecord::qos, f.qos},
             {Entity::kWckey, "wckey", &EntityFilter::wckeys, &JobRecord::wckey, f.wckeys}} {}

void UnknownNames::seen(const rpc::JobRecords& part) {
  for (Kind& kind : kinds_)
    for (const JobRecord& job : part.jobs) {
      if (kind.missing.empty()) break;
      drop(kind.missing, job.*kind.in_record);
    }
}

Result<NameList> UnknownNames::warnings(Session& session) const {
  NameList out;
  for (const Kind& kind : kinds_) {
    NameList names = kind.missing;
    if (names.empty()) continue;
    MUSTER_TRY_VOID(drop_known(session, kind.entity, kind.filter, names));
    for (const std::string& name : names) out.push_back("no " + std::string(kind.noun) + " " + name + " is known to the database");
  }
  return out;
}

}  // namespace muster::cli

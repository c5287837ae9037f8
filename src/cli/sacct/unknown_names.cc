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

Result<std::map<std::string, QosRecord>> known_qos(Session& session) {
  rpc::QueryEntities query;
  query.what = Entity::kQos;
  query.filter.with_deleted = true;
  std::map<std::string, QosRecord> out;
  MUSTER_TRY_VOID(session.stream(query, [&](rpc::Entities&& part) -> Result<> {
    for (QosRecord& q : part.qos) {
      std::string name = q.name;
      out.insert_or_assign(std::move(name), std::move(q));
    }
    return {};
  }));
  return out;
}

Result<fields::WckeyNumbers> wckey_numbers(Session& session) {
  rpc::QueryEntities query;
  query.what = Entity::kWckey;
  query.filter.with_deleted = true;
  fields::WckeyNumbers out;
  MUSTER_TRY_VOID(session.stream(query, [&](rpc::Entities&& part) -> Result<> {
    for (const WckeyRecord& key : part.wckeys) out[{key.cluster, key.user, key.name}] = key.id;
    return {};
  }));
  return out;
}

Result<> check_record_qos(const std::map<std::string, QosRecord>& known, const rpc::JobRecordFilter& filter) {
  for (const std::string& name : filter.qos) {
    if (known.contains(to_lower(name))) continue;
    std::map<uint32_t, std::string> by_number;
    for (const auto& [valid, q] : known)
      if (!q.deleted) by_number[q.id] = valid;
    NameList valid;
    for (const auto& [id, text] : by_number) valid.push_back(text);
    return fail(Errc::kInvalidQos, "You gave a bad qos '" + name + "'. Valid QOS's are " + join(valid, ","));
  }
  return {};
}

UnknownNames::UnknownNames(const rpc::JobRecordFilter& f)
    : kinds_{{Entity::kAccount, "account", &EntityFilter::accounts, &JobRecord::account, f.accounts},
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

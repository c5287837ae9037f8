// The keys of sacctmgr(1) SPECIFICATIONS FOR …, by entity and use.
#include <algorithm>

#include "base/text.h"
#include "cli/sacctmgr/specs.h"

namespace muster::cli {
namespace {

constexpr uint16_t bit(Entity e) { return static_cast<uint16_t>(1u << static_cast<unsigned>(e)); }
constexpr uint16_t kAcc = bit(Entity::kAccount), kAss = bit(Entity::kAssociation), kClu = bit(Entity::kCluster),
                   kCoo = bit(Entity::kCoordinator), kQo = bit(Entity::kQos), kTxn = bit(Entity::kTransaction), kTre = bit(Entity::kTres),
                   kUse = bit(Entity::kUser), kWck = bit(Entity::kWckey), kRes = bit(Entity::kResource), kFed = bit(Entity::kFederation);
constexpr uint16_t kTreeOnes = kAcc | kAss | kClu | kUse;  // the entities that are or have associations
constexpr uint8_t kBoth = kCondition | kSetting, kAsked = kCondition | kShowing;

struct KeyRow {
  std::string_view names;  // the first is offered, the others are understood
  Key key;
  uint16_t of;
  uint8_t use;
  LimitKind limit{};
  const char* reason = nullptr;
};

constexpr KeyRow limit(std::string_view names, LimitKind kind, uint16_t of) { return {names, Key::kLimit, of, kBoth, kind}; }

constexpr KeyRow kKeys[] = {
    {"Names Name", Key::kNames, kAcc | kUse | kQo | kClu | kCoo | kWck | kTre | kRes | kFed, kCondition},
    {"Accounts Account Acct", Key::kAccounts, kAcc | kAss | kUse | kCoo | kTxn | kClu, kCondition},
    {"Clusters Cluster", Key::kClusters, kAcc | kAss | kUse | kClu | kWck | kTxn | kRes | kFed, kCondition},
    {"Clusters Cluster", Key::kMembers, kFed, kSetting},
    {"Users User", Key::kUsers, kAcc | kAss | kUse | kCoo | kWck | kTxn, kCondition},
    {"Partitions Partition", Key::kPartitions, kAcc | kAss | kUse, kCondition},
    {"Ids Id", Key::kIds, kAss | kQo | kTre | kWck | kTxn | kRes, kCondition},
    {"Parent", Key::kParent, kAcc | kAss, kBoth},
    {"Descriptions Description", Key::kDescription, kAcc | kQo | kRes, kBoth},
    {"Servers Server", Key::kServers, kRes, kCondition},
    {"ServerType", Key::kServerType, kRes, kBoth},
    {"Count", Key::kCount, kRes, kSetting},
    {"LastConsumed", Key::kLastConsumed, kRes, kSetting},
    {"Allowed PercentAllowed", Key::kAllowed, kRes, kSetting},
    {"Organization", Key::kOrganization, kAcc, kBoth},
    {"Flags", Key::kFlags, kAcc | kQo | kRes, kBoth},
    {"QosLevel Qos", Key::kQos, kTreeOnes, kBoth},
    {"DefaultQOS", Key::kDefaultQos, kTreeOnes, kBoth},
    {"AdminLevel", Key::kAdminLevel, kUse, kBoth},
    {"DefaultAccount", Key::kDefaultAccount, kUse, kBoth},
    {"DefaultWCKey", Key::kDefaultWckey, kUse, kBoth},
    {"WCKeys WCKey", Key::kWckeys, kUse | kWck, kCondition},
    {"NewName", Key::kNewName, kUse, kSetting},
    {"RawUsage", Key::kRawUsage, kAcc | kUse | kQo, kSetting},
    {"Comment", Key::kComment, kAcc | kUse, kSetting},
    {"Classification", Key::kClassification, kClu, kBoth},
    {"Features", Key::kFeatures, kClu, kSetting},
    {"Federation", Key::kFederation, kClu, kBoth},
    {"FedState", Key::kFedState, kClu, kSetting},
    {"Preempt", Key::kPreempt, kQo, kSetting},
    {"PreemptMode", Key::kPreemptMode, kQo, kBoth},
    {"UsageFactor", Key::kUsageFactor, kQo, kSetting},
    {"UsageThreshold UsageThres", Key::kUsageThreshold, kQo, kSetting},
    {"LimitFactor", Key::kLimitFactor, kQo, kSetting},
    {"Type", Key::kTypes, kTre | kRes, kCondition},
    {"Action", Key::kActions, kTxn, kCondition},
    {"Actor", Key::kActors, kTxn, kCondition},
    {"Start", Key::kStart, kTxn, kCondition},
    {"End", Key::kEnd, kTxn, kCondition},
    limit("Fairshare Share", LimitKind::kShares, kTreeOnes),
    limit("GrpJobs", LimitKind::kGrpJobs, kTreeOnes | kQo),
    limit("GrpJobsAccrue", LimitKind::kGrpJobsAccrue, kTreeOnes | kQo),
    limit("GrpSubmitJobs GrpSubmit", LimitKind::kGrpSubmitJobs, kTreeOnes | kQo),
    limit("GrpTRES", LimitKind::kGrpTres, kTreeOnes | kQo),
    limit("GrpTRESMins", LimitKind::kGrpTresMins, kTreeOnes | kQo),
    limit("GrpTRESRunMins", LimitKind::kGrpTresRunMins, kTreeOnes | kQo),
    limit("GrpWall", LimitKind::kGrpWall, kTreeOnes | kQo),
    limit("MaxJobs", LimitKind::kMaxJobs, kTreeOnes),
    limit("MaxJobsAccrue", LimitKind::kMaxJobsAccrue, kTreeOnes),
    limit("MaxSubmitJobs MaxSubmit", LimitKind::kMaxSubmitJobs, kTreeOnes),
    limit("MaxTRES MaxTRESPJ MaxTRESPerJob", LimitKind::kMaxTresPerJob, kTreeOnes | kQo),
    limit("MaxTRESMins MaxTRESMinsPJ MaxTRESMinsPerJob", LimitKind::kMaxTresMinsPerJob, kTreeOnes | kQo),
    limit("MaxTRESPerNode MaxTRESPN", LimitKind::kMaxTresPerNode, kTreeOnes | kQo),
    limit("MaxWall MaxWallDurationPerJob", LimitKind::kMaxWall, kTreeOnes | kQo),
    limit("Priority", LimitKind::kPriority, kTreeOnes | kQo),
    limit("MaxJobsAccruePA MaxJobsAccruePerAccount", LimitKind::kMaxJobsAccruePerAccount, kQo),
    limit("MaxJobsAccruePU MaxJobsAccruePerUser", LimitKind::kMaxJobsAccruePerUser, kQo),
    limit("MaxJobsPA MaxJobsPerAccount", LimitKind::kMaxJobsPerAccount, kQo),
    limit("MaxJobsPU MaxJobsPerUser", LimitKind::kMaxJobsPerUser, kQo),
    limit("MaxSubmitJobsPA MaxSubmitJobsPerAccount MaxSubmitPA", LimitKind::kMaxSubmitJobsPerAccount, kQo),
    limit("MaxSubmitJobsPU MaxSubmitJobsPerUser MaxSubmitPU", LimitKind::kMaxSubmitJobsPerUser, kQo),
    limit("MaxTRESPA MaxTRESPerAccount", LimitKind::kMaxTresPerAccount, kQo),
    limit("MaxTRESPU MaxTRESPerUser", LimitKind::kMaxTresPerUser, kQo),
    limit("MaxTRESRunMinsPA MaxTRESRunMinsPerAccount", LimitKind::kMaxTresRunMinsPerAccount, kQo),
    limit("MaxTRESRunMinsPU MaxTRESRunMinsPerUser", LimitKind::kMaxTresRunMinsPerUser, kQo),
    limit("MinPrioThreshold", LimitKind::kMinPriority, kQo),
    limit("MinTRES MinTRESPerJob", LimitKind::kMinTresPerJob, kQo),
    limit("GraceTime", LimitKind::kGraceTime, kQo),
    limit("PreemptExemptTime", LimitKind::kPreemptExemptTime, kQo),
    {"Format", Key::kFormat, 0xffff, kShowing},
    {"WithAssoc WithAssociations", Key::kWithAssociations, kAcc | kUse | kTxn, kShowing},
    {"WithCoord WithCoordinator WithCoordinators", Key::kWithCoordinators, kAcc | kUse, kShowing},
    {"WithClusters", Key::kWithClusters, kRes, kShowing},
    {"WithDeleted", Key::kWithDeleted, 0xffff, kAsked},
    {"WithSubAccounts", Key::kWithSubAccounts, kAss, kShowing},
    {"WithRawQOSLevel", Key::kWithRawQos, kAss, kShowing},
    {"WithFed", Key::kWithFederation, kClu, kShowing},
    {"Tree", Key::kTree, kAss | kFed, kShowing},
    {"OnlyDefaults", Key::kOnlyDefaults, kAss | kWck, kShowing},
    {"WOLimits", Key::kWithoutLimits, kAss | kClu | kAcc | kUse, kShowing},
    {"WOPLimits", Key::kWithoutParentLimits, kAss, kShowing},
    {"WOPInfo", Key::kWithoutParentInfo, kAss, kShowing},
};

}  // namespace

const OldLimit* find_old_limit(std::string_view name) {
  constexpr size_t kLeast = 6;  // "GrpCPU", "MaxCPU"
  if (name.size() < kLeast) return nullptr;
  for (const OldLimit& l : kOldLimits)
    if (istarts_with(l.name, name)) return &l;
  return nullptr;
}

std::optional<KeyMatch> find_key(Entity entity, uint8_t use, std::string_view name, std::string& meant) {
  const KeyRow* begins = nullptr;
  std::vector<std::string_view> offered;
  for (const KeyRow& row : kKeys) {
    if (!(row.of & bit(entity)) || !(row.use & use)) continue;
    std::vector<std::string_view> names = split(row.names, ' ');
    offered.push_back(names[0]);
    for (std::string_view n : names) {
      if (iequals(n, name)) return KeyMatch{row.key, row.limit, row.reason, {}, true};
      if (!begins && !name.empty() && istarts_with(n, name)) begins = &row;
    }
  }
  if (const OldLimit* old = find_old_limit(name); old && (use & kBoth) && (kTreeOnes | kQo) & bit(entity))
    return KeyMatch{Key::kLimit, old->kind, nullptr, old->tres};
  if (begins) return KeyMatch{begins->key, begins->limit, begins->reason};
  meant = did_you_mean(name, offered);
  return std::nullopt;
}

}  // namespace muster::cli

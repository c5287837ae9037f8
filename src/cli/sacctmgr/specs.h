// The words after a verb and its entity: names, and key=value with =, += or -=, before `set`, after it, or after `where`.
// sacctmgr(1) COMMANDS. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/accounts.h"

namespace muster::cli {

struct Spec {
  enum class Part : uint8_t { kFirst, kWhere, kSet } part = Part::kFirst;
  std::string key;  // empty: a bare word
  ChangeOp op = ChangeOp::kSet;
  std::string value;  // without the quotes around it
  std::string text;   // as typed
};
std::vector<Spec> parse_specs(std::span<const std::string> words);
bool has_set(std::span<const Spec> specs);
Result<> only_equals(const Spec& spec);  // kInvalidReq: "+=" or "-=", where they have no meaning

// Splits at commas outside quotes: "a,b 'c,d'". '' is one empty name.
std::vector<std::string> split_names(std::string_view value);

// The keys of an entity. A name matches a whole key, else the first of the table that begins with it, in any case of letters.
enum class Key : uint8_t {
  kNames,
  kAccounts,
  kClusters,
  kUsers,
  kPartitions,
  kIds,
  kParent,
  kDescription,
  kOrganization,
  kFlags,
  kQos,
  kDefaultQos,
  kAdminLevel,
  kDefaultAccount,
  kDefaultWckey,
  kWckeys,
  kNewName,
  kRawUsage,
  kComment,
  kClassification,
  kFeatures,
  kPreempt,
  kPreemptMode,
  kUsageFactor,
  kUsageThreshold,
  kLimitFactor,
  kServers,
  kServerType,
  kCount,
  kLastConsumed,
  kAllowed,
  kFederation,
  kFedState,
  kMembers,
  kLimit,
  kTypes,
  kActions,
  kActors,
  kStart,
  kEnd,
  // of show only
  kFormat,
  kWithAssociations,
  kWithCoordinators,
  kWithClusters,
  kWithDeleted,
  kTree,
  kWithoutLimits,
  kWithoutParentLimits,
  kWithoutParentInfo,
  kOnlyDefaults,
  kWithSubAccounts,
  kWithRawQos,
  kWithFederation,
  kRefused,
};
enum KeyUse : uint8_t { kCondition = 1, kSetting = 2, kShowing = 4 };
struct KeyMatch {
  Key key;
  LimitKind limit{};             // of kLimit
  const char* reason = nullptr;  // of kRefused
  std::string_view tres{};       // of kLimit by an older name: the part of it that is meant
  bool whole = false;            // it is the key's name, and not only how one begins
};
// The older name of a limit that `name` begins, such as "GrpCPUs" or "MaxNodes"; nullptr when there is none.
const OldLimit* find_old_limit(std::string_view name);
// nullopt when the entity has no such key for this use; `meant` is then the nearest one.
std::optional<KeyMatch> find_key(Entity entity, uint8_t use, std::string_view name, std::string& meant);

// The change that a value of a limit asks for: "10", "-1", "parent", "1-00:00:00", "cpu=4,gres/gpu+=2,mem=-1". kInvalidReq names the limit,
// the value and the rule.
Result<> add_limit_changes(LimitKind kind, const Spec& spec, std::vector<LimitChange>& out);

// Puts a condition or setting into the record. kNotFound: the key is unknown (the error's text is to be printed as it stands); kInvalidReq:
// the value is wrong.
struct ShowChoices {
  std::string format;
  bool with_associations = false, with_coordinators = false, tree = false, without_limits = false, without_parent_limits = false,
       without_parent_info = false, with_raw_qos = false, with_clusters = false, with_federation = false;
};
Result<> add_condition(Entity entity, const Spec& spec, Time now, EntityFilter& filter, ShowChoices* choices);
Result<> add_setting(Entity entity, const Spec& spec, EntityChange& change);

}  // namespace muster::cli

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

// "a,b 'c,d'": names at commas, quotes keep commas; '' is one empty name.
std::vector<std::string> split_names(std::string_view value);

// What a key is of an entity. A name is matched whole, else by its beginning, in any case, in the order of the table.
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
  kLimit,
  kTypes,
  kActions,
  kActors,
  kStart,
  kEnd,
  // of show alone
  kFormat,
  kWithAssociations,
  kWithCoordinators,
  kWithDeleted,
  kTree,
  kWithoutLimits,
  kWithoutParentLimits,
  kWithoutParentInfo,
  kOnlyDefaults,
  kWithSubAccounts,
  kWithRawQos,
  kRefused,
};
enum KeyUse : uint8_t { kCondition = 1, kSetting = 2, kShowing = 4 };
struct KeyMatch {
  Key key;
  LimitKind limit{};             // of kLimit
  const char* reason = nullptr;  // of kRefused
  std::string_view tres{};       // of kLimit by an older name: the part of it that is meant
};
// "GrpCPUs", "MaxNodes": nullptr: no older name of a limit begins so.
const OldLimit* find_old_limit(std::string_view name);
// nullptr-like: no such key of this entity for this use; `meant` is set to the nearest one.
std::optional<KeyMatch> find_key(Entity entity, uint8_t use, std::string_view name, std::string& meant);

// The change that a value of a limit asks for: "10", "-1", "parent", "1-00:00:00", "cpu=4,gres/gpu+=2,mem=-1".
// kInvalidReq: names the limit, the value and the rule.
Result<> add_limit_changes(LimitKind kind, const Spec& spec, std::vector<LimitChange>& out);

// A condition or setting of these specs, put into the record. kNotFound: the key is unknown (the text is what to print, as
// it stands); kInvalidReq: the value is wrong.
struct ShowChoices {
  std::string format;
  bool with_associations = false, with_coordinators = false, tree = false, without_limits = false, without_parent_limits = false,
       with_raw_qos = false;
};
Result<> add_condition(Entity entity, const Spec& spec, Time now, EntityFilter& filter, ShowChoices* choices);
Result<> add_setting(Entity entity, const Spec& spec, EntityChange& change);

}  // namespace muster::cli

// The nouns of sacctmgr (accounts, users, associations, QOS, clusters, TRES …) and what passes between slurmdbd and those
// who read or edit them. Records of jobs are in model/accounting.h. sacctmgr(1).
//
// Names of accounts, users (except with PreserveCaseUser), clusters, QOS and TRES are in lower case: slurmdbd converts what it
// receives. Associations form a tree on each cluster: the account root, its accounts, their accounts …, with users as leaves.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/describe.h"
#include "base/ids.h"
#include "base/parsed.h"
#include "base/time.h"
#include "model/accounting.h"
#include "model/preemption.h"
#include "model/rpc.h"

namespace muster {

#define MUSTER_FIELDS(...)                   \
  template <class S, class V>                \
  static void describe(S& self, V&& field) { \
    __VA_ARGS__                              \
  }

enum class LimitKind : uint8_t {
#define MUSTER_LIMIT(number, kind, name, tres, assoc, qos, unit) kind = number,
#include "model/limit.def"
#undef MUSTER_LIMIT
};
enum class LimitUnit : uint8_t { kCount, kMinutes, kSeconds };
struct LimitInfo {
  LimitKind kind;
  const char* name;  // as sacctmgr(1) has it
  bool per_tres, of_associations, of_qos;
  LimitUnit unit;
};
inline constexpr LimitInfo kLimits[] = {
#define MUSTER_LIMIT(number, kind, name, tres, assoc, qos, unit) {LimitKind::kind, name, tres, assoc, qos, LimitUnit::unit},
#include "model/limit.def"
#undef MUSTER_LIMIT
};

// The name that older releases had for one TRES of a limit per TRES. A user may shorten it to 6 letters or more ("GrpMem").
struct OldLimit {
  std::string_view name;
  LimitKind kind;
  std::string_view tres;
};
inline constexpr OldLimit kOldLimits[] = {
#define MUSTER_OLD_LIMIT(name, kind, tres) {name, LimitKind::kind, tres},
#include "model/old_limit.def"
#undef MUSTER_OLD_LIMIT
};

struct Limit {  // a limit that is set; a kind that is not in a list is not limited
  LimitKind kind{};
  std::string tres;  // "cpu", "gres/gpu:h100" of those per TRES; else empty
  uint64_t value = 0;
  bool operator==(const Limit&) const = default;
  MUSTER_FIELDS(field(1, "kind", self.kind); field(2, "tres", self.tres); field(3, "value", self.value);)
};
inline constexpr uint64_t kSharesOfParent = 0x7fffffff;  // Fairshare=parent
inline constexpr uint64_t kMaxLimit = 18446744073709551600u;

inline std::optional<uint64_t> find_limit(const std::vector<Limit>& limits, LimitKind kind, std::string_view tres = {}) {
  for (const Limit& l : limits)
    if (l.kind == kind && l.tres == tres) return l.value;
  return {};
}

// The order of None and Operator is how sacctmgr(1) ranks them.
enum class AdminLevel : uint8_t { kNone, kOperator, kAdministrator };

struct ClusterRecord {
  std::string name;
  std::string control_host;  // of the controller that registered last; empty: the controller is away
  uint16_t control_port = 0;
  uint32_t rpc_version = 0;
  std::string classification, features, federation, fed_state;
  std::string nodes;  // host list
  uint32_t node_count = 0;
  std::vector<std::string> flags;
  Time created{}, modified{};
  bool deleted = false;
  TresAmounts tres;     // what it has
  uint32_t fed_id = 0;  // its number in the federation, from 1; 0: it is in none
  MUSTER_FIELDS(field(1, "name", self.name); field(2, "control_host", self.control_host); field(3, "control_port", self.control_port);
                field(4, "rpc_version", self.rpc_version); field(5, "classification", self.classification);
                field(6, "features", self.features); field(7, "federation", self.federation); field(8, "fed_state", self.fed_state);
                field(9, "nodes", self.nodes); field(10, "node_count", self.node_count); formerly_text(field, 11, "tres", self.tres);
                field(12, "flags", self.flags); field(13, "created", self.created); field(14, "modified", self.modified);
                field(15, "deleted", self.deleted); field(16, "tres", self.tres); field(17, "fed_id", self.fed_id);)
};

// A group of clusters that is to schedule jobs together; which clusters are in it, each of them says. sacctmgr(1) federation.
struct FederationRecord {
  std::string name;
  Time created{}, modified{};
  bool deleted = false;
  MUSTER_FIELDS(field(1, "name", self.name); field(2, "created", self.created); field(3, "modified", self.modified);
                field(4, "deleted", self.deleted);)
};

struct AccountRecord {
  std::string name, description, organization;
  std::vector<std::string> flags;         // UsersAreCoords
  std::vector<std::string> coordinators;  // user names
  Time created{}, modified{};
  bool deleted = false;
  bool operator==(const AccountRecord&) const = default;
  MUSTER_FIELDS(field(1, "name", self.name); field(2, "description", self.description); field(3, "organization", self.organization);
                field(4, "flags", self.flags); field(5, "coordinators", self.coordinators); field(6, "created", self.created);
                field(7, "modified", self.modified); field(8, "deleted", self.deleted);)
};

struct UserRecord {
  std::string name;
  AdminLevel admin_level = AdminLevel::kNone;
  std::string default_account, default_wckey;  // of the cluster asked about; without one of the first
  std::vector<std::string> coordinator_of;     // accounts
  Time created{}, modified{};
  bool deleted = false;
  bool operator==(const UserRecord&) const = default;
  MUSTER_FIELDS(field(1, "name", self.name); field(2, "admin_level", self.admin_level); field(3, "default_account", self.default_account);
                field(4, "default_wckey", self.default_wckey); field(5, "coordinator_of", self.coordinator_of);
                field(6, "created", self.created); field(7, "modified", self.modified); field(8, "deleted", self.deleted);)
};

struct AssociationRecord {
  uint32_t id = 0;
  std::string cluster, account, user, partition;  // user empty: the account's own; partition empty: all
  uint32_t parent_id = 0;
  std::string parent_account;  // of an account's own; of a user's it is `account`
  uint32_t depth = 0;          // 0: root. Its place in the printed tree
  std::string lineage;         // "/team-a/sub/0-alice/"
  bool is_default = false;     // `account` is the user's default on this cluster
  std::string default_qos;
  std::vector<std::string> qos;  // that may be used; raw: as it was set here, with '+' or '-' before what was added or taken
  std::vector<Limit> limits;
  std::vector<std::string> flags;
  std::string comment;
  Time created{}, modified{};
  bool deleted = false;
  Time usage_reset{};  // when an administrator last set RawUsage to 0
  bool operator==(const AssociationRecord&) const = default;
  MUSTER_FIELDS(field(1, "id", self.id); field(2, "cluster", self.cluster); field(3, "account", self.account); field(4, "user", self.user);
                field(5, "partition", self.partition); field(6, "parent_id", self.parent_id);
                field(7, "parent_account", self.parent_account); field(8, "depth", self.depth); field(9, "lineage", self.lineage);
                field(10, "is_default", self.is_default); field(11, "default_qos", self.default_qos); field(12, "qos", self.qos);
                field(13, "limits", self.limits); field(14, "flags", self.flags); field(15, "comment", self.comment);
                field(16, "created", self.created); field(17, "modified", self.modified); field(18, "deleted", self.deleted);
                field(19, "usage_reset", self.usage_reset);)
};

struct QosRecord {
  uint32_t id = 0;  // 1: normal
  std::string name, description;
  std::vector<std::string> flags;     // DenyOnLimit, NoReserve …
  std::vector<std::string> preempt;   // names of QOS
  Parsed<PreemptModes> preempt_mode;  // "cluster", "cancel", "requeue", "suspend"; with ",priority", ",within"
  std::optional<double> usage_factor, usage_threshold, limit_factor;
  std::vector<Limit> limits;  // Priority, GraceTime … among them
  Time created{}, modified{};
  bool deleted = false;
  Time usage_reset{};  // as of an association
  bool operator==(const QosRecord&) const = default;
  MUSTER_FIELDS(field(1, "id", self.id); field(2, "name", self.name); field(3, "description", self.description);
                field(4, "flags", self.flags); field(5, "preempt", self.preempt); field(6, "preempt_mode", self.preempt_mode);
                field(7, "usage_factor", self.usage_factor); field(8, "usage_threshold", self.usage_threshold);
                field(9, "limit_factor", self.limit_factor); field(10, "limits", self.limits); field(11, "created", self.created);
                field(12, "modified", self.modified); field(13, "deleted", self.deleted); field(14, "usage_reset", self.usage_reset);)
};
// Whether a flag of sacctmgr(1), "NoDecay", is set.
bool has_flag(const QosRecord& qos, std::string_view flag);

struct TresRecord {  // cpu 1, mem 2, energy 3, node 4, billing 5, fs/disk 6, vmem 7, pages 8; others from 1001
  uint32_t id = 0;
  std::string type, name;  // "gres", "gpu:h100"
  MUSTER_FIELDS(field(1, "id", self.id); field(2, "type", self.type); field(3, "name", self.name);)
};

struct WckeyRecord {
  uint32_t id = 0;
  std::string name, cluster, user;
  bool is_default = false;  // of its user: set by slurmdbd when it answers, from UserRecord::default_wckey
  bool deleted = false;
  Time created{};  // unset: by a release that did not note it
  MUSTER_FIELDS(field(1, "id", self.id); field(2, "name", self.name); field(3, "cluster", self.cluster); field(4, "user", self.user);
                field(5, "is_default", self.is_default); field(6, "deleted", self.deleted); field(7, "created", self.created);)
};

// The same as slurmctld knows them: those that a user may name on its cluster, in order. guide wckey.
struct UserWckeys {
  std::string name;  // the user's
  std::vector<std::string> wckeys;
  bool operator==(const UserWckeys&) const = default;
  MUSTER_FIELDS(field(1, "name", self.name); field(2, "wckeys", self.wckeys);)
};

// What a cluster may use of a resource: percent of its count, or with the flag Absolute so many.
struct ResourceShare {
  std::string cluster;
  uint32_t allowed = 0;
  bool operator==(const ResourceShare&) const = default;
  MUSTER_FIELDS(field(1, "cluster", self.cluster); field(2, "allowed", self.allowed);)
};
// Licences that several clusters share ("remote" ones). sacctmgr(1) resource, guide licenses. Known by name and server together.
struct ResourceRecord {
  uint32_t id = 0;
  std::string name, server;
  std::string server_type, description;
  uint32_t count = 0;
  uint32_t last_consumed = 0;      // as the licence server says, when somebody told
  std::vector<std::string> flags;  // Absolute, SharedPool
  std::vector<ResourceShare> clusters;
  Time created{}, modified{};  // modified: the last time that a number was told, too
  bool deleted = false;
  bool has(std::string_view flag) const;
  uint32_t allocated() const;  // the sum of what clusters may use: percent, or a count with Absolute
  // How many of them a cluster may use. 0: none, or it is not given any.
  uint32_t usable_by(std::string_view cluster) const;
  bool operator==(const ResourceRecord&) const = default;
  MUSTER_FIELDS(field(1, "id", self.id); field(2, "name", self.name); field(3, "server", self.server);
                field(4, "server_type", self.server_type); field(5, "description", self.description); field(6, "count", self.count);
                field(7, "last_consumed", self.last_consumed); field(8, "flags", self.flags); field(9, "clusters", self.clusters);
                field(10, "created", self.created); field(11, "modified", self.modified); field(12, "deleted", self.deleted);)
};
// The same as slurmctld knows it: the licence name@server of its own cluster.
struct RemoteLicense {
  std::string name;        // "matlab@rlm_host"
  uint32_t total = 0;      // what this cluster may use
  uint32_t elsewhere = 0;  // of all there are, those that are for others
  uint32_t last_consumed = 0;
  Time updated{};
  uint32_t deficit = 0;  // in use by nobody known, as of `updated`: not handed out
  uint32_t usable() const { return total - std::min(total, deficit); }
  bool operator==(const RemoteLicense&) const = default;
  MUSTER_FIELDS(field(1, "name", self.name); field(2, "total", self.total); field(3, "elsewhere", self.elsewhere);
                field(4, "last_consumed", self.last_consumed); field(5, "updated", self.updated); field(6, "deficit", self.deficit);)
};

struct TransactionRecord {
  uint64_t id = 0;
  Time time{};
  std::string action, actor, where, info;              // "Add Accounts", "root", "name='team-a'", "description='…'"
  std::vector<std::string> accounts, clusters, users;  // affected
  MUSTER_FIELDS(field(1, "id", self.id); field(2, "time", self.time); field(3, "action", self.action); field(4, "actor", self.actor);
                field(5, "where", self.where); field(6, "info", self.info); field(7, "accounts", self.accounts);
                field(8, "clusters", self.clusters); field(9, "users", self.users);)
};

// The entities of sacctmgr(1) that slurmdbd keeps. On the wire and in the database: append only.
enum class Entity : uint8_t {
  kAccount,
  kAssociation,
  kCluster,
  kCoordinator,
  kQos,
  kTransaction,
  kTres,
  kUser,
  kWckey,
  kResource,
  kFederation
};

// Selects records. Empty lists match all; the conditions are joined by AND, the names within a list by OR.
struct EntityFilter {
  std::vector<std::string> accounts, clusters, users, partitions;  // partitions: "" means those without one
  std::vector<std::string> parents, qos, wckeys;                   // qos: names of QOS; of associations that may use it
  std::vector<std::string> descriptions, organizations, default_accounts, default_wckeys, default_qos, flags, preempt_modes;
  std::vector<uint32_t> ids;      // of associations, QOS, TRES, wckeys, transactions
  std::vector<std::string> tres;  // "gres/gpu"; a type alone: all of it
  std::vector<Limit> limits;      // set to exactly this
  std::optional<AdminLevel> admin_level;
  std::vector<std::string> classifications, actions, actors;
  Time from{}, until{};  // of transactions
  bool with_deleted = false, with_sub_accounts = false, only_defaults = false;
  std::vector<std::string> names, servers, server_types;  // of resources
  std::vector<std::string> federations;
  MUSTER_FIELDS(field(1, "accounts", self.accounts); field(2, "clusters", self.clusters); field(3, "users", self.users);
                field(4, "partitions", self.partitions); field(5, "parents", self.parents); field(6, "qos", self.qos);
                field(7, "wckeys", self.wckeys); field(8, "descriptions", self.descriptions); field(9, "organizations", self.organizations);
                field(10, "default_accounts", self.default_accounts); field(11, "default_wckeys", self.default_wckeys);
                field(12, "default_qos", self.default_qos); field(13, "flags", self.flags); field(14, "preempt_modes", self.preempt_modes);
                field(15, "ids", self.ids); field(16, "tres", self.tres); field(17, "limits", self.limits);
                field(18, "admin_level", self.admin_level); field(19, "classifications", self.classifications);
                field(20, "actions", self.actions); field(21, "actors", self.actors); field(22, "from", self.from);
                field(23, "until", self.until); field(24, "with_deleted", self.with_deleted);
                field(25, "with_sub_accounts", self.with_sub_accounts); field(26, "only_defaults", self.only_defaults);
                field(66, "names", self.names); field(67, "servers", self.servers); field(68, "server_types", self.server_types);
                field(69, "federations", self.federations);)
};

enum class ChangeOp : uint8_t { kSet, kAdd, kSubtract, kClear };  // =, +=, -=, =-1
struct LimitChange {
  LimitKind kind{};
  std::string tres;
  ChangeOp op = ChangeOp::kSet;
  uint64_t value = 0;
  MUSTER_FIELDS(field(1, "kind", self.kind); field(2, "tres", self.tres); field(3, "op", self.op); field(4, "value", self.value);)
};
struct NamesChange {
  ChangeOp op = ChangeOp::kSet;
  std::vector<std::string> names;
  MUSTER_FIELDS(field(1, "op", self.op); field(2, "names", self.names);)
};
struct EntityChange {  // absent: stays as it is; of something new: its default
  std::optional<std::string> description, organization, parent, classification, comment;
  std::optional<std::string> default_account, default_wckey, default_qos;  // default_qos "": none
  std::optional<std::string> new_name;                                     // of users
  std::optional<AdminLevel> admin_level;
  std::optional<std::string> preempt_mode;
  std::vector<NamesChange> qos, flags, preempt, features;  // one after the other
  std::vector<LimitChange> limits;
  std::optional<double> usage_factor, usage_threshold, limit_factor;  // below 0: cleared
  std::optional<double> raw_usage;
  std::optional<uint32_t> count, last_consumed, allowed;  // of resources
  std::optional<std::string> server_type;
  std::optional<std::string> federation, fed_state;  // of clusters; federation "": none
  std::vector<NamesChange> clusters;                 // of federations, one after the other
  MUSTER_FIELDS(field(1, "description", self.description); field(2, "organization", self.organization); field(3, "parent", self.parent);
                field(4, "classification", self.classification); field(5, "comment", self.comment);
                field(6, "default_account", self.default_account); field(7, "default_wckey", self.default_wckey);
                field(8, "default_qos", self.default_qos); field(9, "new_name", self.new_name); field(10, "admin_level", self.admin_level);
                field(11, "preempt_mode", self.preempt_mode); field(12, "qos", self.qos); field(13, "flags", self.flags);
                field(14, "preempt", self.preempt); field(15, "features", self.features); field(16, "limits", self.limits);
                field(17, "usage_factor", self.usage_factor); field(18, "usage_threshold", self.usage_threshold);
                field(19, "limit_factor", self.limit_factor); field(20, "raw_usage", self.raw_usage); field(60, "count", self.count);
                field(61, "last_consumed", self.last_consumed); field(62, "allowed", self.allowed);
                field(63, "server_type", self.server_type); field(64, "federation", self.federation);
                field(65, "fed_state", self.fed_state); field(66, "clusters", self.clusters);)
};

// The records of a cluster's accounting that changed, with their new values, and those that were removed. Each record is in it once, so
// the order of applying does not matter.
struct AccountChanges {
  std::vector<AssociationRecord> associations;  // with what they inherit
  std::vector<QosRecord> qos;
  std::vector<UserRecord> users;
  std::vector<AccountRecord> accounts;
  std::vector<uint32_t> removed_associations;
  std::vector<std::string> removed_qos, removed_users, removed_accounts;
  std::vector<RemoteLicense> licenses;
  std::vector<std::string> removed_licenses;
  std::vector<UserWckeys> wckeys;  // of those who have any
  std::vector<std::string> removed_wckeys;
  MUSTER_FIELDS(field(1, "associations", self.associations); field(2, "qos", self.qos); field(3, "users", self.users);
                field(4, "accounts", self.accounts); field(5, "removed_associations", self.removed_associations);
                field(6, "removed_qos", self.removed_qos); field(7, "removed_users", self.removed_users);
                field(8, "removed_accounts", self.removed_accounts); field(48, "licenses", self.licenses);
                field(49, "removed_licenses", self.removed_licenses); field(50, "wckeys", self.wckeys);
                field(51, "removed_wckeys", self.removed_wckeys);)
};

// kAdd: `where` names what to add: accounts (on `clusters`, all if empty), users (to each of `accounts`, on `clusters`, for
// `partitions`), qos, clusters, wckeys (of users), coordinators (`users` over `accounts`). What exists already is left as it is and is not
// in the answer; an existing user or account gets the associations that it lacks.
// kModify: kAccount and kUser change the records and, for limits, QOS, parents …, those of their associations that `where` matches;
// kCluster changes the cluster and its root association.
enum class EditVerb : uint8_t { kAdd, kModify, kDelete };
struct EntityEdit {
  EditVerb verb = EditVerb::kAdd;
  Entity entity = Entity::kAccount;
  EntityFilter where;
  EntityChange set;
  MUSTER_FIELDS(field(1, "verb", self.verb); field(2, "entity", self.entity); field(3, "where", self.where); field(4, "set", self.set);)
};

namespace rpc {

// Asks for nouns. The answer is streamed in parts: clusters, accounts, users, QOS … by name or id; associations in the order of their
// tree (cluster by cluster; below each account first its users, then its accounts, each by name).
struct QueryEntities {
  Entity what = Entity::kAccount;
  EntityFilter filter;
  bool with_associations = false;  // of kAccount, kUser, kCluster (root's): those too
  bool with_coordinators = false;
  bool raw = false;      // limits and QOS of associations as set on each, without what they inherit (WOPLimits)
  bool raw_qos = false;  // the same for QOS alone (WithRawQOSLevel)
  MUSTER_FIELDS(field(1, "what", self.what); field(2, "filter", self.filter); field(3, "with_associations", self.with_associations);
                field(4, "with_coordinators", self.with_coordinators); field(5, "raw", self.raw); field(6, "raw_qos", self.raw_qos);)
};
struct Entities {
  std::vector<ClusterRecord> clusters;
  std::vector<AccountRecord> accounts;
  std::vector<UserRecord> users;
  std::vector<AssociationRecord> associations;
  std::vector<QosRecord> qos;
  std::vector<TresRecord> tres;
  std::vector<WckeyRecord> wckeys;
  std::vector<TransactionRecord> transactions;
  std::vector<ResourceRecord> resources;
  std::vector<FederationRecord> federations;  // with `clusters` that are in them
  MUSTER_FIELDS(field(1, "clusters", self.clusters); field(2, "accounts", self.accounts); field(3, "users", self.users);
                field(4, "associations", self.associations); field(5, "qos", self.qos); field(6, "tres", self.tres);
                field(7, "wckeys", self.wckeys); field(8, "transactions", self.transactions); field(48, "resources", self.resources);
                field(49, "federations", self.federations);)
};

// Edits, all or none. With `commit` false nothing is changed: the answer says what would be, with the same errors, so that a person can
// be asked first. A refusal has a message that names field, value and rule. Its codes: kAccessDenied (the caller is neither root,
// SlurmUser nor administrator, and not an operator or coordinator where those may edit), kNotFound, kBadName, kInvalidParentAccount,
// kInvalidQos, kCanNotRemoveDefaultAccount, kJobsActiveOnRemove (the message names the jobs, a line each), kError.
struct EditEntities {
  bool commit = false;
  std::vector<EntityEdit> edits;
  MUSTER_FIELDS(field(1, "commit", self.commit); field(2, "edits", self.edits);)
};
// What was (or would be) added, changed (with the new values) or deleted (with the old values): one entry for each edit, empty if the
// edit changed nothing. For coordinators it holds their accounts with the new values.
struct EntitiesEdited {
  std::vector<Entities> changed;
  MUSTER_FIELDS(field(1, "changed", self.changed);)
};

// slurmctld → slurmdbd, at first contact and whenever one of these values changed.
struct RegisterCluster {
  ClusterRecord cluster;                  // name, control_host and -port, rpc_version, nodes, node_count, tres
  std::vector<std::string> tracked_tres;  // "cpu", "gres/gpu" …: AccountingStorageTRES
  MUSTER_FIELDS(field(1, "cluster", self.cluster); field(2, "tracked_tres", self.tracked_tres);)
};

// slurmctld → slurmdbd: tell me when the answer to QueryEntities may have changed. Answered as soon as slurmdbd's version differs from
// `version`, which is at once for 0. A connection has one such request at a time: a second one replaces the first.
struct AwaitDirectory {
  uint64_t version = 0;
  MUSTER_FIELDS(field(1, "version", self.version);)
};
struct DirectoryVersion {  // means nothing but whether it is the same; another one after each start of slurmdbd
  uint64_t version = 0;
  MUSTER_FIELDS(field(1, "version", self.version);)
};

// sacctmgr modify job, and the repair of runaway jobs. Users may set comment, extra and derived_exit_status of their own jobs.
struct EditJobRecords {
  bool commit = false;
  JobRecordFilter where;
  std::optional<std::string> comment, admin_comment, system_comment, extra, wckey;
  std::optional<int32_t> derived_exit_status;
  std::optional<JobState> end_as;  // COMPLETED or FAILED: ends the records that have no end
  std::optional<TresAmounts> tres_allocated;
  MUSTER_FIELDS(field(1, "commit", self.commit); field(2, "where", self.where); field(3, "comment", self.comment);
                field(4, "admin_comment", self.admin_comment); field(5, "system_comment", self.system_comment);
                field(6, "extra", self.extra); field(7, "wckey", self.wckey); field(9, "derived_exit_status", self.derived_exit_status);
                field(10, "end_as", self.end_as); field(11, "tres_allocated", self.tres_allocated);)
};
struct JobRecordsEdited {
  std::vector<JobRecord> jobs;  // as they are then
  MUSTER_FIELDS(field(1, "jobs", self.jobs);)
};

}  // namespace rpc

#undef MUSTER_FIELDS

}  // namespace muster

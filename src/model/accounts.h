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

#define MUSTER_FIELDS(...)            \
  template <class S, class V>         \
  static void describe(S& s, V&& v) { \
    __VA_ARGS__                       \
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
  MUSTER_FIELDS(v(1, "kind", s.kind); v(2, "tres", s.tres); v(3, "value", s.value);)
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
  TresAmounts tres;  // what it has
  MUSTER_FIELDS(v(1, "name", s.name); v(2, "control_host", s.control_host); v(3, "control_port", s.control_port);
                v(4, "rpc_version", s.rpc_version); v(5, "classification", s.classification); v(6, "features", s.features);
                v(7, "federation", s.federation); v(8, "fed_state", s.fed_state); v(9, "nodes", s.nodes); v(10, "node_count", s.node_count);
                formerly_text(v, 11, "tres", s.tres); v(12, "flags", s.flags); v(13, "created", s.created); v(14, "modified", s.modified);
                v(15, "deleted", s.deleted); v(16, "tres", s.tres);)
};

struct AccountRecord {
  std::string name, description, organization;
  std::vector<std::string> flags;         // NoUsersAreCoords, UsersAreCoords
  std::vector<std::string> coordinators;  // user names
  Time created{}, modified{};
  bool deleted = false;
  bool operator==(const AccountRecord&) const = default;
  MUSTER_FIELDS(v(1, "name", s.name); v(2, "description", s.description); v(3, "organization", s.organization); v(4, "flags", s.flags);
                v(5, "coordinators", s.coordinators); v(6, "created", s.created); v(7, "modified", s.modified); v(8, "deleted", s.deleted);)
};

struct UserRecord {
  std::string name;
  AdminLevel admin_level = AdminLevel::kNone;
  std::string default_account, default_wckey;  // of the cluster asked about; without one of the first
  std::vector<std::string> coordinator_of;     // accounts
  Time created{}, modified{};
  bool deleted = false;
  bool operator==(const UserRecord&) const = default;
  MUSTER_FIELDS(v(1, "name", s.name); v(2, "admin_level", s.admin_level); v(3, "default_account", s.default_account);
                v(4, "default_wckey", s.default_wckey); v(5, "coordinator_of", s.coordinator_of); v(6, "created", s.created);
                v(7, "modified", s.modified); v(8, "deleted", s.deleted);)
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
  MUSTER_FIELDS(v(1, "id", s.id); v(2, "cluster", s.cluster); v(3, "account", s.account); v(4, "user", s.user);
                v(5, "partition", s.partition); v(6, "parent_id", s.parent_id); v(7, "parent_account", s.parent_account);
                v(8, "depth", s.depth); v(9, "lineage", s.lineage); v(10, "is_default", s.is_default); v(11, "default_qos", s.default_qos);
                v(12, "qos", s.qos); v(13, "limits", s.limits); v(14, "flags", s.flags); v(15, "comment", s.comment);
                v(16, "created", s.created); v(17, "modified", s.modified); v(18, "deleted", s.deleted);
                v(19, "usage_reset", s.usage_reset);)
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
  MUSTER_FIELDS(v(1, "id", s.id); v(2, "name", s.name); v(3, "description", s.description); v(4, "flags", s.flags);
                v(5, "preempt", s.preempt); v(6, "preempt_mode", s.preempt_mode); v(7, "usage_factor", s.usage_factor);
                v(8, "usage_threshold", s.usage_threshold); v(9, "limit_factor", s.limit_factor); v(10, "limits", s.limits);
                v(11, "created", s.created); v(12, "modified", s.modified); v(13, "deleted", s.deleted);
                v(14, "usage_reset", s.usage_reset);)
};
// Whether a flag of sacctmgr(1), "NoDecay", is set.
bool has_flag(const QosRecord& qos, std::string_view flag);

struct TresRecord {  // cpu 1, mem 2, energy 3, node 4, billing 5, fs/disk 6, vmem 7, pages 8; others from 1001
  uint32_t id = 0;
  std::string type, name;  // "gres", "gpu:h100"
  MUSTER_FIELDS(v(1, "id", s.id); v(2, "type", s.type); v(3, "name", s.name);)
};

struct WckeyRecord {
  uint32_t id = 0;
  std::string name, cluster, user;
  bool is_default = false, deleted = false;
  MUSTER_FIELDS(v(1, "id", s.id); v(2, "name", s.name); v(3, "cluster", s.cluster); v(4, "user", s.user); v(5, "is_default", s.is_default);
                v(6, "deleted", s.deleted);)
};

// What a cluster may use of a resource: percent of its count, or with the flag Absolute so many.
struct ResourceShare {
  std::string cluster;
  uint32_t allowed = 0;
  bool operator==(const ResourceShare&) const = default;
  MUSTER_FIELDS(v(1, "cluster", s.cluster); v(2, "allowed", s.allowed);)
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
  MUSTER_FIELDS(v(1, "id", s.id); v(2, "name", s.name); v(3, "server", s.server); v(4, "server_type", s.server_type);
                v(5, "description", s.description); v(6, "count", s.count); v(7, "last_consumed", s.last_consumed); v(8, "flags", s.flags);
                v(9, "clusters", s.clusters); v(10, "created", s.created); v(11, "modified", s.modified); v(12, "deleted", s.deleted);)
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
  MUSTER_FIELDS(v(1, "name", s.name); v(2, "total", s.total); v(3, "elsewhere", s.elsewhere); v(4, "last_consumed", s.last_consumed);
                v(5, "updated", s.updated); v(6, "deficit", s.deficit);)
};

struct TransactionRecord {
  uint64_t id = 0;
  Time time{};
  std::string action, actor, where, info;              // "Add Accounts", "root", "name='team-a'", "description='…'"
  std::vector<std::string> accounts, clusters, users;  // affected
  MUSTER_FIELDS(v(1, "id", s.id); v(2, "time", s.time); v(3, "action", s.action); v(4, "actor", s.actor); v(5, "where", s.where);
                v(6, "info", s.info); v(7, "accounts", s.accounts); v(8, "clusters", s.clusters); v(9, "users", s.users);)
};

// The entities of sacctmgr(1) that slurmdbd keeps. On the wire and in the database: append only.
enum class Entity : uint8_t { kAccount, kAssociation, kCluster, kCoordinator, kQos, kTransaction, kTres, kUser, kWckey, kResource };

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
  MUSTER_FIELDS(v(1, "accounts", s.accounts); v(2, "clusters", s.clusters); v(3, "users", s.users); v(4, "partitions", s.partitions);
                v(5, "parents", s.parents); v(6, "qos", s.qos); v(7, "wckeys", s.wckeys); v(8, "descriptions", s.descriptions);
                v(9, "organizations", s.organizations); v(10, "default_accounts", s.default_accounts);
                v(11, "default_wckeys", s.default_wckeys); v(12, "default_qos", s.default_qos); v(13, "flags", s.flags);
                v(14, "preempt_modes", s.preempt_modes); v(15, "ids", s.ids); v(16, "tres", s.tres); v(17, "limits", s.limits);
                v(18, "admin_level", s.admin_level); v(19, "classifications", s.classifications); v(20, "actions", s.actions);
                v(21, "actors", s.actors); v(22, "from", s.from); v(23, "until", s.until); v(24, "with_deleted", s.with_deleted);
                v(25, "with_sub_accounts", s.with_sub_accounts); v(26, "only_defaults", s.only_defaults); v(66, "names", s.names);
                v(67, "servers", s.servers); v(68, "server_types", s.server_types);)
};

enum class ChangeOp : uint8_t { kSet, kAdd, kSubtract, kClear };  // =, +=, -=, =-1
struct LimitChange {
  LimitKind kind{};
  std::string tres;
  ChangeOp op = ChangeOp::kSet;
  uint64_t value = 0;
  MUSTER_FIELDS(v(1, "kind", s.kind); v(2, "tres", s.tres); v(3, "op", s.op); v(4, "value", s.value);)
};
struct NamesChange {
  ChangeOp op = ChangeOp::kSet;
  std::vector<std::string> names;
  MUSTER_FIELDS(v(1, "op", s.op); v(2, "names", s.names);)
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
  MUSTER_FIELDS(v(1, "description", s.description); v(2, "organization", s.organization); v(3, "parent", s.parent);
                v(4, "classification", s.classification); v(5, "comment", s.comment); v(6, "default_account", s.default_account);
                v(7, "default_wckey", s.default_wckey); v(8, "default_qos", s.default_qos); v(9, "new_name", s.new_name);
                v(10, "admin_level", s.admin_level); v(11, "preempt_mode", s.preempt_mode); v(12, "qos", s.qos); v(13, "flags", s.flags);
                v(14, "preempt", s.preempt); v(15, "features", s.features); v(16, "limits", s.limits);
                v(17, "usage_factor", s.usage_factor); v(18, "usage_threshold", s.usage_threshold); v(19, "limit_factor", s.limit_factor);
                v(20, "raw_usage", s.raw_usage); v(60, "count", s.count); v(61, "last_consumed", s.last_consumed);
                v(62, "allowed", s.allowed); v(63, "server_type", s.server_type);)
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
  MUSTER_FIELDS(v(1, "associations", s.associations); v(2, "qos", s.qos); v(3, "users", s.users); v(4, "accounts", s.accounts);
                v(5, "removed_associations", s.removed_associations); v(6, "removed_qos", s.removed_qos);
                v(7, "removed_users", s.removed_users); v(8, "removed_accounts", s.removed_accounts); v(48, "licenses", s.licenses);
                v(49, "removed_licenses", s.removed_licenses);)
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
  MUSTER_FIELDS(v(1, "verb", s.verb); v(2, "entity", s.entity); v(3, "where", s.where); v(4, "set", s.set);)
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
  MUSTER_FIELDS(v(1, "what", s.what); v(2, "filter", s.filter); v(3, "with_associations", s.with_associations);
                v(4, "with_coordinators", s.with_coordinators); v(5, "raw", s.raw); v(6, "raw_qos", s.raw_qos);)
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
  MUSTER_FIELDS(v(1, "clusters", s.clusters); v(2, "accounts", s.accounts); v(3, "users", s.users); v(4, "associations", s.associations);
                v(5, "qos", s.qos); v(6, "tres", s.tres); v(7, "wckeys", s.wckeys); v(8, "transactions", s.transactions);
                v(48, "resources", s.resources);)
};

// Edits, all or none. With `commit` false nothing is changed: the answer says what would be, with the same errors, so that a person can
// be asked first. A refusal has a message that names field, value and rule. Its codes: kAccessDenied (the caller is neither root,
// SlurmUser nor administrator, and not an operator or coordinator where those may edit), kNotFound, kBadName, kInvalidParentAccount,
// kInvalidQos, kCanNotRemoveDefaultAccount, kJobsActiveOnRemove (the message names the jobs, a line each), kError.
struct EditEntities {
  bool commit = false;
  std::vector<EntityEdit> edits;
  MUSTER_FIELDS(v(1, "commit", s.commit); v(2, "edits", s.edits);)
};
// What was (or would be) added, changed (with the new values) or deleted (with the old values): one entry for each edit, empty if the
// edit changed nothing. For coordinators it holds their accounts with the new values.
struct EntitiesEdited {
  std::vector<Entities> changed;
  MUSTER_FIELDS(v(1, "changed", s.changed);)
};

// slurmctld → slurmdbd, at first contact and whenever one of these values changed.
struct RegisterCluster {
  ClusterRecord cluster;                  // name, control_host and -port, rpc_version, nodes, node_count, tres
  std::vector<std::string> tracked_tres;  // "cpu", "gres/gpu" …: AccountingStorageTRES
  MUSTER_FIELDS(v(1, "cluster", s.cluster); v(2, "tracked_tres", s.tracked_tres);)
};

// slurmctld → slurmdbd: tell me when the answer to QueryEntities may have changed. Answered as soon as slurmdbd's version differs from
// `version`, which is at once for 0. A connection has one such request at a time: a second one replaces the first.
struct AwaitDirectory {
  uint64_t version = 0;
  MUSTER_FIELDS(v(1, "version", s.version);)
};
struct DirectoryVersion {  // means nothing but whether it is the same; another one after each start of slurmdbd
  uint64_t version = 0;
  MUSTER_FIELDS(v(1, "version", s.version);)
};

// sacctmgr modify job, and the repair of runaway jobs. Users may set comment, extra and derived_exit_status of their own jobs.
struct EditJobRecords {
  bool commit = false;
  JobRecordFilter where;
  std::optional<std::string> comment, admin_comment, system_comment, extra, wckey;
  std::optional<int32_t> derived_exit_status;
  std::optional<JobState> end_as;  // COMPLETED or FAILED: ends the records that have no end
  std::optional<TresAmounts> tres_allocated;
  MUSTER_FIELDS(v(1, "commit", s.commit); v(2, "where", s.where); v(3, "comment", s.comment); v(4, "admin_comment", s.admin_comment);
                v(5, "system_comment", s.system_comment); v(6, "extra", s.extra); v(7, "wckey", s.wckey);
                v(9, "derived_exit_status", s.derived_exit_status); v(10, "end_as", s.end_as); v(11, "tres_allocated", s.tres_allocated);)
};
struct JobRecordsEdited {
  std::vector<JobRecord> jobs;  // as they are then
  MUSTER_FIELDS(v(1, "jobs", s.jobs);)
};

}  // namespace rpc

#undef MUSTER_FIELDS

}  // namespace muster

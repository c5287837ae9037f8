// What a column of sacctmgr's listings sees: one account, user, QOS …, and with it one of its associations if they were asked for.
// sacctmgr(1) LIST/SHOW … FORMAT OPTIONS. As documents: entity_objects.h.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "fields/columns.h"
#include "fields/environment.h"
#include "model/accounts.h"

namespace muster::fields {

struct EntityView {
  const Environment& env;
  const AccountRecord* account = nullptr;
  const UserRecord* user = nullptr;
  const AssociationRecord* association = nullptr;
  const ClusterRecord* cluster = nullptr;
  const QosRecord* qos = nullptr;
  const TresRecord* tres = nullptr;
  const WckeyRecord* wckey = nullptr;
  const TransactionRecord* transaction = nullptr;
  const ResourceRecord* resource = nullptr;
  const FederationRecord* federation = nullptr;     // with `cluster` one that is in it
  const ResourceShare* share = nullptr;             // of the resource, where its clusters are shown
  bool tree = false;                                // account names indented by their depth
  uint32_t depth = 0;                               // of the association: how many of those above it are shown
  const std::vector<QosRecord>* all_qos = nullptr;  // to print their numbers; may be null
  // For documents, either may be null: associations of which those of the account, user or cluster are its list; TRES with their numbers.
  const std::vector<AssociationRecord>* associations = nullptr;
  const std::vector<TresRecord>* known_tres = nullptr;
};

using EntityField = ColumnField<EntityView>;

// The columns of an entity; those of accounts, users and clusters include the columns of their associations.
std::span<const EntityField> entity_fields(Entity entity);

// Names of parts of limits that older releases had (GrpCPUs, MaxNodes): understood in format=, listed nowhere.
std::span<const EntityField> old_limit_fields();

// Choices that change which columns are shown without format=: associations (-s), no limits (WOLimits) and others.
struct EntityDefaults {
  bool with_clusters = false;    // of resources
  bool with_federation = false;  // of clusters
  bool with_associations = false, without_limits = false, with_coordinators = false, with_deleted = false, tree = false;
  bool with_wckeys = false;  // TrackWCKey: of users their default one
};
std::string entity_default_columns(Entity entity, const EntityDefaults& defaults);

// The limits of a kind in the order of their names, as in "cpu=10,gres/gpu=3". sacctmgr's messages about edits use it, too.
std::string limit_text(const std::vector<::muster::Limit>& limits, LimitKind kind);
// A value as it is shown: memory in its largest unit, spans of time as 1-00:00:00.
std::string limit_value_text(LimitKind kind, std::string_view tres, uint64_t value);
std::string_view admin_level_name(AdminLevel level);  // "None", "Operator", "Administrator"

}  // namespace muster::fields

// What sacctmgr lists as objects of its documents: the members of the facts in entity_columns.cc. sacctmgr(1) --json, --yaml.
#pragma once

#include <string_view>

#include "fields/entity_view.h"
#include "fields/fact.h"

namespace muster::fields {

// Of a view that has a record of this kind. An account is the same among coordinators.
DocumentObject<EntityView> entity_object(Entity entity);
// The list that a document has them in: "accounts", "TRES" ….
std::string_view entity_list_name(Entity entity);

}  // namespace muster::fields

#include "model/transaction_names.h"

#include "base/text.h"

namespace muster {
namespace {

struct VerbName {
  EditVerb verb;
  const char* name;
};
constexpr VerbName kVerbs[] = {{EditVerb::kAdd, "Add"}, {EditVerb::kModify, "Modify"}, {EditVerb::kDelete, "Remove"}};

struct EntityName {
  Entity entity;
  const char* name;
};
constexpr EntityName kEntities[] = {
    {Entity::kAccount, "Accounts"},
    {Entity::kAssociation, "Associations"},
    {Entity::kCluster, "Clusters"},
    {Entity::kCoordinator, "Coordinators"},
    {Entity::kQos, "QOS"},
    {Entity::kTransaction, "Transactions"},
    {Entity::kTres, "TRES"},
    {Entity::kUser, "Users"},
    {Entity::kWckey, "WCKeys"},
    {Entity::kResource, "Resources"},
    {Entity::kFederation, "Federations"},
};

}  // namespace

std::string entity_plural(Entity entity) {
  for (const EntityName& e : kEntities)
    if (e.entity == entity) return e.name;
  return {};
}

std::string transaction_action(EditVerb verb, Entity entity) {
  std::string out;
  for (const VerbName& v : kVerbs)
    if (v.verb == verb) out = v.name;
  return out + " " + entity_plural(entity);
}

std::optional<std::string> read_transaction_action(std::string_view text) {
  for (const VerbName& v : kVerbs)
    for (const EntityName& e : kEntities)
      if (std::string action = transaction_action(v.verb, e.entity); iequals(action, text)) return action;
  return std::nullopt;
}

}  // namespace muster

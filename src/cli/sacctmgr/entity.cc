// The entities of sacctmgr(1) by their words.
#include "base/text.h"
#include "cli/sacctmgr/context.h"

namespace muster::cli {
namespace {

struct EntityRow {
  std::string_view name;
  std::optional<Entity> entity;  // nullopt: not there yet
  size_t least;                  // how many letters make it unambiguous
  const char* reason = nullptr;
};
constexpr EntityRow kEntities[] = {
    {"accounts", Entity::kAccount, 3},
    {"associations", Entity::kAssociation, 3},
    {"clusters", Entity::kCluster, 2},
    {"coordinators", Entity::kCoordinator, 4},
    {"qos", Entity::kQos, 1},
    {"transactions", Entity::kTransaction, 4},
    {"txn", Entity::kTransaction, 3},
    {"tres", Entity::kTres, 4},
    {"users", Entity::kUser, 1},
    {"wckeys", Entity::kWckey, 1},
    {"resources", Entity::kResource, 4},
    {"events", {}, 1, "events come by themselves: list event alone"},
    {"federations", Entity::kFederation, 1},
    {"instances", {}, 1, "cloud instances are not recorded"},
    {"jobs", {}, 1, "jobs are modified alone: modify job; sacct shows them"},
    {"problems", {}, 1, "problems are found: list problem alone"},
    {"reservations", {}, 4, "reservations are made with scontrol: list reservation alone"},
    {"runawayjobs", {}, 2, "they are found in the database: list runawayjobs alone"},
    {"stats", {}, 2, "slurmdbd counts them: list stats alone"},
};

bool means(const EntityRow& row, std::string_view word) {
  if (row.entity == Entity::kAccount && iequals(word, "acct")) return true;
  return word.size() >= row.least && (istarts_with(row.name, word) || (row.entity == Entity::kWckey && iequals(word, "wckey")));
}

std::string list_of(std::string_view verb) {
  if (verb == "list")
    return "\"Account\", \"Association\", \"Cluster\", \"Configuration\",\n"
           "\"Coordinator\", \"Event\", \"Federation\", \"Problem\", \"QOS\", \"Resource\", \"Reservation\",\n"
           "\"RunAwayJobs\", \"Stats\", \"Transaction\", \"TRES\", \"User\", or \"WCKey\"";
  if (verb == "modify") return "\"Account\", \"Association\", \"Cluster\", \"Federation\", \"Job\", \"QOS\", \"Resource\" or \"User\"";
  return "\"Account\", \"Cluster\", \"Coordinator\", \"Federation\", \"QOS\", \"Resource\", or \"User\"";
}

}  // namespace

std::optional<Entity> entity_of(Context& context, std::string_view verb, std::string_view word) {
  for (const EntityRow& row : kEntities) {
    if (!means(row, word)) continue;
    if (row.entity) return row.entity;
    context.complain("sacctmgr: error: " + std::string(verb) + " " + std::string(row.name) +
                     " is not available in this version of Muster: " + row.reason);
    return std::nullopt;
  }
  context.complain("No valid entity in " + std::string(verb) + " command\nInput line must include " + list_of(verb));
  std::vector<std::string_view> names;
  for (const EntityRow& row : kEntities) names.push_back(row.name);
  std::string_view meant = did_you_mean(to_lower(word), names);
  if (!meant.empty()) context.log.info("did you mean {}?", meant);
  return std::nullopt;
}

}  // namespace muster::cli

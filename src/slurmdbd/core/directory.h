// Directory: sacctmgr's nouns as slurmdbd holds them in memory: a value that is read whole and replaced whole. Associations and QOS
// stand in it as they were set; what they inherit is worked out by each question (query.h). Pure.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/accounts.h"
#include "model/record_audience.h"

namespace muster::slurmdbd {

struct Directory {
  // Deleted records stay, marked, unless they were young: see edit.h.
  std::map<std::string, ClusterRecord> clusters;
  std::map<std::string, AccountRecord> accounts;
  std::map<std::string, UserRecord> users;  // default_account is of associations
  std::map<std::string, QosRecord> qos;
  std::map<uint32_t, AssociationRecord> associations;  // by id
  std::map<uint32_t, TresRecord> tres;
  std::map<uint32_t, WckeyRecord> wckeys;
  std::map<uint32_t, ResourceRecord> resources;
  std::map<std::string, FederationRecord> federations;
  uint32_t last_id = 0;  // of associations, QOS, wckeys and resources: no number comes twice

  const AssociationRecord* association(const std::string& cluster, const std::string& account, const std::string& user = "",
                                       const std::string& partition = "") const;  // also a deleted one
  // The default QOS of an association: its own, else that of the nearest one above it that has one, else `otherwise`.
  std::string default_qos(const AssociationRecord* association, std::string_view otherwise) const;
  // The associations below one, and that one itself; deleted ones too.
  std::vector<uint32_t> below(uint32_t id) const;
};

// By the flag UsersAreCoords of an account.
bool has_users_as_coordinators(const Directory& directory, const std::string& account);

// Whether the user coordinates that account of the cluster: it or one above it, by name or as one of its users.
bool coordinates(const Directory& directory, const std::string& user, const std::string& cluster, const std::string& account);
// All of them, by cluster; deleted accounts below too, for records of their jobs are left. Cost: O(associations × depth of the tree).
std::map<std::string, RecordAudience::Names, std::less<>> coordinated_accounts(const Directory& directory, const std::string& user);

template <class Record>
const Record* find_live(const std::map<std::string, Record>& map, const std::string& name) {
  auto at = map.find(name);
  return at == map.end() || at->second.deleted ? nullptr : &at->second;
}

// What an empty database has: account root, user root, QOS normal, and the eight TRES that always exist.
Directory initial_directory(Time now);

// The records that a change of a Directory touched, so that only those are written.
struct Touched {
  std::set<std::pair<Entity, std::string>> keys;  // names; of numbered ones the number as text
};
void touch(Touched& t, const ClusterRecord& r);
void touch(Touched& t, const AccountRecord& r);
void touch(Touched& t, const UserRecord& r);
void touch(Touched& t, const QosRecord& r);
void touch(Touched& t, const AssociationRecord& r);
void touch(Touched& t, const TresRecord& r);
void touch(Touched& t, const WckeyRecord& r);
void touch(Touched& t, const ResourceRecord& r);
void touch(Touched& t, const FederationRecord& r);

// Records a controller's first contact, or what changed since: the cluster with its root associations, and the TRES it tracks.
// `touched` stays empty if all of it was known.
void register_cluster(Directory& directory, const rpc::RegisterCluster& request, const std::string& default_qos, Time now,
                      Touched& touched);
// Adds the cluster with its root associations, if it does not exist.
void add_cluster(Directory& directory, const std::string& name, const std::string& default_qos, Time now, Touched& touched);

// "gres/gpu:h100", or "cpu" for a TRES without a name.
std::string tres_name(const TresRecord& t);

}  // namespace muster::slurmdbd

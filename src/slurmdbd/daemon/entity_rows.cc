#include "slurmdbd/daemon/entity_rows.h"

#include <algorithm>
#include <charconv>

#include "wire/accounting_instances.h"

namespace muster::slurmdbd {
namespace {

template <class Record, class Key>
Result<> take(std::map<Key, Record>& map, const sql::EntityRow& row) {
  Record record;
  MUSTER_TRY_VOID(wire::decode(row.record, record));
  if constexpr (std::is_same_v<Key, std::string>) map[record.name] = std::move(record);
  else map[record.id] = std::move(record);
  return {};
}

template <class Record, class Key>
void put(const std::map<Key, Record>& map, Entity kind, const std::string& name, sql::EntityChanges& out) {
  Key key{};
  if constexpr (std::is_same_v<Key, std::string>) key = name;
  else std::from_chars(name.data(), name.data() + name.size(), key);
  auto at = map.find(key);
  if (at == map.end()) {
    out.gone.emplace_back(kind, name);
    return;
  }
  sql::EntityRow row{kind, name, {}};
  wire::encode(at->second, row.record);
  out.put.push_back(std::move(row));
}

void touch_all(const Directory& d, Touched& t) {
  for (const auto& [name, r] : d.accounts) touch(t, r);
  for (const auto& [name, r] : d.users) touch(t, r);
  for (const auto& [name, r] : d.qos) touch(t, r);
  for (const auto& [id, r] : d.tres) touch(t, r);
}

}  // namespace

sql::EntityChanges changes_of(const Directory& directory, const Touched& touched) {
  sql::EntityChanges out;
  for (const auto& [kind, name] : touched.keys) {
    switch (kind) {
      case Entity::kAccount: put(directory.accounts, kind, name, out); break;
      case Entity::kAssociation: put(directory.associations, kind, name, out); break;
      case Entity::kCluster: put(directory.clusters, kind, name, out); break;
      case Entity::kQos: put(directory.qos, kind, name, out); break;
      case Entity::kTres: put(directory.tres, kind, name, out); break;
      case Entity::kUser: put(directory.users, kind, name, out); break;
      case Entity::kWckey: put(directory.wckeys, kind, name, out); break;
      case Entity::kResource: put(directory.resources, kind, name, out); break;
      case Entity::kFederation: put(directory.federations, kind, name, out); break;
      case Entity::kCoordinator:
      case Entity::kTransaction: break;  // not entities of their own here
    }
  }
  return out;
}

Result<Directory> load_directory(sql::Storage& storage, Time now) {
  MUSTER_TRY(rows, storage.load_entities());
  if (rows.empty()) {
    Directory d = initial_directory(now);
    Touched all;
    touch_all(d, all);
    MUSTER_TRY_VOID(storage.change_entities(changes_of(d, all)));
    return d;
  }
  Directory directory;
  for (const sql::EntityRow& row : rows) {
    Result<> taken;
    switch (row.kind) {
      case Entity::kAccount: taken = take(directory.accounts, row); break;
      case Entity::kAssociation: taken = take(directory.associations, row); break;
      case Entity::kCluster: taken = take(directory.clusters, row); break;
      case Entity::kQos: taken = take(directory.qos, row); break;
      case Entity::kTres: taken = take(directory.tres, row); break;
      case Entity::kUser: taken = take(directory.users, row); break;
      case Entity::kWckey: taken = take(directory.wckeys, row); break;
      case Entity::kResource: taken = take(directory.resources, row); break;
      case Entity::kFederation: taken = take(directory.federations, row); break;
      default: taken = fail(Errc::kStateNotSaved, "a record of kind " + std::to_string(static_cast<int>(row.kind)));
    }
    if (!taken)
      return fail(Errc::kStateNotSaved,
                  storage.connection().name() + ": '" + row.name + "' cannot be read: " + std::string(taken.error().message()));
  }
  for (const auto& [id, a] : directory.associations) directory.last_id = std::max(directory.last_id, id);
  for (const auto& [name, q] : directory.qos) directory.last_id = std::max(directory.last_id, q.id);
  for (const auto& [id, w] : directory.wckeys) directory.last_id = std::max(directory.last_id, id);
  for (const auto& [id, r] : directory.resources) directory.last_id = std::max(directory.last_id, id);
  return directory;
}

}  // namespace muster::slurmdbd

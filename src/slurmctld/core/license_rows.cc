#include "slurmctld/core/license_rows.h"

#include <algorithm>
#include <map>

#include "base/saturating.h"
#include "model/account_directory.h"

namespace muster::slurmctld {

namespace {

uint64_t kept_by_reservations(const Cluster& cluster, const std::string& name) {
  uint64_t out = 0;
  cluster.reservations.for_each([&](uint32_t, const Reservation& r) {
    if (!r.begun) return;
    for (const LicenseShare& l : r.licenses)
      if (l.name == name) out += l.count;
  });
  return out;
}

uint32_t shown(uint64_t count) { return static_cast<uint32_t>(std::min<uint64_t>(count, kUnlimited32)); }

void add_layers(const Cluster& cluster, const Hierarchies& all, const rpc::QueryLicenses& query, rpc::LicenseRows& out) {
  for (const Hres& h : all.all)
    for (const HresLayer& l : h.layers) {
      if (!query.name.empty() && query.name != h.name && query.name != l.name) continue;
      LicenseRow row;
      row.name = l.name;
      row.total = shown(l.count);
      row.used = shown(add_sat(l.base, cluster.license_used(l.name)));
      row.reserved = shown(kept_by_reservations(cluster, l.name));
      out.licenses.push_back(std::move(row));
    }
}

}  // namespace

rpc::LicenseRows query_licenses(const Cluster& cluster, const Settings& settings, const rpc::QueryLicenses& query) {
  std::map<std::string, LicenseRow> rows;
  for (const auto& [name, count] : settings.config().licenses) {
    if (!query.name.empty() && query.name != name) continue;
    LicenseRow& row = rows[name];
    row.name = name;
    row.total = static_cast<uint32_t>(count);
  }
  if (cluster.directory)
    cluster.directory->licenses.for_each([&](const std::string& name, const RemoteLicense& l) {
      if ((!query.name.empty() && query.name != name) || rows.contains(name)) return;
      LicenseRow& row = rows[name];
      row.name = name;
      row.total = l.total;
      row.remote = true;
      row.last_consumed = l.last_consumed;
      row.last_deficit = l.deficit;
      row.last_update = l.updated;
    });
  rpc::LicenseRows out;
  for (auto& [name, row] : rows) {
    row.used = static_cast<uint32_t>(cluster.license_used(name));
    row.reserved = static_cast<uint32_t>(kept_by_reservations(cluster, name));
    out.licenses.push_back(std::move(row));
  }
  if (settings.sched.hierarchies) add_layers(cluster, *settings.sched.hierarchies, query, out);
  return out;
}

}  // namespace muster::slurmctld

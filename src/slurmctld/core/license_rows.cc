#include "slurmctld/core/license_rows.h"

#include <map>

#include "model/account_directory.h"

namespace muster::slurmctld {

rpc::LicenseRows query_licenses(const Cluster& cluster, const config::Config& config, const rpc::QueryLicenses& query) {
  std::map<std::string, LicenseRow> rows;
  for (const auto& [name, count] : config.licenses) {
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
  for (auto& [name, row] : rows) row.used = static_cast<uint32_t>(cluster.license_used(name));
  cluster.reservations.for_each([&](uint32_t, const Reservation& r) {
    if (!r.begun) return;
    for (const LicenseShare& l : r.licenses)
      if (auto row = rows.find(l.name); row != rows.end()) row->second.reserved += static_cast<uint32_t>(l.count);
  });
  rpc::LicenseRows out;
  for (auto& [name, row] : rows) out.licenses.push_back(std::move(row));
  return out;
}

}  // namespace muster::slurmctld

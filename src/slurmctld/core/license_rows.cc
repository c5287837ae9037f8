#include "slurmctld/core/license_rows.h"

#include <map>

#include "base/text.h"
#include "model/account_directory.h"

namespace muster::slurmctld {
namespace {

// "matlab:3,ansys" as name and count; "matlab|ansys" asks for one of them and is counted for the first.
template <class F>
void each_license(std::string_view text, F&& f) {
  for (std::string_view item : split(text, ',')) {
    item = trim(item.substr(0, item.find('|')));
    size_t colon = item.find_first_of(":=");
    uint32_t count = colon == std::string_view::npos ? 1 : parse_number<uint32_t>(item.substr(colon + 1)).value_or(1);
    if (!item.empty()) f(std::string(item.substr(0, colon)), count);
  }
}

}  // namespace

rpc::LicenseRows query_licenses(const Cluster& cluster, const config::Config& config, const rpc::QueryLicenses& q) {
  std::map<std::string, LicenseRow> rows;
  each_license(config.licenses, [&](std::string name, uint32_t count) {
    if (!q.name.empty() && q.name != name) return;
    LicenseRow& row = rows[name];
    row.name = name;
    row.total += count;
  });
  if (cluster.directory)
    cluster.directory->licenses.for_each([&](const std::string& name, const RemoteLicense& l) {
      if ((!q.name.empty() && q.name != name) || rows.contains(name)) return;
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

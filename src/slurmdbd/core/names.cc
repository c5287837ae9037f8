#include "slurmdbd/core/names.h"

#include <algorithm>

#include "base/text.h"

namespace muster::slurmdbd {

void lower(std::vector<std::string>& names) {
  for (std::string& n : names) n = to_lower(n);
}

void lower_names(rpc::StoreRecords& m) {
  m.cluster = to_lower(m.cluster);
  for (JobRecord& r : m.jobs)
    for (std::string* name : {&r.account, &r.qos, &r.wckey}) *name = to_lower(*name);
}

void lower_names(rpc::JobRecordFilter& f) {
  for (auto* names : {&f.clusters, &f.accounts, &f.qos, &f.wckeys}) lower(*names);
}

void lower_names(EntityFilter& f) {
  for (auto* names : {&f.accounts, &f.clusters, &f.parents, &f.qos, &f.wckeys, &f.default_accounts, &f.default_qos, &f.default_wckeys,
                      &f.tres, &f.federations})
    lower(*names);
}

constexpr size_t kMostNameBytes = 200;

Result<> check_names(std::string_view field, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const bool bad = name.empty() || name.size() > kMostNameBytes || std::ranges::any_of(name, [](char c) {
                       return static_cast<unsigned char>(c) <= ' ' || std::string_view(",|'\"/\\:=").contains(c);
                     });
    if (bad)
      return fail(Errc::kBadName, std::string(field) + " '" + name + "': a name has 1 to " + std::to_string(kMostNameBytes) +
                                      " bytes, no space and none of , | ' \" / \\ : =");
  }
  return {};
}

Result<> check_new_wckey(std::string_view field, const std::string& key) {
  if (key.starts_with('*')) return fail(Errc::kBadName, std::string(field) + " '" + key + "': a wckey does not begin with *");
  return check_names(field, {key});
}

}  // namespace muster::slurmdbd

// LicenseParameters=RemoteFuzzyMatch: a remote licence may be asked for without its server. slurm.conf(5).
#include <algorithm>

#include "slurmctld/core/decide.h"

namespace muster::slurmctld {
namespace {

// The full name of a licence that is asked for as `name`: a local one as it is, else the only remote one of that name.
std::string full_name(const View& v, const std::string& name) {
  const auto& known = v.settings.sched.licenses;
  if (std::ranges::any_of(known, [&](const auto& l) { return l.first == name; })) return name;
  const std::string* found = nullptr;
  for (const auto& [full, count] : known) {
    if (full.size() <= name.size() || !full.starts_with(name) || full[name.size()] != '@') continue;
    if (found) return name;  // of several servers: it has to be said which
    found = &full;
  }
  return found ? *found : name;
}

}  // namespace

void name_remote_licenses(const View& v, JobRequest& r) {
  if (r.licenses.empty() || !v.settings.config().license_parameters.has("RemoteFuzzyMatch")) return;
  const LicenseNeeds& needs = r.licenses.value();
  std::string text;
  bool other = false;
  for (const LicenseShare& l : needs.list) {
    const std::string name = full_name(v, l.name);
    other = other || name != l.name;
    text += (text.empty() ? "" : needs.any ? "|" : ",") + name + ":" + std::to_string(l.count);
  }
  if (other) r.licenses = text;
}

}  // namespace muster::slurmctld

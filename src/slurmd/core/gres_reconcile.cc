#include "slurmd/core/gres_reconcile.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "config/gres_conf.h"

namespace muster::slurmd {
namespace {

constexpr uint32_t kEnvironmentFlags = kGresEnvNvidia | kGresEnvAmd | kGresEnvIntel | kGresEnvOpencl | kGresNoEnv;

// One configured device.
struct Wanted {
  const GresDevices* line = nullptr;
  uint64_t number = 0;
  std::vector<std::string> files;  // none: any of the type
};

std::vector<Wanted> devices_wanted(const std::vector<GresDevices>& configured) {
  std::vector<Wanted> out;
  for (const GresDevices& g : configured) {
    if (g.name != "gpu") continue;
    for (uint64_t i = 0; i < g.count; ++i) {
      Wanted w{&g, g.first_index + i, {}};
      if (g.count == 1) w.files = g.files;
      else if (i < g.files.size()) w.files = {g.files[i]};
      out.push_back(std::move(w));
    }
  }
  return out;
}

bool same_files(std::vector<std::string> a, std::vector<std::string> b) {
  std::ranges::sort(a);
  std::ranges::sort(b);
  return a == b;
}

// "_3g.20gb" or "_1c.3g.20gb" at the end; empty: no MIG instance.
std::string_view mig_profile(std::string_view type) {
  size_t at = type.rfind('_');
  if (at == type.npos) return {};
  std::string_view profile = type.substr(at);
  return profile.ends_with("gb") && profile.find("g.") != profile.npos ? profile : std::string_view();
}

std::string name_of(const Wanted& w) {
  std::string out = "gres/gpu" + (w.line->type.empty() ? "" : ":" + w.line->type);
  return w.files.empty() ? out : out + " File=" + join(w.files, ",");
}

class Reconciler {
 public:
  Reconciler(const std::vector<FoundDevice>& found, uint32_t vendor_flags)
      : found_(found), used_(found.size()), vendor_flags_(vendor_flags) {}

  void by_file(const Wanted& wanted, Reconciled& out) {
    auto at = std::ranges::find_if(found_, [&](const FoundDevice& f) { return same_files(f.files, wanted.files); });
    if (at == found_.end()) {
      out.problems.push_back(name_of(wanted) + " is configured and was not found");
      return;
    }
    const auto index = static_cast<size_t>(at - found_.begin());
    std::string wrong;
    if (used_.test(index)) wrong = "is configured twice";
    if (!type_fits(wanted.line->type, at->type)) wrong = "does not fit what was found: Type=" + at->type;
    if (wanted.line->cores.any() && at->cores.any() && !(wanted.line->cores == at->cores))
      wrong = "has Cores=" + wanted.line->cores.to_ranges() + ", found: Cores=" + at->cores.to_ranges();
    if (!wanted.line->links.empty() && !at->links.empty() && wanted.line->links != at->links) wrong = "has other Links than were found";
    if (!wrong.empty()) {
      out.problems.push_back(name_of(wanted) + " " + wrong);
      return;
    }
    take(wanted, index, out);
  }

  // Takes the first free device of the type; where no instance is named, a whole card before an instance. False: there is none.
  bool by_type(const Wanted& w, Reconciled& out) {
    const bool instance = !mig_profile(w.line->type).empty();
    for (bool any : {false, true})
      for (size_t i = 0; i < found_.size(); ++i) {
        if (used_.test(i) || !type_fits(w.line->type, found_[i].type)) continue;
        if (!any && instance == mig_profile(found_[i].type).empty()) continue;
        take(w, i, out);
        return true;
      }
    return false;
  }

  void take(const Wanted& wanted, size_t index, Reconciled& out) {
    const FoundDevice& device = found_[index];
    used_.set(index);
    GresDevices d = *wanted.line;
    d.count = 1;
    d.first_index = static_cast<uint32_t>(wanted.number);
    d.files = device.files;
    if (d.cores.none()) d.cores = device.cores;
    if (d.links.empty()) d.links = device.links;
    if (!(d.flags & kEnvironmentFlags)) d.flags |= vendor_flags_;
    out.devices.push_back(std::move(d));
    if (out.uuids.size() <= wanted.number) out.uuids.resize(wanted.number + 1);
    out.uuids[wanted.number] = device.uuid;
  }

  size_t unused() const { return found_.size() - used_.count(); }

 private:
  const std::vector<FoundDevice>& found_;
  Bitmap used_;
  uint32_t vendor_flags_;
};

}  // namespace

bool type_fits(std::string_view configured, std::string_view found) {
  std::string want = to_lower(configured), have = to_lower(found);
  if (have.find(want) != have.npos) return true;
  std::string_view profile = mig_profile(want);
  if (profile.empty() || profile != mig_profile(have)) return false;
  return have.find(want.substr(0, want.size() - profile.size())) != have.npos;
}

Reconciled reconcile_gpus(const std::vector<GresDevices>& configured, const std::vector<FoundDevice>& found, uint32_t vendor_flags) {
  Reconciled out;
  for (const GresDevices& g : configured)
    if (g.name != "gpu") out.devices.push_back(g);
  Reconciler work(found, vendor_flags);
  std::vector<Wanted> wanted = devices_wanted(configured);
  if (wanted.empty()) {
    GresDevices any;
    any.name = "gpu";
    for (size_t i = 0; i < found.size(); ++i) {
      any.type = found[i].type;
      work.take({&any, i, {}}, i, out);
    }
    return out;
  }
  for (const Wanted& w : wanted)
    if (!w.files.empty()) work.by_file(w, out);
  const GresDevices* line = nullptr;  // one message for each line
  for (const Wanted& w : wanted) {
    if (!w.files.empty() || work.by_type(w, out) || w.line == line) continue;
    line = w.line;
    out.problems.push_back(name_of(w) + ": " + std::to_string(w.line->count) + " configured, " +
                           std::to_string(w.number - w.line->first_index) + " found");
  }
  if (work.unused() > 0)
    out.problems.push_back(std::to_string(work.unused()) + " more GPU" + (work.unused() == 1 ? "" : "s") +
                           " found than configured: not used");
  auto gpus = std::ranges::stable_partition(out.devices, [](const GresDevices& g) { return g.name != "gpu"; });
  std::ranges::sort(gpus, {}, &GresDevices::first_index);
  return out;
}

}  // namespace muster::slurmd

#include "sched/request/licenses.h"

#include <algorithm>

#include "base/text.h"

namespace muster::sched {
namespace {

constexpr uint64_t kMaxLicenses = 1ull << 32;
constexpr size_t kMaxKinds = 256;

std::unexpected<Error> bad(std::string_view piece, std::string_view why) {
  return fail(Errc::kLicenses, {}, "--licenses: \"" + std::string(piece) + "\": " + std::string(why));
}

void add(LicenseNeeds& needs, std::string name, uint64_t count) {
  for (LicenseShare& l : needs.list)
    if (l.name == name && !needs.any) {
      l.count += count;
      return;
    }
  needs.list.push_back({std::move(name), count});
}

}  // namespace

Result<LicenseNeeds> parse_licenses(std::string_view text) {
  LicenseNeeds out;
  out.any = text.find('|') != text.npos;
  if (out.any && text.find(',') != text.npos) return bad(text, "use either ',' (all) or '|' (any), not both");
  for (std::string_view piece : split(text, out.any ? '|' : ',')) {
    piece = trim(piece);
    if (piece.empty()) continue;
    const size_t mark = piece.find_first_of(":=");
    uint64_t count = 1;
    if (mark != piece.npos) {
      auto n = parse_count(piece.substr(mark + 1));
      if (!n || *n > kMaxLicenses) return bad(piece, "the count is no number");
      count = *n;
    }
    const std::string_view name = piece.substr(0, mark);
    if (name.empty()) return bad(piece, "the name is missing");
    if (count > 0) add(out, std::string(name), count);
    if (out.list.size() > kMaxKinds) return bad(text, "more than 256 kinds");
  }
  return out;
}

Result<> add_task_licenses(std::string_view tres, uint64_t tasks, LicenseNeeds& needs) {
  for (std::string_view piece : split(tres, ',')) {
    piece = trim(piece);
    if (!istarts_with(piece, "license/") && !istarts_with(piece, "license:")) continue;
    MUSTER_TRY(one, parse_licenses(piece.substr(8)));
    if (needs.any && !one.empty()) return fail(Errc::kLicenses, {}, "--tres-per-task=license/... cannot be combined with --licenses=a|b");
    for (LicenseShare& l : one.list) add(needs, std::move(l.name), std::min(l.count * tasks, kMaxLicenses));
  }
  return {};
}

void LicensePool::take(const std::vector<LicenseShare>& held) {
  for (const LicenseShare& l : held)
    if (auto it = free_.find(l.name); it != free_.end()) it->second -= std::min(it->second, l.count);
}

std::optional<std::vector<LicenseShare>> LicensePool::grant(const LicenseNeeds& needs) const {
  auto there = [&](const LicenseShare& l) {
    auto it = free_.find(l.name);
    return it != free_.end() && it->second >= l.count;
  };
  if (!needs.any) {
    if (!std::all_of(needs.list.begin(), needs.list.end(), there)) return std::nullopt;
    return needs.list;
  }
  auto first = std::find_if(needs.list.begin(), needs.list.end(), there);
  if (first == needs.list.end()) return std::nullopt;
  return std::vector<LicenseShare>{*first};
}

Result<> LicensePool::could_ever(const LicenseNeeds& needs) const {
  size_t good = 0;
  std::string why;
  for (const LicenseShare& l : needs.list) {
    auto it = all_.find(l.name);
    if (it != all_.end() && it->second >= l.count) ++good;
    else if (why.empty())
      why = it == all_.end()
                ? "no licence is called \"" + l.name + "\"; Licenses= in slurm.conf names them"
                : "there are " + std::to_string(it->second) + " licences of " + l.name + ", " + std::to_string(l.count) + " are asked for";
  }
  const size_t wanted = needs.any ? std::min<size_t>(1, needs.list.size()) : needs.list.size();
  if (good >= wanted) return {};
  return fail(Errc::kLicenses, {}, why);
}

}  // namespace muster::sched

#include "model/license_needs.h"

#include <utility>

#include "base/text.h"

namespace muster {
namespace {

std::unexpected<Error> bad(std::string_view piece, std::string_view why) {
  return fail(Errc::kLicenses, {}, "--licenses: \"" + std::string(piece) + "\": " + std::string(why));
}

}  // namespace

void LicenseNeeds::add(std::string name, uint64_t count) {
  for (LicenseShare& l : list)
    if (l.name == name && !any) {
      l.count += count;
      return;
    }
  list.push_back({std::move(name), count});
}

Result<LicenseNeeds> LicenseNeeds::parse(std::string_view text) {
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
      if (!n || *n > kMost) return bad(piece, "the count is no number");
      count = *n;
    }
    const std::string_view name = piece.substr(0, mark);
    if (name.empty()) return bad(piece, "the name is missing");
    if (count > 0) out.add(std::string(name), count);
    if (out.list.size() > kMostKinds) return bad(text, "more than 256 kinds");
  }
  return out;
}

}  // namespace muster

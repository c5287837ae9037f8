#include "model/license_needs.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace muster {
namespace {

std::unexpected<Error> bad(std::string_view piece, std::string_view why) {
  return fail(Errc::kLicenses, {}, "--licenses: \"" + std::string(piece) + "\": " + std::string(why));
}

// "full_node": a variable of resources.yaml in place of a count.
bool is_variable(std::string_view word) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (word.empty() || word.size() > 64 || !letter(word[0])) return false;
  return std::ranges::all_of(word, [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '.'; });
}

// The pieces; the nodes of a layer are within one.
std::vector<std::string_view> pieces_of(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  size_t from = 0;
  for (size_t at = 0; at <= text.size(); ++at) {
    if (at < text.size() && text[at] == '(') at = std::min(text.find(')', at), text.size());
    if (at < text.size() && text[at] != separator) continue;
    out.push_back(text.substr(from, at - from));
    from = at + 1;
  }
  return out;
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
  for (std::string_view piece : pieces_of(text, out.any ? '|' : ',')) {
    piece = trim(piece);
    if (piece.empty()) continue;
    const size_t nodes = piece.rfind(')');  // behind those of a layer
    const size_t mark = piece.find_first_of(":=", nodes == piece.npos ? 0 : nodes);
    uint64_t count = 1;
    std::string_view name = piece.substr(0, mark);
    if (name.empty()) return bad(piece, "the name is missing");
    if (mark != piece.npos) {
      const std::string_view word = piece.substr(mark + 1);
      const auto n = parse_count(word);
      if (piece[mark] == ':' && !n && is_variable(word)) name = piece;
      else if (!n || *n > kMost) return bad(piece, "the count is no number");
      else count = *n;
    }
    if (count > 0) out.add(std::string(name), count);
    if (out.list.size() > kMostKinds) return bad(text, "more than 256 kinds");
  }
  return out;
}

}  // namespace muster

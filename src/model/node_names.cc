#include "model/node_names.h"

#include <algorithm>

#include "base/text.h"

namespace muster {
namespace {

std::unexpected<Error> bad(std::string_view text, std::string_view why) {
  return fail(Errc::kInvalidNodeName, {}, "\"" + std::string(text.substr(0, 80)) + "\": " + std::string(why));
}

// Takes the count off "n1*2" and returns it.
Result<uint32_t> take_repeat(std::string_view& part) {
  const size_t star = part.rfind('*');
  if (star == part.npos || part.find(']', star) != part.npos) return 1u;
  auto n = parse_number<uint32_t>(part.substr(star + 1), 1, static_cast<uint32_t>(kMaxHosts));
  if (!n) return bad(part, "after * stands how often, as in n1*2");
  part = part.substr(0, star);
  return *n;
}

Result<NodeNames::Part> parse_function(std::string_view text, size_t open) {
  NodeNames::Part out;
  out.text = text;
  if (!text.ends_with('}')) return bad(text, "} is missing");
  out.function = trim(text.substr(0, open));
  out.unit = trim(text.substr(open + 1, text.size() - open - 2));
  if (out.function.empty() || out.unit.empty()) return bad(text, "a function is written name{unit}, as in block{b1}");
  return out;
}

Result<NodeNames::Part> parse_part(std::string_view text) {
  if (const size_t open = text.find('{'); open != text.npos) return parse_function(text, open);
  NodeNames::Part out;
  out.text = text;
  MUSTER_TRY(repeat, take_repeat(text));
  out.repeat = repeat;
  MUSTER_TRY(hosts, HostRange::parse(text));
  out.hosts = std::move(hosts);
  return out;
}

// The pieces between commas. Neighbouring pieces that are plain hosts stay together, since HostRange reads them at once.
std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> out;
  bool open = false;
  for (std::string_view raw : split_outside_brackets(text)) {
    const std::string_view piece = trim(raw);
    if (piece.empty()) continue;
    const bool plain = piece.find_first_of("*{") == piece.npos;
    if (plain && open) out.back() = {out.back().data(), static_cast<size_t>(piece.data() + piece.size() - out.back().data())};
    else out.push_back(piece);
    open = plain;
  }
  return out;
}

}  // namespace

Result<NodeNames> NodeNames::parse(std::string_view text) {
  NodeNames out;
  size_t names = 0, functions = 0;
  for (std::string_view piece : parts_of(text)) {
    MUSTER_TRY(part, parse_part(piece));
    functions += part.is_function();
    if (functions > kMostFunctions) return bad(text, "at most " + std::to_string(kMostFunctions) + " functions in one list");
    names += part.hosts.size() * part.repeat;
    if (names > kMaxHosts) return bad(text, "more than " + std::to_string(kMaxHosts) + " names");
    out.parts.push_back(std::move(part));
  }
  return out;
}

bool NodeNames::has_functions() const { return std::ranges::any_of(parts, &Part::is_function); }

size_t NodeNames::count() const {
  size_t sum = 0;
  for (const Part& p : parts) sum += p.hosts.size() * p.repeat;
  return sum;
}

std::vector<std::string> NodeNames::names() const {
  std::vector<std::string> out;
  out.reserve(count());
  for (const Part& p : parts)
    for (const std::string& name : p.hosts) out.insert(out.end(), p.repeat, name);
  return out;
}

}  // namespace muster

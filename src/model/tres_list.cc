#include "model/tres_list.h"

#include <algorithm>

#include "base/text.h"

namespace muster {
namespace {

std::unexpected<Error> bad(std::string_view part, std::string_view why) {
  return fail(Errc::kInvalidGres, {}, "\"" + std::string(part) + "\": " + std::string(why));
}

bool every_node_has(std::string_view name) {
  constexpr std::string_view kNames[] = {"cpu", "mem", "node", "billing", "energy", "vmem", "pages"};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

// Takes the kind off "gres/gpu:2", "gres:gpu:2" or "license:matlab" and returns it; where none is written, the name alone decides.
std::string take_kind(std::string_view& text) {
  for (std::string_view kind : {"gres", "license"})
    if (text.size() > kind.size() && istarts_with(text, kind) && (text[kind.size()] == '/' || text[kind.size()] == ':')) {
      text.remove_prefix(kind.size() + 1);
      return std::string(kind);
    }
  const size_t end = text.find_first_of("/:=");
  if (end != text.npos && text[end] == '/') {
    std::string kind(text.substr(0, end));
    text.remove_prefix(end + 1);
    return kind;
  }
  return every_node_has(text.substr(0, end)) ? "" : "gres";
}

Result<Tres> parse_one(std::string_view part) {
  std::string_view text = part;
  Tres out;
  out.kind = take_kind(text);
  auto count_is = [&](std::string_view s) {
    const auto n = parse_count(s);
    if (n) out.count = *n;
    return n.has_value();
  };
  if (const size_t equals = text.find('='); equals != text.npos) {
    if (!count_is(text.substr(equals + 1))) return bad(part, "the count is no number");
    text = text.substr(0, equals);
  }
  const std::vector<std::string_view> words = split(text, ':', true);
  if (words.empty() || words[0].empty() || words.size() > 3) return bad(part, "expected name[:type][:count]");
  out.name = words[0];
  if (words.size() == 2 && !count_is(words[1])) out.type = words[1];
  if (words.size() == 3) {
    out.type = words[1];
    if (!count_is(words[2])) return bad(part, "the count is no number");
  }
  if (out.type == "none" || out.name == "none") out.count = 0;
  if (out.count > TresList::kMostCount) return bad(part, "the count is too big");
  return out;
}

std::string entry_text(const Tres& t, bool with_gres, char before_count) {
  std::string out;
  if (!t.kind.empty() && (with_gres || !t.is_gres())) out = t.kind + "/";
  out += t.name;
  if (!t.type.empty()) out += ":" + t.type;
  return out + before_count + std::to_string(t.count);
}

std::string list_text(const std::vector<Tres>& items, bool with_gres, char before_count) {
  std::string out;
  for (const Tres& t : items) out += (out.empty() ? "" : ",") + entry_text(t, with_gres, before_count);
  return out;
}

}  // namespace

Result<TresList> TresList::parse(std::string_view text) {
  TresList out;
  for (std::string_view raw : split(text, ',')) {
    const std::string_view part = trim(raw);
    if (part.empty()) continue;
    MUSTER_TRY(one, parse_one(part));
    if (one.count > 0) MUSTER_TRY_VOID(out.add(std::move(one)));
  }
  return out;
}

Result<> TresList::add(Tres tres) {
  for (Tres& t : items_)
    if (t.kind == tres.kind && t.name == tres.name && t.type == tres.type) {
      if (tres.count > kMostCount - t.count) return bad(tres.name, "the count is too big");
      t.count += tres.count;
      return {};
    }
  if (items_.size() == kMost) return bad(tres.name, "more than " + std::to_string(kMost) + " kinds");
  items_.push_back(std::move(tres));
  return {};
}

uint64_t TresList::gres(std::string_view name) const {
  uint64_t sum = 0;
  for (const Tres& t : items_)
    if (t.is_gres() && t.name == name) sum += t.count;
  return sum;
}

void TresList::drop_gres(std::string_view name) {
  std::erase_if(items_, [&](const Tres& t) { return t.is_gres() && t.name == name; });
}

std::string TresList::text() const { return list_text(items_, true, ':'); }
std::string TresList::plain() const { return list_text(items_, false, ':'); }
std::string TresList::equated() const { return list_text(items_, true, '='); }

}  // namespace muster

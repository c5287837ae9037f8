#include "model/gres_items.h"

#include <optional>

#include "base/text.h"
#include "model/resources.h"

namespace muster {

namespace {

bool is_word(std::string_view s) {
  if (s.empty()) return false;
  for (char c : s)
    if (static_cast<unsigned char>(c) <= 32 || c == 127 || c == '"' || c == '=' || c == '(' || c == ')') return false;
  return true;
}

// Splits at commas outside parentheses.
std::vector<std::string_view> items_of(std::string_view text) {
  std::vector<std::string_view> out;
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    char c = i < text.size() ? text[i] : ',';
    if (c == '(') ++depth;
    if (c == ')' && depth > 0) --depth;
    if (i < text.size() && (c != ',' || depth > 0)) continue;
    if (i > start) out.push_back(trim(text.substr(start, i - start)));
    start = i + 1;
  }
  return out;
}

Result<GresItem> parse_item(std::string_view text) {
  GresItem item;
  std::string shown(text.substr(0, 80));
  if (size_t open = text.find('('); open != std::string_view::npos) {
    if (!text.ends_with(')')) return fail("\"" + shown + "\" has an open parenthesis without its end");
    item.suffix = text.substr(open + 1, text.size() - open - 2);
    text = text.substr(0, open);
  }
  std::vector<std::string_view> parts = split(text, ':', true);
  if (istarts_with(parts.front(), "gres/")) parts.front().remove_prefix(5);
  for (std::string_view p : parts)
    if (!is_word(p)) return fail(Errc::kError, "\"" + shown + "\" is not name[:type][:no_consume]:count", "for example gpu:h100:8");
  item.name = parts.front();
  size_t end = parts.size();
  if (end > 1) {
    if (std::optional<uint64_t> count = parse_count(parts[end - 1])) {
      item.count = *count;
      --end;
    } else if (parts[end - 1][0] >= '0' && parts[end - 1][0] <= '9' && end > 2) {
      return fail(Errc::kError, "\"" + shown + "\": \"" + std::string(parts[end - 1]) + "\" is not a count",
                  "K, M, G, T or P may follow the number");
    }
  }
  for (size_t i = 1; i < end; ++i) {
    if (iequals(parts[i], "no_consume")) {
      item.no_consume = true;
    } else if (item.type.empty()) {
      item.type = parts[i];
    } else {
      return fail(Errc::kError, "\"" + shown + "\" has more than name, type and count", "for example gpu:h100:8");
    }
  }
  return item;
}

}  // namespace

Result<GresItems> GresItems::parse(std::string_view text) {
  GresItems out;
  if (iequals(text, "(null)") || iequals(text, "none")) return out;
  for (std::string_view piece : items_of(text)) {
    if (piece.empty()) continue;
    MUSTER_TRY(item, parse_item(piece));
    for (const GresItem& other : out.list) {
      if (other.name != item.name) continue;
      if (other.type.empty() != item.type.empty())
        return fail(Errc::kError, item.name + " is given both with and without a type", "give a type to every " + item.name);
      if (other.type == item.type && other.suffix == item.suffix) return fail(gres_name(item.name, item.type) + " is given twice");
    }
    if (out.list.size() >= kMaxGresItems) return fail("has more than " + std::to_string(kMaxGresItems) + " resources");
    out.list.push_back(std::move(item));
  }
  return out;
}

std::string GresItems::text() const {
  std::string out;
  for (const GresItem& item : list) {
    if (!out.empty()) out += ',';
    out += item.name;
    if (!item.type.empty()) out += ":" + item.type;
    if (item.no_consume) out += ":no_consume";
    out += ":" + std::to_string(item.count);
    if (!item.suffix.empty()) out += "(" + item.suffix + ")";
  }
  return out;
}

}  // namespace muster

#include "model/task_bind.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "base/hex_mask.h"
#include "base/text.h"

namespace muster {
namespace {

bool abbreviates(std::string_view word, std::string_view full, size_t least) { return word.size() >= least && istarts_with(full, word); }

struct Item {
  Bitmap bits;
  uint32_t times = 1;
  std::string text;  // as shown: masks without 0x
};

// Reads "3", "0x3" (a number, or a set where masks are listed) or "3*4".
std::optional<Item> list_item(std::string_view text, bool mask) {
  Item item;
  std::string repeat;
  if (size_t star = text.find('*'); star != text.npos) {
    auto n = parse_number<uint32_t>(text.substr(star + 1), 1, kMaxBindList);
    if (!n) return std::nullopt;
    item.times = *n;
    repeat = text.substr(star);
    text = text.substr(0, star);
  }
  bool hex = text.starts_with("0x") || text.starts_with("0X");
  if (mask) {
    if (!parse_hex_mask(text, item.bits)) return std::nullopt;
    item.text = std::string(hex ? text.substr(2) : text) + repeat;
    return item;
  }
  size_t number = 0;
  if (hex) {
    if (text.size() < 3 || text.size() > 6) return std::nullopt;
    for (char c : to_lower(text.substr(2))) {
      if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f')) return std::nullopt;
      number = number * 16 + static_cast<size_t>(c <= '9' ? c - '0' : c - 'a' + 10);
    }
  } else {
    auto n = parse_number<uint32_t>(text, 0, 65535);
    if (!n) return std::nullopt;
    number = *n;
  }
  item.bits.set(number);
  item.text = std::string(text) + repeat;
  return item;
}

Result<> read_list(std::string_view text, bool mask, std::string_view option, std::vector<Bitmap>& list, std::string& shown) {
  for (std::string_view word : split(text, ',', true)) {
    std::optional<Item> item = list_item(word, mask);
    if (!item)
      return fail(Errc::kInvalidReq, "Failed to validate number: " + std::string(word.substr(0, 80)),
                  std::string(option) + " takes numbers, as in 0,1*4,0x3");
    if (list.size() + item->times > kMaxBindList)
      return fail(Errc::kInvalidReq, std::string(option) + ": the list has more than " + std::to_string(kMaxBindList) + " entries");
    list.insert(list.end(), item->times, item->bits);
    shown += (shown.empty() ? "" : ",") + item->text;
  }
  return {};
}

template <class Kind>
struct Word {
  std::string_view name;
  Kind kind;
  bool mask = false;
};

// The grammar of --cpu-bind and --mem-bind: words, then at most one list that takes the rest of the text. `other` handles words that
// name no kind.
template <class Bind, class Other>
Result<Bind> parse_bind(std::string_view text, std::string_view option, std::span<const Word<typename Bind::Kind>> words,
                        std::span<const Word<typename Bind::Kind>> lists, Other&& other) {
  Bind out;
  std::string_view rest = text;
  for (;;) {
    size_t comma = rest.find(',');
    std::string_view word = rest.substr(0, comma), name = word.substr(0, word.find(':'));
    for (const auto& l : lists) {
      if (!iequals(l.name, name)) continue;
      std::string_view values = rest.substr(name.size());
      if (values.size() < 2)
        return fail(Errc::kInvalidReq, "missing list for \"" + std::string(option) + "=" + std::string(l.name) + ":<list>\"");
      out.kind = l.kind;
      MUSTER_TRY_VOID(read_list(values.substr(1), l.mask, std::string(option) + "=" + std::string(l.name), out.list, out.list_text));
      return out;
    }
    bool known = true;
    if (abbreviates(word, "quiet", 1)) {
      out.verbose = false;
    } else if (abbreviates(word, "verbose", 1)) {
      out.verbose = true;
    } else if (abbreviates(word, "none", 2)) {
      out.kind = Bind::Kind::kNone;
    } else {
      auto at = std::ranges::find_if(words, [&](const auto& w) { return iequals(w.name, word); });
      if (at != words.end()) out.kind = at->kind;
      else known = other(out, word);
    }
    if (!known)
      return fail(Errc::kInvalidReq, "unrecognized " + std::string(option) + " argument \"" + std::string(text.substr(0, 200)) + "\"");
    if (comma == rest.npos) return out;
    rest = rest.substr(comma + 1);
  }
}

}  // namespace

Result<CpuBind> CpuBind::parse(std::string_view text) {
  using enum CpuBind::Kind;
  static constexpr Word<CpuBind::Kind> kWords[] = {{"rank", kRank},  {"sockets", kSockets},   {"socket", kSockets}, {"cores", kCores},
                                                   {"core", kCores}, {"threads", kThreads},   {"thread", kThreads}, {"ldoms", kLdoms},
                                                   {"ldom", kLdoms}, {"rank_ldom", kRankLdom}};
  static constexpr Word<CpuBind::Kind> kLists[] = {
      {"map_cpu", kMap}, {"mask_cpu", kMask, true}, {"map_ldom", kMapLdom}, {"mask_ldom", kMaskLdom, true}};
  if (text.empty()) return CpuBind{};
  return parse_bind<CpuBind>(text, "--cpu-bind", kWords, kLists, [](CpuBind&, std::string_view word) {
    return iequals(word, "help");  // srun prints it and runs nothing
  });
}

Result<MemBind> MemBind::parse(std::string_view text) {
  using enum MemBind::Kind;
  static constexpr Word<MemBind::Kind> kWords[] = {{"rank", kRank}, {"local", kLocal}};
  static constexpr Word<MemBind::Kind> kLists[] = {{"map_mem", kMap}, {"mask_mem", kMask, true}};
  if (text.empty()) return MemBind{};
  return parse_bind<MemBind>(text, "--mem-bind", kWords, kLists, [](MemBind& b, std::string_view word) {
    if (abbreviates(word, "prefer", 1)) return b.prefer = true;
    if (iequals(word, "sort")) return b.sort = true;
    return iequals(word, "nosort") || iequals(word, "help");
  });
}

namespace {

// What follows "gres/gpu:".
Result<TresBind> parse_tres_part(std::string_view tres, std::string_view how) {
  using enum TresBind::Kind;
  TresBind out;
  if (how.empty()) return out;
  size_t comma = how.find(',');
  if (abbreviates(how.substr(0, comma), "verbose", 1)) {
    out.verbose = true;
    if (comma == how.npos) return out;
    how = how.substr(comma + 1);
  }
  size_t colon = how.find(':');
  std::string_view name = how.substr(0, colon);
  std::string_view value = colon == how.npos ? std::string_view() : how.substr(colon + 1);
  auto bad = [&](std::string_view why) {
    return fail(Errc::kInvalidReq, "--tres-bind=" + std::string(tres) + ":" + std::string(how.substr(0, 80)) + ": " + std::string(why));
  };
  if (name == "closest") {
    out.kind = kClosest;
  } else if (name == "none") {
    out.kind = kNone;
  } else if (name == "single" || name == "per_task") {
    out.kind = name == "single" ? kSingle : kPerTask;
    auto n = parse_number<uint32_t>(value, 1);
    if (!n) return bad("expected a number of at least 1");
    out.count = *n;
  } else if (name == "map" || name == "map_gpu" || name == "mask" || name == "mask_gpu") {
    bool mask = name.starts_with("mask");
    out.kind = mask ? kMask : kMap;
    std::string shown;
    if (value.empty()) return bad("the list is empty");
    MUSTER_TRY_VOID(read_list(value, mask, "--tres-bind=" + std::string(tres) + ":" + std::string(name), out.list, shown));
  } else {
    return bad("expected closest, none, map:<list>, mask:<list>, per_task:<n> or single:<n>");
  }
  return out;
}

}  // namespace

Result<TresBinds> TresBinds::parse(std::string_view text) {
  TresBinds out;
  size_t entries = 0;  // "map:0*65536" is a long list, and a text has room for thousands of parts
  for (std::string_view part : split(text, '+')) {
    const std::string_view tres = part.substr(0, part.find(':'));
    MUSTER_TRY(bind, parse_tres_part(tres, part.substr(std::min(part.size(), tres.size() + 1))));
    entries += bind.list.size();
    if (entries > kMaxBindList)
      return fail(Errc::kInvalidReq, "--tres-bind: the lists have more than " + std::to_string(kMaxBindList) + " entries");
    out.parts.push_back({std::string(tres), std::move(bind)});
  }
  return out;
}

const TresBind* TresBinds::find(std::string_view tres) const {
  for (size_t i = parts.size(); i-- > 0;)
    if (parts[i].tres == tres) return &parts[i].bind;
  return nullptr;
}

}  // namespace muster

// Values for trackable resources: GRES lists, GPU counts, TRES per task, GPU binding and frequency.
#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "model/gpu_frequency.h"
#include "options/values.h"

namespace muster {
namespace {

std::unexpected<Error> bad_gres(std::string_view part, std::string_view why) {
  return fail(Errc::kInvalidGres, {}, "\"" + std::string(part) + "\": " + std::string(why));
}

bool is_name(std::string_view s) {
  return !s.empty() && !std::isdigit(static_cast<unsigned char>(s[0])) && std::all_of(s.begin(), s.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.' || c == '/';
  });
}
// A type may begin with a digit (1g.5gb) but is not a number.
bool is_type(std::string_view s) { return is_name(s) || (!s.empty() && is_name("x" + std::string(s)) && !parse_count(s)); }

// "name[:type][:count]" → "gres/name[:type]:count"
Result<std::string> one_gres(std::string_view part, uint64_t* count_out) {
  auto pieces = split(part, ':', true);
  if (pieces.size() > 3) return bad_gres(part, "expected name[:type][:count]");
  if (const size_t equals = part.find('='); equals != part.npos && is_name(part.substr(0, equals)))
    return bad_gres(part, "expected name[:type][:count]; did you mean " + std::string(part.substr(0, equals)) + ":" +
                              std::string(part.substr(equals + 1)) + "?");
  if (!is_name(pieces[0])) return bad_gres(part, "a resource begins with its name, as in gpu:2");
  uint64_t count = 1;
  std::string_view type;
  if (pieces.size() >= 2) {
    if (pieces.back().empty()) return bad_gres(part, "nothing stands after the last colon");
    auto number = parse_count(pieces.back());
    if (number) {
      count = *number;
      if (pieces.size() == 3) type = pieces[1];
    } else if (pieces.size() == 2) {
      type = pieces[1];
    } else {
      const bool swapped = parse_count(pieces[1]) && is_type(pieces[2]);
      return bad_gres(part, swapped ? "the type stands before the count; did you mean " + std::string(pieces[0]) + ":" +
                                          std::string(pieces[2]) + ":" + std::string(pieces[1]) + "?"
                                    : "the count is no number");
    }
    if (!type.empty() && !is_type(type)) return bad_gres(part, "bad type");
    if (pieces.size() == 3 && type.empty()) return bad_gres(part, "the type is empty");
  }
  if (count_out) *count_out = count;
  std::string_view name = pieces[0];
  if (istarts_with(name, "gres/")) name.remove_prefix(5);
  std::string out = "gres/" + std::string(name);
  if (!type.empty()) out += ":" + std::string(type);
  return out + ":" + std::to_string(count);
}

}  // namespace

Result<std::string> gres_to_tres(std::string_view text) {
  std::string out;
  for (std::string_view part : split(text, ',')) {
    // Slurm takes "gres:gpu:2" too: its own commands print that form.
    part = trim(part);
    if (istarts_with(part, "gres:")) part.remove_prefix(5);
    MUSTER_TRY(one, one_gres(part, nullptr));
    out += (out.empty() ? "" : ",") + one;
  }
  return out;
}

Result<std::string> gpus_to_tres(std::string_view text, uint64_t* total) {
  std::string out;
  uint64_t sum = 0;
  for (std::string_view part : split(text, ',')) {
    part = trim(part);
    auto pieces = split(part, ':', true);
    bool plain = pieces.size() == 1 && parse_count(part);
    if (!plain && (pieces.size() > 2 || !is_type(pieces[0]))) return bad_gres(part, "expected [type:]count");
    if (pieces.size() == 1 && !plain) return bad_gres(part, "expected [type:]count");
    uint64_t count = 0;
    MUSTER_TRY(one, one_gres("gpu:" + std::string(part), &count));
    sum += count;
    out += (out.empty() ? "" : ",") + one;
  }
  if (out.empty()) return bad_gres(text, "expected [type:]count");
  if (total) *total = sum;
  return out;
}

namespace {

// One entry of --tres-per-task: type[/name[:subtype]] and a count after '=' or, as in older releases, after ':'. An entry with a name and
// no count counts as 1.
struct TresEntry {
  std::string type, name;  // "gres" and "gpu:a100"; "cpu" and ""
  std::optional<uint64_t> count;
};

Result<TresEntry> tres_entry(std::string_view part) {
  TresEntry out;
  auto bad = [&](std::string_view why) { return fail(Errc::kInvalidReq, "\"" + std::string(part) + "\": " + std::string(why)); };
  const size_t equals = part.find('=');
  std::vector<std::string_view> words = split(part.substr(0, equals), ':', true);
  std::string_view count = equals == part.npos ? std::string_view() : part.substr(equals + 1);
  if (words.size() > 1 && iequals(words[0], "gres")) words.erase(words.begin());  // gres:gpu:1
  else if (const size_t slash = words[0].find('/'); slash != words[0].npos) {
    out.type = to_lower(words[0].substr(0, slash));
    words[0].remove_prefix(slash + 1);
  } else {
    out.type = to_lower(words[0]);
    words.erase(words.begin());
  }
  if (out.type.empty()) out.type = "gres";
  if (equals == part.npos && !words.empty() && parse_count(words.back())) {
    count = words.back();
    words.pop_back();
  }
  if (equals != part.npos || !count.empty()) {
    out.count = parse_count(count).value_or(0);
    if (*out.count == 0) return bad("the count is no positive number");
  }
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 1 || !(i == 0 ? is_name(words[i]) : is_type(words[i]))) return bad("expected type[/name]=count");
    out.name += (i ? ":" : "") + std::string(words[i]);
  }
  return out;
}

}  // namespace

Result<TresPerTask> parse_tres_per_task(std::string_view text) {
  constexpr std::string_view kRefused[] = {"bb", "billing", "energy", "fs", "mem", "node", "pages", "vmem"};
  auto bad = [&](std::string why) { return fail(Errc::kUnsupportedGres, "Invalid --tres-per-task specification", std::move(why)); };
  TresPerTask out;
  for (std::string_view part : split(text, ',', true)) {
    auto entry = tres_entry(trim(part));
    if (!entry) return bad(entry.error().text);
    const std::string quoted = "\"" + std::string(trim(part)) + "\": ";
    if (std::ranges::find(kRefused, entry->type) != std::end(kRefused)) return bad("TRES " + entry->type + " cannot be asked for per task");
    if (entry->type == "cpu") {
      if (!entry->name.empty() || !entry->count) return bad(quoted + "expected cpu=count");
      out.cpus = static_cast<uint32_t>(std::min<uint64_t>(*entry->count, 0x7fffffff));
      continue;
    }
    if (entry->name.empty()) return bad(quoted + entry->type + " needs a name, as in gres/gpu=1");
    const uint64_t count = entry->count.value_or(1);
    const std::string name = entry->type + "/" + entry->name;
    if (name == "gres/gpu" || name.starts_with("gres/gpu:")) out.gpus += count;
    if (name == "gres/shard" || name.starts_with("gres/shard:")) out.shards += count;
    out.tres += (out.tres.empty() ? "" : ",") + name + ":" + std::to_string(count);
  }
  return out;
}

namespace {

bool is_number_list(std::string_view list, bool hex) {
  for (std::string_view item : split(list, ',', true)) {
    std::string_view value = item;
    if (size_t star = item.find('*'); star != item.npos) {
      if (!parse_number<uint32_t>(item.substr(star + 1), 1)) return false;
      value = item.substr(0, star);
    }
    if (value.starts_with("0x") || value.starts_with("0X")) {
      value.remove_prefix(2);
      hex = true;
    }
    if (value.empty() || !std::all_of(value.begin(), value.end(), [&](char c) {
          return hex ? std::isxdigit(static_cast<unsigned char>(c)) : std::isdigit(static_cast<unsigned char>(c));
        }))
      return false;
  }
  return true;
}

// Today's spelling of a binding such as "closest" or "map:0,1"; nullopt when it is no binding.
std::optional<std::string> bind_type(std::string_view t) {
  if (iequals(t, "closest") || iequals(t, "none")) return to_lower(t);
  size_t colon = t.find(':');
  std::string kind = to_lower(t.substr(0, colon));
  std::string_view rest = colon == t.npos ? std::string_view() : t.substr(colon + 1);
  if (kind == "map_gpu") kind = "map";
  if (kind == "mask_gpu") kind = "mask";
  bool ok = (kind == "map" && is_number_list(rest, false)) || (kind == "mask" && is_number_list(rest, true)) ||
            ((kind == "per_task" || kind == "single") && parse_number<uint32_t>(rest, 1));
  if (!ok) return std::nullopt;
  return kind + ":" + std::string(rest);
}

std::optional<std::string> bind_spec(std::string_view text) {
  std::string prefix;
  size_t comma = text.find(',');
  std::string_view first = text.substr(0, comma);
  if (!first.empty() && istarts_with("verbose", first)) {
    prefix = "verbose,";
    if (comma == text.npos) return std::string("verbose");
    text = text.substr(comma + 1);
  }
  auto type = bind_type(text);
  if (!type) return std::nullopt;
  return prefix + *type;
}

}  // namespace

Result<std::string> parse_gpu_bind(std::string_view text) {
  if (auto s = bind_spec(text)) return *s;
  return fail(Errc::kInvalidReq, "Invalid --gpu-bind argument: gpu:" + std::string(text),
              "known: closest, none, map:<list>, mask:<list>, per_task:<n>, single:<n>, each after "
              "\"verbose,\" if wanted");
}

Result<std::string> parse_tres_bind(std::string_view text) {
  std::string out;
  for (std::string_view part : split(text, '+', true)) {
    size_t colon = part.find(':');
    std::string_view tres = part.substr(0, colon);
    auto spec = colon == part.npos ? std::nullopt : bind_spec(part.substr(colon + 1));
    if (!spec || !tres.starts_with("gres/") || tres.size() == 5)
      return fail(Errc::kInvalidReq, "Invalid --tres-bind argument: " + std::string(text),
                  "\"" + std::string(part) + "\": expected gres/<name>:[verbose,]<type>");
    out += (out.empty() ? "" : "+") + std::string(tres) + ":" + *spec;
  }
  return out;
}

Result<> check_gpu_freq(std::string_view text) {
  if (auto wish = GpuFrequencyWish::parse(text); !wish)
    return fail(Errc::kInvalidReq, "Invalid --gpu-freq argument: gpu:" + std::string(text), wish.error().hint);
  return {};
}

}  // namespace muster

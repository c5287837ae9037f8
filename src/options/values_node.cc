// Values about what happens on the node: CPU and memory binding, CPU frequency, sampling, profiling, limits.
#include <algorithm>
#include <cctype>
#include <span>

#include "base/text.h"
#include "options/values.h"

namespace muster {
namespace {

std::string quoted(std::string_view s) { return "\"" + std::string(s) + "\""; }

// `word` abbreviates `full` by at least `least` letters: q, qu, … quiet.
bool abbreviates(std::string_view word, std::string_view full, size_t least) {
  return word.size() >= least && istarts_with(full, word);
}

// One element of a map or mask list: [0x]digits[*count].
bool is_list_element(std::string_view item, bool hex) {
  if (size_t star = item.find('*'); star != item.npos) {
    if (!parse_number<uint32_t>(item.substr(star + 1), 1)) return false;
    item = item.substr(0, star);
  }
  if (item.starts_with("0x") || item.starts_with("0X")) {
    item.remove_prefix(2);
    hex = true;
  }
  return !item.empty() && std::all_of(item.begin(), item.end(), [&](char c) {
    auto u = static_cast<unsigned char>(c);
    return hex ? std::isxdigit(u) : std::isdigit(u);
  });
}

struct BindWords {
  std::string_view option;                  // "--cpu-bind"
  std::span<const std::string_view> words;  // without a list
  std::span<const std::string_view> lists;  // "map_cpu": with ":<list>"
};

Result<> check_bind(std::string_view text, const BindWords& w) {
  std::string_view rest = text;
  bool more = true;
  while (more) {
    size_t comma = rest.find(',');
    std::string_view word = rest.substr(0, comma);
    std::string_view name = word.substr(0, word.find(':'));
    for (std::string_view list : w.lists) {
      if (!iequals(list, name)) continue;
      std::string_view values = rest.substr(name.size());
      if (values.size() < 2)
        return fail(Errc::kInvalidReq,
                    "missing list for \"" + std::string(w.option) + "=" + std::string(list) + ":<list>\"");
      for (std::string_view item : split(values.substr(1), ',', true))
        if (!is_list_element(item, list.starts_with("mask")))
          return fail(Errc::kInvalidReq, "Failed to validate number: " + std::string(item),
                      std::string(w.option) + "=" + std::string(list) + " takes numbers, as in 0,1*4,0x3");
      return {};
    }
    bool known =
        abbreviates(word, "quiet", 1) || abbreviates(word, "verbose", 1) || abbreviates(word, "none", 2);
    for (std::string_view k : w.words) known = known || iequals(k, word);
    if (!known)
      return fail(Errc::kInvalidReq, "unrecognized " + std::string(w.option) + " argument " + quoted(text));
    more = comma != rest.npos;
    if (more) rest = rest.substr(comma + 1);
  }
  return {};
}

}  // namespace

Result<> check_cpu_bind(std::string_view text) {
  static constexpr std::string_view kWords[] = {"rank",      "sockets", "socket", "cores",
                                                "core",      "threads", "thread", "ldoms",
                                                "rank_ldom", "ldom",    "help",   "one_thread"};
  static constexpr std::string_view kLists[] = {"map_cpu", "mask_cpu", "map_ldom", "mask_ldom"};
  return check_bind(text, {"--cpu-bind", kWords, kLists});
}

Result<> check_mem_bind(std::string_view text) {
  static constexpr std::string_view kWords[] = {"rank", "local", "p", "prefer", "sort", "nosort", "help"};
  static constexpr std::string_view kLists[] = {"map_mem", "mask_mem"};
  return check_bind(text, {"--mem-bind", kWords, kLists});
}

Result<> check_cpu_freq(std::string_view text) {
  static constexpr std::string_view kWords[] = {"low", "medium", "high", "highm1"};
  static constexpr std::string_view kGovernors[] = {"conservative", "ondemand",  "performance",
                                                    "powersave",    "schedutil", "userspace"};
  auto is_one = [](std::string_view v, std::span<const std::string_view> list) {
    return std::any_of(list.begin(), list.end(), [&](auto w) { return iequals(w, v); });
  };
  auto is_freq = [&](std::string_view v) { return parse_number<uint32_t>(v, 1) || is_one(v, kWords); };
  size_t colon = text.find(':');
  std::string_view range = text.substr(0, colon);
  size_t dash = range.find('-');
  bool ok = dash == range.npos ? is_freq(range) || (colon == text.npos && is_one(range, kGovernors))
                               : is_freq(range.substr(0, dash)) && is_freq(range.substr(dash + 1));
  if (colon != text.npos) ok = ok && is_one(text.substr(colon + 1), kGovernors);
  if (ok) return {};
  return fail(Errc::kInvalidReq,
              "unrecognized --cpu-freq argument " + quoted(text) + "\nInvalid --cpu-freq argument");
}

Result<> check_acctg_freq(std::string_view text) {
  static constexpr std::string_view kTypes[] = {"task", "energy", "network", "filesystem"};
  if (parse_number<uint32_t>(text)) return {};
  for (std::string_view part : split(text, ',', true)) {
    size_t eq = part.find('=');
    bool known = eq != part.npos && parse_number<uint32_t>(part.substr(eq + 1)) &&
                 std::any_of(std::begin(kTypes), std::end(kTypes),
                             [&](auto t) { return iequals(t, part.substr(0, eq)); });
    if (!known) return fail(Errc::kInvalidReq, "Invalid --acctg-freq specification: " + std::string(text));
  }
  return {};
}

Result<> check_profile(std::string_view text) {
  static constexpr std::string_view kTypes[] = {"energy", "task", "lustre", "network"};
  if (iequals(text, "all") || iequals(text, "none")) return {};
  for (std::string_view part : split(text, ',', true))
    if (std::none_of(std::begin(kTypes), std::end(kTypes), [&](auto t) { return iequals(t, part); }))
      return fail(Errc::kInvalidReq, "invalid --profile=" + std::string(text) + " option",
                  "known: all, none, or any of energy, task, lustre, network");
  return {};
}

Result<std::vector<std::string>> parse_propagate(std::string_view text) {
  static constexpr std::string_view kLimits[] = {"ALL",   "NONE",    "AS",     "CORE",  "CPU", "DATA",
                                                 "FSIZE", "MEMLOCK", "NOFILE", "NPROC", "RSS", "STACK"};
  std::vector<std::string> out;
  for (std::string_view part : split(text, ',', true)) {
    std::string_view name = trim(part);
    if (istarts_with(name, "RLIMIT_")) name.remove_prefix(7);
    auto it = std::find_if(std::begin(kLimits), std::end(kLimits), [&](auto l) { return iequals(l, name); });
    if (it == std::end(kLimits))
      return fail(Errc::kInvalidReq, "Bad rlimit name: " + std::string(part) +
                                         "\n--propagate=" + std::string(text) + " is not valid.");
    out.emplace_back(*it);
  }
  return out;
}

}  // namespace muster

#include "os/limits.h"

#include <array>

#include "base/text.h"
#include "os/error.h"

namespace muster::os {
namespace {

constexpr std::array<LimitKind, 10> kKinds{{
    {"AS", RLIMIT_AS},
    {"CORE", RLIMIT_CORE},
    {"CPU", RLIMIT_CPU},
    {"DATA", RLIMIT_DATA},
    {"FSIZE", RLIMIT_FSIZE},
    {"MEMLOCK", RLIMIT_MEMLOCK},
    {"NOFILE", RLIMIT_NOFILE},
    {"NPROC", RLIMIT_NPROC},
    {"RSS", RLIMIT_RSS},
    {"STACK", RLIMIT_STACK},
}};
constexpr std::string_view kPrefix = "SLURM_RLIMIT_";

std::optional<size_t> kind_of(std::string_view name) {
  if (istarts_with(name, "RLIMIT_")) name.remove_prefix(7);
  for (size_t i = 0; i < kKinds.size(); ++i)
    if (iequals(name, kKinds[i].name)) return i;
  return std::nullopt;
}

std::string limit_text(uint64_t v) { return v == RLIM_INFINITY ? "unlimited" : std::to_string(v); }

std::optional<uint64_t> parse_limit_value(std::string_view text) {
  if (iequals(text, "unlimited") || iequals(text, "infinity") || text == "-1") return RLIM_INFINITY;
  return parse_number<uint64_t>(text);
}

}  // namespace

std::span<const LimitKind> limit_kinds() { return kKinds; }
LimitSet all_limits() { return (1u << kKinds.size()) - 1; }

Result<LimitSet> parse_limit_set(std::string_view text) {
  LimitSet set = 0;
  bool none = false;
  if (trim(text).empty()) return fail(Errc::kInvalidArgument, "no resource limit named");
  for (std::string_view part : split(text, ',')) {
    part = trim(part);
    if (iequals(part, "ALL")) {
      set = all_limits();
    } else if (iequals(part, "NONE")) {
      none = true;
    } else if (auto kind = kind_of(part)) {
      set |= 1u << *kind;
    } else {
      std::vector<std::string_view> names{"ALL", "NONE"};
      for (const auto& k : kKinds) names.push_back(k.name);
      const auto near = did_you_mean(part, names);
      return fail(Errc::kInvalidArgument, "\"" + std::string(part) + "\" is not a resource limit",
                  near.empty() ? "" : "did you mean " + std::string(near) + "?");
    }
  }
  if (none && set) return fail(Errc::kInvalidArgument, "NONE cannot be combined with other resource limits");
  return set;
}

Result<LimitSet> parse_limit_set_except(std::string_view text) {
  MUSTER_TRY(set, parse_limit_set(text));
  return all_limits() & ~set;
}

std::vector<SoftLimit> current_limits(LimitSet which) {
  std::vector<SoftLimit> out;
  for (size_t i = 0; i < kKinds.size(); ++i) {
    rlimit r{};
    if ((which >> i & 1) && getrlimit(static_cast<__rlimit_resource_t>(kKinds[i].resource), &r) == 0) out.push_back({i, r.rlim_cur});
  }
  return out;
}

std::vector<std::string> limits_to_env(std::span<const SoftLimit> limits) {
  std::vector<std::string> out;
  for (const auto& l : limits) out.push_back(std::string(kPrefix) + std::string(kKinds.at(l.kind).name) + "=" + std::to_string(l.soft));
  return out;
}

Result<std::vector<SoftLimit>> limits_from_env(std::span<const std::string> env) {
  std::vector<SoftLimit> out;
  for (const std::string& entry : env) {
    std::string_view e = entry;
    if (!e.starts_with(kPrefix)) continue;
    const auto eq = e.find('=');
    if (eq == std::string_view::npos) continue;
    auto kind = kind_of(e.substr(kPrefix.size(), eq - kPrefix.size()));
    if (!kind) continue;  // a limit this system does not have
    auto value = parse_limit_value(e.substr(eq + 1));
    if (!value)
      return fail(Errc::kInvalidArgument,
                  std::string(e.substr(0, eq)) + ": \"" + std::string(e.substr(eq + 1)) + "\" is neither a number nor unlimited");
    out.push_back({*kind, *value});
  }
  return out;
}

GrantedLimits grant_limits(std::span<const SoftLimit> wanted) {
  GrantedLimits out;
  for (const auto& w : wanted) {
    const LimitKind& kind = kKinds.at(w.kind);
    rlimit r{};
    if (getrlimit(static_cast<__rlimit_resource_t>(kind.resource), &r) < 0) continue;
    LimitSetting s{kind.resource, w.soft, r.rlim_max};
    if (s.soft > s.hard) {  // RLIM_INFINITY is the largest number
      out.notes.push_back(std::string(kind.name) + ": " + limit_text(w.soft) + " asked for, " + limit_text(s.hard) +
                          " is the hard limit here");
      s.soft = s.hard;
    }
    out.settings.push_back(s);
  }
  return out;
}

Result<> set_own_limit(int resource, uint64_t soft, uint64_t hard) {
  const rlimit r{soft, hard};
  if (setrlimit(static_cast<__rlimit_resource_t>(resource), &r) < 0) return fail_errno("set resource limit " + std::to_string(resource));
  return {};
}

bool unlimit_own_memlock() { return set_own_limit(RLIMIT_MEMLOCK, RLIM_INFINITY, RLIM_INFINITY).has_value(); }

Result<uint64_t> raise_own_nofile() {
  rlimit r{};
  if (getrlimit(RLIMIT_NOFILE, &r) < 0) return fail_errno("get resource limit NOFILE");
  MUSTER_TRY_VOID(set_own_limit(RLIMIT_NOFILE, r.rlim_max, r.rlim_max));
  return r.rlim_max;
}

}  // namespace muster::os

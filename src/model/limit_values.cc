#include "model/limit_values.h"

#include <charconv>
#include <limits>
#include <utility>

#include "base/text.h"

namespace muster {
namespace {

constexpr std::pair<std::string_view, LimitKind> kLongerNames[] = {{"Share", LimitKind::kShares},
                                                                   {"Shares", LimitKind::kShares},
                                                                   {"GrpSubmit", LimitKind::kGrpSubmitJobs},
                                                                   {"MaxSubmit", LimitKind::kMaxSubmitJobs},
                                                                   {"MaxTRESPerJob", LimitKind::kMaxTresPerJob},
                                                                   {"MaxTRESMinsPerJob", LimitKind::kMaxTresMinsPerJob},
                                                                   {"MaxTRESPerUser", LimitKind::kMaxTresPerUser},
                                                                   {"MaxTRESPerAccount", LimitKind::kMaxTresPerAccount},
                                                                   {"MaxTRESRunMinsPerUser", LimitKind::kMaxTresRunMinsPerUser},
                                                                   {"MaxTRESRunMinsPerAccount", LimitKind::kMaxTresRunMinsPerAccount},
                                                                   {"MaxJobsPerUser", LimitKind::kMaxJobsPerUser},
                                                                   {"MaxJobsPerAccount", LimitKind::kMaxJobsPerAccount},
                                                                   {"MaxJobsAccruePerUser", LimitKind::kMaxJobsAccruePerUser},
                                                                   {"MaxJobsAccruePerAccount", LimitKind::kMaxJobsAccruePerAccount},
                                                                   {"MaxSubmitJobsPerUser", LimitKind::kMaxSubmitJobsPerUser},
                                                                   {"MaxSubmitJobsPerAccount", LimitKind::kMaxSubmitJobsPerAccount},
                                                                   {"MaxWallDurationPerJob", LimitKind::kMaxWall},
                                                                   {"MinTRESPerJob", LimitKind::kMinTresPerJob}};

std::unexpected<Error> bad(std::string_view field, std::string_view value, std::string rule) {
  return fail(Errc::kInvalidReq, "Invalid value for " + std::string(field) + " (" + std::string(value) + ")", std::move(rule));
}

Result<uint64_t> tres_amount(std::string_view tres, std::string_view value, const LimitInfo& info) {
  if (tres == "mem") {
    Result<uint64_t> mb = parse_mem_mb(value);
    if (mb) return *mb;
    return bad(info.name, value, "mem is a number of MiB, or with G, T or P");
  }
  if (auto n = parse_number<uint64_t>(value, 0, kMaxLimit)) return *n;
  // A number larger than any limit can be counts as the largest limit.
  if (!value.empty() && value.find_first_not_of("0123456789") == value.npos) return kMaxLimit;
  return bad(info.name, value, std::string(tres) + " is a whole number, or -1 for no limit");
}

Result<> read_tres_limit(const LimitInfo& info, ChangeOp op, std::string_view value, std::vector<LimitChange>& out) {
  std::vector<LimitChange> parts;
  for (std::string_view part : split(value, ',')) {
    size_t equals = part.find('=');
    if (equals == part.npos || equals == 0) return bad(info.name, part, "TRES=number, as cpu=16,gres/gpu=4,mem=32G");
    LimitChange change;
    change.kind = info.kind;
    change.op = op;
    size_t end = equals;
    if (part[end - 1] == '+' || part[end - 1] == '-') change.op = part[--end] == '+' ? ChangeOp::kAdd : ChangeOp::kSubtract;
    change.tres = to_lower(trim(part.substr(0, end)));
    std::string_view amount_text = trim(part.substr(equals + 1));
    if (amount_text == "-1") {
      change.op = ChangeOp::kClear;
    } else {
      MUSTER_TRY(amount, tres_amount(change.tres, amount_text, info));
      change.value = amount;
    }
    parts.push_back(std::move(change));
  }
  if (parts.empty()) return bad(info.name, value, "TRES=number, as cpu=16,gres/gpu=4,mem=32G");
  out.insert(out.end(), parts.begin(), parts.end());
  return {};
}

Result<uint64_t> one_number(const LimitInfo& info, std::string_view value) {
  if (info.kind == LimitKind::kShares && iequals(value, "parent")) return kSharesOfParent;
  const bool span = info.unit == LimitUnit::kMinutes || info.kind == LimitKind::kPreemptExemptTime;
  if (span || (info.kind == LimitKind::kGraceTime && value.contains(':'))) {  // a plain GraceTime is in seconds
    Result<TimeLimit> t = parse_time_limit(value);
    if (!t || !t->minutes) return bad(info.name, value, "minutes, or days-hours:minutes:seconds, or -1 for none");
    return uint64_t{*t->minutes} * (info.unit == LimitUnit::kSeconds ? 60 : 1);
  }
  const uint64_t top = info.kind == LimitKind::kShares ? kSharesOfParent - 1 : std::numeric_limits<uint32_t>::max() - 3;
  if (auto n = parse_number<uint64_t>(value, 0, top)) return *n;
  return bad(info.kind == LimitKind::kShares ? "FairShare" : info.name, value,
             info.kind == LimitKind::kShares ? "a whole number, parent, or -1 for the default" : "a whole number, or -1 for none");
}

}  // namespace

const LimitInfo* limit_named(std::string_view name) {
  for (const LimitInfo& info : kLimits) {
    if (iequals(info.name, name)) return &info;
    for (auto [longer, kind] : kLongerNames)
      if (kind == info.kind && iequals(longer, name)) return &info;
  }
  return nullptr;
}

Result<> read_limit(const LimitInfo& info, ChangeOp op, std::string_view value, std::vector<LimitChange>& out) {
  if (info.per_tres) return read_tres_limit(info, op, value, out);
  LimitChange c;
  c.kind = info.kind;
  c.op = op;
  if (value == "-1") {
    c.op = ChangeOp::kClear;
  } else {
    MUSTER_TRY(number, one_number(info, value));
    c.value = number;
  }
  out.push_back(std::move(c));
  return {};
}

std::optional<double> read_factor(std::string_view value) {
  double v = 0;
  auto [p, ec] = std::from_chars(value.data(), value.data() + value.size(), v);
  if (ec != std::errc() || p != value.data() + value.size() || v > 1e15 || v < -1 || v != v) return std::nullopt;
  return v;
}

std::optional<AdminLevel> read_admin_level(std::string_view value) {
  constexpr std::pair<std::string_view, AdminLevel> kLevels[] = {{"none", AdminLevel::kNone},
                                                                 {"notset", AdminLevel::kNone},
                                                                 {"operator", AdminLevel::kOperator},
                                                                 {"administrator", AdminLevel::kAdministrator}};
  for (auto [name, level] : kLevels)
    if (!value.empty() && istarts_with(name, value)) return level;
  return std::nullopt;
}

}  // namespace muster

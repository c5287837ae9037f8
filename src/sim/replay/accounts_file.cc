#include "sim/replay/accounts_file.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <tuple>

#include "base/text.h"
#include "base/time.h"
#include "base/tres_mem.h"

namespace muster::sim::replay {
namespace {

constexpr size_t kMostLines = 100'000, kLongest = 16 << 10, kMostName = 256;

struct Option {
  std::string key, value;
};
struct Line {
  std::string title, name;
  std::vector<Option> options;
};

std::unexpected<Error> wrong(uint64_t line, const std::string& what) {
  return fail(Errc::kInvalidReq, "line " + std::to_string(line) + ": " + what);
}

std::string unquoted(std::string_view v) {
  v = trim(v);
  const bool both = v.size() >= 2 && v.front() == v.back() && (v.front() == '\'' || v.front() == '"');
  return std::string(both ? v.substr(1, v.size() - 2) : v);
}

// Splits at colons outside quotes. The colon of a TRES ("gres/gpu:a100=4") belongs to the value: what has no key of its own behind it does.
std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> out(1);
  char quote = 0;
  for (char c : text) {
    if (quote ? c == quote : c == '\'' || c == '"') quote = quote ? 0 : c;
    if (c == ':' && !quote) out.emplace_back();
    else out.back() += c;
  }
  return out;
}

bool begins_option(std::string_view part) {
  const std::string_view key = part.substr(0, part.find('='));
  return part.find('=') != part.npos && !key.empty() &&
         std::ranges::all_of(key, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '+' || c == '-' || c == '_'; });
}

Result<Line> split_line(std::string_view text, uint64_t number) {
  const size_t dash = text.find(" - ");
  if (dash == text.npos) return wrong(number, "want TITLE - 'name'[:Option=value …]");
  Line out;
  out.title = to_lower(trim(text.substr(0, dash)));
  std::vector<std::string> parts = parts_of(text.substr(dash + 3));
  out.name = unquoted(parts.front());
  if (out.name.empty() || out.name.size() > kMostName) return wrong(number, "the name is missing or longer than 256 bytes");
  bool of_a_type = false;  // "gres/gpu" before the colon of "gres/gpu:a100=4"
  for (size_t i = 1; i < parts.size(); ++i) {
    if (!out.options.empty() && (of_a_type || !begins_option(parts[i]))) out.options.back().value += ":" + parts[i];
    else if (const size_t eq = parts[i].find('='); eq != std::string::npos)
      out.options.push_back({to_lower(trim(parts[i].substr(0, eq))), parts[i].substr(eq + 1)});
    else if (!trim(parts[i]).empty()) return wrong(number, "\"" + parts[i].substr(0, 60) + "\" is no Option=value");
    const std::string& last = out.options.empty() ? parts[i] : out.options.back().value;
    of_a_type = to_lower(last).ends_with("gres/gpu");
  }
  for (Option& o : out.options) o.value = unquoted(o.value);
  return out;
}

const LimitInfo* limit_named(std::string_view key) {
  const std::pair<std::string_view, LimitKind> kOther[] = {{"fairshare", LimitKind::kShares},
                                                           {"shares", LimitKind::kShares},
                                                           {"maxtresperjob", LimitKind::kMaxTresPerJob},
                                                           {"maxtresminsperjob", LimitKind::kMaxTresMinsPerJob},
                                                           {"maxtresperuser", LimitKind::kMaxTresPerUser},
                                                           {"maxtresperaccount", LimitKind::kMaxTresPerAccount},
                                                           {"maxjobsperuser", LimitKind::kMaxJobsPerUser},
                                                           {"maxjobsperaccount", LimitKind::kMaxJobsPerAccount},
                                                           {"maxsubmitjobsperuser", LimitKind::kMaxSubmitJobsPerUser},
                                                           {"maxsubmitjobsperaccount", LimitKind::kMaxSubmitJobsPerAccount},
                                                           {"maxwalldurationperjob", LimitKind::kMaxWall},
                                                           {"mintresperjob", LimitKind::kMinTresPerJob}};
  for (const LimitInfo& info : kLimits) {
    if (iequals(info.name, key)) return &info;
    for (auto [name, kind] : kOther)
      if (kind == info.kind && iequals(name, key)) return &info;
  }
  return nullptr;
}

bool put_limit(const LimitInfo& info, const std::string& value, std::vector<Limit>& out) {
  if (value == "-1" || value.empty()) return true;  // none
  if (info.per_tres) {
    for (std::string_view item : split(value, ',')) {
      const size_t eq = item.find('=');
      if (eq == item.npos || eq == 0) return false;
      const std::string tres = to_lower(trim(item.substr(0, eq)));
      const std::string_view amount = trim(item.substr(eq + 1));
      if (amount == "-1") continue;
      std::optional<uint64_t> n = parse_number<uint64_t>(amount, 0, kMaxLimit);
      if (tres == "mem" && !n)
        if (auto mb = parse_mem_mb(amount)) n = *mb;
      if (!n) return false;
      out.push_back({info.kind, tres, *n});
    }
    return true;
  }
  if (info.kind == LimitKind::kShares && iequals(value, "parent")) {
    out.push_back({info.kind, {}, kSharesOfParent});
    return true;
  }
  std::optional<uint64_t> n = parse_number<uint64_t>(value, 0, kMaxLimit);
  if (!n && info.unit != LimitUnit::kCount)
    if (auto span = parse_time_limit(value); span && span->minutes)
      n = uint64_t{*span->minutes} * (info.unit == LimitUnit::kSeconds ? 60 : 1);
  if (n) out.push_back({info.kind, {}, *n});
  return n.has_value();
}

std::vector<std::string> names_in(std::string_view list) {
  std::vector<std::string> out;
  for (std::string_view name : split(list, ','))
    if (!trim(name).empty()) out.push_back(to_lower(trim(name)));
  return out;
}

std::optional<double> number_in(std::string_view text) {
  double v = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (error != std::errc() || end != text.data() + text.size() || !(v >= 0) || v > 1e15) return std::nullopt;
  return v;
}

// Builds entities line by line.
class Builder {
 public:
  Builder() { account("root", 0); }

  Result<> take(const Line& line, uint64_t number) {
    if (line.title == "cluster") return limits_of(root(), line, number);
    if (line.title == "qos") return take_qos(line, number);
    if (line.title == "parent") {
      parent_ = to_lower(line.name);
      return accounts_.contains(parent_) ? Result<>() : wrong(number, "the account " + parent_ + " is not there yet");
    }
    if (line.title == "account") {
      const std::string name = to_lower(line.name);
      if (accounts_.contains(name)) return wrong(number, "the account " + name + " is there already");
      account(name, association_of(parent_));
      return limits_of(out_.associations.back(), line, number);
    }
    if (line.title == "user") return take_user(line, number);
    return wrong(number, "the title " + line.title.substr(0, 60) + " is none of Cluster, QOS, Parent, Account, User");
  }

  // Adds a user's association with an account.
  AssociationRecord& user(const std::string& name, const std::string& account) {
    AssociationRecord a;
    a.id = ++last_;
    a.parent_id = association_of(account);
    a.account = a.parent_account = account;
    a.user = name;
    if (users_.emplace(name, out_.users.size()).second) {
      out_.users.emplace_back().name = name;
      out_.users.back().default_account = account;
    }
    out_.associations.push_back(std::move(a));
    return out_.associations.back();
  }
  void account(const std::string& name, uint32_t parent) {
    AssociationRecord a;
    a.id = ++last_;
    a.parent_id = parent;
    a.account = name;
    if (parent) a.parent_account = parent_;
    accounts_[name] = a.id;
    out_.accounts.emplace_back().name = name;
    out_.associations.push_back(std::move(a));
  }
  void qos(const std::string& name) {
    if (std::ranges::none_of(out_.qos, [&](const QosRecord& q) { return q.name == name; })) {
      QosRecord q;
      q.id = static_cast<uint32_t>(out_.qos.size()) + 1;
      q.name = name;
      out_.qos.push_back(std::move(q));
    }
  }
  bool has_account(const std::string& name) const { return accounts_.contains(name); }

  // What each association inherits: QOS from above where it has none; where nobody has any, all.
  rpc::Entities finish() {
    qos("normal");
    std::vector<std::string> all;
    for (const QosRecord& q : out_.qos) all.push_back(q.name);
    std::map<uint32_t, const AssociationRecord*> by_id;
    for (AssociationRecord& a : out_.associations) {
      const auto above = by_id.find(a.parent_id);
      if (a.qos.empty()) a.qos = above == by_id.end() ? all : above->second->qos;
      if (a.default_qos.empty() && above != by_id.end()) a.default_qos = above->second->default_qos;
      by_id[a.id] = &a;
    }
    for (AssociationRecord& a : out_.associations)
      if (!a.user.empty()) a.is_default = a.account == out_.users[users_.at(a.user)].default_account;
    return std::move(out_);
  }

 private:
  AssociationRecord& root() { return out_.associations.front(); }
  uint32_t association_of(const std::string& account) const { return accounts_.at(account); }

  Result<> option(AssociationRecord& a, const Option& o, uint64_t number) {
    if (const LimitInfo* info = limit_named(o.key); info && info->of_associations)
      return put_limit(*info, o.value, a.limits) ? Result<>() : wrong(number, o.key + " cannot be read: " + o.value.substr(0, 60));
    for (const OldLimit& old : kOldLimits)
      if (iequals(old.name, o.key)) {
        auto n = parse_number<uint64_t>(o.value, 0, kMaxLimit);
        if (!n && o.value != "-1") return wrong(number, o.key + " is no number: " + o.value.substr(0, 60));
        if (n) a.limits.push_back({old.kind, std::string(old.tres), *n});
        return {};
      }
    if (o.key == "qos" || o.key == "qos+") {
      for (std::string name : names_in(o.value)) {
        if (name.starts_with('+')) name.erase(0, 1);
        qos(name);
        a.qos.push_back(std::move(name));
      }
    } else if (o.key == "defaultqos" || o.key == "defqos") {
      a.default_qos = to_lower(o.value);
      if (!a.default_qos.empty()) qos(a.default_qos);
    } else if (o.key == "partition") {
      a.partition = o.value;
    }
    return {};
  }
  Result<> limits_of(AssociationRecord& a, const Line& line, uint64_t number) {
    for (const Option& o : line.options) MUSTER_TRY_VOID(option(a, o, number));
    return {};
  }
  Result<> take_user(const Line& line, uint64_t number) {
    std::string partition, default_account;
    for (const Option& o : line.options) {
      if (o.key == "partition") partition = o.value;
      if (o.key == "defaultaccount") default_account = to_lower(o.value);
    }
    if (!known_.emplace(line.name, parent_, partition).second)
      return wrong(number, "the user " + line.name + " is in the account " + parent_ + " already");
    AssociationRecord& a = user(line.name, parent_);
    if (!default_account.empty()) out_.users[users_.at(line.name)].default_account = default_account;
    return limits_of(a, line, number);
  }
  Result<> take_qos(const Line& line, uint64_t number) {
    const std::string name = to_lower(line.name);
    qos(name);
    QosRecord& q = *std::ranges::find(out_.qos, name, &QosRecord::name);
    for (const Option& o : line.options) {
      if (const LimitInfo* info = limit_named(o.key); info && info->of_qos) {
        if (!put_limit(*info, o.value, q.limits)) return wrong(number, o.key + " cannot be read: " + o.value.substr(0, 60));
        continue;
      }
      auto factor = [&](std::optional<double>& into) {
        into = number_in(o.value);
        return into ? Result<>() : wrong(number, o.key + " is no number: " + o.value.substr(0, 60));
      };
      if (o.key == "usagefactor") MUSTER_TRY_VOID(factor(q.usage_factor));
      else if (o.key == "limitfactor") MUSTER_TRY_VOID(factor(q.limit_factor));
      else if (o.key == "usagethreshold") MUSTER_TRY_VOID(factor(q.usage_threshold));
      else if (o.key == "preempt") q.preempt = names_in(o.value);
      else if (o.key == "preemptmode") q.preempt_mode = to_lower(o.value);
      else if (o.key == "flags")
        for (std::string_view flag : split(o.value, ',')) q.flags.emplace_back(trim(flag));
    }
    return {};
  }

  rpc::Entities out_;
  std::map<std::string, uint32_t> accounts_;
  std::map<std::string, size_t> users_;  // index in out_.users
  std::set<std::tuple<std::string, std::string, std::string>> known_;
  std::string parent_ = "root";
  uint32_t last_ = 0;
};

}  // namespace

Result<rpc::Entities> read_accounts(std::string_view text) {
  Builder builder;
  Lines lines(text, kLongest);
  while (lines.next()) {
    const std::string_view line = trim(lines.line());
    if (line.empty() || line.front() == '#') continue;
    if (lines.too_long() || lines.number() > kMostLines) return wrong(lines.number(), "it is too long, or the file is");
    MUSTER_TRY(parts, split_line(line, lines.number()));
    MUSTER_TRY_VOID(builder.take(parts, lines.number()));
  }
  return builder.finish();
}

rpc::Entities accounts_of(const Trace& trace) {
  Builder builder;
  for (uint32_t q = 1; q < trace.qos.size(); ++q) builder.qos(to_lower(trace.qos.of(q)));
  std::set<std::pair<uint32_t, uint32_t>> seen;
  std::set<std::pair<std::string, std::string>> made;  // accounts may differ in the case of letters alone
  for (const TraceJob& j : trace.jobs) {
    if (!seen.emplace(j.account, j.user).second) continue;
    const std::string account = j.account ? to_lower(trace.accounts.of(j.account)) : kNoAccount;
    const std::string user = j.user ? trace.users.of(j.user) : kNoUser;
    if (!builder.has_account(account)) builder.account(account, 1);
    if (made.emplace(account, user).second) builder.user(user, account);
  }
  return builder.finish();
}

}  // namespace muster::sim::replay

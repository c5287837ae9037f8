#include "config/accounts_file.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "model/limit_values.h"

namespace muster::config {
namespace {

constexpr size_t kMostName = 200;  // as of slurmdbd

enum Title : uint8_t { kCluster = 1, kQos = 2, kAccount = 4, kUser = 8, kParent = 16 };
constexpr uint8_t kTree = kCluster | kAccount | kUser;
constexpr std::pair<std::string_view, Title> kTitles[] = {
    {"Cluster", kCluster}, {"QOS", kQos}, {"Account", kAccount}, {"User", kUser}, {"Parent", kParent}};

struct Option {
  std::string name;  // as written
  ChangeOp op = ChangeOp::kSet;
  std::string value;  // without quotes
};
struct Line {
  uint32_t number = 0;
  Title title{};
  std::string name;
  std::vector<Option> options;
};

std::unexpected<Error> wrong(uint64_t line, const std::string& what, std::string hint = {}) {
  return fail(Errc::kInvalidReq, "line " + std::to_string(line) + ": " + what, std::move(hint));
}
std::string shortened(std::string_view text) { return std::string(text.substr(0, 60)); }

// ---- from text to lines of options
bool is_quote(char c) { return c == '\'' || c == '"'; }

std::string unquoted(std::string_view text) {
  text = trim(text);
  const bool both = text.size() >= 2 && is_quote(text.front()) && text.front() == text.back();
  return std::string(both ? text.substr(1, text.size() - 2) : text);
}

// Splits at colons outside quotes. A quote opens at the beginning of a name or value alone: "it's" holds none. nullopt: one stays open.
std::optional<std::vector<std::string>> parts_of(std::string_view text) {
  std::vector<std::string> out(1);
  char open = 0, before = ':';
  for (char c : text) {
    if (open) open = c == open ? 0 : open;
    else if (is_quote(c) && (before == ':' || before == '=')) open = c;
    if (c == ':' && !open) out.emplace_back();
    else out.back() += c;
    if (c != ' ') before = c;
  }
  if (open) return std::nullopt;
  return out;
}

bool begins_option(std::string_view part) {
  const std::string_view key = trim(part.substr(0, part.find('=')));
  return part.find('=') != part.npos && !key.empty() &&
         std::ranges::all_of(key, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '+' || c == '-' || c == '_'; });
}

Option option_of(std::string_view part) {
  Option out;
  const size_t equals = part.find('=');
  std::string_view key = trim(part.substr(0, equals));
  if (key.ends_with('+') || key.ends_with('-')) {
    out.op = key.back() == '+' ? ChangeOp::kAdd : ChangeOp::kSubtract;
    key.remove_suffix(1);
  }
  out.name = key;
  out.value = part.substr(equals + 1);
  return out;
}

// The colon of a TRES without quotes ("gres/gpu:a100=4") belongs to the value: what no option begins with, or what follows "gres/gpu".
Result<> split_options(Line& line, std::span<const std::string> parts) {
  for (const std::string& part : parts) {
    const bool of_a_type = !line.options.empty() && to_lower(line.options.back().value).ends_with("gres/gpu");
    if (!line.options.empty() && (of_a_type || !begins_option(part))) line.options.back().value += ":" + part;
    else if (begins_option(part)) line.options.push_back(option_of(part));
    else if (!trim(part).empty()) return wrong(line.number, "\"" + shortened(part) + "\" is no Option=value");
  }
  for (Option& o : line.options) o.value = unquoted(o.value);
  return {};
}

Result<Line> split_line(std::string_view text, uint32_t number) {
  Line out;
  out.number = number;
  if (std::ranges::any_of(text, [](char c) { return (static_cast<unsigned char>(c) < ' ' && c != '\t') || c == 0x7f; }))
    return wrong(number, "it holds a control character");
  const size_t dash = text.find(" - ");
  if (dash == text.npos) return wrong(number, "want TITLE - 'name'[:Option=value …]");
  const std::string_view title = trim(text.substr(0, dash));
  const auto known = std::ranges::find_if(kTitles, [&](const auto& t) { return iequals(t.first, title); });
  if (known == std::end(kTitles)) return wrong(number, "the title " + shortened(title) + " is none of Cluster, QOS, Parent, Account, User");
  out.title = known->second;
  const auto parts = parts_of(text.substr(dash + 3));
  if (!parts) return wrong(number, "a quote is open at its end");
  out.name = unquoted(parts->front());
  if (out.name.empty() || out.name.size() > kMostName)
    return wrong(number, "the name is missing or longer than " + std::to_string(kMostName) + " bytes");
  MUSTER_TRY_VOID(split_options(out, std::span(*parts).subspan(1)));
  return out;
}

// ---- from options to values
std::vector<std::string> names_in(std::string_view list) {
  std::vector<std::string> out;
  for (std::string_view name : split(list, ','))
    if (!trim(name).empty()) out.push_back(to_lower(trim(name)));
  return out;
}

// "a,b" is the whole list; "+a,-b" is what is added to the list above and taken from it. The operator += or -= changes the list that is
// there.
std::vector<NamesChange> changes_of(ChangeOp op, std::string_view value) {
  std::vector<NamesChange> out;
  if (op == ChangeOp::kSet) out.push_back({ChangeOp::kClear, {}});
  for (std::string name : names_in(value)) {
    ChangeOp of = op;
    if (name.starts_with('+') || name.starts_with('-')) {
      of = name.front() == '+' ? ChangeOp::kAdd : ChangeOp::kSubtract;
      name.erase(0, 1);
    }
    if (out.empty() || out.back().op != of) out.push_back({of, {}});
    out.back().names.push_back(std::move(name));
  }
  return out;
}

// A line that says more than an account's: members of users alone stand in it for every kind.
using Entry = UserEntry;

std::string text_or_none(const std::string& value) { return value == "-1" ? std::string() : to_lower(value); }

Result<> number_into(std::optional<double>& into, const std::string& value) {
  into = read_factor(value);
  if (into) return {};
  return fail(Errc::kInvalidReq, "a number of 0 or more, or -1 for the default");
}

struct Word {
  std::string_view names;
  uint8_t titles;
  Result<> (*take)(Entry&, const Option&);  // an error is the rule that the value breaks
};
constexpr Word kWords[] = {
    {"Description", kAccount | kQos, [](Entry& e, const Option& o) { return e.set.description = to_lower(o.value), Result<>(); }},
    {"Organization", kAccount, [](Entry& e, const Option& o) { return e.set.organization = o.value, Result<>(); }},
    {"Classification", kCluster, [](Entry& e, const Option& o) { return e.set.classification = o.value, Result<>(); }},
    {"QOS QosLevel", kTree, [](Entry& e, const Option& o) { return e.set.qos = changes_of(o.op, o.value), Result<>(); }},
    {"DefaultQOS DefQOS", kTree, [](Entry& e, const Option& o) { return e.set.default_qos = text_or_none(o.value), Result<>(); }},
    {"Partition", kUser, [](Entry& e, const Option& o) { return e.partition = o.value, Result<>(); }},
    {"DefaultAccount", kUser, [](Entry& e, const Option& o) { return e.set.default_account = to_lower(o.value), Result<>(); }},
    {"DefaultWCKey", kUser, [](Entry& e, const Option& o) { return e.set.default_wckey = to_lower(o.value), Result<>(); }},
    {"WCKeys WCKey", kUser, [](Entry& e, const Option& o) { return e.wckeys = names_in(o.value), Result<>(); }},
    {"Coordinator Coordinators", kUser, [](Entry& e, const Option& o) { return e.coordinator_of = names_in(o.value), Result<>(); }},
    {"AdminLevel Admin", kUser,
     [](Entry& e, const Option& o) -> Result<> {
       e.set.admin_level = read_admin_level(o.value);
       if (e.set.admin_level) return {};
       return fail(Errc::kInvalidReq, "one of None, Operator, Administrator");
     }},
    {"Flags", kQos | kAccount,
     [](Entry& e, const Option& o) {
       NamesChange change{o.op, {}};
       for (std::string_view flag : split(o.value, ',')) change.names.emplace_back(trim(flag));
       return e.set.flags = {std::move(change)}, Result<>();
     }},
    {"Preempt", kQos,
     [](Entry& e, const Option& o) {
       return e.set.preempt = {{o.op, names_in(o.value)}}, Result<>();
     }},
    {"PreemptMode", kQos, [](Entry& e, const Option& o) { return e.set.preempt_mode = to_lower(o.value), Result<>(); }},
    {"UsageFactor", kQos, [](Entry& e, const Option& o) { return number_into(e.set.usage_factor, o.value); }},
    {"UsageThreshold", kQos, [](Entry& e, const Option& o) { return number_into(e.set.usage_threshold, o.value); }},
    {"LimitFactor", kQos, [](Entry& e, const Option& o) { return number_into(e.set.limit_factor, o.value); }},
};

bool is_named(const Word& word, std::string_view name) {
  return std::ranges::any_of(split(word.names, ' '), [&](std::string_view n) { return iequals(n, name); });
}

Result<> take_limit(const LimitInfo& info, std::string_view tres, const Option& o, Entry& entry) {
  std::string value = tres.empty() || o.value.empty() ? o.value : std::string(tres) + "=" + o.value;
  if (info.kind == LimitKind::kShares && value == std::to_string(kSharesOfParent)) value = "parent";
  if (value.empty()) return {};
  return read_limit(info, o.op, value, entry.set.limits);
}

// Older files shorten MaxCPUsPerJob to MaxCPUs.
const OldLimit* old_limit(std::string_view name) {
  constexpr size_t kLeast = 6;
  for (const OldLimit& old : kOldLimits)
    if (iequals(old.name, name)) return &old;
  for (const OldLimit& old : kOldLimits)
    if (name.size() >= kLeast && istarts_with(old.name, name)) return &old;
  return nullptr;
}

Result<> take_option(Title title, const Option& option, Entry& entry) {
  for (const Word& word : kWords)
    if (word.titles & title && is_named(word, option.name)) {
      Result<> taken = word.take(entry, option);
      if (taken) return {};
      return fail(Errc::kInvalidReq, "Invalid value for " + option.name + " (" + shortened(option.value) + ")",
                  std::string(taken.error().message()));
    }
  const LimitInfo* info = limit_named(option.name);
  std::string_view tres;
  if (const OldLimit* old = info ? nullptr : old_limit(option.name)) {
    info = &*std::ranges::find(kLimits, old->kind, &LimitInfo::kind);
    tres = old->tres;
  }
  if (!info || !(title == kQos ? info->of_qos : info->of_associations))
    return fail(Errc::kInvalidReq, "Unknown option: " + shortened(option.name + "=" + option.value));
  return take_limit(*info, tres, option, entry);
}

// Builds the file line by line.
class Reader {
 public:
  Result<> take(const Line& line) {
    Entry entry;
    entry.line = line.number;
    entry.name = line.title == kUser ? line.name : to_lower(line.name);
    if (line.title == kParent && !line.options.empty()) return wrong(line.number, "a Parent line has no options");
    for (const Option& o : line.options)
      if (Result<> taken = take_option(line.title, o, entry); !taken)
        return wrong(line.number, std::string(taken.error().message()), taken.error().hint);
    switch (line.title) {
      case kCluster: return take_cluster(std::move(entry));
      case kQos: return take_qos(std::move(entry));
      case kAccount: return take_account(std::move(entry));
      case kUser: return take_user(std::move(entry));
      case kParent: return take_parent(std::move(entry));
    }
    return {};
  }
  AccountsFile finish() { return std::move(out_); }

 private:
  Result<> take_cluster(AccountsEntry entry) {
    if (!out_.cluster.name.empty()) return wrong(entry.line, "a second Cluster: a file has one");
    out_.cluster = std::move(entry);
    return {};
  }
  Result<> take_qos(AccountsEntry entry) {
    if (!qos_.insert(entry.name).second) return wrong(entry.line, "the QOS " + entry.name + " is there already");
    out_.qos.push_back(std::move(entry));
    return {};
  }
  Result<> take_account(AccountsEntry entry) {
    if (!named_.insert(entry.name).second) return wrong(entry.line, "the account " + entry.name + " is there already");
    accounts_.insert(entry.name);
    const bool root = entry.name == "root";
    out_.accounts.push_back({std::move(entry), root ? std::string() : parent_});
    return {};
  }
  Result<> take_user(Entry entry) {
    entry.account = parent_;
    if (!users_.emplace(entry.name, parent_, entry.partition).second)
      return wrong(entry.line, "the user " + entry.name + " is in the account " + parent_ + " already");
    out_.users.push_back(std::move(entry));
    return {};
  }
  Result<> take_parent(AccountsEntry entry) {
    if (!accounts_.contains(entry.name)) return wrong(entry.line, "Parent: the account " + entry.name + " is not there yet");
    parent_ = std::move(entry.name);
    return {};
  }

  AccountsFile out_;
  std::string parent_ = "root";
  std::set<std::string> accounts_{"root"}, named_, qos_;
  std::set<std::tuple<std::string, std::string, std::string>> users_;
};

}  // namespace

Result<AccountsFile> read_accounts_file(std::string_view text) {
  Reader reader;
  uint32_t number = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (++number > kMostAccountsLines) return wrong(number, "a file has at most " + std::to_string(kMostAccountsLines) + " lines");
    if (line.empty() || line.front() == '#') continue;
    if (end > kMostAccountsLineBytes) return wrong(number, "a line has at most " + std::to_string(kMostAccountsLineBytes) + " bytes");
    MUSTER_TRY(parts, split_line(line, number));
    MUSTER_TRY_VOID(reader.take(parts));
  }
  return reader.finish();
}

}  // namespace muster::config

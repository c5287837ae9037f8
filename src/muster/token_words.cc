#include "muster/token_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/plain_text.h"
#include "base/text.h"
#include "fields/tree_sink.h"

namespace muster::front {
namespace {

constexpr char kUsage[] =
    "muster token create --nodes LIST|--logins LIST [--expires 1h] [--uses N] · list [--json] · revoke ID|--node NAME|--login NAME";
constexpr uint32_t kDefaultLife = 3600;

std::unexpected<Error> wrong(const std::string& what) { return fail(Errc::kBadOption, "token: " + what, kUsage); }

// The options in order, each with its value: "--nodes=a" and "--nodes a".
struct Option {
  std::string name, value;
};
Result<std::vector<Option>> read_options(std::span<const std::string> words, std::string& rest) {
  std::vector<Option> out;
  for (size_t at = 0; at < words.size(); ++at) {
    const std::string& word = words[at];
    if (!word.starts_with("--")) {
      if (!rest.empty() || word.empty()) return wrong("unexpected word '" + word + "'");
      rest = word;
      continue;
    }
    const size_t equals = word.find('=');
    if (equals != word.npos) out.push_back({word.substr(0, equals), word.substr(equals + 1)});
    else if (word == "--json") out.push_back({word, ""});
    else if (at + 1 < words.size()) out.push_back({word, words[++at]});
    else return wrong(word + " takes a value");
  }
  return out;
}

Result<TokenWords> read_create(const std::vector<Option>& options) {
  rpc::CreateToken out;
  out.seconds = kDefaultLife;
  for (const Option& option : options) {
    if (option.name == "--nodes" || option.name == "--logins") {
      if (!out.hosts.empty()) return wrong("a token is for one list of hosts");
      out.hosts = NodeList(option.value);
      if (!out.hosts.parsed()) return wrong(option.name + " '" + option.value + "': " + std::string(out.hosts.parsed().error().message()));
      out.role = option.name == "--logins" ? rpc::TokenRole::kLogin : rpc::TokenRole::kNode;
    } else if (option.name == "--expires") {
      MUSTER_TRY(life, read_lifetime(option.value));
      out.seconds = life;
    } else if (option.name == "--uses") {
      const auto uses = parse_number<uint32_t>(option.value, 1, rpc::kMostTokenUses);
      if (!uses) return wrong("--uses '" + option.value + "': a number from 1 to " + std::to_string(rpc::kMostTokenUses));
      out.uses = *uses;
    } else {
      return wrong("unrecognized option '" + option.name + "'");
    }
  }
  if (out.hosts.empty()) return wrong("create: --nodes or --logins says who may join");
  return out;
}

Result<TokenWords> read_revoke(const std::vector<Option>& options, const std::string& id) {
  rpc::RevokeToken out;
  if (options.size() + !id.empty() != 1) return wrong("revoke: the ID of a token, or --node NAME, or --login NAME");
  if (!id.empty()) {
    const auto number = parse_number<uint32_t>(id, 1);
    if (!number) return wrong("revoke '" + id + "': a token has a number, which muster token list shows");
    out.token = *number;
    return out;
  }
  const Option& o = options.front();
  if (o.name != "--node" && o.name != "--login") return wrong("unrecognized option '" + o.name + "'");
  if (o.value.empty()) return wrong(o.name + " names one host");
  (o.name == "--node" ? out.node : out.login) = o.value;
  return out;
}

std::string state_of(const rpc::TokenRow& row, Time now) {
  if (row.revoked != kTimeUnset) return "revoked";
  if (row.used.size() >= row.uses) return "used";
  return now >= row.expires ? "expired" : "good";
}

}  // namespace

Result<uint32_t> read_lifetime(std::string_view text) {
  uint32_t unit = 1;
  std::string_view digits = text;
  if (!digits.empty() && (digits.back() < '0' || digits.back() > '9')) {
    switch (digits.back()) {
      case 's': unit = 1; break;
      case 'm': unit = 60; break;
      case 'h': unit = 3600; break;
      case 'd': unit = 86400; break;
      default: unit = 0;
    }
    digits.remove_suffix(1);
  }
  const auto number = parse_number<uint32_t>(digits, 1);
  if (!number || !unit || *number > rpc::kMostTokenSeconds / unit)
    return wrong("--expires '" + std::string(text) + "': seconds, or a number with s, m, h or d; at most 31d");
  return *number * unit;
}

Result<TokenWords> read_token_words(std::span<const std::string> arguments) {
  if (arguments.empty()) return wrong("create, list or revoke");
  std::string rest;
  MUSTER_TRY(options, read_options(arguments.subspan(1), rest));
  const std::string& verb = arguments.front();
  if (verb == "revoke") return read_revoke(options, rest);
  if (!rest.empty()) return wrong("unexpected word '" + rest + "'");
  if (verb == "create") return read_create(options);
  if (verb != "list") return wrong("'" + verb + "' is none of create, list and revoke");
  TokenList list;
  for (const Option& o : options) {
    if (o.name != "--json") return wrong("unrecognized option '" + o.name + "'");
    list.json = true;
  }
  return list;
}

std::string to_text(const rpc::TokenRows& rows, Time now) {
  std::string out = fmt::format("{:<6}{:<7}{:<9}{:<21}{:<6}{}\n", "ID", "FOR", "STATE", "EXPIRES", "USED", "HOSTS");
  for (const rpc::TokenRow& row : rows.tokens) {
    out += fmt::format("{:<6}{:<7}{:<9}{:<21}{:<6}{}\n", row.id, row.role == rpc::TokenRole::kNode ? "nodes" : "logins", state_of(row, now),
                       format_time(row.expires), fmt::format("{}/{}", row.used.size(), row.uses), plain(row.hosts.text()));
    for (const rpc::TokenUse& use : row.used)
      out += fmt::format("      {} joined from {} at {}\n", plain(use.host), plain(use.address), format_time(use.time));
  }
  return out;
}

std::string to_json(const rpc::TokenRows& rows, Time now) {
  std::string out;
  auto sink = fields::make_tree_sink(fields::TreeForm::kJson, false, out);
  const auto text = [&](std::string_view key, std::string_view value) {
    sink->key(key);
    sink->text(value);
  };
  const auto number = [&](std::string_view key, int64_t value) {
    sink->key(key);
    sink->number(value);
  };
  sink->begin_object();
  sink->key("tokens");
  sink->begin_list();
  for (const rpc::TokenRow& row : rows.tokens) {
    sink->begin_object();
    number("id", row.id);
    text("role", row.role == rpc::TokenRole::kNode ? "node" : "login");
    text("state", state_of(row, now));
    text("hosts", row.hosts.text());
    number("created", unix_seconds(row.created));
    number("expires", unix_seconds(row.expires));
    number("uses", row.uses);
    sink->key("used");
    sink->begin_list();
    for (const rpc::TokenUse& use : row.used) {
      sink->begin_object();
      text("host", use.host);
      text("address", use.address);
      number("time", unix_seconds(use.time));
      sink->end_object();
    }
    sink->end_list();
    sink->end_object();
  }
  sink->end_list();
  sink->end_object();
  return out + "\n";
}

}  // namespace muster::front

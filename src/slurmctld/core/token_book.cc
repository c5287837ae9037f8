#include "slurmctld/core/token_book.h"

#include <algorithm>
#include <set>

namespace muster::slurmctld {
namespace {

constexpr size_t kMostHosts = 65536;
constexpr size_t kMostAddress = 256;

SubjectKind kind_of(rpc::TokenRole role) { return role == rpc::TokenRole::kLogin ? SubjectKind::kLogin : SubjectKind::kNode; }

Result<> check_hosts(const NodeList& hosts) {
  const auto wrong = [&](const std::string& why) { return fail(Errc::kInvalidArgument, {}, "hosts '" + hosts.text() + "': " + why); };
  if (hosts.empty()) return wrong("a token is for hosts that it names");
  if (!hosts.parsed()) return wrong("this is no host list");
  if (hosts->has_functions()) return wrong("names of hosts, no functions");
  if (hosts->count() > kMostHosts) return wrong("at most " + std::to_string(kMostHosts) + " names");
  for (const std::string& name : hosts->names())
    if (!Subject::is_name(name)) return wrong("'" + name.substr(0, 64) + "' is no name of a host");
  return {};
}

Result<> check_number(const char* what, uint64_t value, uint64_t most) {
  if (value >= 1 && value <= most) return {};
  return fail(Errc::kInvalidArgument, {}, std::string(what) + " " + std::to_string(value) + ": from 1 to " + std::to_string(most));
}

std::string day_and_time(Time t) { return format_time(t); }

bool lets_in(const rpc::TokenRow& row, Time now) { return row.revoked == kTimeUnset && now < row.expires && row.used.size() < row.uses; }

std::unexpected<Error> refused(const rpc::TokenRow& row, const std::string& why) {
  return fail(Errc::kAuthFailed, {}, "token " + std::to_string(row.id) + " " + why);
}

}  // namespace

Result<rpc::TokenRow> TokenBook::add(const rpc::CreateToken& asked, std::string name, std::string key, Time now) {
  forget(now);
  MUSTER_TRY_VOID(check_hosts(asked.hosts));
  MUSTER_TRY_VOID(check_number("seconds", asked.seconds, rpc::kMostTokenSeconds));
  MUSTER_TRY_VOID(check_number("uses", asked.uses, rpc::kMostTokenUses));
  if (state_.tokens.size() >= rpc::kMostTokens)
    return fail(Errc::kTryAgainLater, {}, "there are " + std::to_string(rpc::kMostTokens) + " tokens; those that expired go after a day");
  Entry entry;
  entry.row.id = ++state_.last;
  entry.row.role = asked.role;
  entry.row.hosts = asked.hosts;
  entry.row.created = now;
  entry.row.expires = now + seconds(asked.seconds);
  entry.row.uses = asked.uses;
  entry.name = std::move(name);
  entry.key = std::move(key);
  state_.tokens.push_back(std::move(entry));
  return state_.tokens.back().row;
}

Result<size_t> TokenBook::good(const std::string& token_name, rpc::TokenRole role, Time now) const {
  const auto at = std::ranges::find(state_.tokens, token_name, &Entry::name);
  if (at == state_.tokens.end()) return fail(Errc::kAuthFailed, {}, "the token is not known");
  const rpc::TokenRow& row = at->row;
  if (row.revoked != kTimeUnset) return refused(row, "was revoked at " + day_and_time(row.revoked));
  if (now >= row.expires) return refused(row, "expired at " + day_and_time(row.expires));
  if (row.used.size() >= row.uses)
    return refused(row, "is used up: " + row.used.back().host + " joined by it from " + row.used.back().address + " at " +
                            day_and_time(row.used.back().time));
  if (role != row.role)
    return refused(row, row.role == rpc::TokenRole::kNode ? "is for nodes, not for login hosts" : "is for login hosts, not for nodes");
  return static_cast<size_t>(at - state_.tokens.begin());
}

Result<std::vector<std::string>> TokenBook::names(const std::string& token_name, rpc::TokenRole role, Time now) const {
  MUSTER_TRY(at, good(token_name, role, now));
  const Entry& entry = state_.tokens[at];
  std::vector<std::string> out = entry.row.hosts->names();
  std::erase_if(out, [&](const std::string& name) { return std::ranges::binary_search(entry.barred, name); });
  std::ranges::sort(out);
  return out;
}

bool TokenNames::is_given(const std::string& node) const { return std::ranges::binary_search(given, node); }
bool TokenNames::is_open(const std::string& node) const { return std::ranges::binary_search(open, node); }

TokenNames TokenBook::names_of_nodes(Time now) const {
  TokenNames out;
  std::set<std::string> given, open;
  for (const Entry& entry : state_.tokens) {
    const rpc::TokenRow& row = entry.row;
    if (row.role != rpc::TokenRole::kNode || row.revoked != kTimeUnset) continue;
    const auto add = [&](std::set<std::string>& names, const std::string& name) {
      if (!std::ranges::binary_search(entry.barred, name)) names.insert(name);
    };
    for (const rpc::TokenUse& use : row.used) add(given, use.host);
    if (!lets_in(row, now)) continue;
    for (const std::string& name : row.hosts->names()) add(open, name);
    out.until = std::min(out.until, row.expires);
  }
  out.given.assign(given.begin(), given.end());
  out.open.assign(open.begin(), open.end());
  return out;
}

Result<Subject> TokenBook::use(const std::string& token_name, const rpc::AskCertificate& asked, const std::string& address, Time now) {
  MUSTER_TRY(at, good(token_name, asked.role, now));
  Entry& entry = state_.tokens[at];
  const std::vector<std::string> hosts = entry.row.hosts->names();
  if (std::ranges::find(hosts, asked.name) == hosts.end())
    return refused(entry.row, "is not for '" + asked.name.substr(0, 64) + "', but for " + entry.row.hosts.text().substr(0, 256));
  if (std::ranges::binary_search(entry.barred, asked.name))
    return refused(entry.row,
                   "was made before '" + asked.name.substr(0, 64) + "' was revoked: to let that host in again takes a new token");
  entry.row.used.push_back({asked.name, address.substr(0, kMostAddress), now});
  return Subject{kind_of(entry.row.role), asked.name};
}

void TokenBook::revoke_subject(const std::string& subject, Time now) {
  const auto at = std::ranges::find(state_.revoked, subject, &rpc::Revocation::subject);
  if (at == state_.revoked.end()) state_.revoked.push_back({subject, now});
  else
    at->issued_until = std::max(at->issued_until + seconds(1), now);  // what was issued since then counts from the next second (issue_time)
}

void TokenBook::bar(const std::vector<std::string>& subjects) {
  for (Entry& entry : state_.tokens) {
    if (entry.row.revoked != kTimeUnset) continue;
    for (const std::string& host : entry.row.hosts->names())
      if (std::ranges::binary_search(subjects, Subject{kind_of(entry.row.role), host}.text())) entry.barred.push_back(host);
    std::ranges::sort(entry.barred);
    entry.barred.erase(std::unique(entry.barred.begin(), entry.barred.end()), entry.barred.end());
  }
}

// Its word lies on the disk of whoever has joined by it.
std::vector<uint32_t> TokenBook::known_to(const std::vector<std::string>& subjects, Time now) const {
  std::vector<uint32_t> out;
  for (const Entry& entry : state_.tokens) {
    const rpc::TokenRow& row = entry.row;
    const bool good = lets_in(row, now) && entry.barred.size() < row.hosts->count();
    if (good && std::ranges::any_of(row.used, [&](const rpc::TokenUse& use) {
          return std::ranges::binary_search(subjects, Subject{kind_of(row.role), use.host}.text());
        }))
      out.push_back(row.id);
  }
  return out;
}

Result<rpc::TokenRevoked> TokenBook::revoke(const rpc::RevokeToken& asked, Time now) {
  if ((asked.token != 0) + !asked.node.empty() + !asked.login.empty() != 1)
    return fail(Errc::kInvalidArgument, {}, "one token, one node or one login host is revoked at a time");
  rpc::TokenRevoked revoked;
  std::vector<std::string>& out = revoked.subjects;
  for (const auto& [kind, name] : {std::pair{SubjectKind::kNode, &asked.node}, std::pair{SubjectKind::kLogin, &asked.login}})
    if (!name->empty()) {
      if (!Subject::is_name(*name)) return fail(Errc::kInvalidArgument, {}, "'" + name->substr(0, 64) + "' is no name of a host");
      out.push_back(Subject{kind, *name}.text());
    }
  if (asked.token != 0) {
    const auto at = std::ranges::find(state_.tokens, asked.token, [](const Entry& e) { return e.row.id; });
    if (at == state_.tokens.end()) return fail(Errc::kInvalidArgument, {}, "there is no token " + std::to_string(asked.token));
    if (at->row.revoked == kTimeUnset) at->row.revoked = now;
    for (const rpc::TokenUse& use : at->row.used) out.push_back(Subject{kind_of(at->row.role), use.host}.text());
  }
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  // A certificate of this second may be issued already.
  for (const std::string& subject : out) revoke_subject(subject, from_unix(unix_seconds(now)));
  bar(out);
  revoked.known = known_to(out, now);
  return revoked;
}

void TokenBook::forget(Time now) {
  std::erase_if(state_.tokens, [&](const Entry& e) { return now >= e.row.expires + kKept + kCertificateLife; });
  std::erase_if(state_.revoked, [&](const rpc::Revocation& r) { return now >= r.issued_until + kCertificateLife + minutes(60); });
}

Time TokenBook::issue_time(const Subject& subject, Time now) const {
  const Time second = from_unix(unix_seconds(now));
  const auto at = std::ranges::find(state_.revoked, subject.text(), &rpc::Revocation::subject);
  return at == state_.revoked.end() ? second : std::max(second, at->issued_until + seconds(1));
}

std::vector<rpc::TokenRow> TokenBook::rows() const {
  std::vector<rpc::TokenRow> out;
  for (const Entry& e : state_.tokens) out.push_back(e.row);
  return out;
}

std::map<std::string, std::string> TokenBook::keys() const {
  std::map<std::string, std::string> out;
  for (const Entry& e : state_.tokens) out.emplace(e.name, e.key);
  return out;
}

}  // namespace muster::slurmctld

#include "model/request_texts.h"

#include <sys/resource.h>

#include <algorithm>
#include <span>
#include <type_traits>
#include <utility>

#include "base/parsed.h"
#include "base/text.h"
#include "hostlist/hostlist.h"

namespace muster {
namespace {

constexpr size_t kMostArguments = 2u << 20;  // of argv and of the line they were typed in: what execve(2) gives a process
constexpr size_t kMostChanges = 256;
constexpr size_t kMostEnvironment = 16u << 20;
// The bounds of spank_env. The number of entries is bounded too: each takes a pointer of the space that execve(2) gives.
constexpr size_t kMostEntry = 32u << 10, kMostEntryBytes = 256u << 10, kMostEntries = 1024, kMostEntryName = 256;

struct Bound {
  std::string_view field;
  size_t most;
};
// The texts that are not listed are lists of something: names, nodes, dependencies.
constexpr Bound kRequestBounds[] = {
    {"work_dir", kMostText},
    {"std_out", kMostText},
    {"std_err", kMostText},
    {"std_in", kMostText},
    {"name", kMostText},
    {"comment", kMostText},
    {"extra", kMostText},
    {"extra_constraint", kMostText},
    {"account", kMostText},
    {"qos", kMostText},
    {"wckey", kMostText},
    {"admin_comment", kMostText},
    {"mail_user", kMostText},
    {"submit_line", kMostArguments},
    {"argv", kMostArguments},
    {"required_nodes", kMostHosts},
    {"excluded_nodes", kMostHosts},
    {"features", kMostText},
    {"prefer", kMostText},
    {"batch_features", kMostText},  // expressions: as deep as they are long
    {"spank_env", kMostArguments},  // check_spank_env is stricter
    {"limits", kMostText},
};
constexpr Bound kUpdateBounds[] = {{"Comment", kMostText},      {"Extra", kMostText},       {"Reason", kMostText},
                                   {"Nodes", kMostHosts},       {"AllocNodes", kMostHosts}, {"NodeHostname", kMostHosts},
                                   {"NodeAddr", kMostHosts},    {"InstanceId", kMostHosts}, {"ReqNodeList", kMostHosts},
                                   {"ExcNodeList", kMostHosts}, {"NodeList", kMostHosts}};

// Every text may be as long as this, so the bound of its own is looked up only for a longer one.
constexpr size_t kLowestBound = std::min({kMostList, std::ranges::min(kRequestBounds, {}, &Bound::most).most});

size_t most_of(std::span<const Bound> bounds, std::string_view field) {
  auto it = std::ranges::find_if(bounds, [&](const Bound& b) { return iequals(b.field, field); });
  return it == bounds.end() ? kMostList : it->most;
}

Result<> check_length(std::string_view field, size_t bytes, size_t most) {
  if (bytes <= most) return {};
  return fail(Errc::kPathnameTooLong, {}, std::string(field) + ": " + bytes_of(bytes, most));
}

Result<> check_entry(const std::string& entry) {
  const size_t name = std::min(entry.find('='), entry.size());
  if (name == 0 || name > kMostEntryName)
    return fail(Errc::kInvalidArgument, {},
                "spank_env: '" + entry.substr(0, 40) + "' has a name of " + std::to_string(name) + " bytes, from 1 to " +
                    std::to_string(kMostEntryName));
  if (entry.size() > kMostEntry)
    return fail(Errc::kPathnameTooLong, {},
                "spank_env: " + entry.substr(0, name) + " has " + std::to_string(entry.size()) + " bytes with its value, at most " +
                    std::to_string(kMostEntry));
  return {};
}

Result<> check_spank_env(const std::vector<std::string>& entries) {
  if (entries.size() > kMostEntries)
    return fail(Errc::kPathnameTooLong, {},
                "spank_env: " + std::to_string(entries.size()) + " entries, at most " + std::to_string(kMostEntries));
  size_t bytes = 0;
  for (const std::string& entry : entries) {
    MUSTER_TRY_VOID(check_entry(entry));
    bytes += entry.size();
  }
  if (bytes > kMostEntryBytes) return fail(Errc::kPathnameTooLong, {}, "spank_env: " + bytes_of(bytes, kMostEntryBytes));
  return {};
}

// The address becomes an argument of MailProg, which runs with the controller's rights. Mail programs take a name with one of these
// characters for a program, a file or an option.
Result<> check_mail_user(const std::string& to) {
  auto refused = [&](const std::string& why) { return fail(Errc::kInvalidArgument, {}, "--mail-user=" + to.substr(0, 80) + ": " + why); };
  for (const std::string_view one : split(to, ',')) {
    if (one.starts_with('-') || one.starts_with('+') || one.starts_with('~')) return refused("an address begins with a letter or a digit");
    if (one.find_first_of("|/\\\"'`$&;<>()") != one.npos ||
        std::ranges::any_of(one, [](char c) { return (c >= 0 && c <= ' ') || c == 0x7f; }))
      return refused("user names and addresses user@host, separated by commas");
  }
  return {};
}

Result<> check_limits(const std::vector<ResourceLimit>& limits) {
  constexpr size_t kKinds = RLIM_NLIMITS;
  if (limits.size() <= kKinds) return {};
  return fail(Errc::kInvalidArgument, {}, "limits: " + std::to_string(limits.size()) + " entries, at most " + std::to_string(kKinds));
}

// Checks each text by way of its description, so that no text can be forgotten.
template <class R>
Result<> check_described(const R& request) {
  Result<> done;
  R::describe(request, [&]<class T>(unsigned, const char* field, const T& member) {
    size_t bytes = 0;
    if constexpr (std::is_same_v<T, std::string>) bytes = member.size();
    if constexpr (TextMember<T>) bytes = member.text().size();
    if constexpr (std::is_same_v<T, std::vector<std::string>>)
      for (const std::string& text : member) bytes += text.size() + 1;
    if constexpr (std::is_same_v<T, std::vector<ResourceLimit>>) {
      for (const ResourceLimit& limit : member) bytes += limit.name.size() + 1;
      if (done) done = check_limits(member);
    }
    if (done && bytes > kLowestBound) done = check_length(field, bytes, most_of(kRequestBounds, field));
  });
  return done;
}

void shorten(NodeList& list, bool places) {
  if (list.text().size() <= kMostText || !list.parsed() || list->has_functions()) return;
  const std::vector<std::string> names = list->names();
  list = compress_hosts(places ? names : unique_hosts(names));
}

template <class R>
void shorten_both(R& r) {
  shorten(r.required_nodes, r.distribution->arbitrary());
  shorten(r.excluded_nodes, false);
}

}  // namespace

void shorten_lists(JobRequest& r) { shorten_both(r); }
void shorten_lists(StepRequest& r) { shorten_both(r); }

std::string bytes_of(size_t bytes, size_t most) { return std::to_string(bytes) + " bytes, at most " + std::to_string(most); }

Result<> check_texts(const JobRequest& r) {
  MUSTER_TRY_VOID(check_described(r));
  MUSTER_TRY_VOID(check_mail_user(r.mail_user));
  return check_spank_env(r.spank_env);
}

Result<> check_content(size_t most_script, size_t script, size_t environment) {
  if (script > most_script)
    return fail(Errc::kPathnameTooLong, {}, "the script has " + bytes_of(script, most_script) + " (SchedulerParameters=max_script_size)");
  if (environment > kMostEnvironment)
    return fail(Errc::kPathnameTooLong, {}, "the environment has " + bytes_of(environment, kMostEnvironment));
  return {};
}

Result<> check_texts(const StepRequest& r) { return check_described(r); }

Result<> check_texts(const std::vector<rpc::KeyValue>& changes) {
  if (changes.size() > kMostChanges)
    return fail(Errc::kInvalidArgument, {},
                std::to_string(changes.size()) + " changes in one command, at most " + std::to_string(kMostChanges));
  for (const rpc::KeyValue& kv : changes)
    MUSTER_TRY_VOID(check_length(kv.key.substr(0, 40), kv.value.size(), most_of(kUpdateBounds, kv.key)));
  return {};
}

}  // namespace muster

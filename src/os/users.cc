#include "os/users.h"

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <mutex>
#include <unordered_map>

#include "base/text.h"
#include "os/clock.h"
#include "os/error.h"

namespace muster::os {
namespace {

constexpr size_t kMaxBuffer = 16 << 20;  // a group with very many members
constexpr int kMaxGroups = 65536;

// Calls one of the getXXX_r functions with a buffer that grows until the record fits.
template <class Record, class Call>
Result<bool> ask(Call call, Record& record, std::vector<char>& buffer, const std::string& what) {
  buffer.resize(4096);
  while (true) {
    Record* found = nullptr;
    const int err = call(&record, buffer.data(), buffer.size(), &found);
    if (err == EINTR) continue;
    if (err == ERANGE && buffer.size() < kMaxBuffer) {
      buffer.resize(buffer.size() * 4);
      continue;
    }
    // POSIX wants 0 and no record for "not there"; NSS modules in the field also give these.
    if (err == 0 || err == ENOENT || err == ESRCH || err == EBADF || err == EPERM) return found != nullptr;
    return fail_errno(what, err);
  }
}

User to_user(const passwd& p) {
  auto text = [](const char* s) { return std::string(s ? s : ""); };
  return {text(p.pw_name), Uid{p.pw_uid}, Gid{p.pw_gid}, text(p.pw_dir), text(p.pw_shell), text(p.pw_gecos)};
}

Group to_group(const group& g) {
  Group out{g.gr_name ? g.gr_name : "", Gid{g.gr_gid}, {}};
  for (char** m = g.gr_mem; m && *m; ++m) out.members.emplace_back(*m);
  return out;
}

template <class Call>
Result<User> user_by(Call call, const std::string& missing) {
  passwd record{};
  std::vector<char> buffer;
  MUSTER_TRY(found, ask(call, record, buffer, missing));
  if (!found) return fail(Errc::kNotFound, missing);
  return to_user(record);
}

template <class Call>
Result<Group> group_by(Call call, const std::string& missing) {
  group record{};
  std::vector<char> buffer;
  MUSTER_TRY(found, ask(call, record, buffer, missing));
  if (!found) return fail(Errc::kNotFound, missing);
  return to_group(record);
}

}  // namespace

Result<User> find_user(std::string_view name) {
  const std::string n(name);
  return user_by([&](auto... a) { return getpwnam_r(n.c_str(), a...); }, "Invalid user: " + n);
}
Result<User> find_user(Uid uid) {
  return user_by([&](auto... a) { return getpwuid_r(uid.value, a...); }, "Invalid user id: " + std::to_string(uid.value));
}
Result<Group> find_group(std::string_view name) {
  const std::string n(name);
  return group_by([&](auto... a) { return getgrnam_r(n.c_str(), a...); }, "Invalid group: " + n);
}
Result<Group> find_group(Gid gid) {
  return group_by([&](auto... a) { return getgrgid_r(gid.value, a...); }, "Invalid group id: " + std::to_string(gid.value));
}

Result<Uid> find_uid(std::string_view text) {
  auto user = find_user(text);
  if (user) return user->uid;
  if (auto n = parse_number<uint32_t>(text, 0, UINT32_MAX - 1)) return Uid{*n};
  return std::unexpected(user.error());
}
Result<Gid> find_gid(std::string_view text) {
  auto group = find_group(text);
  if (group) return group->gid;
  if (auto n = parse_number<uint32_t>(text, 0, UINT32_MAX - 1)) return Gid{*n};
  return std::unexpected(group.error());
}

Result<std::vector<uint32_t>> group_list(std::string_view name, Gid primary) {
  const std::string spelled(name);
  std::vector<gid_t> groups(64);
  while (true) {
    int count = static_cast<int>(groups.size());
    if (getgrouplist(spelled.c_str(), primary.value, groups.data(), &count) >= 0) {
      groups.resize(static_cast<size_t>(count));
      return std::vector<uint32_t>(groups.begin(), groups.end());
    }
    if (count > kMaxGroups || static_cast<int>(groups.size()) >= kMaxGroups)
      return fail(Errc::kIo, "user " + spelled + " is in more than 65536 groups");
    groups.resize(static_cast<size_t>(std::max(count, static_cast<int>(groups.size()) * 2)));
  }
}

Result<std::vector<std::string>> group_names(std::string_view name, Gid primary) {
  MUSTER_TRY(gids, group_list(name, primary));
  std::vector<std::string> out;
  for (uint32_t gid : gids)
    if (auto g = find_group(Gid{gid})) out.push_back(g->name);
  return out;
}

Result<Credentials> credentials_of(const User& user) {
  MUSTER_TRY(groups, group_list(user.name, user.gid));
  return Credentials{user.uid, user.gid, std::move(groups)};
}

Credentials own_credentials() {
  Credentials c{Uid{geteuid()}, Gid{getegid()}, {}};
  const int n = getgroups(0, nullptr);
  if (n > 0) {
    c.groups.resize(static_cast<size_t>(n));
    c.groups.resize(static_cast<size_t>(std::max(0, getgroups(n, c.groups.data()))));
  }
  return c;
}

struct UserDirectory::Tables {
  size_t capacity;
  Duration keep, keep_missing;
  template <class V>
  struct Entry {
    Result<V> value;
    Time until;
  };
  mutable std::mutex mutex;
  std::unordered_map<uint32_t, Entry<User>> by_uid;
  std::unordered_map<std::string, Entry<User>> by_name;
  std::unordered_map<uint32_t, Entry<Group>> by_gid;
  std::unordered_map<uint32_t, Entry<Credentials>> credentials;

  // NSS is asked outside the lock, so that a slow server does not hold up hits.
  template <class Map, class Key, class Ask>
  auto get(Map& map, const Key& key, Ask ask) -> decltype(ask()) {
    const Time now = monotonic_now();
    {
      std::lock_guard lock(mutex);
      auto it = map.find(key);
      if (it != map.end() && it->second.until > now) return it->second.value;
    }
    auto value = ask();
    if (!value && value.error().code != Errc::kNotFound) return value;  // an outage is not worth remembering
    std::lock_guard lock(mutex);
    // Full: forget everything. Rare, and cheaper than order kept for every hit.
    if (map.size() >= capacity && !map.contains(key)) map.clear();
    map.insert_or_assign(key, typename Map::mapped_type{value, now + (value ? keep : keep_missing)});
    return value;
  }
};

UserDirectory::UserDirectory(size_t capacity, Duration keep, Duration keep_missing)
    : tables_(new Tables{std::max<size_t>(capacity, 1), keep, keep_missing, {}, {}, {}, {}, {}}) {}
UserDirectory::~UserDirectory() = default;

Result<User> UserDirectory::user(Uid uid) {
  return tables_->get(tables_->by_uid, uid.value, [&] { return find_user(uid); });
}
Result<User> UserDirectory::user(std::string_view name) {
  return tables_->get(tables_->by_name, std::string(name), [&] { return find_user(name); });
}
Result<Group> UserDirectory::group(Gid gid) {
  return tables_->get(tables_->by_gid, gid.value, [&] { return find_group(gid); });
}
Result<Credentials> UserDirectory::credentials(Uid uid) {
  return tables_->get(tables_->credentials, uid.value, [&]() -> Result<Credentials> {
    MUSTER_TRY(u, user(uid));
    return credentials_of(u);
  });
}
std::string UserDirectory::user_name(Uid uid) {
  auto u = user(uid);
  return u ? u->name : std::to_string(uid.value);
}
std::string UserDirectory::group_name(Gid gid) {
  auto g = group(gid);
  return g ? g->name : std::to_string(gid.value);
}
bool UserDirectory::keeps(Uid uid, Gid gid, Duration still) const {
  const Time needed = monotonic_now() + still;
  std::lock_guard lock(tables_->mutex);
  const auto who = tables_->credentials.find(uid.value);
  if (who == tables_->credentials.end() || who->second.until <= needed) return false;
  const auto group = tables_->by_gid.find(gid.value);
  return group != tables_->by_gid.end() && group->second.until > needed;
}
void UserDirectory::clear() {
  std::lock_guard lock(tables_->mutex);
  tables_->by_uid.clear();
  tables_->by_name.clear();
  tables_->by_gid.clear();
  tables_->credentials.clear();
}
size_t UserDirectory::size() const {
  std::lock_guard lock(tables_->mutex);
  return tables_->by_uid.size() + tables_->by_name.size() + tables_->by_gid.size() + tables_->credentials.size();
}

}  // namespace muster::os

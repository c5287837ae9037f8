// Users and groups by name and number, through NSS (files, LDAP, sssd). Never between clone and exec.
//
// The free functions ask NSS each time: a local file costs about 20 µs, LDAP milliseconds or a time-out. UserDirectory keeps answers:
// bounded, thread-safe, positive for `keep`, negative for `keep_missing`; a hit is a lock and a lookup.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "os/process.h"

namespace muster::os {

struct User {
  std::string name;
  Uid uid{};
  Gid gid{};  // primary group
  std::string home, shell, gecos;
  bool operator==(const User&) const = default;
};
struct Group {
  std::string name;
  Gid gid{};
  std::vector<std::string> members;  // by name, primary members not included
};

// kNotFound: "Invalid user: alice" / "Invalid user id: 4711"; kIo when NSS itself failed (a server is away),
// which is no statement about the user.
Result<User> find_user(std::string_view name);
Result<User> find_user(Uid uid);
// A name, else a number that may have no name (uid only then), as --uid and squeue -u take it.
Result<Uid> find_uid(std::string_view name_or_number);
Result<Group> find_group(std::string_view name);
Result<Group> find_group(Gid gid);
Result<Gid> find_gid(std::string_view name_or_number);
// All groups of the user, `primary` first; at most 65536.
Result<std::vector<uint32_t>> group_list(std::string_view name, Gid primary);
Result<std::vector<std::string>> group_names(std::string_view name, Gid primary);  // nameless ones left out
// The identity with which spawn() and file operations act as the user.
Result<Credentials> credentials_of(const User& user);
Credentials own_credentials();

class UserDirectory {
 public:
  explicit UserDirectory(size_t capacity = 10000, Duration keep = minutes(10), Duration keep_missing = seconds(10));
  ~UserDirectory();
  UserDirectory(const UserDirectory&) = delete;
  UserDirectory& operator=(const UserDirectory&) = delete;

  Result<User> user(Uid uid);
  Result<User> user(std::string_view name);
  Result<Group> group(Gid gid);
  Result<Credentials> credentials(Uid uid);
  // For output: the name, else the number as text.
  std::string user_name(Uid uid);
  std::string group_name(Gid gid);
  // Whether what credentials(uid) and group_name(gid) will say is kept here, and will be for this long: nobody will be asked.
  bool keeps(Uid uid, Gid gid, Duration still) const;
  void clear();  // scontrol reconfigure
  size_t size() const;

 private:
  struct Tables;
  std::unique_ptr<Tables> tables_;
};

}  // namespace muster::os

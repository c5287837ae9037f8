// KnownUsers: what a daemon knows of users and their groups, for its I/O thread, which must never wait for a user database (NSS:
// files, LDAP, sssd). The database is asked on a thread of its own and its answers are kept for a minute. After that it is asked
// anew, and the old answer serves where the new one is late: a directory service that is away locks nobody out who was there.
//
// Lives on the loop's thread. Cost: prepare() and find() are a look-up in a table; a user who is new here costs a turn of the thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "net/loop.h"
#include "net/query_thread.h"
#include "os/users.h"

namespace muster::site {

struct KnownUser {
  os::User user;
  std::vector<uint32_t> groups;          // numbers, the login group first
  std::vector<std::string> group_names;  // those that have one
};
using KnownUserPtr = std::shared_ptr<const KnownUser>;

// By NSS; blocks. Errors: kNotFound, kIo (the database failed, which says nothing about the user).
Result<KnownUser> ask_user_database(Uid uid);

class KnownUsers {
 public:
  struct Figures {
    Duration keep = minutes(1);
    Duration keep_failure = seconds(1);  // an outage, an unknown user: how long nobody else asks
    Duration patience = seconds(10);     // what a caller waits for a first answer
    Duration old_serves = seconds(1);    // what a caller waits where there is an older one
    size_t most = 10'000;                // users; beyond that all are forgotten for whom nobody waits
  };
  using Ask = std::function<Result<KnownUser>(Uid)>;
  explicit KnownUsers(net::Loop& loop, Ask ask = ask_user_database) : KnownUsers(loop, std::move(ask), Figures{}) {}
  KnownUsers(net::Loop& loop, Ask ask, Figures figures);
  ~KnownUsers();

  // Runs `then` once find() has something to say that is not out of date: now, if it has, else from the loop, within `patience`.
  // What is prepared for one user runs in the order in which it was asked for.
  void prepare(Uid uid, std::function<void()> then);
  bool prepared(Uid uid) const;
  // Never asks. Errors: kNotFound, kIo, and kTryAgainLater for a database that has not answered, or was not asked (prepare()).
  Result<KnownUserPtr> find(Uid uid) const;
  // The name, else the number.
  std::string name_of(Uid uid) const;
  void out_of_date();  // all of it: scontrol reconfigure

 private:
  struct Entry {
    KnownUserPtr known;              // the last good answer
    std::unique_ptr<Error> failure;  // of the last time that it was asked
    Duration good_until{};
    bool asked = false;  // on the thread just now
    std::vector<std::function<void()>> waiting;
    std::unique_ptr<net::Loop::Timer> timer;  // when they are told that there is no answer
  };
  void ask(Uid uid, Entry& entry);
  void answered(Uid uid, Result<KnownUser> answer);
  void settle(Entry& entry);
  void late(Uid uid);
  void make_room();

  net::Loop& loop_;
  Ask ask_;
  Figures figures_;
  std::unordered_map<uint32_t, Entry> entries_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // of answers that come later than we go
  net::QueryThread thread_;
};

}  // namespace muster::site

// KnownUsers: what a daemon knows of users and their groups, for its I/O thread, which must never wait for a user database (NSS: files,
// LDAP, sssd). A thread of its own asks the database, and the answers are kept for a minute. After that the database is asked again,
// and the old answer serves while the new one is late: when a directory service is away, no user who was known is locked out.
//
// Lives on the loop's thread. Cost: prepare() and find() are a look-up in a table; a user who is new here costs a switch to the asking
// thread and back.
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

// Asks NSS, and blocks. Errors: kNotFound, kIo (the database failed, which says nothing about the user).
Result<KnownUser> ask_user_database(Uid uid);

class KnownUsers {
 public:
  struct Figures {
    Duration keep = minutes(1);
    Duration keep_failure = seconds(1);  // after an outage or for an unknown user: how long the database is not asked again
    Duration patience = seconds(10);     // what a caller waits for a first answer
    Duration old_serves = seconds(1);    // the same where an older answer exists
    size_t most = 10'000;                // how many users are kept; beyond that all are forgotten, except those somebody waits for
  };
  using Ask = std::function<Result<KnownUser>(Uid)>;
  explicit KnownUsers(net::Loop& loop, Ask ask = ask_user_database) : KnownUsers(loop, std::move(ask), Figures{}) {}
  KnownUsers(net::Loop& loop, Ask ask, Figures figures);
  ~KnownUsers();

  // Runs `then` once find() has an answer that is not out of date: now, if it has one, else from the loop, within `patience`. Calls for
  // one user run in the order in which they were made.
  void prepare(Uid uid, std::function<void()> then);
  bool prepared(Uid uid) const;
  // Never asks the database. Errors: kNotFound, kIo, and kTryAgainLater if the database has not answered, or was not asked (prepare()).
  Result<KnownUserPtr> find(Uid uid) const;
  // The user's name, else the number.
  std::string name_of(Uid uid) const;
  void out_of_date();  // all of it: scontrol reconfigure

 private:
  struct Entry {
    KnownUserPtr known;              // the last good answer
    std::unique_ptr<Error> failure;  // of the last question
    Duration good_until{};
    bool asked = false;  // the thread is asking just now
    std::vector<std::function<void()>> waiting;
    std::unique_ptr<net::Loop::Timer> timer;  // when it fires, the waiting ones are told that there is no answer
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
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for answers that come after this object is destroyed
  net::QueryThread thread_;
};

}  // namespace muster::site

// LocalUsers: who the users of jobs are on this host. The user database (NSS: files, LDAP, sssd) is asked on a thread of its own, and its
// answer is waited for a second: a directory service that hangs fails a launch, but not the node. Answers are kept for ten minutes, and one
// that is kept costs no change of threads.
#pragma once

#include <functional>
#include <memory>

#include "net/bounded_calls.h"
#include "os/users.h"

namespace muster::slurmd {

class LocalUsers {
 public:
  // Asks for all that a launch of this user and group will ask for. Blocks. Error: the database failed, which says nothing about the user.
  using Ask = std::function<Result<>(os::UserDirectory&, Uid, Gid)>;
  static Result<> ask_database(os::UserDirectory& directory, Uid uid, Gid gid);
  explicit LocalUsers(Duration patience = seconds(1), Ask ask = ask_database) : ask_(std::move(ask)), calls_({.patience = patience}) {}

  // The directory, once it has all of that. Cost: two lookups where it has; else two changes of threads and what the database takes.
  // Errors: kConfig: the database fails, or is late.
  Result<os::UserDirectory*> with(Uid uid, Gid gid);
  void clear() { directory_->clear(); }

 private:
  const std::shared_ptr<os::UserDirectory> directory_ = std::make_shared<os::UserDirectory>();  // a late answer still finds it
  const Ask ask_;
  net::BoundedCalls calls_;
};

}  // namespace muster::slurmd

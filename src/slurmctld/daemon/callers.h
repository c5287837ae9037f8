// Callers: who asks, from where, and what the controller finds out about a job that is asked for. All of it is the word of the connection,
// of the kernel and of this host's user database; nothing is taken from the message. Lives on the I/O thread, which does not wait for the
// user database: whoever asks about a user calls prepare() first (site/known_users.h).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/cluster.h"
#include "net/channel.h"
#include "site/known_users.h"
#include "slurmctld/core/decide.h"

namespace muster::slurmctld {

class Callers {
 public:
  using TakeSettings = std::function<std::shared_ptr<const Settings>()>;
  // `ask`: the user database; it may block, and has a thread of its own.
  Callers(net::Loop& loop, TakeSettings settings, site::KnownUsers::Ask ask)
      : Callers(std::move(settings), std::make_unique<site::KnownUsers>(loop, std::move(ask))) {}
  Callers(TakeSettings settings, std::unique_ptr<site::KnownUsers> users);

  // Runs `then` once what is asked below about this user can be answered: now, or within seconds from the loop.
  void prepare(Uid uid, std::function<void()> then) { users_->prepare(uid, std::move(then)); }
  bool prepared(Uid uid) const { return users_->prepared(uid); }
  void users_changed() { users_->out_of_date(); }

  // Whether more than a uid has to be known about a caller: groups of partitions, labels, rights that accounting gives.
  bool names_needed(const Caller& who) const;
  // Adds these to a caller who is prepared. A user whom the database does not know is in no group and has no rights but an owner's; so has
  // every user while the database does not answer, but where groups or labels are needed that is kTryAgainLater.
  Result<> name(Caller& who) const;
  // The caller on a connection of its own, with the host and the session that the command runs in.
  Caller of(const net::Peer& peer, const Cluster& cluster) const;
  std::string address_of(const net::Peer& peer) const;                   // by which other hosts reach the host that it is on
  Subject subject(const net::Peer& peer) const;                          // who it is, for peers.def
  std::string user_name(Uid uid) const { return users_->name_of(uid); }  // a prepared one's; else the number
  std::vector<std::string> groups_of(Uid uid) const;                     // names, the login group first; of a prepared one

  // Adds to what is asked for all that the controller knows of it, once its user is prepared. kUserIdMissing for a user whom the caller may
  // not act for, kGroupIdMissing for a group that the user is not in. `who` gets the groups of the user that the job will belong to.
  Result<JobRequest> complete(AskedRequest asked, JobKind kind, Caller& who) const;

 private:
  Result<> check_group(const site::KnownUser& known, Gid gid, const Caller& who) const;

  TakeSettings settings_;
  std::unique_ptr<site::KnownUsers> users_;
  std::string host_;  // this one, without its domain
};

}  // namespace muster::slurmctld

#include "site/known_users.h"

#include <utility>

namespace muster::site {

Result<KnownUser> ask_user_database(Uid uid) {
  KnownUser known;
  MUSTER_TRY(user, os::find_user(uid));
  MUSTER_TRY(groups, os::group_list(user.name, user.gid));
  for (uint32_t gid : groups)
    if (auto group = os::find_group(Gid{gid})) known.group_names.push_back(std::move(group->name));
  known.user = std::move(user);
  known.groups = std::move(groups);
  return known;
}

KnownUsers::KnownUsers(net::Loop& loop, Ask ask, Figures figures) : loop_(loop), ask_(std::move(ask)), figures_(figures) {}

KnownUsers::~KnownUsers() { *alive_ = false; }

bool KnownUsers::prepared(Uid uid) const {
  const auto at = entries_.find(uid.value);
  return at != entries_.end() && at->second.waiting.empty() && at->second.good_until > net::Loop::monotonic();
}

void KnownUsers::prepare(Uid uid, std::function<void()> then) {
  if (prepared(uid)) return then();
  make_room();
  Entry& entry = entries_[uid.value];
  entry.waiting.push_back(std::move(then));
  if (!entry.asked) ask(uid, entry);
  if (!entry.timer) entry.timer = loop_.after(entry.known ? figures_.old_serves : figures_.patience, [this, uid] { late(uid); });
}

void KnownUsers::ask(Uid uid, Entry& entry) {
  entry.asked = true;
  thread_.post([this, alive = alive_, poster = loop_.poster(), question = ask_, uid] {
    auto answer = std::make_shared<Result<KnownUser>>(question(uid));
    poster([this, alive, uid, answer] {
      if (*alive) answered(uid, std::move(*answer));
    });
  });
}

void KnownUsers::answered(Uid uid, Result<KnownUser> answer) {
  const auto at = entries_.find(uid.value);
  if (at == entries_.end()) return;
  Entry& entry = at->second;
  entry.asked = false;
  entry.failure.reset();
  entry.good_until = net::Loop::monotonic() + (answer ? figures_.keep : figures_.keep_failure);
  if (answer) {
    entry.known = std::make_shared<const KnownUser>(std::move(*answer));
  } else {
    if (answer.error().code == Errc::kNotFound) entry.known.reset();  // the database answered; an outage would say nothing
    entry.failure = std::make_unique<Error>(answer.error());
  }
  settle(entry);
}

// The thread keeps the question. For a while callers get at once what there is.
void KnownUsers::late(Uid uid) {
  Entry& entry = entries_[uid.value];
  entry.good_until = net::Loop::monotonic() + (entry.known ? figures_.patience : figures_.keep_failure);
  settle(entry);
}

void KnownUsers::settle(Entry& entry) {
  entry.timer.reset();
  const auto waiting = std::exchange(entry.waiting, {});
  for (const auto& then : waiting) then();
}

Result<KnownUserPtr> KnownUsers::find(Uid uid) const {
  const auto at = entries_.find(uid.value);
  if (at != entries_.end() && at->second.known) return at->second.known;
  if (at != entries_.end() && at->second.failure) return std::unexpected(*at->second.failure);
  return fail(Errc::kTryAgainLater, {}, "the user database of this host has not said who uid " + std::to_string(uid.value) + " is");
}

std::string KnownUsers::name_of(Uid uid) const {
  const auto known = find(uid);
  return known ? (*known)->user.name : std::to_string(uid.value);
}

void KnownUsers::out_of_date() {
  for (auto& [uid, entry] : entries_) entry.good_until = {};
}

// Rare, and cheaper than keeping an order with every hit.
void KnownUsers::make_room() {
  if (entries_.size() < figures_.most) return;
  std::erase_if(entries_, [](const auto& e) { return e.second.waiting.empty() && !e.second.asked; });
}

}  // namespace muster::site

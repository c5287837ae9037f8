#include "slurmctld/daemon/callers.h"

#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "slurmctld/core/on_behalf.h"
#include "slurmctld/core/records.h"
#include "slurmctld/daemon/peer_host.h"

namespace muster::slurmctld {
namespace {

using Plugin = config::McsRules::Plugin;

std::string own_host() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  const std::string host = name;
  return host.substr(0, host.find('.'));
}

bool is_loopback(const std::string& host) { return host.starts_with("127.") || host == "::1"; }

// By which other hosts reach this one: what its SlurmctldHost line says.
std::string own_address(const config::Config& config, const std::string& own) {
  if (!config.slurmctld_addr.empty()) return config.slurmctld_addr;
  const auto line = std::ranges::find_if(config.slurmctld_hosts, [&](const config::ControllerHost& h) { return iequals(h.name, own); });
  if (line != config.slurmctld_hosts.end()) return line->address;
  return config.slurmctld_hosts.empty() ? own : config.slurmctld_hosts.front().address;
}

// The node at an address, else the address.
std::string host_at(const std::string& address, const std::string& own, const Cluster& cluster) {
  const std::string host = host_of_peer(address);
  if (is_loopback(host)) return own;
  std::string found = host;
  cluster.nodes.for_each([&](uint32_t, const Node& n) {
    const bool it = n.spec->address == host;
    if (it) found = n.spec->name;
    return !it;
  });
  return found;
}

bool hides_reservations(const config::Config& c) { return std::ranges::find(c.private_data, "reservations") != c.private_data.end(); }

bool groups_needed(const config::Config& c) {
  return c.mcs.plugin == Plugin::kGroup || std::ranges::any_of(c.partitions, [](const auto& p) { return !p.spec.allow_groups.empty(); });
}

// The user database fails or is late: whoever asks may ask again, and nothing is concluded from it.
std::unexpected<Error> no_answer(const Error& e) { return fail(Errc::kTryAgainLater, {}, std::string(e.message())); }

}  // namespace

Callers::Callers(TakeSettings settings, std::unique_ptr<site::KnownUsers> users)
    : settings_(std::move(settings)), users_(std::move(users)), host_(own_host()) {}

bool Callers::names_needed(const Caller& who) const {
  const config::Config& c = settings_()->config();
  return c.mcs.plugin == Plugin::kUser || hides_reservations(c) || groups_needed(c) ||
         (keeps_records(c) && !served_unnamed(*settings_(), who));
}

Result<> Callers::name(Caller& who) const {
  const config::Config& c = settings_()->config();
  const bool by_name = c.mcs.plugin == Plugin::kUser || hides_reservations(c), by_group = groups_needed(c);
  const auto known = users_->find(who.uid);
  if (!known)
    return known.error().code == Errc::kNotFound || served_unnamed(*settings_(), who) || !(by_name || by_group) ? Result<>()
                                                                                                                : no_answer(known.error());
  if (by_name || keeps_records(c)) who.name = (*known)->user.name;
  if (by_group) who.groups = (*known)->group_names;
  return {};
}

std::string Callers::address_of(const net::Peer& peer) const {
  if (peer.trust != net::Trust::kLocalUser)
    if (const std::string from = host_of_peer(peer.address); !is_loopback(from)) return from;
  return own_address(settings_()->config(), host_);
}

Caller Callers::of(const net::Peer& peer, const Cluster& cluster) const {
  Caller who;
  who.uid = peer.user(settings_()->slurm_user);
  who.gid = peer.gid;
  who.address = address_of(peer);
  if (peer.trust != net::Trust::kLocalUser) {
    who.host = host_at(peer.address, host_, cluster);
    return who;
  }
  who.host = host_;
  const pid_t session = peer.pid > 0 ? ::getsid(peer.pid) : -1;
  if (session > 0) who.session = static_cast<uint32_t>(session);
  return who;
}

Subject Callers::subject(const net::Peer& peer) const {
  const Subject who = peer.subject(settings_()->slurm_user);
  // Where slurmctld runs as an ordinary user (muster up), so do its daemons.
  return who.kind == SubjectKind::kUser && peer.uid.value == ::geteuid() ? Subject{SubjectKind::kAdministrator, {}} : who;
}

std::vector<std::string> Callers::groups_of(Uid uid) const {
  auto known = users_->find(uid);
  return known ? (*known)->group_names : std::vector<std::string>{};
}

Result<> Callers::check_group(const site::KnownUser& known, Gid gid, const Caller& who) const {
  const os::User& user = known.user;
  if (gid == user.gid || may_use_any_group(*settings_(), who)) return {};
  // The group that the caller's process has, by the word of the kernel, of munge or of a host with the cluster key. A host with a certificate may
  // write any.
  if (who.through.kind == SubjectKind::kUser && who.uid == user.uid && gid == who.gid) return {};
  if (std::ranges::find(known.groups, gid.value) != known.groups.end()) return {};
  return fail(Errc::kGroupIdMissing, {}, "--gid: user " + user.name + " is not in group " + std::to_string(gid.value));
}

Result<JobRequest> Callers::complete(AskedRequest asked, JobKind kind, Caller& who) const {
  MUSTER_TRY_VOID(may_submit_for(*settings_(), who, asked.uid));
  auto known = users_->find(asked.uid);
  if (!known && known.error().code != Errc::kNotFound) return no_answer(known.error());
  if (!known)
    return fail(Errc::kUserIdMissing, {}, "the controller's host knows no user with the number " + std::to_string(asked.uid.value));
  MUSTER_TRY_VOID(check_group(**known, asked.gid, who));
  // With mcs/group a label is one of the groups of the user that the job will belong to.
  if (asked.uid != who.uid && settings_()->config().mcs.plugin == Plugin::kGroup) who.groups = groups_of(asked.uid);
  JobRequest r = job_request(std::move(asked));
  r.user_name = (*known)->user.name;
  r.kind = kind;
  r.alloc_node = who.host;
  r.alloc_sid = who.session;
  return r;
}

}  // namespace muster::slurmctld

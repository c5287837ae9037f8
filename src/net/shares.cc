#include "net/shares.h"

#include <sys/resource.h>

#include <algorithm>

namespace muster::net {
namespace {

constexpr size_t kResumedInTurn = 64;  // connections of one user that try again in one turn

}  // namespace

ShareFigures ShareFigures::fit(size_t descriptors) {
  ShareFigures f;
  f.descriptors = descriptors;
  f.connections = std::min(f.connections, std::max<size_t>(descriptors / 4, 16));
  f.host_connections = std::max<size_t>(descriptors / 64, f.host_connections);
  return f;
}

ShareFigures ShareFigures::of_this_process() {
  rlimit r{};
  if (getrlimit(RLIMIT_NOFILE, &r) != 0) return fit(1024);
  return fit(r.rlim_cur == RLIM_INFINITY ? size_t{1} << 20 : static_cast<size_t>(r.rlim_cur));
}

std::shared_ptr<Shares> Shares::make(Loop& loop, std::vector<uint32_t> reserve, ShareFigures figures) {
  return std::shared_ptr<Shares>(new Shares(loop, std::move(reserve), figures));
}

Shares::Shares(Loop& loop, std::vector<uint32_t> reserve, ShareFigures figures)
    : loop_(loop), reserve_(std::move(reserve)), figures_(figures), pace_(figures.told_again) {}

bool Shares::is_reserve(const Peer& peer) const {
  if (peer.trust == Trust::kCertificate) return false;
  return peer.trust == Trust::kClusterKey || std::ranges::find(reserve_, peer.uid.value) != reserve_.end();
}

std::shared_ptr<Shares::Account> Shares::account(std::string who, bool host) {
  auto& a = accounts_[who];
  if (!a) {
    a = std::make_shared<Account>();
    a->who = std::move(who);
    a->host = host;
  }
  return a;
}

std::shared_ptr<Shares::Account> Shares::account(const Peer& peer) {
  return peer.trust == Trust::kCertificate ? account(peer.certified.text(), true) : account(name_of(peer.uid), false);
}

void Shares::forget_if_empty(const Account& a) {
  if (a.connections || a.passed_on) return;
  const std::string who = a.who;
  waiting_.erase(who);
  accounts_.erase(who);
}

size_t Shares::connections_of(Uid uid) const {
  auto at = accounts_.find(name_of(uid));
  return at == accounts_.end() ? 0 : at->second->connections;
}

size_t Shares::bytes_of(Uid uid) const {
  auto at = accounts_.find(name_of(uid));
  return at == accounts_.end() ? 0 : at->second->bytes;
}

Error Shares::refused(const std::string& who, const std::string& what) {
  if (on_refused)
    if (auto untold = pace_.tell(who, Loop::monotonic())) on_refused(who + " is turned away: " + what + Pace::more(*untold));
  return Error(Errc::kTryAgainLater, "The daemon turned this connection away: " + what, "end some of your commands, or try again later");
}

Result<std::unique_ptr<Share>> Shares::open(const Peer& peer) {
  std::shared_ptr<Account> owner;
  if (!is_reserve(peer)) owner = account(peer);
  if (owner && !owner->host && owner->connections + 2 > figures_.connections - connections_) {
    Error e = refused(owner->who, std::to_string(owner->connections) + " connections of this user are open, and " +
                                      std::to_string(figures_.connections - connections_) + " are left for all others");
    forget_if_empty(*owner);
    return std::unexpected(std::move(e));
  }
  if (owner && owner->host && owner->connections >= figures_.host_connections)
    return std::unexpected(refused(owner->who, std::to_string(owner->connections) + " connections of this host are open"));
  if (all_ + 1 > figures_.descriptors - figures_.kept_back()) {
    Error e =
        refused(owner ? owner->who : name_of(peer.uid),
                std::to_string(all_) + " connections are open, and the limit on open files is " + std::to_string(figures_.descriptors));
    if (owner) forget_if_empty(*owner);
    return std::unexpected(std::move(e));
  }
  ++all_;
  if (owner) {
    ++owner->connections;
    if (!owner->host) ++connections_;
  }
  return std::unique_ptr<Share>(new Share(shared_from_this(), std::move(owner)));
}

Result<std::shared_ptr<void>> Shares::pass_on(Uid uid, size_t bytes) {
  if (std::ranges::find(reserve_, uid.value) != reserve_.end()) return std::shared_ptr<void>();
  return pass_on(account(name_of(uid), false), bytes);
}

Result<std::shared_ptr<void>> Shares::pass_on(const Subject& host, size_t bytes) { return pass_on(account(host.text(), true), bytes); }

Result<std::shared_ptr<void>> Shares::pass_on(const std::shared_ptr<Account>& payer, size_t bytes) {
  const size_t times = payer->times();
  if (payer->passed_on >= times * figures_.parked || payer->passed_on_bytes + bytes > times * figures_.parked_bytes) {
    Error e = refused(payer->who, std::to_string(payer->passed_on) + " requests of this " +
                                      (payer->host ? "host" : "user, passed on by nodes,") + " are not answered yet");
    forget_if_empty(*payer);
    return std::unexpected(std::move(e));
  }
  ++payer->passed_on;
  payer->passed_on_bytes += bytes;
  // Requests end on any thread, but the counts belong to this loop.
  return std::shared_ptr<void>(nullptr, [post = loop_.poster(), weak = weak_from_this(), payer, bytes](void*) {
    post([weak, payer, bytes] {
      --payer->passed_on;
      payer->passed_on_bytes -= bytes;
      if (auto shares = weak.lock()) shares->forget_if_empty(*payer);
    });
  });
}

// ---- turns
void Shares::begin_turn() {
  if (std::exchange(turn_ends_, true)) return;
  loop_.defer([weak = weak_from_this()] {
    auto self = weak.lock();
    if (!self) return;
    self->turn_ends_ = false;
    ++self->turn_;
  });
}

bool Shares::turn_is_over(Account& a) {
  if (a.turn != turn_) {
    a.turn = turn_;
    a.turn_frames = a.turn_bytes = 0;
  }
  return a.turn_frames >= figures_.frames_in_turn || a.turn_bytes >= figures_.bytes_in_turn;
}

bool Shares::is_busy(Account& a, size_t bytes) {
  const size_t times = a.times();
  if (a.busy == 0 || (a.busy < times * figures_.busy && a.busy_bytes + bytes <= times * figures_.busy_bytes)) return false;
  const Duration now = Loop::monotonic();
  if (now - a.rotated < figures_.parked_after) return true;
  a.rotated = now;
  a.parked += std::exchange(a.busy, 0);
  a.parked_bytes += std::exchange(a.busy_bytes, 0);
  return false;
}

void Shares::resume_soon(Duration in) {
  const Duration at = Loop::monotonic() + in;
  if (timer_at_ <= at) return;
  timer_at_ = at;
  timer_ = loop_.after(in, [weak = weak_from_this()] {
    if (auto self = weak.lock()) self->resume();
  });
}

void Shares::resume() {
  timer_at_ = Duration::max();
  bool for_a_turn = false;
  for (const std::string& who : std::vector<std::string>(waiting_.begin(), waiting_.end())) {
    auto at = accounts_.find(who);
    if (at == accounts_.end()) continue;
    std::shared_ptr<Account> a = at->second;
    for (size_t i = 0; i < kResumedInTurn && !a->waiting.empty() && !turn_is_over(*a) && !is_busy(*a, 0); ++i) {
      auto f = std::move(a->waiting.front());
      a->waiting.pop_front();
      f();
    }
    if (a->waiting.empty()) waiting_.erase(who);
    else for_a_turn = for_a_turn || !is_busy(*a, 0);
  }
  if (!waiting_.empty()) resume_soon(for_a_turn ? Duration{} : milliseconds(50));
}

// ---- a connection's part
Share::~Share() {
  --shares_->all_;
  if (!account_) return;
  hold(0);
  while (unanswered_ > 0) answered();
  --account_->connections;
  if (!account_->host) --shares_->connections_;
  shares_->forget_if_empty(*account_);
}

void Share::count_apart() {
  if (!of_host() || account_->apart) return;
  const size_t held = held_;
  hold(0);
  while (unanswered_ > 0) answered();
  --account_->connections;
  std::shared_ptr<Shares::Account> apart = shares_->account(account_->who + ", registered", true);
  if (account_->connections == 0 && !account_->waiting.empty()) {
    std::ranges::move(account_->waiting, std::back_inserter(apart->waiting));
    shares_->waiting_.insert(apart->who);
  }
  shares_->forget_if_empty(*account_);
  account_ = std::move(apart);
  account_->apart = true;
  ++account_->connections;
  hold(held);
}

bool Share::hold(size_t bytes) {
  if (!account_) return true;
  const size_t more = bytes > held_ ? bytes - held_ : 0;
  if (account_->host) {
    const ShareFigures& figures = shares_->figures_;
    const bool own = bytes <= figures.host_bytes_each && account_->connections <= ShareFigures::kFewOfHost;
    if (more && !own && account_->bytes + more > figures.host_bytes) return false;
    account_->bytes += bytes - held_;
    held_ = bytes;
    return true;
  }
  if (more) {
    const size_t left = shares_->figures_.bytes - std::min(shares_->figures_.bytes, shares_->bytes_);
    if (account_->bytes + 2 * more > left) return false;
  }
  account_->bytes += bytes - held_;
  shares_->bytes_ += bytes - held_;
  held_ = bytes;
  return true;
}

Share::Verdict Share::take(size_t bytes) {
  if (!account_) return Verdict::kTake;
  Shares::Account& account = *account_;
  if (shares_->turn_is_over(account) || shares_->is_busy(account, bytes)) return Verdict::kWait;
  const ShareFigures& figures = shares_->figures_;
  const size_t times = (account.host ? 2 : 1) * account.times();  // a half for what it passes on, which pass_on() bounds
  shares_->begin_turn();
  ++account.turn_frames;
  account.turn_bytes += bytes;
  if (account.parked + account.busy >= times * figures.parked ||
      (account.parked_bytes > 0 && account.parked_bytes + account.busy_bytes + bytes > times * figures.parked_bytes))
    return Verdict::kRefuse;
  if (account.busy == 0) account.rotated = Loop::monotonic();
  ++account.busy;
  account.busy_bytes += bytes;
  ++unanswered_;
  return Verdict::kTake;
}

// Which request was answered is not known: most likely a late one, and each stands for the same part of the bytes.
void Share::answered() {
  if (!account_ || unanswered_ == 0) return;
  --unanswered_;
  Shares::Account& a = *account_;
  if (a.busy > 0) {
    a.busy_bytes -= a.busy_bytes / a.busy;
    --a.busy;
  } else if (a.parked > 0) {
    a.parked_bytes -= a.parked_bytes / a.parked;
    --a.parked;
  }
  if (!a.waiting.empty() && a.busy <= a.times() * shares_->figures_.busy / 2) shares_->resume_soon({});
}

bool Share::must_wait() { return account_ && (shares_->turn_is_over(*account_) || shares_->is_busy(*account_, 0)); }

void Share::wait(std::function<void()> f) {
  account_->waiting.push_back(std::move(f));
  shares_->waiting_.insert(account_->who);
  shares_->resume_soon(shares_->is_busy(*account_, 0) ? milliseconds(50) : Duration{});
}

Error Share::too_many_requests() const {
  return shares_->refused(account_->who, std::to_string(account_->parked + account_->busy) + " requests of this " +
                                             (account_->host ? "host" : "user") + " are not answered yet");
}

Error Share::too_many_bytes() const {
  return shares_->refused(account_->who, "frames that are not whole and answers that are not taken hold " +
                                             std::to_string(account_->bytes >> 20) + " MiB for this " + (account_->host ? "host" : "user") +
                                             ", and that is its share");
}

}  // namespace muster::net

// Shares: how much of a daemon one user may hold, over all of its listeners together. It counts for each user (the uid that the kernel or
// munge vouches for) connections, bytes in memory, and requests on their way, and answers: yes, wait, or refused by this bound.
//
// The rule for connections and bytes: one user may hold as much as is left for all others. So one user alone gets half of what there is,
// two get a third each, and the next one finds room; no fixed number has to be set that is too small on a quiet day.
// Requests go by turns of users, not of connections: in one turn of the loop a bounded number of a user's frames are handled, and a
// bounded number may be on their way unanswered; the others wait in the user's sockets.
//
// A host that is known by a certificate of its own is counted by its name: its requests and bytes as a user's, with bounds for a host that
// asks for many users (kHostTimes, host_bytes), and its connections, which take nothing from users (host_connections). The connection on
// which it has registered is counted apart from the others (count_apart), which may be another's who has copied the certificate. What it passes
// on for users takes at most half of the requests that it may have on their way (pass_on): for its own there is always room.
//
// Not counted: the reserve (root, SlurmUser, the daemon's own user) and peers that proved the cluster key (nodes). They are bounded by
// the descriptors of the process alone, of which users never get the greater part, and some stay for files and programs.
//
// Lives on the loop's thread. Cost: a handful of additions a frame; nothing for peers that are not counted.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "net/channel.h"
#include "net/pace.h"

namespace muster::net {

// Every figure of the bounds, with its reason.
struct ShareFigures {
  size_t descriptors = 1u << 16;    // of the process; fit() makes the rest fit them
  size_t connections = 16384;       // of all users: an idle one costs 2 KiB here and as much in the kernel
  size_t bytes = size_t{64} << 20;  // of all users: frames not yet whole, answers not yet taken
  size_t frames_in_turn = 512;      // of one user: 5 ms of this thread at most
  size_t bytes_in_turn = size_t{4} << 20;
  size_t busy = 2048;                   // of one user: requests on their way; the core does that many in 20 ms
  size_t busy_bytes = size_t{4} << 20;  // of their frames; decoded lists take at most 24 times as much. A single request may be larger
  size_t parked = 4096;                 // of one user: unanswered for long (sbatch --wait, salloc in the queue)
  size_t parked_bytes = size_t{16} << 20;
  size_t host_bytes = size_t{64} << 20;  // of one host with a certificate: frames not yet whole, answers not yet taken
  // Each of its connections has these whatever the others hold, so that a registration fits, as long as there are few of them.
  size_t host_bytes_each = size_t{4} << 20;
  static constexpr size_t kFewOfHost = 16;
  static constexpr size_t kHostTimes = 4;  // such a host may have as often a user's busy and parked requests: it speaks for several
  size_t host_connections = 64;            // of one host with a certificate: a slurmd's steps and their streams; slurmctld lets in fewer
  Duration parked_after = seconds(1);
  Duration told_again = minutes(1);  // one line of the log per user in this time
  // Of the process's descriptors users get a quarter, peers that have not proved who they are an eighth, and a sixteenth
  // (at least 64, but never more than half) stays for files and programs. What is left is for nodes and administrators.
  static ShareFigures fit(size_t descriptors);
  static ShareFigures of_this_process();
  size_t unproved() const { return std::min<size_t>(16384, std::max<size_t>(descriptors / 8, 16)); }
  size_t kept_back() const { return std::min(descriptors / 2, std::max<size_t>(descriptors / 16, 64)); }
};

class Share;

class Shares : public std::enable_shared_from_this<Shares> {
 public:
  // The reserve: these uids are not counted.
  static std::shared_ptr<Shares> make(Loop& loop, std::vector<uint32_t> reserve, ShareFigures figures = ShareFigures::of_this_process());

  // Takes a place for a connection of `peer`, given back when the handle goes. kTryAgainLater, with the bound in the hint.
  Result<std::unique_ptr<Share>> open(const Peer& peer);
  // Takes a place for one request that another peer passes on for this user, given back with the last copy.
  Result<std::shared_ptr<void>> pass_on(Uid uid, size_t bytes);
  // The same, but the host with a certificate that passes it on is charged: nothing says that the user whom it names has asked.
  Result<std::shared_ptr<void>> pass_on(const Subject& host, size_t bytes);
  bool is_reserve(const Peer& peer) const;
  const ShareFigures& figures() const { return figures_; }
  size_t connections_of(Uid uid) const;
  size_t bytes_of(Uid uid) const;

  size_t unproved = 0;  // connections over TCP that have not proved who they are; the listeners count them

  // For the log: what was refused, and how often since it was last told; at most once per user in `told_again`.
  std::function<void(const std::string& text)> on_refused;

 private:
  friend class Share;
  struct Account {
    std::string who;                                                      // "uid 1000", "node:n1"
    bool host = false;                                                    // with a certificate
    bool apart = false;                                                   // of its registered connection
    size_t times() const { return host ? ShareFigures::kHostTimes : 1; }  // as often a user's requests
    size_t connections = 0, bytes = 0;
    size_t busy = 0, busy_bytes = 0, parked = 0, parked_bytes = 0;
    size_t passed_on = 0, passed_on_bytes = 0;
    Duration rotated{};  // when the busy requests were last moved to the parked ones
    uint64_t turn = 0;
    size_t turn_frames = 0, turn_bytes = 0;
    std::deque<std::function<void()>> waiting;
  };
  Shares(Loop& loop, std::vector<uint32_t> reserve, ShareFigures figures);
  static std::string name_of(Uid uid) { return "uid " + std::to_string(uid.value); }
  std::shared_ptr<Account> account(std::string who, bool host);
  std::shared_ptr<Account> account(const Peer& peer);
  Result<std::shared_ptr<void>> pass_on(const std::shared_ptr<Account>& payer, size_t bytes);
  void forget_if_empty(const Account& a);
  bool turn_is_over(Account& a);
  bool is_busy(Account& a, size_t bytes);
  void begin_turn();
  void resume_soon(Duration in);
  void resume();
  Error refused(const std::string& who, const std::string& what);

  Loop& loop_;
  std::vector<uint32_t> reserve_;
  ShareFigures figures_;
  std::unordered_map<std::string, std::shared_ptr<Account>> accounts_;
  std::set<std::string> waiting_;       // accounts with connections that wait
  size_t all_ = 0;                      // connections, counted users and others
  size_t connections_ = 0, bytes_ = 0;  // of users
  uint64_t turn_ = 1;
  bool turn_ends_ = false;
  std::unique_ptr<Loop::Timer> timer_;
  Duration timer_at_ = Duration::max();
  Pace pace_;
};

// One connection's part of its user's share. For a peer that is not counted, only its descriptor counts.
class Share {
 public:
  ~Share();
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;
  bool counted() const { return account_ != nullptr; }
  bool of_host() const { return account_ && account_->host; }
  // Of a host: counts this connection with those of the host that are counted apart, and no longer with the others.
  void count_apart();

  // Sets how many bytes this connection keeps in memory. False: more than its user's share allows; the number stays as before.
  bool hold(size_t bytes);
  enum class Verdict : uint8_t { kTake, kWait, kRefuse };
  // Whether a request of so many bytes may be handled now; kTake counts it until answered() is called.
  Verdict take(size_t bytes);
  void answered();
  // Whether reading more is useless now.
  bool must_wait();
  // Calls `f` once when it is this user's turn again.
  void wait(std::function<void()> f);
  Error too_many_requests() const;
  Error too_many_bytes() const;

 private:
  friend class Shares;
  Share(std::shared_ptr<Shares> shares, std::shared_ptr<Shares::Account> account)
      : shares_(std::move(shares)), account_(std::move(account)) {}
  std::shared_ptr<Shares> shares_;
  std::shared_ptr<Shares::Account> account_;
  size_t held_ = 0, unanswered_ = 0;
};

}  // namespace muster::net

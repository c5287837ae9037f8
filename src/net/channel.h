// Channel: one authenticated, framed, multiplexed connection. Requests and answers carry an id; either side may ask.
//
// Frames: net/frame.h. A malformed frame closes the connection (kFrameMalformed).
// Identity of the peer (Peer) is established before the first frame is delivered:
//
//   local socket   SO_PEERCRED. A command talks to the agent socket of slurmctld, slurmd or sackd on its host.
//   TLS 1.3 PSK    between daemons (and root's commands that may read the cluster key): external PSK derived from the key file; a peer
//                  that completes the handshake is trusted to speak for others (relay of agent requests).
//   TLS 1.3 with certificates   a host that joined with a token, and nodes among each other: Peer::certified says as what (docs/adr/0019).
//   munge          credentials over plain TCP, with AuthType=auth/munge (net/munge.h says what that protects).
//
// Bounds: at most kMaxPending unanswered requests each way and kMaxQueued bytes to write per connection; beyond that requests are
// refused with an error and a slow reader's connection is closed, so one peer cannot take the daemon's memory. Reading from an accepted
// user's connection pauses while its answers pile up. A frame that does not end in time, or a long queue of which nothing leaves
// (Limits), closes the connection. net/shares.h bounds what a user may hold over all connections; a user's idle connection ends
// (Limits::idle).
// A peer that is turned away gets an error frame with id 0. kTryAgainLater means that nothing sent on this connection and still
// unanswered was taken, so it may be sent again on another one. kReceiveFailed means that something was taken and its answer is lost: a
// daemon says so while it has a request, and Channel and Client turn kTryAgainLater into it once a part of the answer has come.
//
// Rules: everything runs on the loop's thread. No callback is called from inside a method of Channel, so a caller never meets its own
// callback half way. The connection lasts while somebody holds the ChannelPtr: dropping the last one closes it. Cost: a frame is one
// copy of its payload in and, up to 8 KiB, one out; frames queued in one turn leave in one write.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "model/subject.h"
#include "net/frame.h"
#include "net/loop.h"
#include "net/unique_fd.h"

namespace muster::net {

inline constexpr uint32_t kMaxPending = 65536;
inline constexpr size_t kMaxQueued = 256u << 20;
inline constexpr size_t kHighMark = 8u << 20;   // above: producers should wait for when_writable
inline constexpr size_t kLowMark = 256u << 10;  // when_writable calls back below this
inline constexpr Duration kNoTimeout = Duration::max();

class BoundedCalls;
class Shares;
struct Identity;

// How long a peer may take for each step. The defaults are meant for use; tests shorten them.
struct Limits {
  Duration handshake = seconds(5);  // to prove its identity
  Duration frame = seconds(60);     // from the first to the last byte of a frame
  Duration stall = seconds(60);     // more than kHighMark queued and nothing taken
  // Ends a user's connection on which nothing was asked and nothing is on its way. Longer than a person thinks; commands connect anew.
  // Does not end one that gets notices.
  Duration idle = minutes(10);
  Duration told_again = minutes(1);  // how often on_refused tells of one host and reason
  size_t unauthenticated = 0;        // per listener at a time, 0: as many as ShareFigures say; see listen_tcp.cc
  bool owner_only = false;           // listen_unix by path: nobody but the daemon's user (and root) may connect
  // How many bytes a user's request with this message number may have; none: kMaxPayload. A larger one is refused at its header.
  std::function<size_t(uint16_t message)> largest;
  std::shared_ptr<Shares> shares;  // of all listeners of a daemon; none: the listener's own, with root and its user as the reserve
};

enum class Trust : uint8_t { kLocalUser, kMungeUser, kClusterKey, kCertificate, kToken };

struct Peer {
  Trust trust = Trust::kLocalUser;
  Uid uid{0xffffffffu};
  Gid gid{0xffffffffu};
  int32_t pid = 0;
  std::string address;   // "unix", "127.0.0.1:41234"
  Subject certified;     // what the certificate says (kCertificate), or the token's name (kToken)
  Time expires{};        // of the certificate (kCertificate); a renewal does not change it
  bool has_key = false;  // the certificate says that its host has the cluster key, too (kCertificate)
  // As whom requests count. The holder of the cluster key is root or SlurmUser, since they alone may read it; a certificate and a token are
  // no user at all.
  Uid user(Uid slurm_user) const {
    if (trust == Trust::kClusterKey) return slurm_user;
    return trust == Trust::kCertificate || trust == Trust::kToken ? Uid{0xffffffffu} : uid;
  }
  // Who this is. What each kind may is for the table of the daemon that is asked (slurmctld/core/peers.def, slurmd/core/peers.def).
  Subject subject(Uid slurm_user) const {
    switch (trust) {
      case Trust::kClusterKey: return {SubjectKind::kClusterKey, {}};
      case Trust::kCertificate:
      case Trust::kToken: return certified;
      default: return {uid.value == 0 || uid == slurm_user ? SubjectKind::kAdministrator : SubjectKind::kUser, {}};
    }
  }
  // Whether this may be slurmctld, for one who called it: it has the cluster key or the controller's certificate, or is root or SlurmUser.
  bool may_be_controller(Uid slurm_user) const {
    const SubjectKind kind = subject(slurm_user).kind;
    return kind == SubjectKind::kClusterKey || kind == SubjectKind::kAdministrator || kind == SubjectKind::kController;
  }
};

class Channel {
 public:
  virtual ~Channel() = default;
  virtual const Peer& peer() const = 0;
  // Sends a request; `answered` gets the answer frame or the error (peer's, timeout, or connection lost),
  // exactly once, unless the loop ends first. kNoTimeout waits as long as the connection lives.
  virtual void request(uint16_t message, std::string payload, Duration timeout, std::function<void(Result<Frame>)> answered) = 0;
  // As request(), for a streamed answer: `part` gets each kStreamPart until the final answer goes to `answered`. Each part renews the
  // timeout.
  virtual void request_stream(uint16_t message, std::string payload, Duration timeout, std::function<void(Frame)> part,
                              std::function<void(Result<Frame>)> answered) = 0;
  virtual void answer(uint64_t id, uint16_t message, std::string payload) = 0;
  virtual void answer_part(uint64_t id, uint16_t message, std::string payload) = 0;
  virtual void answer_error(uint64_t id, const Error& error) = 0;
  virtual void notify(uint16_t message, std::string payload) = 0;
  virtual size_t queued_bytes() const = 0;
  // Calls `f` once when at most kLowMark bytes are queued (at the end of this turn if that is so now), so that producers of long
  // answers stay bounded. Not called when the connection ends before.
  virtual void when_writable(std::function<void()> f) = 0;
  // true: takes nothing more from the peer until it is called with false, so that who passes on a long answer goes at the pace of the one
  // who reads it. What was read already may still be delivered.
  virtual void hold(bool on) = 0;
  // Writes what the socket takes at once, then closes. on_closed is not called; unanswered requests get an error.
  virtual void close() = 0;
  virtual bool closed() const = 0;
  // The peer has shown to be the one host of its name that is at work: what this connection holds no longer counts with what other
  // connections with the same certificate hold, so that who has copied it takes nothing from the host.
  virtual void count_apart() = 0;

  // The owner sets these before returning from the accept/connect callback.
  std::function<void(Frame)> on_request;        // kRequest and kNotice frames
  std::function<void(const Error&)> on_closed;  // once, when the connection ended by itself
};

using ChannelPtr = std::shared_ptr<Channel>;

// What the two ends need to prove their identity.
struct Security {
  enum class Kind : uint8_t { kSlurmKey, kMunge } kind = Kind::kSlurmKey;
  std::string key;                      // bytes of the cluster key (kSlurmKey), at least 16; "": none, where there is an identity
  std::vector<std::string> other_keys;  // also accepted from peers, while a key is being replaced (slurm.jwks)
  std::string munge_socket;             // "" = munge's default (kMunge)
  std::vector<uint32_t> trusted_uids;   // who besides root may answer as a daemon (kMunge)
  std::string authority_secret;         // slurmctld's, which signs credentials and certificates with it (net/authority.h)
  std::shared_ptr<Identity>
      identity;          // the certificate that this end shows, and whose it believes (net/identity.h); none: by the key alone
  std::string expected;  // whom a client believes by certificate: "controller", "node:n1"; "": nobody
  std::shared_ptr<BoundedCalls> calls;  // how munged is asked by a daemon; none: on the caller's thread, for as long as it takes

  // For a connection to this one: by the key where there is one, else by certificate.
  Security expecting(std::string subject) const {
    Security out = *this;
    out.expected = std::move(subject);
    return out;
  }
  // Whether there is anything to prove oneself with over TCP.
  bool can_prove() const { return kind == Kind::kMunge || !key.empty() || identity; }
};

class Listener {
 public:
  virtual ~Listener() = default;
  virtual uint16_t port() const = 0;
  // HTTP on the same port (GET /healthz, /metrics): a connection that begins with an HTTP method is handed over, with the bytes read so
  // far; the callee owns `fd` (non-blocking). Without this callback such connections are closed.
  virtual void on_http(std::function<void(int fd, std::string first_bytes, std::string address)> f) = 0;
  // Called for each peer that was turned away, for the log: "127.0.0.1:4242: the peer has another cluster key, or none".
  virtual void on_refused(std::function<void(const std::string& address, const Error&)> f) = 0;
};

// Accepts on address:port (port 0 = any free one; address "" or "*" = all). Peers that do not prove their identity within
// limits.handshake never reach `accepted`.
Result<std::unique_ptr<Listener>> listen_tcp(Loop& loop, const std::string& address, uint16_t port, const Security& security,
                                             std::function<void(ChannelPtr)> accepted, const Limits& limits = {});
// The agent socket: mode 0666, stale file replaced; removes the file when destroyed.
Result<std::unique_ptr<Listener>> listen_unix(Loop& loop, const std::string& path, std::function<void(ChannelPtr)> accepted,
                                              const Limits& limits = {});
// The same in two steps, for a daemon that gives up root in between: only root may be able to write the directory of the file.
struct BoundSocket {
  std::string path;
  UniqueFd fd;
};
Result<BoundSocket> bind_agent_socket(const std::string& path);
Result<std::unique_ptr<Listener>> listen_unix(Loop& loop, BoundSocket socket, std::function<void(ChannelPtr)> accepted,
                                              const Limits& limits = {});

// Errors: kConnectFailed (nobody listens, unknown host), kTimedOut, kAuthFailed. `connected` is never called from inside this function.
void connect_tcp(Loop& loop, const std::string& host, uint16_t port, const Security& security, Duration timeout,
                 std::function<void(Result<ChannelPtr>)> connected);
// `patience`: how long a socket is tried again that is not there, or at which nobody listens, because its daemon may be starting.
void connect_unix(Loop& loop, const std::string& path, std::function<void(Result<ChannelPtr>)> connected, Duration patience = {});

// Takes over a connected socket whose peer is already known (socketpair to a child, an accepted stepd socket).
ChannelPtr adopt_channel(Loop& loop, int fd, Peer peer, const Limits& limits = {});

}  // namespace muster::net

// What a command uses: one blocking connection, few requests, a quick start. No event loop, no thread, and nothing is initialised that
// a run does not need (OpenSSL and libmunge are opened with dlopen only when the peer needs them).
//
// connect() tries in order: the local agent sockets given, then TCP to each controller with `security`. A missing listener is retried
// at once and often (2 ms, doubling to 50 ms) until `patience` is over; queries pass 0.
//
// Errors of connecting: kConnectFailed (nobody listens; the hint says what was tried), kAuthFailed (somebody listens, but cannot be
// believed: not retried), kTimedOut. Of requests: the peer's own error, kTimedOut, kSendFailed (the peer has not read the request whole, so
// it was not carried out), kReceiveFailed (it may have been); after the last two every request fails at once. Cost: connect and one round trip over an agent socket take about ten system calls and no allocation worth naming.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "net/channel.h"

namespace muster::net {

struct Endpoint {
  std::string host;
  uint16_t port = 0;
};

class Client {
 public:
  virtual ~Client() = default;
  virtual const Peer& peer() const = 0;  // who answers (its uid is checked against SlurmUser/root for local sockets)
  // kNoTimeout waits as long as the connection lives.
  virtual Result<Frame> request(uint16_t message, std::string_view payload, Duration timeout) = 0;
  // `on_part` gets each part of the answer; its error ends the request and is returned. Each part renews the timeout.
  virtual Result<Frame> request_stream(uint16_t message, std::string_view payload, Duration timeout,
                                       const std::function<Result<>(std::string_view part)>& on_part) = 0;
  // For srun: frames that come without a request (notices); nullopt at the timeout. fd() may be polled beside other descriptors, but
  // only after next_notice(Duration{}) has returned nullopt: a frame may be here already.
  virtual Result<std::optional<Frame>> next_notice(Duration timeout) = 0;
  virtual int fd() const = 0;
  // Whether the peer took nothing of the request that failed last: it had no place for this connection, or ended it because nothing was
  // asked on it for long. The request may then be sent again, on another connection. Never true after a part of its answer.
  virtual bool turned_away() const = 0;
};

struct ClientOptions {
  std::vector<std::string> agent_sockets;
  std::vector<uid_t> trusted_uids;  // whose agent sockets are believed besides root's (SlurmUser, self in rootless mode)
  std::vector<Endpoint> controllers;
  Security security;               // kSlurmKey with an empty key: TCP is not tried
  Duration patience{};             // how long to retry while nobody listens
  Duration timeout = seconds(10);  // per connect and handshake
  // With another place to turn to: an agent socket whose daemon answers nothing for this long is passed over.
  std::optional<Duration> agent_answers_in;
  std::optional<Duration> in_all;  // for all attempts of a round together; those that it does not reach are not made
};

Result<std::unique_ptr<Client>> connect_client(const ClientOptions& options);

}  // namespace muster::net

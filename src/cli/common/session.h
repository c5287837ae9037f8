// Session: a command's way to the controller, or to the accounting database (slurmdbd). It finds the configuration, connects once and asks.
// No loop, no threads.
//
// The way to the controller is the agent socket of slurmctld on this host, else TCP to each SlurmctldHost when the cluster key is readable
// (auth/slurm) or through munge; see net/client.h. The way to the database is alike: slurmdbd's agent socket, else AccountingStorageHost.
// Who may not read the cluster key and is on another host than slurmdbd asks it through the controller (rpc::AskDatabase).
//
// Queries connect with Patience::kNone: without a controller they say so in milliseconds. Commands that change something (sbatch, scancel
// …) wait up to MessageTimeout for a controller that is just being restarted; they try at once and often. A request that was sent is never
// repeated by itself, because the answer may have been lost after the work was done; call_again is for requests that may be repeated
// without harm. A connection that was turned away before any part of the answer changed nothing, so it is tried again, by queries too, for
// two seconds at least. Errors: net/client.h; kConfig without a usable slurm.conf. Cost of a start: one pass over slurm.conf, one connect,
// one round trip; below 1 ms of CPU in all.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "cli/common/client_conf.h"
#include "net/client.h"
#include "os/cli_log.h"
#include "wire/codec.h"
#include "wire/instances.h"
#include "wire/messages.h"

namespace muster::cli {

enum class Patience : uint8_t { kNone, kMessageTimeout };
// kStepManager is for requests about steps of the job that this runs in. For a job with --stepmgr, the slurmd of its first node manages
// them; on that node (SLURM_STEPMGR) it is asked first, and passes on what it does not manage.
enum class Whom : uint8_t { kController, kDatabase, kStepManager };

// How long a controller may take for an answer that it gives at once.
inline constexpr Duration kAnswerTime = seconds(60);

class Session {
 public:
  // Reads the configuration; connects when first asked.
  static Result<Session> find(Patience patience, Whom whom = Whom::kController);
  Session(ClientConf conf, Patience patience, Whom whom = Whom::kController) : conf_(std::move(conf)), patience_(patience), whom_(whom) {}

  const ClientConf& conf() const { return conf_; }
  Result<> connect();
  // The connected client, for callers that poll beside it; connect() must have been called.
  net::Client& client() { return *client_; }

  template <class Request>
  Result<wire::AnswerTo<Request>> call(const Request& request, Duration timeout = kAnswerTime) {
    return stream<Request>(
        request, [](auto&&) { return Result<>(); }, timeout);
  }

  // Calls on_part(PartOf<Request>&&) → Result<> for each part as it comes; the simple call() may skip parts.
  template <class Request, class OnPart>
  Result<wire::AnswerTo<Request>> stream(const Request& request, OnPart&& on_part, Duration timeout = kAnswerTime) {
    const std::string bytes = wire::encoded(request);
    auto decode_part = [&](std::string_view payload) -> Result<> {
      wire::PartOf<Request> part;
      MUSTER_TRY_VOID(wire::decode(payload, part, wire::kOfOurOwn));
      return on_part(std::move(part));
    };
    for (Waiting waiting;;) {
      MUSTER_TRY_VOID(connect());
      auto frame = through_controller_ ? client_->request_stream(wire::number_of<rpc::AskDatabase>,
                                                                 wrapped(wire::number_of<Request>, bytes), timeout, decode_part)
                                       : client_->request_stream(wire::number_of<Request>, bytes, timeout, decode_part);
      if (frame) {
        wire::AnswerTo<Request> answer;
        MUSTER_TRY_VOID(wire::decode(frame->payload, answer, wire::kOfOurOwn));
        return answer;
      }
      // Nothing was done: the daemon has no place now for another connection of this user, or it ended one that was idle.
      const bool turned_away = client_->turned_away();
      if (turned_away || is_connection_error(frame.error())) client_.reset();  // the next request connects anew
      // Undelivered: the node daemon of this host was asked and has no controller now, or the daemon went before it had the whole request,
      // and half a frame has no effect. A request that arrived whole may have been carried out: only the caller knows whether to ask again.
      const bool undelivered = frame.error().code == Errc::kConnectFailed || frame.error().code == Errc::kSendFailed;
      // A controller that has not heard of accounts yet accepts nothing: it, or slurmdbd, may only just be starting.
      const bool unheard = frame.error().code == Errc::kAccountingUnavailable && whom_ == Whom::kController;
      const bool again = turned_away ? wait_for_place(waiting) : (undelivered || unheard) && wait_a_moment(waiting);
      if (!again) return std::unexpected(std::move(frame).error());
    }
  }

  // For requests that the controller may take twice without harm. When the controller goes away before its answer (it is being restarted),
  // the next one is asked, as long as one comes within the patience.
  template <class Request>
  Result<wire::AnswerTo<Request>> call_again(const Request& request, Duration timeout = kAnswerTime) {
    for (Waiting waiting;;) {
      auto answer = call(request, timeout);
      if (answer || !is_connection_error(answer.error()) || !wait_a_moment(waiting)) return answer;
    }
  }
  static bool is_connection_error(const Error& e);

 private:
  struct Waiting {
    Duration pause = milliseconds(1);
    std::optional<Time> until;  // set by the first pause
  };
  // False when the patience is over. Pauses grow to 100 ms.
  bool wait_a_moment(Waiting& waiting) const;
  bool wait_for_place(Waiting& waiting) const;
  static bool wait(Waiting& waiting, Duration patience);
  Result<std::unique_ptr<net::Client>> connect_database();
  static std::string wrapped(uint16_t message, const std::string& payload) { return wire::encoded(rpc::AskDatabase{message, payload}); }

  ClientConf conf_;
  Patience patience_;
  Whom whom_;
  std::unique_ptr<net::Client> client_;
  bool through_controller_ = false;  // client_ is the controller's, which passes on what is for slurmdbd
};

// The first step of a command that asks the controller of the cluster given with -M. nullopt after reporting why that cannot be done.
std::optional<Session> find_session(Patience patience, std::string_view clusters, const os::CliLog& log);

// What net::connect_client is given for a configuration, to reach the controllers.
net::ClientOptions client_options(const ClientConf& conf, Patience patience);
// The same for slurmdbd.
net::ClientOptions database_options(const ClientConf& conf, Patience patience);

}  // namespace muster::cli

// Session: a command's way to the controller, or to the accounting database (slurmdbd). Finds the configuration, connects
// once, asks. No loop, no threads.
//
// Way: agent socket of slurmctld on this host, else TCP to each SlurmctldHost when the
// cluster key is readable (auth/slurm) or through munge. See net/client.h. To the database in the same way: slurmdbd's
// agent socket, else AccountingStorageHost.
//
// Queries connect with Patience::kNone: no controller is told in milliseconds. What changes something
// (sbatch, scancel …) waits up to MessageTimeout for one that is just being restarted, trying at once and
// often. A request that was sent is never repeated by itself: the answer may have been lost after the work
// was done; call_again is for those where that does no harm. A connection that was turned away before any part of the answer took
// nothing: it is tried again, queries too, for two seconds at least. Errors: net/client.h; kConfig without a usable slurm.conf. Cost of a start: one pass over
// slurm.conf, one connect, one round trip; below 1 ms of CPU in all.
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
// kStepManager: about steps of the job that this runs in. The slurmd of its first node manages them where the job is one of --stepmgr; on
// that node (SLURM_STEPMGR) it is asked first, and passes on what is not its own.
enum class Whom : uint8_t { kController, kDatabase, kStepManager };

// How long a controller may take to answer what it answers at once.
inline constexpr Duration kAnswerTime = seconds(60);

class Session {
 public:
  // Reads the configuration; connects when first asked.
  static Result<Session> find(Patience patience, Whom whom = Whom::kController);
  Session(ClientConf conf, Patience patience, Whom whom = Whom::kController) : conf_(std::move(conf)), patience_(patience), whom_(whom) {}

  const ClientConf& conf() const { return conf_; }
  Result<> connect();
  // The connected client, for who polls beside it; connect() was called.
  net::Client& client() { return *client_; }

  template <class Request>
  Result<wire::AnswerTo<Request>> call(const Request& request, Duration timeout = kAnswerTime) {
    return stream<Request>(
        request, [](auto&&) { return Result<>(); }, timeout);
  }

  // on_part(PartOf<Request>&&) → Result<>, for each part as it comes; parts may be skipped by the simple
  // call().
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
      auto frame = client_->request_stream(wire::number_of<Request>, bytes, timeout, decode_part);
      if (frame) {
        wire::AnswerTo<Request> answer;
        MUSTER_TRY_VOID(wire::decode(frame->payload, answer, wire::kOfOurOwn));
        return answer;
      }
      // Nothing was taken: the daemon has no place for one more of this user's connections now, or ended one that was idle.
      const bool turned_away = client_->turned_away();
      if (turned_away || is_connection_error(frame.error())) client_.reset();  // the next request connects anew
      // The node daemon of this host was asked, and has no controller now; or the daemon went before it had the whole request, and
      // half a frame is nothing. One that it had may have been carried out: whether to ask again is the caller's to know.
      const bool undelivered = frame.error().code == Errc::kConnectFailed || frame.error().code == Errc::kSendFailed;
      // A controller that has not heard of accounts yet takes nothing: it, or slurmdbd, may only just be starting.
      const bool unheard = frame.error().code == Errc::kAccountingUnavailable && whom_ == Whom::kController;
      const bool again = turned_away ? wait_for_place(waiting) : (undelivered || unheard) && wait_a_moment(waiting);
      if (!again) return std::unexpected(std::move(frame).error());
    }
  }

  // For requests that the controller takes twice without harm: when the controller goes away before its answer (it is
  // being restarted), ask the next one, as long as one comes within the patience.
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
  Result<std::unique_ptr<net::Client>> connect_database() const;

  ClientConf conf_;
  Patience patience_;
  Whom whom_;
  std::unique_ptr<net::Client> client_;
};

// What a command does first that asks the controller of the cluster it was told (-M): nullopt after saying why not.
std::optional<Session> find_session(Patience patience, std::string_view clusters, const os::CliLog& log);

// What connect_client is given for a configuration. `controller` ≥ 0: only that SlurmctldHost (scontrol
// ping).
net::ClientOptions client_options(const ClientConf& conf, Patience patience);
// The same for slurmdbd.
net::ClientOptions database_options(const ClientConf& conf, Patience patience);

}  // namespace muster::cli

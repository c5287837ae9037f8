// Membership: the certificate by which this host is known (docs/adr/0019): got with a token or with the cluster key, renewed on the connection to
// slurmctld when half its life is over. The private key is made here, anew for each certificate, and never leaves. Beside it what slurmctld says
// of its authority and of what is revoked. The thread of the daemon's loop alone, but for join(), which blocks.
//
// A host that joins with a token keeps what it got in FILE.credential beside the token's FILE (0600), so that it needs no new token when it is
// started again before the certificate has expired. The authority is the token's: nobody else's word counts for such a host.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/controller_connection.h"
#include "base/result.h"
#include "model/token_rpc.h"
#include "net/channel.h"
#include "net/client.h"
#include "net/identity.h"

namespace muster::agent {

class Membership {
 public:
  // Of a daemon that has the cluster key. A node learns the authority by trust(); a login host, which registers nowhere, with its certificate.
  explicit Membership(Subject subject) : subject_(std::move(subject)) {}
  // Of one that has a token, or a certificate that it got with one. Servers that cannot be reached are asked again without end, and `waits` is
  // called once with the reason. `future`: of slurmd -F, the machine; the subject is a node without a name then, and becomes what the first
  // certificate says, for good. Errors: the files (kAccessDenied, kInvalidArgument, kIo); what slurmctld says of the token (kAuthFailed), or
  // that no FUTURE node fits (kInvalidNodeName).
  static Result<std::shared_ptr<Membership>> join(const std::string& token_file, const Subject& subject,
                                                  const std::vector<net::Endpoint>& servers,
                                                  const std::function<void(const std::string& why)>& waits,
                                                  std::optional<rpc::JoinNode> future = {});

  bool by_token() const { return !file_.empty(); }
  const Subject& subject() const { return subject_; }
  const std::shared_ptr<net::Identity>& identity() const { return identity_; }
  // What a host without the cluster key proves itself with.
  net::Security security() const;

  // With the key: reads who signed credentials last, and keeps there what slurmctld says. Without a word of slurmctld steps of jobs that run can
  // be started after a restart.
  Result<> keep_authority(const std::string& path);
  Result<> trust(const rpc::ClusterTrust& trust);
  bool refuses(const net::Peer& peer) const;  // its certificate was revoked meanwhile

  bool due(Time now) const;  // a new certificate is to be asked for
  // A new one is due now: of a login host with the cluster key, whose slurmctld may have another authority than before.
  void ask_anew() { issued_ = expires_ = {}; }
  // Asks slurmctld for a new one where it is due and there is a connection. To be called again and again; the log has what fails.
  void renew(ControllerConnection& link, os::Log& log, Time now);
  Result<rpc::AskCertificate> ask();
  Result<> take(const rpc::CertificateIssued& issued, Time now);

 private:
  struct Credential;  // of the file
  bool learns_authority() const { return subject_.kind == SubjectKind::kLogin && !by_token(); }
  Result<> read(Time now, const std::string& token_name, Uid keeper);
  Result<> join_once(const net::Endpoint& server, const std::string& token_name, const std::string& token_key);
  bool may_be(const Subject& certified) const;
  void set_revoked(const std::vector<rpc::Revocation>& revoked);

  Subject subject_;
  std::optional<rpc::JoinNode> future_;                          // until the name is known
  std::string file_, token_name_, authority_file_, asked_with_;  // asked_with_: the private key of what is asked for
  Time issued_{}, expires_{};
  bool renewing_ = false;
  std::shared_ptr<net::Identity> identity_ = std::make_shared<net::Identity>();
};

}  // namespace muster::agent

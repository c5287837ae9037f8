// Certificates: slurmctld as the cluster's authority (docs/adr/0019). Its key is StateSaveLocation/authority (0600, made at the first start,
// durable before anything is signed with it), tokens and revocations are StateSaveLocation/tokens, replaced as a whole. What is answered is on
// the disk. Lives on the I/O thread; a change costs a sync. What is decided is core/token_book.h.
//
// Not with auth/munge: there munged's one key proves every host, and a token would add nothing.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/ids.h"
#include "config/slurm_conf.h"
#include "net/channel.h"
#include "net/identity.h"
#include "slurmctld/core/token_book.h"

namespace muster::slurmctld {

class Certificates {
 public:
  // Errors: files that others may read, that are damaged, or that cannot be written.
  static Result<std::unique_ptr<Certificates>> open(const std::string& folder, Uid slurm_user, Time now);

  const std::string& authority_secret() const { return secret_; }
  const std::shared_ptr<net::Identity>& identity() const { return identity_; }

  Result<rpc::TokenCreated> create(const rpc::CreateToken& asked, Time now);
  rpc::TokenRows rows() const { return {book_.rows()}; }
  // Whose certificates are refused from now on. Their connections are the caller's business.
  Result<rpc::TokenRevoked> revoke(const rpc::RevokeToken& asked, Time now);
  // `who`: who asks, as the connection proves it. kAccessDenied, kAuthFailed: not for that name, and why.
  Result<rpc::CertificateIssued> issue(const Subject& who, const std::string& address, const rpc::AskCertificate& asked, Time now);
  const TokenBook& book() const { return book_; }
  // Counted anew only when the book has changed, or a token has expired.
  std::shared_ptr<const TokenNames> names_of_nodes(Time now);
  rpc::ClusterTrust trust() const { return {identity_->authority, book_.state().revoked}; }

 private:
  Certificates(std::string path, std::string secret) : path_(std::move(path)), secret_(std::move(secret)) {}
  Result<> read(Uid slurm_user);
  Result<> show_ourselves(Time now);
  Result<> keep(TokenBook book);  // on the disk, then here
  void tell_identity();

  std::string path_, secret_;
  TokenBook book_;
  std::shared_ptr<const TokenNames> names_of_nodes_;  // null: the book has changed
  std::shared_ptr<net::Identity> identity_ = std::make_shared<net::Identity>();
};

// What slurmctld proves itself with, and what it signs with. `certificates`: null with munge. It has to outlive what gets the security.
Result<net::Security> own_security(const config::Config& config, Uid slurm_user, std::unique_ptr<Certificates>& certificates);

}  // namespace muster::slurmctld

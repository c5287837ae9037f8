#include "slurmctld/daemon/certificates.h"

#include <unistd.h>

#include "net/authority.h"
#include "net/credential.h"
#include "os/files.h"
#include "site/guard.h"
#include "site/trust.h"
#include "wire/codec.h"

namespace muster::slurmctld {
namespace {

constexpr Duration kOwnLife = minutes(10 * 365 * 24 * 60);  // slurmctld makes its own anew at each start

Result<std::string> authority_of(const std::string& path, Uid slurm_user) {
  if (::access(path.c_str(), F_OK) == 0) {
    MUSTER_TRY_VOID(site::check_secret(path, "the cluster's authority", slurm_user));
    MUSTER_TRY(key, os::read_file(path, rpc::kKeyBytes + 1));
    if (key.size() != rpc::kKeyBytes) return fail(Errc::kConfig, path + " is no key of the cluster's authority: it has to have 32 bytes");
    return key;
  }
  MUSTER_TRY(key, net::new_private_key());
  MUSTER_TRY_VOID(os::write_file_atomic(path, key, 0600));
  return key;
}

SubjectKind kind_of(rpc::TokenRole role) { return role == rpc::TokenRole::kLogin ? SubjectKind::kLogin : SubjectKind::kNode; }

// Who will have the certificate, and the book with that in it where it is a token's.
Result<Subject> holder(const Subject& who, const std::string& address, const rpc::AskCertificate& asked, Time now, TokenBook& book) {
  if (who.kind == SubjectKind::kToken) return book.use(who.name, asked, address, now);
  const Subject wanted{kind_of(asked.role), asked.name};
  if (!Subject::is_name(asked.name)) return fail(Errc::kInvalidArgument, {}, "'" + asked.name.substr(0, 64) + "' is no name of a host");
  if (who.kind == SubjectKind::kClusterKey || who.kind == SubjectKind::kAdministrator || who == wanted) return wanted;
  return fail(Errc::kAccessDenied, {}, who.text() + " is given no certificate of " + wanted.text());
}

}  // namespace

Result<std::unique_ptr<Certificates>> Certificates::open(const std::string& folder, Uid slurm_user, Time now) {
  MUSTER_TRY(secret, authority_of(folder + "/authority", slurm_user));
  std::unique_ptr<Certificates> out(new Certificates(folder + "/tokens", std::move(secret)));
  MUSTER_TRY_VOID(out->read(slurm_user));
  MUSTER_TRY_VOID(out->show_ourselves(now));
  return out;
}

Result<> Certificates::read(Uid slurm_user) {
  if (::access(path_.c_str(), F_OK) != 0) return {};
  MUSTER_TRY_VOID(site::check_secret(path_, "the cluster's tokens", slurm_user));
  MUSTER_TRY(bytes, os::read_file(path_));
  TokenBook::State state;
  if (auto ok = wire::decode(bytes, state, wire::kOfOurOwn); !ok)
    return fail(
        Errc::kConfig, path_ + " is damaged: " + std::string(ok.error().message()),
        "without it no token is known and no certificate is revoked: restore it, or remove it and restart the nodes with new tokens");
  book_ = TokenBook(std::move(state));
  return {};
}

Result<> Certificates::show_ourselves(Time now) {
  MUSTER_TRY(authority, net::public_key(secret_));
  MUSTER_TRY(own, net::new_private_key());
  MUSTER_TRY(known_by, net::public_key(own));
  MUSTER_TRY(certificate, net::issue_certificate(secret_, {SubjectKind::kController, {}}, known_by, now, now + kOwnLife));
  identity_->authority = std::move(authority);
  identity_->private_key = std::move(own);
  identity_->certificate = std::move(certificate);
  ++identity_->changes;
  tell_identity();
  return {};
}

void Certificates::tell_identity() {
  identity_->tokens = book_.keys();
  identity_->revoked.clear();
  for (const rpc::Revocation& r : book_.state().revoked) identity_->revoked[r.subject] = unix_seconds(r.issued_until);
}

Result<> Certificates::keep(TokenBook book) {
  MUSTER_TRY_VOID(os::write_file_atomic(path_, wire::encoded(book.state()), 0600));
  book_ = std::move(book);
  names_of_nodes_.reset();
  tell_identity();
  return {};
}

std::shared_ptr<const TokenNames> Certificates::names_of_nodes(Time now) {
  if (!names_of_nodes_ || now >= names_of_nodes_->until) names_of_nodes_ = std::make_shared<const TokenNames>(book_.names_of_nodes(now));
  return names_of_nodes_;
}

Result<rpc::TokenCreated> Certificates::create(const rpc::CreateToken& asked, Time now) {
  MUSTER_TRY(token, net::new_token(identity_->authority));
  MUSTER_TRY(proof, net::token_proof(token.secret));
  TokenBook book = book_;
  MUSTER_TRY(row, book.add(asked, proof.name, proof.key, now));
  MUSTER_TRY_VOID(keep(std::move(book)));
  return rpc::TokenCreated{row.id, net::token_text(token), row.expires};
}

Result<rpc::TokenRevoked> Certificates::revoke(const rpc::RevokeToken& asked, Time now) {
  TokenBook book = book_;
  book.forget(now);
  MUSTER_TRY(revoked, book.revoke(asked, now));
  MUSTER_TRY_VOID(keep(std::move(book)));
  return revoked;
}

Result<rpc::CertificateIssued> Certificates::issue(const Subject& who, const std::string& address, const rpc::AskCertificate& asked,
                                                   Time now) {
  if (asked.public_key.size() != rpc::kKeyBytes)
    return fail(Errc::kInvalidArgument, {}, "public_key: " + std::to_string(asked.public_key.size()) + " bytes; a key has 32");
  TokenBook book = book_;
  MUSTER_TRY(subject, holder(who, address, asked, now, book));
  const Time issued = book.issue_time(subject, now);
  MUSTER_TRY(certificate, net::issue_certificate(secret_, subject, asked.public_key, issued, issued + kCertificateLife,
                                                 who.kind == SubjectKind::kClusterKey || who.kind == SubjectKind::kAdministrator));
  if (who.kind == SubjectKind::kToken) MUSTER_TRY_VOID(keep(std::move(book)));
  return rpc::CertificateIssued{std::move(certificate), identity_->authority, book_.state().revoked};
}

Result<net::Security> own_security(const config::Config& config, Uid slurm_user, std::unique_ptr<Certificates>& certificates) {
  MUSTER_TRY(security, site::load_security(config, slurm_user));
  if (security.kind == net::Security::Kind::kMunge) return security;
  MUSTER_TRY(opened, Certificates::open(config.state_save_location, slurm_user, net::Loop::now()));
  certificates = std::move(opened);
  security.authority_secret = certificates->authority_secret();
  security.identity = certificates->identity();
  return security;
}

}  // namespace muster::slurmctld

#include "agent/membership.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "agent/may_come_later.h"
#include "base/text.h"
#include "net/authority.h"
#include "net/backoff.h"
#include "net/credential.h"
#include "os/clock.h"
#include "os/files.h"
#include "site/conf_files.h"
#include "site/guard.h"
#include "wire/codec.h"
#include "wire/instances.h"
#include "wire/messages.h"

namespace muster::agent {
namespace {

constexpr size_t kMostFile = 16384;
constexpr Duration kPatience = seconds(10);

// Whose a file beside the token may be besides ours and root's: of a login host his who owns the folder. That is SlurmUser, who renews what is in
// it, and whom sackd knows by name, and checks, only when it has been let in. Nobody else may write there: he could plant a certificate, and with it
// another authority.
Result<Uid> keeper_of(const std::string& file, SubjectKind kind) {
  const std::string folder = site::directory_of(file);
  struct stat st {};
  Uid keeper{::geteuid()};
  if (kind == SubjectKind::kLogin && ::stat(folder.c_str(), &st) == 0) keeper = Uid{st.st_uid};
  MUSTER_TRY_VOID(site::check_folder(folder, "the folder of --token-file", keeper));
  return keeper;
}

Result<net::Token> read_token(const std::string& path, Uid keeper) {
  MUSTER_TRY_VOID(site::check_secret(path, "the token", keeper));
  MUSTER_TRY(text, os::read_file(path, kMostFile));
  auto token = net::parse_token(trim(text));
  if (!token) return fail(Errc::kInvalidArgument, "--token-file " + path + ": " + std::string(token.error().message()));
  return token;
}

}  // namespace

struct Membership::Credential {
  std::string authority, certificate, private_key, token_name;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "authority", self.authority);
    field(2, "certificate", self.certificate);
    field(3, "private_key", self.private_key);
    field(4, "token_name", self.token_name);
  }
};

// What is there of an earlier start, if it is still good and of this token. `token_name`: "", the token is gone.
Result<> Membership::read(Time now, const std::string& token_name, Uid keeper) {
  MUSTER_TRY_VOID(site::check_secret(file_, "the certificate's key", keeper));
  MUSTER_TRY(bytes, os::read_file(file_, kMostFile));
  Credential kept;
  MUSTER_TRY_VOID(wire::decode(bytes, kept, wire::kOfOurOwn));
  if (!token_name.empty() && kept.token_name != token_name) return fail(Errc::kAuthFailed, "it was got with another token");
  MUSTER_TRY(facts, net::verify_certificate(kept.certificate, kept.authority, now));
  MUSTER_TRY(own, net::public_key(kept.private_key));
  if (!may_be(facts.subject) || own != facts.public_key) return fail(Errc::kAuthFailed, "it is of " + facts.subject.text());
  subject_ = facts.subject;
  identity_->authority = kept.authority;
  identity_->certificate = kept.certificate;
  identity_->private_key = kept.private_key;
  ++identity_->changes;
  token_name_ = kept.token_name;
  issued_ = facts.issued;
  expires_ = facts.expires;
  return {};
}

Result<> Membership::join_once(const net::Endpoint& server, const std::string& token_name, const std::string& token_key) {
  net::ClientOptions options;
  options.controllers = {server};
  options.timeout = kPatience;
  options.security.identity = std::make_shared<net::Identity>();
  options.security.identity->token_name = token_name;
  options.security.identity->token_key = token_key;
  auto client = net::connect_client(options);
  if (!client && client.error().code == Errc::kAuthFailed)
    return fail(Errc::kAuthFailed, "slurmctld at " + server.host + " does not know the token of --token-file",
                "it is of another cluster, or long out of date; muster token create makes one");
  if (!client) return std::unexpected(client.error());
  MUSTER_TRY(request, ask());
  MUSTER_TRY(answer, (*client)->request(wire::number_of<rpc::AskCertificate>, wire::encoded(request), kPatience));
  rpc::CertificateIssued issued;
  MUSTER_TRY_VOID(wire::decode(answer.payload, issued));
  return take(issued, os::wall_now());
}

Result<std::shared_ptr<Membership>> Membership::join(const std::string& token_file, const Subject& subject,
                                                     const std::vector<net::Endpoint>& servers,
                                                     const std::function<void(const std::string& why)>& waits,
                                                     std::optional<rpc::JoinNode> future) {
  if (!future && !Subject::parse(subject.text())) return fail(Errc::kInvalidNodeName, "'" + subject.name + "' is no name of a host");
  auto out = std::make_shared<Membership>(subject);
  out->future_ = std::move(future);
  out->file_ = std::filesystem::absolute(token_file).string() + ".credential";  // daemons change their folder
  const bool has_token = ::access(token_file.c_str(), F_OK) == 0, has_credential = ::access(out->file_.c_str(), F_OK) == 0;
  net::TokenProof proof;
  std::string authority;
  MUSTER_TRY(keeper, keeper_of(out->file_, subject.kind));
  if (has_token || !has_credential) {
    MUSTER_TRY(token, read_token(token_file, keeper));
    MUSTER_TRY(derived, net::token_proof(token.secret));
    proof = std::move(derived);
    authority = std::move(token.authority);
  }
  Result<> kept = has_credential ? out->read(os::wall_now(), proof.name, keeper) : fail(Errc::kNotFound);
  if (kept) return out;
  if (!has_token)
    return fail(Errc::kAuthFailed, out->file_ + ": " + std::string(kept.error().message()), "a new token is needed in " + token_file);
  out->identity_->authority = authority;
  out->token_name_ = proof.name;
  net::Backoff pauses(milliseconds(50), seconds(5), net::Backoff::random_seed());
  for (bool told = false;; told = true) {
    std::string why;
    for (const net::Endpoint& server : servers) {
      Result<> joined = out->join_once(server, proof.name, proof.key);
      if (joined) return out;
      if (!may_be_reached_later(joined.error())) return std::unexpected(joined.error());
      const Error& e = joined.error();
      why += (why.empty() ? "" : "; ") + server.host + ": " + std::string(e.hint.empty() ? e.message() : std::string_view(e.hint));
    }
    if (!told) waits(why.empty() ? "no slurmctld is known" : why);
    std::this_thread::sleep_for(pauses.next());
  }
}

net::Security Membership::security() const {
  net::Security out;
  out.identity = identity_;
  return out;
}

Result<> Membership::keep_authority(const std::string& path) {
  authority_file_ = path;
  if (::access(path.c_str(), F_OK) != 0) return {};
  MUSTER_TRY(authority, os::read_file(path, kMostFile));
  if (authority.size() != rpc::kKeyBytes) return {};  // slurmctld says it anew
  identity_->authority = std::move(authority);
  ++identity_->changes;
  return {};
}

void Membership::set_revoked(const std::vector<rpc::Revocation>& revoked) {
  identity_->revoked.clear();
  for (const rpc::Revocation& r : revoked) identity_->revoked[r.subject] = unix_seconds(r.issued_until);
}

Result<> Membership::trust(const rpc::ClusterTrust& trust) {
  if (trust.authority.size() != rpc::kKeyBytes) return fail(Errc::kAuthFailed, "slurmctld names an authority that is no key");
  if (by_token() && trust.authority != identity_->authority)
    return fail(Errc::kAuthFailed, "slurmctld has another authority than the token by which this host joined");
  set_revoked(trust.revoked);
  if (trust.authority == identity_->authority) return {};
  // What the authority of before has issued is worth nothing any more.
  identity_->authority = trust.authority;
  identity_->certificate.clear();
  expires_ = {};
  ++identity_->changes;
  return authority_file_.empty() ? Result<>() : os::write_file_atomic(authority_file_, trust.authority, 0600);
}

bool Membership::refuses(const net::Peer& peer) const {
  // A connection does not tell when its certificate was issued: whoever is in the list has to connect again.
  return peer.trust == net::Trust::kCertificate && identity_->revoked.contains(peer.certified.text());
}

// Ours, or of whichever node slurmctld has chosen, while that is not known.
bool Membership::may_be(const Subject& certified) const {
  return certified == subject_ || (future_ && subject_.name.empty() && certified.kind == SubjectKind::kNode);
}

bool Membership::due(Time now) const {
  if (identity_->authority.empty()) return learns_authority();
  return identity_->certificate.empty() || now >= issued_ + (expires_ - issued_) / 2;
}

void Membership::renew(ControllerConnection& link, os::Log& log, Time now) {
  if (renewing_ || !link.connected() || !due(now)) return;
  auto request = ask();
  if (!request) return log.error("no certificate: {}", request.error().message());
  renewing_ = true;
  link.ask(
      wire::number_of<rpc::AskCertificate>, wire::encoded(*request), minutes(1), [](const net::Frame&) {},
      [this, &log](Result<net::Frame> answer) {
        renewing_ = false;
        if (!answer) return log.error("slurmctld gives no certificate: {}", answer.error().message());
        rpc::CertificateIssued issued;
        Result<> taken = wire::decode(answer->payload, issued);
        if (taken) taken = take(issued, os::wall_now());
        if (taken) log.verbose("a new certificate of {}", subject_.text());
        else log.error("the certificate that slurmctld gave cannot be taken: {}", taken.error().message());
      });
}

Result<rpc::AskCertificate> Membership::ask() {
  rpc::AskCertificate out;
  out.role = subject_.kind == SubjectKind::kLogin ? rpc::TokenRole::kLogin : rpc::TokenRole::kNode;
  out.name = subject_.name;
  if (subject_.name.empty()) out.future = future_;
  MUSTER_TRY(key, net::new_private_key());
  asked_with_ = std::move(key);
  MUSTER_TRY(known_by, net::public_key(asked_with_));
  out.public_key = std::move(known_by);
  return out;
}

Result<> Membership::take(const rpc::CertificateIssued& issued, Time now) {
  const std::string& authority = learns_authority() ? issued.authority : identity_->authority;
  MUSTER_TRY(facts, net::verify_certificate(issued.certificate, authority, now));
  MUSTER_TRY(own, net::public_key(asked_with_));
  if (!may_be(facts.subject) || facts.public_key != own) return fail(Errc::kAuthFailed, "the certificate is of " + facts.subject.text());
  if (!file_.empty())
    MUSTER_TRY_VOID(
        os::write_file_atomic(file_, wire::encoded(Credential{identity_->authority, issued.certificate, asked_with_, token_name_}), 0600));
  subject_ = facts.subject;
  identity_->authority = authority;
  identity_->certificate = issued.certificate;
  identity_->private_key = asked_with_;
  ++identity_->changes;
  issued_ = facts.issued;
  expires_ = facts.expires;
  set_revoked(issued.revoked);
  return {};
}

}  // namespace muster::agent

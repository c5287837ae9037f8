#include "slurmctld/core/peers.h"

#include "model/messages.h"

namespace muster::slurmctld {
namespace {

using enum SubjectKind;

template <class... Kinds>
constexpr uint32_t of(Kinds... kinds) {
  return ((uint32_t{1} << static_cast<unsigned>(kinds)) | ...);
}

constexpr PeerRow kRows[] = {
#define MUSTER_PEER(name, kinds, words) {&#name[1], kinds, words},
#include "slurmctld/core/peers.def"
#undef MUSTER_PEER
};

}  // namespace

std::span<const PeerRow> peer_rows() { return kRows; }

bool may(PeerRight right, SubjectKind kind) { return kRows[static_cast<size_t>(right)].kinds >> static_cast<unsigned>(kind) & 1u; }

PeerRight peer_right_of(const CommandRow& row) {
  switch (row.number) {
    case number_of<rpc::Relay>:
    case number_of<rpc::AskerGone>: return PeerRight::kPassOn;
    case number_of<rpc::FetchContent>: return PeerRight::kFetchContent;
    case number_of<rpc::AskCertificate>: return PeerRight::kCertificate;
    case number_of<rpc::FetchConfig>:
    case number_of<rpc::FetchConfigFile>: return PeerRight::kConfiguration;
    case number_of<rpc::JoinNode>: return PeerRight::kJoin;
    case number_of<rpc::Ping>: return PeerRight::kLook;
    default: return row.kind == CommandKind::kQuery ? PeerRight::kLook : PeerRight::kAsk;
  }
}

Result<> may_say(const CommandRow& row, const Subject& who) {
  if (may(peer_right_of(row), who.kind)) return {};
  switch (who.kind) {
    case kNode:
    case kLogin:
      return fail(Errc::kAccessDenied, {}, "the certificate of " + who.text() + " does not allow it to ask that in its own name");
    case kToken: return fail(Errc::kAccessDenied, {}, "a token is good for a certificate and for nothing else");
    default: return fail(Errc::kAccessDenied, "only daemons of nodes may say that");
  }
}

}  // namespace muster::slurmctld

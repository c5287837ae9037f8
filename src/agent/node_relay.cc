#include "agent/node_relay.h"

#include "net/client.h"
#include "net/credential.h"
#include "wire/codec.h"
#include "wire/instances.h"
#include "wire/messages.h"

namespace muster::agent {
namespace {

constexpr Duration kAnswerTime = seconds(60);

template <class Request>
Result<RelayedRequest> parts_of(const rpc::RelayToNode& relay, rpc::CredentialPurpose purpose) {
  Request request;
  MUSTER_TRY_VOID(wire::decode(relay.payload, request));
  if constexpr (requires { request.as_caller; })
    if (request.as_caller) return fail(Errc::kAccessDenied, "files that are sent without an allocation are not passed on");
  return RelayedRequest{std::move(request.credential), purpose};
}

template <class Out>
Result<Out> read(std::string_view content) {
  Out out;
  if (auto ok = wire::decode(content, out); !ok) return fail(Errc::kInvalidCredential, std::string(ok.error().message()));
  return out;
}

}  // namespace

Result<RelayedRequest> relayed_request(const rpc::RelayToNode& relay) {
  switch (relay.message) {
    case wire::number_of<rpc::LaunchStep>: return parts_of<rpc::LaunchStep>(relay, rpc::CredentialPurpose::kLaunch);
    case wire::number_of<rpc::AttachTasks>: return parts_of<rpc::AttachTasks>(relay, rpc::CredentialPurpose::kAttach);
    case wire::number_of<rpc::QueryStepUse>: return parts_of<rpc::QueryStepUse>(relay, rpc::CredentialPurpose::kWatch);
    case wire::number_of<rpc::SendFile>: return parts_of<rpc::SendFile>(relay, rpc::CredentialPurpose::kSendFile);
    default: return fail(Errc::kUnexpectedMessage);
  }
}

Result<rpc::StepCredential> signed_credential(const net::Security& security, const std::string& text) {
  const auto by_warrant = net::by_warrant(text);
  if (!by_warrant) {
    MUSTER_TRY(content, net::verify_credential(security, text));
    return read<rpc::StepCredential>(content);
  }
  MUSTER_TRY(right, net::verify_warrant(security, by_warrant->warrant));
  MUSTER_TRY(warrant, read<rpc::StepWarrant>(right));
  MUSTER_TRY_VOID(net::check_signature(*by_warrant, warrant.key));
  return read<rpc::StepCredential>(by_warrant->content);
}

void NodeRelay::pass_on(const net::ChannelPtr& channel, const net::Frame& frame, rpc::RelayToNode relay, rpc::NodeAddress to, Uid user) {
  auto refuse = [weak = std::weak_ptr(channel), id = frame.id](const Error& e) {
    if (auto c = weak.lock()) c->answer_error(id, e);
  };
  // The client may be gone when its turn comes.
  auto work = [this, to = std::move(to), weak = std::weak_ptr(channel), id = frame.id, number = frame.message, relay = std::move(relay),
               refuse](std::shared_ptr<void> place) {
    if (weak.expired()) return;
    const Way way = way_();
    net::connect_tcp(loop_, to.host, to.port, way.security.expecting("node:" + relay.node), way.patience,
                     [weak, id, number, relay, refuse, place](Result<net::ChannelPtr> c) {
                       if (!c) return refuse(c.error());
                       net::ChannelPtr node = *c;
                       node->request(relay.message, relay.payload, kAnswerTime,
                                     [weak, id, number, node, refuse, place](Result<net::Frame> r) {
                                       if (!r) return refuse(r.error());
                                       if (auto back = weak.lock()) back->answer(id, number, std::move(r->payload));
                                     });
                     });
  };
  turns_.begin(user.value, std::move(work));
}

}  // namespace muster::agent

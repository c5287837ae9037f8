#include "agent/user_relay.h"

#include <unistd.h>

#include "wire/instances.h"
#include "wire/messages.h"

namespace muster::agent {

Result<> UserRelay::pass_on(const net::ChannelPtr& channel, const net::Frame& frame) {
  const net::Peer& peer = channel->peer();
  if (peer.trust != net::Trust::kLocalUser) return fail(Errc::kUnexpectedMessage);
  rpc::Relay relay;
  relay.uid = peer.uid;
  relay.gid = peer.gid;
  relay.host = host_();
  if (const pid_t session = ::getsid(peer.pid); peer.pid > 0 && session > 0) relay.session = static_cast<uint32_t>(session);
  relay.message = frame.message;
  relay.payload = frame.payload;
  if (wire::waits(frame.message)) relay.asker = askers_.try_emplace(channel.get(), ++last_asker_).first->second;
  std::weak_ptr<net::Channel> asker = channel;
  link_.relay(
      relay,
      [asker, id = frame.id, number = frame.message](net::Frame part) {
        if (auto c = asker.lock()) c->answer_part(id, number, std::move(part.payload));
      },
      [asker, id = frame.id, number = frame.message](Result<net::Frame> answer) {
        auto c = asker.lock();
        if (!c) return;
        if (answer) c->answer(id, number, std::move(answer->payload));
        else c->answer_error(id, answer.error());
      });
  return {};
}

void UserRelay::closed(const net::Channel* channel) {
  if (auto at = askers_.extract(channel)) link_.notify(wire::number_of<rpc::AskerGone>, wire::encoded(rpc::AskerGone{at.mapped()}));
}

}  // namespace muster::agent

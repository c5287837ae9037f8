#include "net/channel_set.h"

namespace muster::net {

void ChannelSet::accept(ChannelPtr channel) {
  Channel* raw = channel.get();
  channel->on_request = [this, ref = std::weak_ptr(channel)](Frame frame) {
    if (auto c = ref.lock()) on_frame(c, frame);
  };
  channel->on_closed = [this, raw](const Error&) {
    events_.ended(raw);
    channels_.erase(raw);
  };
  channels_.emplace(raw, std::move(channel));
}

void ChannelSet::on_frame(const ChannelPtr& channel, const Frame& frame) {
  auto done = events_.frame(channel, frame);
  if (done) return;
  events_.refused(channel->peer(), frame, done.error());
  if (frame.kind == FrameKind::kRequest) channel->answer_error(frame.id, done.error());
  else drop(channel.get());
}

void ChannelSet::drop(const Channel* raw) {
  auto at = channels_.find(raw);
  if (at == channels_.end()) return;
  ChannelPtr channel = std::move(at->second);
  channels_.erase(at);
  events_.ended(raw);
  events_.dropped(channel->peer());
  channel->close();
  loop_.defer([channel] {});  // destroyed after its own callback has returned
}

void ChannelSet::close_all() {
  for (auto& [raw, channel] : channels_) channel->close();
  channels_.clear();
}

}  // namespace muster::net

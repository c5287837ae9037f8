// ChannelSet: the channels that a daemon has accepted. It holds each and serves its frames until it ends or is dropped. What a frame
// means is decided by the daemon, which also forgets what it began for a channel when it is told of the end. Lives on the loop's thread.
#pragma once

#include <functional>
#include <unordered_map>

#include "net/channel.h"

namespace muster::net {

class ChannelSet {
 public:
  struct Events {
    // An error is sent as the answer to a request; if the frame was not a request, the channel is dropped.
    std::function<Result<>(const ChannelPtr& channel, const Frame& frame)> frame;
    std::function<void(const Channel* channel)> ended;  // by itself or dropped; not by close_all()
    // For the log.
    std::function<void(const Peer& peer, const Frame& frame, const Error& error)> refused;
    std::function<void(const Peer& peer)> dropped;
  };
  ChannelSet(Loop& loop, Events events) : loop_(loop), events_(std::move(events)) {}

  void accept(ChannelPtr channel);
  void drop(const Channel* channel);  // closes it, if it is still there
  void close_all();
  size_t size() const { return channels_.size(); }

 private:
  void on_frame(const ChannelPtr& channel, const Frame& frame);

  Loop& loop_;
  Events events_;
  std::unordered_map<const Channel*, ChannelPtr> channels_;
};

}  // namespace muster::net

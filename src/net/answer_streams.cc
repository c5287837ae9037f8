#include "net/answer_streams.h"

namespace muster::net {

struct AnswerStreams::Stream {
  std::weak_ptr<Channel> channel;
  Line line;
  uint64_t id = 0;
  uint16_t message = 0;
  Open open;
  std::function<void()> done;
  // Written by the query thread while it makes a chunk, read by the I/O thread after that.
  std::unique_ptr<PartSource> source;
  std::vector<std::string> chunk;
  bool ended = false;
  Result<std::string> last;
  bool being_made = false;  // I/O thread only, as what follows
  std::unique_ptr<Loop::Timer> silent;
};

void AnswerStreams::begin(const ChannelPtr& channel, uint64_t id, uint16_t message, Open open, std::function<void()> done,
                          std::optional<Uid> whom) {
  auto s = std::make_shared<Stream>();
  s->channel = channel;
  s->line = {channel.get(), whom.value_or(channel->peer().uid).value};
  s->id = id;
  s->message = message;
  s->open = std::move(open);
  s->done = std::move(done);
  auto& line = streams_[s->line];
  line.push_back(s);
  if (line.size() == 1) produce(s);
}

void AnswerStreams::produce(const std::shared_ptr<Stream>& stream) {
  stream->silent.reset();
  stream->being_made = true;
  queries_.post(
      [this, s = stream]() mutable {
        // The client may have gone while others were answered. An answer that nobody can get is not made.
        if (s->channel.expired()) {
          s->open = nullptr;
          s->source.reset();
        }
        if (s->open) {
          auto source = std::exchange(s->open, nullptr)();
          if (source) s->source = std::move(*source);
          else s->last = std::unexpected(source.error());
        }
        size_t made = 0;
        while (s->source && made < kStreamChunk && !s->channel.expired()) {
          std::string part;
          if (!s->source->next(part)) {
            s->last = s->source->last();
            s->source.reset();  // here, since letting go of a snapshot may take a while
          } else {
            made += part.size();
            s->chunk.push_back(std::move(part));
          }
        }
        s->ended = !s->source;
        loop_.post([this, s = std::move(s)] { deliver(s); });  // not destroyed here: it has a timer
      },
      stream->line.second);
}

// Dropping the last reference to an old snapshot takes a while, so it is not done on this thread.
void AnswerStreams::drop_source(Stream& s) {
  if (s.source) queries_.post([source = std::shared_ptr<PartSource>(std::move(s.source))] {});
}

void AnswerStreams::deliver(const std::shared_ptr<Stream>& s) {
  s->being_made = false;
  ChannelPtr c = s->channel.lock();
  if (!c || c->closed()) return drop_source(*s);
  for (std::string& part : s->chunk) c->answer_part(s->id, s->message, std::move(part));
  s->chunk.clear();
  if (s->ended) return over(s);
  produce_when_read(*c, s);
}

// For a reader who does not take what was asked for, no more is made: neither of this answer nor of the next.
void AnswerStreams::produce_when_read(Channel& channel, const std::shared_ptr<Stream>& s) {
  s->silent = loop_.after(silent_, [this, key = s->line.first] { too_slow_(key); });
  channel.when_writable([this, s] { produce(s); });
}

void AnswerStreams::over(const std::shared_ptr<Stream>& s) {
  ChannelPtr c = s->channel.lock();
  if (s->last) c->answer(s->id, s->message, std::move(*s->last));
  else c->answer_error(s->id, s->last.error());
  if (s->done) s->done();
  auto at = streams_.find(s->line);
  if (at == streams_.end()) return;
  at->second.pop_front();
  if (at->second.empty()) streams_.erase(at);
  else produce_when_read(*c, at->second.front());
}

void AnswerStreams::forget(const Channel* channel) {
  auto first = streams_.lower_bound({channel, 0});
  auto last = first;
  for (; last != streams_.end() && last->first.first == channel; ++last)
    for (const auto& s : last->second)
      if (!s->being_made) drop_source(*s);
  streams_.erase(first, last);
}

size_t AnswerStreams::size() const {
  size_t n = 0;
  for (const auto& [channel, line] : streams_) n += line.size();
  return n;
}

}  // namespace muster::net

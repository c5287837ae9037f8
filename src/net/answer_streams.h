// AnswerStreams: long answers, made at the pace of their readers. The next parts are made on the query thread when the last ones have
// left for the socket, so an answer of any length takes the memory of one chunk and of the snapshot it is made from. Users take turns;
// the answers of one user on one connection (a node daemon passes on those of many) are made one after the other. A reader that takes
// nothing for kReaderSilent loses its connection, because it would hold its snapshot for ever. Lives on the I/O thread.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/channel.h"
#include "net/query_thread.h"

namespace muster::net {

inline constexpr size_t kStreamChunk = 256u << 10;      // made before looking whether the reader keeps up
inline constexpr Duration kReaderSilent = minutes(15);  // somebody in `squeue | less` is a reader, too

// One answer in parts. Lives on the query thread.
class PartSource {
 public:
  virtual ~PartSource() = default;
  virtual bool next(std::string& part) = 0;                     // false: no part is left
  virtual Result<std::string> last() { return std::string(); }  // the payload of the final frame, or why there is none
};

class AnswerStreams {
 public:
  using Open = std::function<Result<std::unique_ptr<PartSource>>()>;  // query thread; its error is the answer
  // `too_slow` is called with a channel whose reader is too slow; its owner closes it.
  AnswerStreams(Loop& loop, QueryThread& queries, std::function<void(const Channel*)> too_slow, Duration silent = kReaderSilent)
      : loop_(loop), queries_(queries), too_slow_(std::move(too_slow)), silent_(silent) {}

  // `done` is called on the I/O thread when the last frame is queued; not if the connection ended before. `whom`: the user whose turn
  // the answer takes, if that is not the connection's peer.
  void begin(const ChannelPtr& channel, uint64_t id, uint16_t message, Open open, std::function<void()> done, std::optional<Uid> whom = {});
  void forget(const Channel* channel);  // its connection closed
  size_t size() const;                  // answers under way

 private:
  struct Stream;
  void produce(const std::shared_ptr<Stream>& stream);
  void deliver(const std::shared_ptr<Stream>& stream);
  void over(const std::shared_ptr<Stream>& stream);
  void produce_when_read(Channel& channel, const std::shared_ptr<Stream>& stream);
  void drop_source(Stream& stream);

  Loop& loop_;
  QueryThread& queries_;
  std::function<void(const Channel*)> too_slow_;
  Duration silent_;
  using Line = std::pair<const Channel*, uint32_t>;              // and the uid
  std::map<Line, std::deque<std::shared_ptr<Stream>>> streams_;  // the first one is being made
};

}  // namespace muster::net

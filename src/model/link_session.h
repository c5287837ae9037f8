// LinkSession: one end of a session between slurmctld and the slurmd of a node, which lasts as long as their connection. Either end numbers
// what it sends, and takes what comes only in its order. So a message of an earlier connection, or one that comes twice, means nothing, and
// nothing is taken behind something that was lost: the session is over then, and the next one says again what is still owed. The daemons
// and the simulator count by this one class.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/time.h"
#include "model/node_rpc.h"

namespace muster {

class LinkSession {
 public:
  LinkSession() = default;
  explicit LinkSession(uint64_t number) : number_(number) {}

  // The session that a node begins after this one. Its number is greater than those of all earlier ones, also of those before the node's
  // daemon started, while the node's clock goes on.
  LinkSession next(Time now) const {
    return LinkSession(std::max(number_ + 1, static_cast<uint64_t>(std::max<int64_t>(now.time_since_epoch().count(), 0))));
  }
  // Whether a registration with this number takes the place of this session. One of an older number has come late.
  bool gives_way_to(uint64_t number) const { return number > number_; }

  template <class M>
  Numbered<M> numbered(M message) {
    return {number_, ++sent_, std::move(message)};
  }

  enum class Taken : uint8_t {
    kInOrder,
    kLate,  // of another session, or taken before: it means nothing
    kGap,   // something before it was lost: the connection cannot go on
  };
  template <class M>
  Taken take(const Numbered<M>& m) {
    if (m.session != number_ || m.sequence <= received_) return Taken::kLate;
    if (m.sequence != received_ + 1) return Taken::kGap;
    received_ = m.sequence;
    return Taken::kInOrder;
  }

  uint64_t number() const { return number_; }

 private:
  uint64_t number_ = 0, sent_ = 0, received_ = 0;
};

}  // namespace muster

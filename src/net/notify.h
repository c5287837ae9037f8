// Sends messages of wire/codec.h on a channel: as a notice, which has no answer and whose number is the message's kNumber, or as the
// answer to a request.
#pragma once

#include <string>
#include <utility>

#include "net/channel.h"
#include "wire/codec.h"

namespace muster::net {

template <class M>
void notify(Channel& c, const M& m) {
  c.notify(M::kNumber, wire::encoded(m));
}

template <class M>
void answer(Channel& c, const Frame& request, const M& m) {
  c.answer(request.id, request.message, wire::encoded(m));
}

}  // namespace muster::net

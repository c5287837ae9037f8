// notify: a message of wire/codec.h as a notice, which has no answer. The message's number is its kNumber.
#pragma once

#include <string>
#include <utility>

#include "net/channel.h"
#include "wire/codec.h"

namespace muster::net {

template <class M>
void notify(Channel& c, const M& m) {
  std::string bytes;
  wire::encode(m, bytes);
  c.notify(M::kNumber, std::move(bytes));
}

}  // namespace muster::net

// Which errors of a request to another daemon may be gone when it is asked again: it could not be reached, or could not write down what it
// decided. Any other is its answer.
#pragma once

#include "base/result.h"

namespace muster::agent {

inline bool may_be_reached_later(const Error& e) {
  return e.code == Errc::kConnectFailed || e.code == Errc::kSendFailed || e.code == Errc::kReceiveFailed ||
         e.code == Errc::kCommunicationFailed || e.code == Errc::kTimedOut || e.code == Errc::kTryAgainLater || e.code == Errc::kIo ||
         e.code == Errc::kDiskFull;  // it could not write it down
}

}  // namespace muster::agent

#include "os/error.h"

#include <cstring>

namespace muster::os {

Error system_error(std::string_view what, int err) {
  char buffer[128];
  const char* text = strerror_r(err, buffer, sizeof buffer);
  Errc code = Errc::kIo;
  switch (err) {
    case ENOENT: code = Errc::kNotFound; break;
    case EACCES:
    case EPERM: code = Errc::kAccessDenied; break;
    case ENOSPC:
    case EDQUOT: code = Errc::kDiskFull; break;
    case EAGAIN:
    case EMFILE:
    case ENFILE:
    case ENOMEM: code = Errc::kTryAgainLater; break;
    case ETIMEDOUT: code = Errc::kTimedOut; break;
    default: break;
  }
  return Error(code, std::string(what) + ": " + text);
}

}  // namespace muster::os

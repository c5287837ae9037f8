// Munged: what this host's munged vouches for. It says who made a credential, on any host with the site's munge key.
//
// libmunge.so.2 is opened when first needed. Calls block for a round trip to munged (about 0.1 ms). A munged that is not running is
// noticed before libmunge is asked, which would retry for seconds. One that is stopped would block its callers, and one that local users
// keep busy would hold them up. So daemons wait for a second at most, and after an answer that took more than 100 ms they refuse every
// peer that comes by munge until munged is quick again (Security::calls, bounded_calls.h). munge(7).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "net/channel.h"

namespace muster::net {

struct MungeWord {
  std::string payload;
  Uid uid{};
  Gid gid{};
  bool fresh = false;  // decoded by this munged for the first time, and within the lifetime of credentials
};

struct Libmunge;

class Munged {
 public:
  // Errors: kUnsupported (libmunge is missing).
  static Result<Munged> open(const Security& security);

  // Errors of both: kAuthFailed, with munge's own words.
  Result<std::string> encode(const std::string& payload) const;
  Result<MungeWord> decode(std::string_view credential) const;

  // Accepts root and the site's trusted uids; kAuthFailed for all others.
  Result<> must_be_daemon(Uid uid) const;

 private:
  Munged(const Libmunge& lib, const Security& security)
      : lib_(&lib), socket_(security.munge_socket), trusted_(security.trusted_uids), calls_(security.calls) {}
  template <class T>
  Result<T> ask(std::function<Result<T>()> question) const;

  const Libmunge* lib_;
  std::string socket_;
  std::vector<uint32_t> trusted_;
  std::shared_ptr<BoundedCalls> calls_;
};

}  // namespace muster::net

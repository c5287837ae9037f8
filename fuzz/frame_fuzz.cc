// Any bytes on a socket: whole frames, a need for more, or malformed. What is a frame is inside the buffer.
#include <cstdint>
#include <cstdlib>

#include "net/frame.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using muster::net::Parsed;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  while (!rest.empty()) {
    Parsed p = muster::net::parse_frame(rest);
    if (p.verdict == Parsed::Verdict::kMalformed) {
      if (!p.why || !*p.why) std::abort();
      return 0;
    }
    if (p.verdict == Parsed::Verdict::kNeedMore) {
      if (p.size != 0 && p.size <= rest.size()) std::abort();  // it would wait for ever
      return 0;
    }
    if (p.size == 0 || p.size > rest.size()) std::abort();
    rest.remove_prefix(p.size);
  }
  return 0;
}

// Any bytes to the decoders: an Event, the big structs, a snapshot. What is accepted must survive another
// turn.
#include <cstdint>
#include <cstdlib>

#include "wire/cluster_codec.h"
#include "wire/event_codec.h"
#include "wire/instances.h"

namespace {

template <class T>
void turn(std::string_view bytes) {
  T value;
  if (!muster::wire::decode(bytes, value)) return;
  std::string once, twice;
  muster::wire::encode(value, once);
  T again;
  if (!muster::wire::decode(once, again)) std::abort();
  muster::wire::encode(again, twice);
  if (once != twice) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 7) {
    case 0: turn<muster::JobRequest>(bytes); break;
    case 1: turn<muster::StepRequest>(bytes); break;
    case 2: turn<muster::Job>(bytes); break;
    case 3: turn<muster::Node>(bytes); break;
    case 4: turn<muster::Partition>(bytes); break;
    case 5: {
      const std::string chunk(bytes);
      if (auto cluster = muster::decode_cluster({&chunk, 1}); cluster && !muster::decode_cluster(muster::encode_cluster(*cluster)))
        std::abort();
      break;
    }
    default:
      if (auto event = muster::decode_event(bytes)) {
        const std::string once = muster::encode_event(*event);
        auto again = muster::decode_event(once);
        if (!again || muster::encode_event(*again) != once) std::abort();
      }
  }
  return 0;
}

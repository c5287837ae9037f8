#include "wire/event_codec.h"

#include "wire/accounting_instances.h"
#include "wire/instances.h"

namespace muster {

void encode_event(const Event& event, std::string& out) {
  wire::Writer w(out);
  wire::write_variant(w, event);
}

std::string encode_event(const Event& event) {
  std::string out;
  encode_event(event, out);
  return out;
}

Result<Event> decode_event(std::string_view bytes) {
  Event event;
  wire::Reader r(bytes);
  wire::read_variant(r, event);
  if (r.failed()) {
    const char* name = std::visit([](const auto& e) { return e.kName; }, event);
    return std::unexpected(r.error(*r.field ? name : "Event").error());
  }
  return event;
}

}  // namespace muster

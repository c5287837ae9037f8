// An Event as the log keeps it: a message with one field, whose number is the event's kNumber. decode_event refuses a kind that it does
// not know (apply could not record it), and skips unknown fields of the kinds that it knows. Errors: Errc::kFrameMalformed with event
// and field. Cost: JobSubmitted under 100 ns either way.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "model/event.h"

namespace muster {

std::string encode_event(const Event& event);
void encode_event(const Event& event, std::string& out);  // appends
Result<Event> decode_event(std::string_view bytes);

}  // namespace muster

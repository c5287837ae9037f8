// The bare name of a type ("JobRequest", without namespace and template arguments), for the schema and for error messages. No cost at
// run time.
#pragma once

#include <string_view>

namespace muster::wire {

template <class T>
consteval std::string_view type_name() {
  std::string_view text = __PRETTY_FUNCTION__;  // "… [with T = muster::event::JobStarted; …]" or "… [T = …]"
  text.remove_prefix(text.find("T = ") + 4);
  text = text.substr(0, text.find_first_of("<;]"));
  if (size_t colon = text.rfind(':'); colon != text.npos) text.remove_prefix(colon + 1);
  return text;
}

}  // namespace muster::wire

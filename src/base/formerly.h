// A field that was a text before it became a value. Its description names the number that the text had:
//
//   formerly_text(field, 49, "tres_requested", self.tres_requested);   field(90, "tres_requested", self.tres_requested);
//
// What old logs and databases hold is so read once, when it is decoded, by T::from_text(std::string_view); nothing writes the old number
// again. A visitor that does not decode does not see it.
#pragma once

namespace muster {

template <class V, class T>
void formerly_text(V& v, unsigned number, const char* name, T& member) {
  if constexpr (requires { v.formerly_text(number, name, member); }) v.formerly_text(number, name, member);
}

}  // namespace muster

// One description per struct: number, name and member of every field. The wire codec, the event log, the schema file
// and the debug printer are all derived from it, so a field is declared once.
//
//   struct Point {
//     int32_t x = 0, y = 0;
//     template <class Self, class V> static void describe(Self& s, V&& v) { v(1, "x", s.x); v(2, "y", s.y); }
//   };
//
// Rules: numbers are those of Protocol Buffers (1 … 2^29-1), append-only, ascending in the description; a removed field's number is
// never used again. A field absent from a record has the value it has after default construction. Kinds of member: bool, integers,
// enums, double, std::string, StrongId, Time, Duration, Bitmap, described structs, Parsed (sent as its text), std::optional,
// std::vector, std::shared_ptr<const described>, and std::variant of described structs that have a kNumber (a oneof).
#pragma once

#include <utility>

namespace muster {

namespace describe_detail {
struct AnyVisitor {
  template <class T>
  void operator()(unsigned, const char*, T&) const {}
};
}  // namespace describe_detail

template <class T>
concept Described = requires(T& t, describe_detail::AnyVisitor v) {
  T::describe(t, v);
};

}  // namespace muster

// One description per struct: number, name and member of every field. The wire codec, the event log, the schema file
// and the debug printer are all derived from it, so a field is declared once.
//
//   struct Point {
//     int32_t x = 0, y = 0;
//     template <class S, class V> static void describe(S& self, V&& field) { field(1, "x", self.x); field(2, "y", self.y); }
//   };
//
// Rules: numbers are those of Protocol Buffers (1 … 2^29-1), append-only, ascending in the description; a removed field's number is
// never used again. A field absent from a record has the value it has after default construction. Kinds of member: bool, integers,
// enums, double, std::string, StrongId, Time, Duration, Bitmap, described structs, Parsed (sent as its text), std::optional,
// std::vector, std::shared_ptr<const described>, and std::variant of described structs that have a kNumber (a oneof).
//
// A part that stands apart in memory (base/apart.h) has its fields among those of its owner: describe() takes a visitor for it,
//   auto run = described_part(field, self.run);   and names the part's members:   run(20, "suspended", &JobRun::suspended);
#pragma once

#include <type_traits>
#include <utility>

#include "base/apart.h"

namespace muster {

namespace describe_detail {
struct AnyVisitor {
  template <class T>
  void operator()(unsigned, const char*, T&) const {}
};
}  // namespace describe_detail

// Gives the fields of a part to the visitor of its owner. A visitor that must not make a part in passing, or that has to know where it
// stands, has a member part(number, name, part, member); others are called with the member, and a part to be changed is made for them.
template <class V, class A>
class PartVisitor {
 public:
  PartVisitor(V& v, A& part) : v_(v), part_(part) {}
  template <class M, class T>
  void operator()(unsigned number, const char* name, M T::*member) const {
    if constexpr (requires { v_.part(number, name, part_, member); }) v_.part(number, name, part_, member);
    else if constexpr (std::is_const_v<A>) v_(number, name, (*part_).*member);
    else v_(number, name, part_.edit().*member);
  }

 private:
  V& v_;
  A& part_;
};

template <class V, class A>
PartVisitor<std::remove_reference_t<V>, A> described_part(V&& v, A& part) {
  return {v, part};
}

template <class T>
concept Described = requires(T& t, describe_detail::AnyVisitor v) {
  T::describe(t, v);
};

}  // namespace muster

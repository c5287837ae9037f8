// equal_fields: whether all described fields of two values of a type are equal, so that a comparison never forgets one.
// Shared values are compared by what they point to. Cost: a comparison for each field.
#pragma once

#include <cstdint>

#include "base/apart.h"
#include "base/describe.h"
#include "base/same.h"

namespace muster {
namespace equal_fields_detail {

// Calls the description of one value, and finds each member of the other by the distance between the two.
struct Comparer {
  intptr_t to_other;
  bool& equal;

  template <class M>
  void operator()(unsigned, const char*, const M& m) const {
    equal = equal && same(m, *reinterpret_cast<const M*>(reinterpret_cast<intptr_t>(&m) + to_other));
  }
  template <class P, class M>
  void part(unsigned, const char*, const Apart<P>& part, M P::*member) const {
    const auto& other = *reinterpret_cast<const Apart<P>*>(reinterpret_cast<intptr_t>(&part) + to_other);
    equal = equal && same((*part).*member, (*other).*member);
  }
};

}  // namespace equal_fields_detail

template <Described T>
bool equal_fields(const T& a, const T& b) {
  bool equal = true;
  T::describe(a, equal_fields_detail::Comparer{reinterpret_cast<intptr_t>(&b) - reinterpret_cast<intptr_t>(&a), equal});
  return equal;
}

}  // namespace muster

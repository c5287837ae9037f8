// Equality of members: of values behind shared pointers, both null or equal pointees; of others, that they are equal. Cost of shared ones:
// none when both point to the same value.
#pragma once

#include <memory>

namespace muster {

template <class T>
bool same(const T& a, const T& b) {
  return a == b;
}
template <class T>
bool same(const std::shared_ptr<const T>& a, const std::shared_ptr<const T>& b) {
  return a == b || (a && b && *a == *b);
}

}  // namespace muster

// first_fit: an order in which all of a few things fit, one beside the other.
//
//   order → place in it    `choose` takes for all in the order that it is given, and answers the place in that order of the one for which
//                          nothing was left, or nullopt when all fit
//
// The one for which nothing was left goes first then, and all choose again, until they fit or whatever is first does not fit by itself. Not all
// orders are tried: what fits in another one alone is not found. Cost: at most count + 1 calls.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace muster {

template <class F>
bool first_fit(size_t count, F&& choose) {
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  for (size_t tries = 0; tries <= count; ++tries) {
    const std::optional<size_t> failed = choose(std::as_const(order));
    if (!failed) return true;
    if (*failed == 0) return false;
    const auto at = order.begin() + static_cast<ptrdiff_t>(*failed);
    std::rotate(order.begin(), at, at + 1);
  }
  return false;
}

}  // namespace muster

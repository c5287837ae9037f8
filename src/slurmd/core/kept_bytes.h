// About how many bytes of memory a described value keeps, with all that it points to: bounds on kept things count with this. On the wire a
// value takes about as much, or less.
#pragma once

#include <cstddef>
#include <string>

#include "base/bitmap.h"
#include "base/describe.h"
#include "base/parsed.h"

namespace muster::slurmd {

template <class T>
size_t kept_bytes(const T& value);

struct KeptBytes {
  size_t sum = 0;
  template <class T>
  void operator()(unsigned, const char*, const T& field) {
    sum += kept_bytes(field);
  }
};

template <class T>
size_t kept_bytes(const T& value) {
  size_t n = sizeof(T);
  if constexpr (std::is_same_v<T, std::string>) {
    return n + value.size();
  } else if constexpr (TextMember<T>) {
    return n + value.text().size();
  } else if constexpr (std::is_same_v<T, Bitmap>) {
    return n + value.size() / 8;
  } else if constexpr (requires { value.use_count(); }) {
    return value ? n + kept_bytes(*value) : n;
  } else if constexpr (requires { value.has_value(); }) {
    return value ? n + kept_bytes(*value) : n;
  } else if constexpr (requires { value.valueless_by_exception(); }) {
    return n + std::visit([](const auto& x) { return kept_bytes(x); }, value);
  } else if constexpr (requires { value.begin(); }) {
    for (const auto& x : value) n += kept_bytes(x);
    return n;
  } else if constexpr (Described<T>) {
    KeptBytes fields;
    T::describe(value, fields);
    return n + fields.sum;
  } else {
    return n;
  }
}

}  // namespace muster::slurmd

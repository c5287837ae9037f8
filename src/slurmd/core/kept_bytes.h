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
  size_t bytes = sizeof(T);
  if constexpr (std::is_same_v<T, std::string>) {
    return bytes + value.size();
  } else if constexpr (TextMember<T>) {
    return bytes + value.text().size();
  } else if constexpr (std::is_same_v<T, Bitmap>) {
    return bytes + value.size() / 8;
  } else if constexpr (requires { value.use_count(); }) {
    return value ? bytes + kept_bytes(*value) : bytes;
  } else if constexpr (requires { value.has_value(); }) {
    return value ? bytes + kept_bytes(*value) : bytes;
  } else if constexpr (requires { value.valueless_by_exception(); }) {
    return bytes + std::visit([](const auto& x) { return kept_bytes(x); }, value);
  } else if constexpr (requires { value.begin(); }) {
    for (const auto& x : value) bytes += kept_bytes(x);
    return bytes;
  } else if constexpr (Described<T>) {
    KeptBytes fields;
    T::describe(value, fields);
    return bytes + fields.sum;
  } else {
    return bytes;
  }
}

}  // namespace muster::slurmd

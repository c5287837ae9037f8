// Stable 64-bit hashes: of bytes (FNV-1a with a final mix) and of described structs. Not cryptographic; the same on every
// machine and run. describe_hash visits the scalar, text and list fields; equal values have equal hashes.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/bitmap.h"
#include "base/describe.h"
#include "base/ids.h"
#include "base/parsed.h"

namespace muster {

constexpr uint64_t mix64(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

constexpr uint64_t hash_bytes(std::string_view s, uint64_t seed = 0xcbf29ce484222325ull) {
  uint64_t h = seed;
  for (char c : s) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return mix64(h);
}

template <class T>
uint64_t describe_hash(const T& value);

namespace hash_detail {

inline uint64_t of(const std::string& s) { return s.empty() ? 0 : hash_bytes(s); }
template <TextMember T>
uint64_t of(const T& v) {
  return of(v.text());
}
inline uint64_t of(const Bitmap& b) {
  uint64_t h = 0;
  b.for_each([&](size_t i) { h = mix64(h ^ (i + 1)); });
  return h;
}
template <class Tag, class Rep>
uint64_t of(StrongId<Tag, Rep> id) {
  return id.value;
}
template <class C, class D>
uint64_t of(std::chrono::time_point<C, D> t) {
  return static_cast<uint64_t>(t.time_since_epoch().count());
}
template <class R, class P>
uint64_t of(std::chrono::duration<R, P> d) {
  return static_cast<uint64_t>(d.count());
}
template <class T>
requires std::integral<T> || std::is_enum_v<T> uint64_t of(T v) { return static_cast<uint64_t>(v); }
template <Described T>
uint64_t of(const T& v) {
  return describe_hash(v);
}
template <class T>
uint64_t of(const std::optional<T>& v) {
  return v ? mix64(of(*v) + 0x9e37) : 0;
}
template <class T>
uint64_t of(const std::vector<T>& v) {
  uint64_t h = 0;
  for (const T& x : v) h = mix64(h ^ (of(x) + 0x9e3779b97f4a7c15ull));
  return h;
}
template <class T>
uint64_t of(const std::shared_ptr<T>& v) {
  return v ? of(*v) + 1 : 0;
}

struct Visitor {
  uint64_t h = 0;
  template <class T>
  void operator()(unsigned number, const char*, const T& field) {
    if (uint64_t x = of(field)) h ^= mix64(x + number * 0x9e3779b97f4a7c15ull);
  }
};

}  // namespace hash_detail

template <class T>
uint64_t describe_hash(const T& value) {
  hash_detail::Visitor v;
  T::describe(value, v);
  return v.h;
}

}  // namespace muster

// For the tests of this folder: random values of every described type, and equality over all described members (through pointers). Both
// follow from the descriptions, so that a new field is covered as soon as it is declared.
#pragma once

#include "base/random.h"
#include "wire/codec.h"

namespace muster::wire {

using muster::Random;

template <class T>
void fill(Random& rng, T& out);

struct Filler {
  Random& rng;
  template <class M>
  void operator()(unsigned, const char*, M& m) {
    if (rng.next() % 4) fill(rng, m);
  }
};

inline uint64_t random_bits(Random& rng) { return rng.next() >> rng.next() % 64; }

template <class... Ts>
void fill_variant(Random& rng, std::variant<Ts...>& out) {
  size_t skip = rng.next() % sizeof...(Ts);
  ((skip-- == 0 ? fill(rng, out.template emplace<Ts>()) : void()), ...);
}

template <class T>
void fill(Random& rng, T& out) {
  using P = typename Pointee<T>::type;
  if constexpr (std::is_same_v<T, bool>) {
    out = rng.next() & 1;
  } else if constexpr (kIsScalar<T>) {
    if constexpr (std::is_same_v<T, Time>) out = Time(Duration(static_cast<int64_t>(random_bits(rng))));
    else if constexpr (std::is_same_v<T, Duration>) out = Duration(static_cast<int64_t>(random_bits(rng)));
    else if constexpr (IsStrongId<T>::value) fill(rng, out.value);
    else out = static_cast<T>(random_bits(rng));
  } else if constexpr (std::is_same_v<T, double>) {
    out = static_cast<double>(random_bits(rng)) / 7;
  } else if constexpr (std::is_same_v<T, std::string>) {
    out.resize(rng.next() % 8 ? rng.next() % 20 : rng.next() % 300);
    for (char& c : out) c = static_cast<char>(rng.next());
  } else if constexpr (TextMember<T>) {
    std::string text;
    fill(rng, text);
    out = std::move(text);
  } else if constexpr (std::is_same_v<T, Bitmap>) {
    out = Bitmap(rng.next() % 200);
    for (size_t i = 0; i < out.size(); ++i)
      if (rng.next() & 1) out.set(i);
  } else if constexpr (IsVector<T>::value) {
    out.resize(rng.next() % 4);
    for (auto& e : out) fill(rng, e);
  } else if constexpr (std::is_same_v<T, std::optional<P>>) {
    fill(rng, out.emplace());
  } else if constexpr (!std::is_void_v<P>) {
    auto fresh = std::make_shared<P>();
    if (rng.next() % 8) fill(rng, *fresh);
    out = T(std::move(fresh));
  } else if constexpr (IsVariant<T>::value) {
    fill_variant(rng, out);
  } else {
    Filler f{rng};
    T::describe(out, f);
  }
}

template <class T>
bool equal(const T& a, const T& b);

struct Comparer {
  intptr_t distance;
  bool same = true;
  template <class M>
  void operator()(unsigned, const char*, const M& m) {
    same = same && equal(m, *reinterpret_cast<const M*>(reinterpret_cast<intptr_t>(&m) + distance));
  }
  template <class P, class M>
  void part(unsigned, const char*, const Apart<P>& part, M P::*member) {
    const auto& other = *reinterpret_cast<const Apart<P>*>(reinterpret_cast<intptr_t>(&part) + distance);
    same = same && equal((*part).*member, (*other).*member);
  }
};

template <class T>
bool equal(const T& a, const T& b) {
  using P = typename Pointee<T>::type;
  if constexpr (kIsScalar<T> || std::is_same_v<T, double> || std::is_same_v<T, std::string> || TextMember<T>) {
    return a == b;
  } else if constexpr (std::is_same_v<T, Bitmap>) {
    return a == b && a.size() == b.size();
  } else if constexpr (IsVector<T>::value) {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i)
      if (!equal(a[i], b[i])) return false;
    return true;
  } else if constexpr (Carried<T>) {
    return a ? b && equal(*a.whole(), *b.whole()) : !b;
  } else if constexpr (!std::is_void_v<P>) {
    return a ? b && equal<P>(*a, *b) : !b;
  } else if constexpr (IsVariant<T>::value) {
    return a.index() == b.index() && std::visit([&](const auto& v) { return equal(v, std::get<std::decay_t<decltype(v)>>(b)); }, a);
  } else {
    Comparer c{reinterpret_cast<intptr_t>(&b) - reinterpret_cast<intptr_t>(&a)};
    T::describe(a, c);
    return c.same;
  }
}

// Calls f(v) with a default-constructed value of each alternative of the variant.
template <class... Ts, class F>
void for_each_kind(std::type_identity<std::variant<Ts...>>, F&& f) {
  (f(Ts{}), ...);
}

}  // namespace muster::wire

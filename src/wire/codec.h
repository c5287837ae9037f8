// encode and decode: a described struct (base/describe.h) to and from the bytes of Protocol Buffers, exactly.
// No generated classes: the description is the schema (schema.h prints it as a .proto file).
//
//   bool, unsigned, enum, StrongId   varint              std::string, Bitmap        length-delimited bytes
//   signed                           zigzag varint       described struct           length-delimited message
//                                                        Parsed                     its text
//   Time, Duration                   zigzag microseconds std::vector of numbers     packed
//   double                           fixed64             std::vector of the rest    repeated
//   std::optional, std::shared_ptr   their value, present even if it is the default; absent when null
//   a Carried value                  the message that it stands for, its parts one after the other; absent when it is null
//   std::variant                     a message with the one field kNumber of the alternative (a oneof)
//
// A member equal to its value after default construction is left out. decode starts from a default-constructed object, skips unknown
// fields, takes the last of repeated single values, and fails with Errc::kFrameMalformed and the field's name on anything truncated, of
// another wire type, or out of a type's range. Whether an enum's number has a name, and what it means together with other fields, is
// checked by the code that uses the value. Cost: encode 1 … 5 ns a field that is set, under 1 ns for one that is not; decode the same
// and its allocations. Add a new big struct to instances.h, so that it is compiled once.
#pragma once

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/apart.h"
#include "base/bitmap.h"
#include "base/describe.h"
#include "base/ids.h"
#include "base/parsed.h"
#include "base/result.h"
#include "base/time.h"
#include "wire/reader.h"
#include "wire/type_name.h"
#include "wire/writer.h"

namespace muster::wire {

template <Described T>
void encode(const T& value, std::string& out);  // appends to `out`
template <Described T>
std::string encoded(const T& value);
// Replaces `out`; after an error it holds some of the fields. Input from our own daemons and files may be denser than what anyone may send.
template <Described T>
Result<> decode(std::string_view bytes, T& out, Allowance allowance = kOfAnyone);

// The pieces, for codecs of values that are not one described struct.
template <Described T>
void write_body(Writer& w, const T& value, const T& defaults);
template <Described T>
void read_body(Reader& r, T& out);
template <class... Ts>
void write_variant(Writer& w, const std::variant<Ts...>& value);
template <class... Ts>
void read_variant(Reader& r, std::variant<Ts...>& out);

// ---- implementation
template <class T>
struct IsStrongId : std::false_type {};
template <class Tag, class Rep>
struct IsStrongId<StrongId<Tag, Rep>> : std::true_type {};
template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};
template <class T>
struct IsVariant : std::false_type {};
template <class... Ts>
struct IsVariant<std::variant<Ts...>> : std::true_type {};
template <class T>
struct Pointee {  // of optional and shared_ptr
  using type = void;
};
template <class T>
struct Pointee<std::optional<T>> {
  using type = T;
};
template <class T>
struct Pointee<std::shared_ptr<const T>> {
  using type = T;
};
// A type that stands for a T::Message: each_part() gives the structs to write, which share that message's field numbers out among them.
template <class T>
concept Carried = requires {
  typename T::Message;
};
template <Carried T>
struct Pointee<T> {
  using type = typename T::Message;
};

template <class T>
inline constexpr bool kIsScalar =
    std::is_integral_v<T> || std::is_enum_v<T> || IsStrongId<T>::value || std::is_same_v<T, Time> || std::is_same_v<T, Duration>;

constexpr uint64_t zigzag(int64_t v) { return static_cast<uint64_t>(v) << 1 ^ static_cast<uint64_t>(v >> 63); }
constexpr int64_t unzigzag(uint64_t v) { return static_cast<int64_t>(v >> 1) ^ -static_cast<int64_t>(v & 1); }

template <class T>
constexpr uint64_t to_wire(T v) {
  if constexpr (std::is_enum_v<T>) {
    static_assert(std::is_unsigned_v<std::underlying_type_t<T>>, "enums on the wire are unsigned");
    return static_cast<uint64_t>(v);
  } else if constexpr (IsStrongId<T>::value) {
    return to_wire(v.value);
  } else if constexpr (std::is_same_v<T, Time>) {
    return zigzag(v.time_since_epoch().count());
  } else if constexpr (std::is_same_v<T, Duration>) {
    return zigzag(v.count());
  } else if constexpr (std::is_signed_v<T>) {
    return zigzag(v);
  } else {
    return v;
  }
}

// False when the number does not fit the type.
template <class T>
constexpr bool from_wire(uint64_t w, T& out) {
  if constexpr (std::is_same_v<T, bool>) {
    out = w != 0;
    return true;
  } else if constexpr (std::is_enum_v<T>) {
    std::underlying_type_t<T> v{};
    if (!from_wire(w, v)) return false;
    out = static_cast<T>(v);
    return true;
  } else if constexpr (IsStrongId<T>::value) {
    return from_wire(w, out.value);
  } else if constexpr (std::is_same_v<T, Time>) {
    out = Time(Duration(unzigzag(w)));
    return true;
  } else if constexpr (std::is_same_v<T, Duration>) {
    out = Duration(unzigzag(w));
    return true;
  } else if constexpr (std::is_signed_v<T>) {
    out = static_cast<T>(unzigzag(w));
    return out == unzigzag(w);
  } else {
    out = static_cast<T>(w);
    return out == w;
  }
}

template <class T>
const T& default_of() {
  static const T value{};
  return value;
}

// ---- writing
// Writes one field with `v`, whatever its value.
template <class T>
void write_value(Writer& w, uint32_t number, const T& v) {
  if constexpr (kIsScalar<T>) {
    w.varint(number, to_wire(v));
  } else if constexpr (std::is_same_v<T, double>) {
    w.fixed64(number, std::bit_cast<uint64_t>(v));
  } else if constexpr (std::is_same_v<T, std::string>) {
    w.bytes(number, v);
  } else if constexpr (TextMember<T>) {
    w.bytes(number, v.text());
  } else if constexpr (std::is_same_v<T, Bitmap>) {
    w.bitmap(number, v);
  } else if constexpr (IsVariant<T>::value) {
    const size_t body = w.open(number);
    write_variant(w, v);
    w.close(body);
  } else {
    static_assert(Described<T>, "this kind of member has no place on the wire");
    const size_t body = w.open(number);
    write_body(w, v, default_of<T>());
    w.close(body);
  }
}

template <class T>
[[gnu::noinline]] void write_vector(Writer& w, uint32_t number, const std::vector<T>& v) {
  if constexpr (kIsScalar<T>) {
    const size_t body = w.open(number);
    for (const T& e : v) w.raw_varint(to_wire(e));
    w.close(body);
  } else {
    for (const T& e : v) write_value(w, number, e);
  }
}

template <Carried T>
void write_parts(Writer& w, uint32_t number, const T& v) {
  const size_t body = w.open(number);
  v.each_part([&]<class Part>(const Part& part) { write_body(w, part, default_of<Part>()); });
  w.close(body);
}

// Calls the description with each member and the same member of the default object, found by the distance between the two objects.
struct BodyWriter {
  Writer& w;
  intptr_t to_default;

  template <class M>
  [[gnu::always_inline]] void operator()(uint32_t number, const char*, const M& m) const {
    const M& d = *reinterpret_cast<const M*>(reinterpret_cast<intptr_t>(&m) + to_default);
    if constexpr (kIsScalar<M>) {
      if (m != d) w.varint(number, to_wire(m));
    } else if constexpr (std::is_same_v<M, double>) {
      if (std::bit_cast<uint64_t>(m) != std::bit_cast<uint64_t>(d)) w.fixed64(number, std::bit_cast<uint64_t>(m));
    } else if constexpr (std::is_same_v<M, std::string>) {
      if (!m.empty() || !d.empty()) w.bytes(number, m);
    } else if constexpr (TextMember<M>) {
      if (!m.empty()) w.bytes(number, m.text());
    } else if constexpr (std::is_same_v<M, Bitmap>) {
      if (m.size()) w.bitmap(number, m);
    } else if constexpr (Carried<M>) {
      if (m) write_parts(w, number, m);
    } else if constexpr (!std::is_void_v<typename Pointee<M>::type>) {
      if (m) write_value(w, number, *m);
    } else if constexpr (IsVector<M>::value) {
      if (!m.empty()) write_vector(w, number, m);
    } else if constexpr (IsVariant<M>::value) {
      write_value(w, number, m);
    } else {
      const size_t before = w.size(), body = w.open(number);
      write_body(w, m, d);
      w.size() == body ? w.truncate(before) : w.close(body);
    }
  }
  template <class P, class M>
  void part(uint32_t number, const char* name, const Apart<P>& part, M P::*member) const {
    if (!part.is_there()) return;
    const intptr_t distance = reinterpret_cast<intptr_t>(&default_of<P>()) - reinterpret_cast<intptr_t>(&*part);
    BodyWriter{w, distance}(number, name, (*part).*member);
  }
};

template <Described T>
[[gnu::noinline]] void write_body(Writer& w, const T& value, const T& defaults) {
  T::describe(value, BodyWriter{w, reinterpret_cast<intptr_t>(&defaults) - reinterpret_cast<intptr_t>(&value)});
}

template <class... Ts>
[[gnu::noinline]] void write_variant(Writer& w, const std::variant<Ts...>& value) {
  std::visit([&](const auto& v) { write_value(w, std::decay_t<decltype(v)>::kNumber, v); }, value);
}

// ---- reading
// The value of the current field.
template <class T>
void read_value(Reader& r, T& out) {
  if constexpr (kIsScalar<T>) {
    if (!from_wire(r.scalar(), out)) r.fail("a number out of the field's range");
  } else if constexpr (std::is_same_v<T, double>) {
    out = std::bit_cast<double>(r.fixed64());
  } else if constexpr (std::is_same_v<T, std::string> || TextMember<T>) {
    out = std::string(r.bytes());
  } else if constexpr (std::is_same_v<T, Bitmap>) {
    r.bitmap(out);
  } else {
    Reader::Outer outer;
    if (!r.enter(outer)) return;
    if constexpr (IsVariant<T>::value) read_variant(r, out);
    else read_body(r, out);
    r.leave(outer);
  }
}

// Reserves room for `more` elements, at least doubling it: lists whose fields alternate must not be moved for each element.
template <class T>
bool make_room(Reader& r, std::vector<T>& out, size_t more) {
  if (out.capacity() - out.size() >= more) return true;
  const size_t room = out.empty() ? more : std::max(out.size() + more, 2 * out.size());
  r.charge((room - out.capacity()) * sizeof(T));
  if (r.failed()) return false;
  out.reserve(room);
  return true;
}

template <class T>
void read_element(Reader& r, std::vector<T>& out) {
  if constexpr (kIsScalar<T>) {
    T v{};
    if (r.type() != kLength) {  // numbers not packed, as old or foreign writers have it
      if (!make_room(r, out, 1)) return;
      read_value(r, v);
      out.push_back(v);
      return;
    }
    Reader::Outer outer;
    if (!r.enter(outer)) return;
    if (!make_room(r, out, r.count_varints())) return r.leave(outer);
    while (!r.at_end()) {
      if (!from_wire(r.varint(), v)) r.fail("a number out of the field's range");
      if (!r.failed()) out.push_back(v);
    }
    r.leave(outer);
  } else {
    if (out.size() == out.capacity() && !make_room(r, out, r.count_alike())) return;
    read_value(r, out.emplace_back());
  }
}

struct BodyReader {
  Reader& r;
  uint32_t last = 0;  // the number visited before: what lies between is unknown to this description

  template <class M>
  [[gnu::always_inline]] void operator()(uint32_t number, const char* name, M& m) {
    const uint32_t before = pass(number);
    if (comes(before, number)) take(r, before, number, name, m);
  }
  template <class P, class M>
  void part(uint32_t number, const char* name, Apart<P>& part, M P::*member) {
    const uint32_t before = pass(number);
    if (comes(before, number)) take(r, before, number, name, part.edit().*member);
  }

  // base/formerly.h
  template <class M>
  void formerly_text(uint32_t number, const char* name, M& m) {
    const uint32_t before = pass(number);
    if (!comes(before, number)) return;
    std::string text;
    take(r, before, number, name, text);
    if (!r.failed()) m = M::from_text(text);
  }

  uint32_t pass(uint32_t number) { return std::exchange(last, number); }
  // Outside (before, number]: either this member is not in the input, or a field came out of order and waits for the next round.
  bool comes(uint32_t before, uint32_t number) const { return r.number() - before - 1 < number - before; }

  template <class M>
  [[gnu::noinline]] static void take(Reader& r, uint32_t before, uint32_t number, const char* name, M& m) {
    while (r.number() > before && r.number() < number) r.skip();
    while (r.number() == number) {
      r.field = name;
      using P = typename Pointee<M>::type;
      if constexpr (IsVector<M>::value) {
        read_element(r, m);
      } else if constexpr (std::is_same_v<M, std::optional<P>>) {
        read_value(r, m.emplace());
      } else if constexpr (!std::is_void_v<P>) {
        r.charge(sizeof(P));
        if (r.failed()) return;
        auto fresh = std::make_shared<P>();
        read_value(r, *fresh);
        m = M(std::move(fresh));
      } else {
        read_value(r, m);
      }
      if (!r.failed()) r.field = name;
      r.next();
    }
  }
};

template <Described T>
[[gnu::noinline]] void read_body(Reader& r, T& out) {
  r.next();
  while (r.number()) {
    BodyReader v{r};
    T::describe(out, v);
    if (r.number() > v.last) r.skip();
    else if (r.number()) r.restart();
  }
}

template <class... Ts>
[[gnu::noinline]] void read_variant(Reader& r, std::variant<Ts...>& out) {
  bool found = false;
  for (r.next(); r.number();) {
    auto take = [&]<class T>(std::type_identity<T>) {
      if (r.number() != T::kNumber) return false;
      read_value(r, out.template emplace<T>());
      return true;
    };
    if ((take(std::type_identity<Ts>{}) || ...)) {
      found = true;
      r.next();
    } else {
      r.skip();
    }
  }
  if (!found) r.fail("of a kind that is not known");
}

// ---- whole values
template <Described T>
void encode(const T& value, std::string& out) {
  Writer w(out);
  write_body(w, value, default_of<T>());
}

template <Described T>
std::string encoded(const T& value) {
  std::string out;
  encode(value, out);
  return out;
}

template <Described T>
Result<> decode(std::string_view bytes, T& out, Allowance allowance) {
  out = T{};
  Reader r(bytes, allowance);
  read_body(r, out);
  return r.error(type_name<T>());
}

}  // namespace muster::wire

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
void read_variant(Reader& reader, std::variant<Ts...>& out);

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
constexpr uint64_t to_wire(T value) {
  if constexpr (std::is_enum_v<T>) {
    static_assert(std::is_unsigned_v<std::underlying_type_t<T>>, "enums on the wire are unsigned");
    return static_cast<uint64_t>(value);
  } else if constexpr (IsStrongId<T>::value) {
    return to_wire(value.value);
  } else if constexpr (std::is_same_v<T, Time>) {
    return zigzag(value.time_since_epoch().count());
  } else if constexpr (std::is_same_v<T, Duration>) {
    return zigzag(value.count());
  } else if constexpr (std::is_signed_v<T>) {
    return zigzag(value);
  } else {
    return value;
  }
}

// False when the number does not fit the type.
template <class T>
constexpr bool from_wire(uint64_t raw, T& out) {
  if constexpr (std::is_same_v<T, bool>) {
    out = raw != 0;
    return true;
  } else if constexpr (std::is_enum_v<T>) {
    std::underlying_type_t<T> v{};
    if (!from_wire(raw, v)) return false;
    out = static_cast<T>(v);
    return true;
  } else if constexpr (IsStrongId<T>::value) {
    return from_wire(raw, out.value);
  } else if constexpr (std::is_same_v<T, Time>) {
    out = Time(Duration(unzigzag(raw)));
    return true;
  } else if constexpr (std::is_same_v<T, Duration>) {
    out = Duration(unzigzag(raw));
    return true;
  } else if constexpr (std::is_signed_v<T>) {
    out = static_cast<T>(unzigzag(raw));
    return out == unzigzag(raw);
  } else {
    out = static_cast<T>(raw);
    return out == raw;
  }
}

template <class T>
const T& default_of() {
  static const T value{};
  return value;
}

// ---- writing
// Writes one field with `value`, whatever it is.
template <class T>
void write_value(Writer& writer, uint32_t number, const T& value) {
  if constexpr (kIsScalar<T>) {
    writer.varint(number, to_wire(value));
  } else if constexpr (std::is_same_v<T, double>) {
    writer.fixed64(number, std::bit_cast<uint64_t>(value));
  } else if constexpr (std::is_same_v<T, std::string>) {
    writer.bytes(number, value);
  } else if constexpr (TextMember<T>) {
    writer.bytes(number, value.text());
  } else if constexpr (std::is_same_v<T, Bitmap>) {
    writer.bitmap(number, value);
  } else if constexpr (IsVariant<T>::value) {
    const size_t body = writer.open(number);
    write_variant(writer, value);
    writer.close(body);
  } else {
    static_assert(Described<T>, "this kind of member has no place on the wire");
    const size_t body = writer.open(number);
    write_body(writer, value, default_of<T>());
    writer.close(body);
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
  [[gnu::always_inline]] void operator()(uint32_t number, const char*, const M& member) const {
    const M& unset = *reinterpret_cast<const M*>(reinterpret_cast<intptr_t>(&member) + to_default);
    if constexpr (kIsScalar<M>) {
      if (member != unset) w.varint(number, to_wire(member));
    } else if constexpr (std::is_same_v<M, double>) {
      if (std::bit_cast<uint64_t>(member) != std::bit_cast<uint64_t>(unset)) w.fixed64(number, std::bit_cast<uint64_t>(member));
    } else if constexpr (std::is_same_v<M, std::string>) {
      if (!member.empty() || !unset.empty()) w.bytes(number, member);
    } else if constexpr (TextMember<M>) {
      if (!member.empty()) w.bytes(number, member.text());
    } else if constexpr (std::is_same_v<M, Bitmap>) {
      if (member.size()) w.bitmap(number, member);
    } else if constexpr (Carried<M>) {
      if (member) write_parts(w, number, member);
    } else if constexpr (!std::is_void_v<typename Pointee<M>::type>) {
      if (member) write_value(w, number, *member);
    } else if constexpr (IsVector<M>::value) {
      if (!member.empty()) write_vector(w, number, member);
    } else if constexpr (IsVariant<M>::value) {
      write_value(w, number, member);
    } else {
      const size_t before = w.size(), body = w.open(number);
      write_body(w, member, unset);
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
void read_value(Reader& reader, T& out) {
  if constexpr (kIsScalar<T>) {
    if (!from_wire(reader.scalar(), out)) reader.fail("a number out of the field's range");
  } else if constexpr (std::is_same_v<T, double>) {
    out = std::bit_cast<double>(reader.fixed64());
  } else if constexpr (std::is_same_v<T, std::string> || TextMember<T>) {
    out = std::string(reader.bytes());
  } else if constexpr (std::is_same_v<T, Bitmap>) {
    reader.bitmap(out);
  } else {
    Reader::Outer outer;
    if (!reader.enter(outer)) return;
    if constexpr (IsVariant<T>::value) read_variant(reader, out);
    else read_body(reader, out);
    reader.leave(outer);
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
void read_element(Reader& reader, std::vector<T>& out) {
  if constexpr (kIsScalar<T>) {
    T value{};
    if (reader.type() != kLength) {  // numbers not packed, as old or foreign writers have it
      if (!make_room(reader, out, 1)) return;
      read_value(reader, value);
      out.push_back(value);
      return;
    }
    Reader::Outer outer;
    if (!reader.enter(outer)) return;
    if (!make_room(reader, out, reader.count_varints())) return reader.leave(outer);
    while (!reader.at_end()) {
      if (!from_wire(reader.varint(), value)) reader.fail("a number out of the field's range");
      if (!reader.failed()) out.push_back(value);
    }
    reader.leave(outer);
  } else {
    if (out.size() == out.capacity() && !make_room(reader, out, reader.count_alike())) return;
    read_value(reader, out.emplace_back());
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
  [[gnu::noinline]] static void take(Reader& reader, uint32_t before, uint32_t number, const char* name, M& member) {
    while (reader.number() > before && reader.number() < number) reader.skip();
    while (reader.number() == number) {
      reader.field = name;
      using P = typename Pointee<M>::type;
      if constexpr (IsVector<M>::value) {
        read_element(reader, member);
      } else if constexpr (std::is_same_v<M, std::optional<P>>) {
        read_value(reader, member.emplace());
      } else if constexpr (!std::is_void_v<P>) {
        reader.charge(sizeof(P));
        if (reader.failed()) return;
        auto fresh = std::make_shared<P>();
        read_value(reader, *fresh);
        member = M(std::move(fresh));
      } else {
        read_value(reader, member);
      }
      if (!reader.failed()) reader.field = name;
      reader.next();
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
[[gnu::noinline]] void read_variant(Reader& reader, std::variant<Ts...>& out) {
  bool found = false;
  for (reader.next(); reader.number();) {
    auto take = [&]<class T>(std::type_identity<T>) {
      if (reader.number() != T::kNumber) return false;
      read_value(reader, out.template emplace<T>());
      return true;
    };
    if ((take(std::type_identity<Ts>{}) || ...)) {
      found = true;
      reader.next();
    } else {
      reader.skip();
    }
  }
  if (!found) reader.fail("of a kind that is not known");
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

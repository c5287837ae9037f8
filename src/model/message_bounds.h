// Bounds on what any message of a client may hold, whatever it asks: the length of each text, the number of entries of each list, enums
// only with values that exist, and times that can be added up. Derived from the descriptions, so that a new field is bounded as soon as
// it is declared. Checked for each request before any other code looks at it; rules on what a request means stand beside its decision
// (request_texts.h). Cost: O(size of the message).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/describe.h"
#include "base/parsed.h"
#include "base/result.h"
#include "base/time.h"

namespace muster {

// The bound of a field, by its name; a field that is not listed may have kMostList bytes and 1024 entries.
size_t most_bytes(std::string_view field);
size_t most_entries(std::string_view field);

namespace bounds_detail {

// Whether the enum has this value: the compiler then prints its name, otherwise a cast.
template <class E, E value>
consteval bool has_name() {
  const std::string_view text = __PRETTY_FUNCTION__;
  const size_t at = text.rfind("value = ") + 8;
  return text[at] != '(';
}

inline constexpr size_t kEnumValues = 32;  // 0 … 31; the enums of messages have far fewer

template <class E, size_t... I>
consteval uint32_t named_values(std::index_sequence<I...>) {
  return (uint32_t{0} | ... | (has_name<E, static_cast<E>(I)>() ? uint32_t{1} << I : 0u));
}

template <class E>
bool known_value(E value) {
  constexpr uint32_t kNamed = named_values<E>(std::make_index_sequence<kEnumValues>());
  static_assert(kNamed != 0);
  const auto number = static_cast<uint64_t>(value);
  return number < kEnumValues && (kNamed >> number & 1u);
}

std::unexpected<Error> too_long(std::string_view field, size_t bytes);
std::unexpected<Error> too_many(std::string_view field, size_t entries);
std::unexpected<Error> no_such_value(std::string_view field, uint64_t value);
// Times from 1970 to the year 10000, or not set: sums of them do not overflow. Spans: none is negative.
Result<> check_time(std::string_view field, Time value);
Result<> check_span(std::string_view field, Duration value);

template <class T>
inline constexpr bool kIsVector = false;
template <class T>
inline constexpr bool kIsVector<std::vector<T>> = true;
template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

template <class T>
Result<> check(const char* field, const T& member) {
  if constexpr (std::is_same_v<T, std::string>) {
    if (member.size() > most_bytes(field)) return too_long(field, member.size());
  } else if constexpr (TextMember<T>) {
    return check(field, member.text());
  } else if constexpr (std::is_enum_v<T>) {
    if (!known_value(member)) return no_such_value(field, static_cast<uint64_t>(member));
  } else if constexpr (kIsVector<T>) {
    if (member.size() > most_entries(field)) return too_many(field, member.size());
    for (const auto& entry : member)
      if (Result<> ok = check(field, entry); !ok) return ok;
  } else if constexpr (std::is_same_v<T, Time>) {
    return check_time(field, member);
  } else if constexpr (std::is_same_v<T, Duration>) {
    return check_span(field, member);
  } else if constexpr (kIsOptional<T>) {
    if (member) return check(field, *member);
  } else if constexpr (Described<T>) {
    Result<> done;
    T::describe(member, [&]<class M>(unsigned, const char* name, const M& m) {
      if (done) done = check(name, m);
    });
    return done;
  }
  return {};
}

}  // namespace bounds_detail

template <class Message>
Result<> check_bounds(const Message& message) {
  return bounds_detail::check("", message);
}

}  // namespace muster

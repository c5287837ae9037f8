// Formatting of log lines without a heavy header: "{}" fields with fmt's format specifications. The number of fields is checked when
// compiling, the rest when a line is made (a wrong specification shows in the line; nothing throws).
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

namespace muster::os {

using LogArg = std::variant<int64_t, uint64_t, double, bool, char, std::string_view>;

template <class T>
LogArg to_log_arg(const T& value) {
  if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, char>) {
    return value;
  } else if constexpr (std::is_enum_v<T> || std::signed_integral<T>) {
    return static_cast<int64_t>(value);
  } else if constexpr (std::unsigned_integral<T>) {
    return static_cast<uint64_t>(value);
  } else if constexpr (std::floating_point<T>) {
    return static_cast<double>(value);
  } else if constexpr (requires { std::string_view(value); }) {
    return std::string_view(value);
  } else {
    return to_log_arg(value.value);  // StrongId
  }
}

namespace log_detail {
// The number of fields in a format text; -1 when it has a brace without its partner.
constexpr int count_fields(std::string_view format) {
  int fields = 0;
  for (size_t index = 0; index < format.size(); ++index) {
    if (format[index] == '{') {
      if (index + 1 < format.size() && format[index + 1] == '{') {
        ++index;
        continue;
      }
      while (index < format.size() && format[index] != '}') ++index;
      if (index == format.size()) return -1;
      ++fields;
    } else if (format[index] == '}') {
      if (index + 1 >= format.size() || format[index + 1] != '}') return -1;
      ++index;
    }
  }
  return fields;
}
void wrong_number_of_fields_in_log_text();  // not constexpr, so that the compiler's error names it
}  // namespace log_detail

template <class... A>
struct LogTextFor {
  std::string_view text;
  template <class S>
  requires std::convertible_to<const S&, std::string_view>
  consteval LogTextFor(const S& s) : text(s) {
    if (log_detail::count_fields(text) != static_cast<int>(sizeof...(A))) log_detail::wrong_number_of_fields_in_log_text();
  }
};
template <class... A>
using LogText = LogTextFor<std::type_identity_t<A>...>;

std::string format_log(std::string_view text, std::span<const LogArg> args);

}  // namespace muster::os

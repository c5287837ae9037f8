// copy_same_fields copies between two described structs every field that both have under the same name and the same type, and a Parsed
// to a text of the same name. A field added to both is thus carried from the day it is written. A field that is computed differently on
// one side is set after the copy.
//
// Which fields those are is found once for each pair of types. same_field_names() lists them, and a test holds that list, so that two
// fields that share a name by accident are noticed. Cost: a call for each such field.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/describe.h"
#include "base/parsed.h"

namespace muster {
namespace same_fields_detail {

struct Copy {
  const char* name;
  intptr_t from, to;  // bytes from the start of each struct
  void (*copy)(const void* from, void* to);
};

template <class F, class T>
void copy_one(const void* from, void* to) {
  if constexpr (TextMember<F> && std::is_same_v<T, std::string>) *static_cast<T*>(to) = static_cast<const F*>(from)->text();
  else *static_cast<T*>(to) = *static_cast<const F*>(from);
}

template <class F, class T>
inline constexpr bool kCarries = std::is_same_v<F, T> || (TextMember<F> && std::is_same_v<T, std::string>);

template <class From, class To>
std::vector<Copy> find_same() {
  std::vector<Copy> out;
  const From from{};
  const To to{};
  auto place = [](const auto& whole, const auto& member) {
    return reinterpret_cast<intptr_t>(&member) - reinterpret_cast<intptr_t>(&whole);
  };
  To::describe(to, [&]<class T>(unsigned, const char* name, const T& target) {
    From::describe(from, [&]<class F>(unsigned, const char* other, const F& source) {
      if constexpr (kCarries<F, T>)
        if (std::string_view(name) == other) out.push_back({name, place(from, source), place(to, target), copy_one<F, T>});
    });
  });
  return out;
}

template <class From, class To>
const std::vector<Copy>& same() {
  static const std::vector<Copy> kFields = find_same<From, To>();
  return kFields;
}

}  // namespace same_fields_detail

template <Described From, Described To>
void copy_same_fields(const From& from, To& to) {
  for (const auto& field : same_fields_detail::same<From, To>())
    field.copy(reinterpret_cast<const char*>(&from) + field.from, reinterpret_cast<char*>(&to) + field.to);
}

// The names of the fields that are copied, as "id state flags", in the order in which To describes them.
template <Described From, Described To>
std::string same_field_names() {
  std::string out;
  for (const auto& field : same_fields_detail::same<From, To>()) out += (out.empty() ? "" : " ") + std::string(field.name);
  return out;
}

}  // namespace muster

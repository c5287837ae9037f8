// copy_same_fields copies between two described structs every field that both have under the same name and the same type, and a Parsed
// to a text of the same name. A field added to both is thus carried from the day it is written. A field that is computed differently on
// one side is set after the copy. Fields of a part that stands apart (base/apart.h) are copied from it, never into one.
//
// Which fields those are is found once for each pair of types. same_field_names() lists them, and a test holds that list, so that two
// fields that share a name by accident are noticed. Cost: a call for each such field.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/apart.h"
#include "base/describe.h"
#include "base/parsed.h"

namespace muster {
namespace same_fields_detail {

// One field: what is copied, and where it stands in each struct. In a part that stands apart, `within` finds the part in its owner.
struct Copy {
  const char* name;
  intptr_t from, to;  // bytes from the start of each struct, or of the part
  void (*copy)(const void* from, void* to);
  intptr_t part = 0;  // bytes from the start of the owner
  const void* (*within)(const void* part) = nullptr;

  const char* owner(const void* whole) const {
    const char* at = static_cast<const char*>(whole);
    return static_cast<const char*>(within ? within(at + part) : at);
  }
  bool same_owner(const Copy& other) const { return within == other.within && part == other.part; }
};

template <class P>
const void* part_within(const void* part) {
  return &**static_cast<const Apart<P>*>(part);
}

inline intptr_t distance(const void* whole, const void* member) {
  return reinterpret_cast<intptr_t>(member) - reinterpret_cast<intptr_t>(whole);
}

template <class F, class T>
void copy_one(const void* from, void* to) {
  if constexpr (TextMember<F> && std::is_same_v<T, std::string>) *static_cast<T*>(to) = static_cast<const F*>(from)->text();
  else *static_cast<T*>(to) = *static_cast<const F*>(from);
}

template <class F, class T>
inline constexpr bool kCarries = std::is_same_v<F, T> || (TextMember<F> && std::is_same_v<T, std::string>);

// Looks through a `From` for the field `name` that can be copied to a T.
template <class From, class T>
struct Finder {
  const From& from;
  const char* name;
  intptr_t to;
  std::vector<Copy>& out;

  template <class F>
  void operator()(unsigned, const char* other, const F& source) const {
    if constexpr (kCarries<F, T>)
      if (std::string_view(name) == other) out.push_back({name, distance(&from, &source), to, copy_one<F, T>});
  }
  template <class P, class F>
  void part(unsigned, const char* other, const Apart<P>& part, F P::*member) const {
    if constexpr (kCarries<F, T>)
      if (std::string_view(name) == other)
        out.push_back({name, distance(&*part, &((*part).*member)), to, copy_one<F, T>, distance(&from, &part), part_within<P>});
  }
};

// Walks the fields of a `To` and finds the source of each.
template <class From, class To>
struct Targets {
  const From& from;
  const To& to;
  std::vector<Copy>& out;

  template <class T>
  void operator()(unsigned, const char* name, const T& target) const {
    From::describe(from, Finder<From, T>{from, name, distance(&to, &target), out});
  }
  // A field of a part has no fixed place in its owner, so nothing is copied there.
  template <class P, class F>
  void part(unsigned, const char*, const Apart<P>&, F P::*) const {}
};

template <class From, class To>
std::vector<Copy> find_same() {
  std::vector<Copy> out;
  const From from{};
  const To to{};
  To::describe(to, Targets<From, To>{from, to, out});
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
  const same_fields_detail::Copy* before = nullptr;
  const char* owner = nullptr;
  for (const auto& field : same_fields_detail::same<From, To>()) {
    if (!before || !field.same_owner(*before)) owner = field.owner(&from);
    before = &field;
    field.copy(owner + field.from, reinterpret_cast<char*>(&to) + field.to);
  }
}

// The names of the fields that are copied, as "id state flags", in the order in which To describes them.
template <Described From, Described To>
std::string same_field_names() {
  std::string out;
  for (const auto& field : same_fields_detail::same<From, To>()) out += (out.empty() ? "" : " ") + std::string(field.name);
  return out;
}

}  // namespace muster

// Setters that many rows share: text, flag, count, memory. For *_rows.cc only.
#pragma once

#include <algorithm>
#include <limits>
#include <string>

#include "base/text.h"
#include "options/job_options.h"

namespace muster::options_detail {

// The option as messages name it: "--ntasks", or the variable of a row that is no option.
inline std::string shown(const Given& g) { return "--" + std::string(g.info->name ? g.info->name : g.env_name); }

inline std::unexpected<Error> bad_number(const Given& g) {
  return fail(Errc::kInvalidReq, "Invalid numeric value \"" + std::string(g.value) + "\" for " + shown(g) + ".");
}
inline std::unexpected<Error> bad_spec(const Given& g, std::string hint = {}) {
  return fail(Errc::kInvalidReq, "Invalid " + shown(g) + " specification", std::move(hint));
}

// Leaves out what strtol accepts before a number: blanks and a plus sign.
inline std::string_view unsigned_text(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  if (text.size() > 1 && text[0] == '+' && text[1] >= '0' && text[1] <= '9') text.remove_prefix(1);
  return text;
}

template <auto Member>
auto& member(JobOptions& o) {
  if constexpr (requires { o.*Member; }) return o.*Member;
  else if constexpr (requires { o.request.*Member; }) return o.request.*Member;
  else return o.step.*Member;
}

template <auto Member>
Result<> set_text(JobOptions& o, const Given& g) {
  member<Member>(o) = std::string(g.value);
  return {};
}
template <auto Member>
Result<> set_flag(JobOptions& o, const Given&) {
  member<Member>(o) = true;
  return {};
}
// Takes a positive whole number.
template <auto Member>
Result<> set_count(JobOptions& o, const Given& g) {
  auto v = parse_number<uint32_t>(unsigned_text(g.value), 1, std::numeric_limits<int32_t>::max());
  if (!v) return bad_number(g);
  member<Member>(o) = *v;
  return {};
}
template <auto Member>
Result<> set_count_or_zero(JobOptions& o, const Given& g) {
  auto v = parse_number<uint32_t>(unsigned_text(g.value), 0, std::numeric_limits<int32_t>::max());
  if (!v) return bad_number(g);
  member<Member>(o) = *v;
  return {};
}
template <auto Member>
Result<> set_memory(JobOptions& o, const Given& g) {
  auto v = parse_mem_mb(g.value);
  if (!v) return bad_spec(g, v.error().text);
  member<Member>(o) = *v;
  return {};
}
// For rows whose status says it all: the parser warns or refuses, and nothing is stored.
inline Result<> set_nothing(JobOptions&, const Given&) { return {}; }

}  // namespace muster::options_detail

// Setters that the query commands share. For query_rows.h and the files that include it.
#pragma once

#include <limits>

#include "base/text.h"
#include "base/time.h"
#include "options/parser_detail.h"
#include "options/query_options.h"

namespace muster::options_detail {

template <class R, auto Member>
Result<> q_text(R& o, const Given& g) {
  o.*Member = std::string(g.value);
  return {};
}
template <class R, auto Member>
Result<> q_flag(R& o, const Given&) {
  o.*Member = true;
  return {};
}
template <class R, auto Member>
Result<> q_list(R& o, const Given& g) {
  (o.*Member).clear();
  for (std::string_view part : split_outside_brackets(g.value)) (o.*Member).emplace_back(trim(part));
  return {};
}
template <class R, auto Member, auto Value>
Result<> q_value(R& o, const Given&) {
  o.*Member = Value;
  return {};
}
template <class R>
Result<> q_nothing(R&, const Given&) {
  return {};
}
template <class R>
Result<> q_verbose(R& o, const Given& g) {
  if (g.source == Source::kEnvironment) o.verbose = parse_number<uint32_t>(g.value, 0, 16).value_or(1);
  else ++o.verbose;
  return {};
}
template <class R, auto Member>
Result<> q_count(R& o, const Given& g) {
  auto v = parse_number<uint32_t>(g.value, 0, std::numeric_limits<int32_t>::max());
  if (!v)
    return fail(Errc::kInvalidReq,
                "Invalid numeric value \"" + std::string(g.value) + "\" for " + (g.info->name ? g.info->name : g.env_name) + ".");
  o.*Member = *v;
  return {};
}
template <class R>
Result<> q_all(R& o, const Given&) {
  o.visibility = Visibility::kAll;
  return {};
}
template <class R>
Result<> q_hide(R& o, const Given&) {
  o.visibility = Visibility::kHide;
  return {};
}
template <class R, DataOutput::Kind Kind>
Result<> q_data(R& o, const Given& g) {
  o.data = {Kind, std::string(g.value)};
  return {};
}
// A length of time in the formats of --time, or in seconds.
template <class R, auto Member>
Result<> q_span(R& o, const Given& g) {
  auto t = parse_time_limit(g.value);
  if (!t || !t->minutes) return fail(Errc::kInvalidReq, "Invalid --" + std::string(g.info->name) + " specification");
  o.*Member = *t->minutes * 60;
  return {};
}

// The N of a refresh every N seconds; squeue and sinfo word the error differently.
template <class R>
Result<> q_iterate(R& o, const Given& g) {
  auto v = parse_number<uint32_t>(g.value, 1, std::numeric_limits<int32_t>::max());
  if (!v)
    return fail(Errc::kInvalidReq,
                (g.command == Command::kSinfo ? "Error: invalid entry for --iterate=" : "--iterate=") + std::string(g.value),
                "expected a number of seconds, at least 1");
  o.iterate_seconds = *v;
  return {};
}

}  // namespace muster::options_detail

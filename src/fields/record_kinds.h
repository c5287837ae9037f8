// The kinds of values (kinds.h) that only records of the accounting database have: sacct prints lengths of time in full, and its documents
// have plain numbers where those of the controller say whether a number is set.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fields/json_parts.h"
#include "fields/kinds.h"
#include "fields/usage_values.h"

namespace muster::fields {

// A point in time, in documents the seconds since 1970; 0: it has not come.
struct RecordTime : Moment {
  static constexpr Shape kShape = Shape::kInteger;
  static void json(Members& m, std::string_view key, Time t, const Environment&) { m.number(key, t == kTimeUnset ? 0 : unix_seconds(t)); }
};

// A length of time: 1-02:03:04, 00:05:00.
struct FullSpan : Span {
  static constexpr Shape kShape = Shape::kInteger;
  static void column(std::string& out, Duration span, const Environment&) { put_span_full(out, span); }
  static void json(Members& m, std::string_view key, Duration span, const Environment&) { m.number(key, to_seconds(span)); }
};
// The same where there may be none.
struct MaybeSpan {
  static constexpr std::string_view kColumnNone = "";
  static constexpr Shape kShape = Shape::kNumber;
  static bool empty(const std::optional<Duration>& span) { return !span; }
  static void column(std::string& out, const std::optional<Duration>& span, const Environment&) { put_span_full(out, *span); }
  static void json(Members& m, std::string_view key, const std::optional<Duration>& span, const Environment&) {
    m.maybe(key, span.has_value(), span ? static_cast<uint64_t>(to_seconds(*span)) : 0);
  }
};
struct FullLimit : Limit {
  static void column(std::string& out, uint32_t min, const Environment&) { put_span_full(out, minutes(min)); }
};

// Time that CPUs worked: 00:02.345.
struct CpuTime {
  static constexpr std::string_view kColumnNone = "";
  static constexpr Shape kShape = Shape::kObject;
  static bool empty(Duration) { return false; }
  static void column(std::string& out, Duration time, const Environment&) { put_cpu_time_exact(time, out); }
  static void json(Members& m, std::string_view key, Duration time, const Environment&) { json_cpu_time(m, key, time); }
};

// A number that may be missing: nothing then.
struct MaybeNumber : Quantity {
  static bool empty(const auto& number) { return !number.has_value(); }
};

// Amounts of TRES in documents: a list of objects.
struct TresList {
  static constexpr Shape kShape = Shape::kObjects;
  static void json(Members& m, std::string_view key, const TresAmounts& tres, const Environment&) { json_tres_list(m, key, tres); }
};

}  // namespace muster::fields

// How values stand in columns. Internal to sql/.
#pragma once

#include <limits>
#include <string>

#include "base/time.h"
#include "sql/connection.h"

namespace muster::sql {

inline constexpr int64_t kNotEnded = std::numeric_limits<int64_t>::max();  // `ended` of what has not
inline constexpr size_t kNameBytes = 255;

inline int64_t number_of(Time t) { return t.time_since_epoch().count(); }
inline Time time_of(int64_t n) { return n == kNotEnded ? kTimeUnset : Time(Duration(n)); }
inline int64_t end_number(Time t) { return t == kTimeUnset ? kNotEnded : number_of(t); }
inline Text name_of(const std::string& s) { return Text{std::string_view(s).substr(0, kNameBytes)}; }
inline int64_t signed_of(uint64_t n) { return static_cast<int64_t>(n); }

}  // namespace muster::sql

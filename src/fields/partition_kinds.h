// The kinds of values (kinds.h) that only partitions have: limits that may be unset, and states.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.h"
#include "fields/kinds.h"
#include "model/partition.h"

namespace muster::fields {

// Whether it may be used: sinfo up and inact, scontrol UP and INACTIVE, documents a list of one word.
struct Availability {
  static constexpr bool kOurs = true;
  static constexpr std::string_view kColumnNone = "", kShownNone = "";
  static constexpr Shape kShape = Shape::kTexts;
  static bool empty(PartitionState) { return false; }
  static void column(std::string& out, PartitionState state, const Environment&) {
    put(out, state == PartitionState::kInactive ? "inact" : to_lower(partition_state_name(state)));
  }
  static void shown(std::string& out, PartitionState state, const Environment&) { put(out, partition_state_name(state)); }
  static void json(Members& m, std::string_view key, PartitionState state, const Environment&) {
    m.words(key, partition_state_name(state));
  }
};

// K, which is Bound or Limit, where nothing may be said; that differs from no bound.
template <class K>
struct IfSaid {
  static constexpr bool kOurs = true;
  static constexpr std::string_view kColumnNone = "n/a", kShownNone = "NONE";
  static constexpr Shape kShape = Shape::kNumber;
  static bool empty(std::optional<uint32_t> most) { return !most; }
  static void column(std::string& out, std::optional<uint32_t> most, const Environment& env) {
    if (K::empty(*most)) out += "infinite";
    else K::column(out, *most, env);
  }
  static void shown(std::string& out, std::optional<uint32_t> most, const Environment& env) {
    if (K::empty(*most)) out += K::kShownNone;
    else K::shown(out, *most, env);
  }
  static void json(Members& m, std::string_view key, std::optional<uint32_t> most, const Environment& env) {
    if (most) K::json(m, key, *most, env);
    else m.maybe(key, false, 0);
  }
};

// Memory in MiB, if a limit of it is set, without a unit.
struct MbIfSet : Quantity {
  static constexpr std::string_view kShownNone = "UNLIMITED";
  static bool empty(const std::optional<uint64_t>& mb) { return !mb; }
};
// The same where 0 stands for no limit, too.
struct MbOrUnlimited : MbIfSet {
  static bool empty(const std::optional<uint64_t>& mb) { return !mb || *mb == 0; }
};

}  // namespace muster::fields

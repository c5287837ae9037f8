// The kinds of values (kinds.h) that only documents of sacctmgr have: limits, amounts of TRES with the numbers that the database gave them,
// who coordinates what, associations in short. Columns of these values are written by hand (entity_columns.cc).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fields/kinds.h"
#include "fields/record_kinds.h"
#include "model/accounts.h"

namespace muster::fields {

// A limit; without one there is no bound.
struct LimitCount {
  static constexpr Shape kShape = Shape::kNumber;
  static void json(Members& m, std::string_view key, std::optional<uint64_t> limit, const Environment&) {
    m.maybe(key, limit.has_value(), limit.value_or(0), !limit);
  }
};
// A number that may not be set.
struct MaybeCount {
  static constexpr Shape kShape = Shape::kNumber;
  static void json(Members& m, std::string_view key, std::optional<uint64_t> number, const Environment&) {
    m.maybe(key, number.has_value(), number.value_or(0));
  }
};
// The same with a fraction.
struct MaybeReal {
  static constexpr Shape kShape = Shape::kNumber;
  static void json(Members& m, std::string_view key, std::optional<double> number, const Environment&);
};

// The limits of a kind, one for each TRES, as a list of objects. `known` may be null: numbers that are not fixed are 0 then.
struct TresLimits {
  const std::vector<::muster::Limit>* limits = nullptr;
  LimitKind kind{};
  const std::vector<TresRecord>* known = nullptr;
};
struct LimitTres {
  static constexpr Shape kShape = Shape::kObjects;
  static void json(Members& m, std::string_view key, const TresLimits& limits, const Environment&);
};
struct KnownAmounts {
  const TresAmounts* amounts = nullptr;
  const std::vector<TresRecord>* known = nullptr;
};
struct AmountsTres {
  static constexpr Shape kShape = Shape::kObjects;
  static void json(Members& m, std::string_view key, const KnownAmounts& amounts, const Environment&);
};

// Names of users or accounts as [{"name", "direct"}]: all of them were named themselves.
struct Coordination {
  static constexpr Shape kShape = Shape::kObjects;
  static void json(Members& m, std::string_view key, const std::vector<std::string>& names, const Environment&);
};

// Associations as [{"account", "cluster", "partition", "user", "id"}].
using Associations = std::vector<const AssociationRecord*>;
struct ShortAssociations {
  static constexpr Shape kShape = Shape::kObjects;
  static void json(Members& m, std::string_view key, const Associations& associations, const Environment&);
};
// One of them alone; null: its members are empty.
struct ShortAssociation {
  static constexpr Shape kShape = Shape::kObject;
  static void json(Members& m, std::string_view key, const AssociationRecord* association, const Environment&);
};

// A list that holds nothing.
struct NoObjects {
  static constexpr Shape kShape = Shape::kObjects;
  static void json(Members& m, std::string_view key, std::string_view, const Environment&) { m.list(key, {}); }
};

}  // namespace muster::fields

// --extra where SchedulerParameters=extra_constraints is set: what a job wants a node's Extra to say. Guide extra_constraints.
//
//   load<0.5                a key, a comparison (= != < <= > >=), a value
//   (a=1&b=2)|c=foobar      & and , both mean and, | means or; a level of parentheses has one kind of operator
//
// Blanks and quotes are part of keys and values. Characters that operators are made of, and parentheses, never are.
//
// How a value is compared is up to what the node's Extra has for the key:
//   a number    with numbers; two are equal where they differ by less than 0.00001
//   a boolean   with true, false and numbers, of which 0 is false; false < true
//   a string    with the value as it is written, byte by byte
// The guide does not say what holds of a value that is none of these, and of a key that the node does not have. Here the first is unequal to
// what the node says, and neither less nor more; of the second no comparison holds, not even !=: a node has to say what a job asks for.
//
// Texts come from users: at most 4096 bytes, 32 comparisons, 32 levels of parentheses, so that evaluation, which goes down level by level,
// needs little stack. Errors: Errc::kInvalidExtra with a hint that says what is wrong and where. Cost: O(text), and of an evaluation
// O(comparisons x log keys).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/node_extra.h"

namespace muster {

struct ExtraComparison {
  enum class Op : uint8_t { kEqual, kUnequal, kLess, kAtMost, kMore, kAtLeast };
  std::string key, value;
  Op op = Op::kEqual;
  std::optional<double> number;  // of the value, where it is one
  bool operator==(const ExtraComparison&) const = default;
};

struct ExtraExpr {
  enum class Op : uint8_t { kCompare, kAnd, kOr };
  Op op = Op::kCompare;
  ExtraComparison compare;      // of kCompare
  std::vector<ExtraExpr> args;  // of the others
  bool operator==(const ExtraExpr&) const = default;
};

struct ExtraConstraint {
  std::vector<ExtraExpr> wanted;  // none or one: any node will do
  bool empty() const { return wanted.empty(); }
  bool met_by(const NodeExtra& node) const;

  bool operator==(const ExtraConstraint&) const = default;
  static Result<ExtraConstraint> parse(std::string_view text);
};

}  // namespace muster

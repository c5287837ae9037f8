// --constraint: the expression over node features, parsed once, evaluated against an index feature -> nodes.
//
//   a&b|c        strictly left to right, no precedence; parentheses group
//   a*4          at least four of the nodes have a
//   [a*2&b*4]    multiple counts       [a|b|c]   matching OR: all nodes from one alternative
//
// At most one bracket group. A bracket may follow or precede other terms joined with &.
// sbatch(1) --constraint. Errors: Errc::kInvalidFeature with a hint that names the piece. Cost: O(text),
// depth bounded.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bitmap.h"
#include "base/result.h"

namespace muster {

struct FeatureExpr {
  enum class Op : uint8_t { kName, kAnd, kOr };
  Op op = Op::kName;
  std::string name;
  std::vector<FeatureExpr> args;  // two, of kAnd and kOr
  bool operator==(const FeatureExpr&) const = default;
};

struct FeatureCount {
  FeatureExpr expr;
  uint32_t count = 0;
  bool operator==(const FeatureCount&) const = default;
};

struct FeatureConstraint {
  std::vector<FeatureExpr> base;      // none or one: every node
  std::vector<FeatureExpr> matching;  // every node from one and the same of these
  std::vector<FeatureCount> counts;   // so many nodes of each
  std::vector<std::string> names;     // all that are mentioned, sorted
  bool empty() const { return base.empty() && matching.empty() && counts.empty(); }

  bool operator==(const FeatureConstraint&) const = default;
  static Result<FeatureConstraint> parse(std::string_view text);
};

using FeatureIndex = std::function<const Bitmap*(const std::string&)>;  // null: no node has it
Bitmap eval_features(const FeatureExpr& expr, const FeatureIndex& index);
// Whether a single node with these features satisfies the expression.
bool has_features(const FeatureExpr& expr, const std::vector<std::string>& features);

}  // namespace muster

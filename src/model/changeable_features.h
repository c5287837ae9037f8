// ChangeableFeatures: features of nodes that a boot can change (helpers.conf(5), NodeFeaturesPlugins=node_features/helpers). Which sets of
// them a --constraint can be met by, which of them exclude each other, who may have nodes rebooted for them, and what a node has of them.
// sbatch(1) --constraint. Cost: O(features of the expression), and of its alternatives, which are bounded.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/feature_constraint.h"
#include "model/node.h"

namespace muster {

using FeatureList = std::vector<std::string>;

struct ChangeableFeatures {
  std::set<std::string, std::less<>> names;  // all that some node's helpers change
  std::vector<FeatureList> exclusive;        // of each list a node has one at most
  std::set<std::string, std::less<>> users;  // who may have nodes rebooted; empty: everybody

  bool has(std::string_view name) const { return names.contains(name); }
  bool any_of(const FeatureConstraint& wanted) const;
  bool may_boot(std::string_view user) const { return users.empty() || users.contains(user); }
  // Whether no list of `exclusive` has two of these.
  bool agree(const FeatureList& features) const;
  // Those of `features` that are changeable, and those that are not.
  FeatureList only(const FeatureList& features) const;
  FeatureList without(const FeatureList& features) const;
  // What is active once `wanted` are: of lists that exclude one of them the others are gone.
  FeatureList after(const FeatureList& active, const FeatureList& wanted) const;
  bool operator==(const ChangeableFeatures&) const = default;
};
using ChangeableFeaturesPtr = std::shared_ptr<const ChangeableFeatures>;

// The sets of features of which every node of the job has to have one and the same, in the order of the text: each | opens another. Sets
// that MutuallyExclusive rules out are left out. The error names the rule: brackets and counts cannot be asked for along with changeable
// features, the sets are bounded, and one has to be left.
Result<std::vector<FeatureList>> feature_sets(const FeatureConstraint& wanted, const ChangeableFeatures& changeable);

// What the node can have: as configured, and what its helpers change.
FeatureList available_features(const Node& node);
// What a helper printed: a feature a line, or several with commas.
FeatureList features_printed(std::string_view text);
bool contains_all(const FeatureList& all, const FeatureList& some);

}  // namespace muster

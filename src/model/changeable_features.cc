#include "model/changeable_features.h"

#include <algorithm>

#include "base/text.h"

namespace muster {
namespace {

constexpr size_t kMostSets = 256;
using Sets = std::vector<FeatureList>;

bool is_in(const FeatureList& list, const std::string& name) { return std::ranges::find(list, name) != list.end(); }

void add_missing(FeatureList& list, const FeatureList& more) {
  for (const std::string& name : more)
    if (!is_in(list, name)) list.push_back(name);
}

std::unexpected<Error> too_many() {
  return fail(Errc::kInvalidFeature, {},
              "--constraint can be met in more than " + std::to_string(kMostSets) + " ways, too many with features that a reboot changes");
}

Result<Sets> sets_of(const FeatureExpr& expr) {
  if (expr.op == FeatureExpr::Op::kName) return Sets{{expr.name}};
  MUSTER_TRY(left, sets_of(expr.args[0]));
  MUSTER_TRY(right, sets_of(expr.args[1]));
  if (expr.op == FeatureExpr::Op::kOr) {
    if (left.size() + right.size() > kMostSets) return too_many();
    left.insert(left.end(), right.begin(), right.end());
    return left;
  }
  if (left.size() * right.size() > kMostSets) return too_many();
  Sets both;
  for (const FeatureList& a : left)
    for (const FeatureList& b : right) add_missing(both.emplace_back(a), b);
  return both;
}

}  // namespace

bool contains_all(const FeatureList& all, const FeatureList& some) {
  return std::ranges::all_of(some, [&](const std::string& name) { return is_in(all, name); });
}

bool ChangeableFeatures::any_of(const FeatureConstraint& wanted) const {
  return std::ranges::any_of(wanted.names, [&](const std::string& name) { return has(name); });
}

bool ChangeableFeatures::agree(const FeatureList& features) const {
  return std::ranges::none_of(exclusive, [&](const FeatureList& list) {
    return std::ranges::count_if(list, [&](const std::string& name) { return is_in(features, name); }) > 1;
  });
}

FeatureList ChangeableFeatures::only(const FeatureList& features) const {
  FeatureList out;
  std::ranges::copy_if(features, std::back_inserter(out), [&](const std::string& name) { return has(name); });
  return out;
}

FeatureList ChangeableFeatures::without(const FeatureList& features) const {
  FeatureList out;
  std::ranges::copy_if(features, std::back_inserter(out), [&](const std::string& name) { return !has(name); });
  return out;
}

FeatureList ChangeableFeatures::after(const FeatureList& active, const FeatureList& wanted) const {
  FeatureList out;
  for (const std::string& name : active)
    if (agree([&] {
          FeatureList both = wanted;
          add_missing(both, {name});
          return both;
        }()))
      out.push_back(name);
  add_missing(out, wanted);
  return out;
}

Result<std::vector<FeatureList>> feature_sets(const FeatureConstraint& wanted, const ChangeableFeatures& changeable) {
  const std::string asked = join(changeable.only(wanted.names), ",");
  if (!wanted.matching.empty() || !wanted.counts.empty())
    return fail(Errc::kInvalidFeature, {},
                "--constraint takes no brackets and no counts together with features that a reboot changes (" + asked +
                    "); with | between them all nodes have the same features");
  if (wanted.base.empty()) return Sets{};
  MUSTER_TRY(sets, sets_of(wanted.base.front()));
  std::erase_if(sets, [&](const FeatureList& set) { return !changeable.agree(set); });
  if (sets.empty())
    return fail(Errc::kInvalidFeature, {},
                "--constraint asks for features that exclude each other (MutuallyExclusive of helpers.conf): " + asked);
  return sets;
}

FeatureList features_printed(std::string_view text) {
  FeatureList out;
  for (std::string_view line : split(text, '\n'))
    for (std::string_view word : split(line, ','))
      if (std::string_view name = trim(word); !name.empty()) out.emplace_back(name);
  return out;
}

FeatureList available_features(const Node& node) {
  FeatureList out = node.spec->features;
  if (node.hardware) add_missing(out, node.hardware->changeable);
  return out;
}

}  // namespace muster

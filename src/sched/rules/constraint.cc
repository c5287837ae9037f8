// --constraint: features of nodes, wanted of each node or of all together. --prefer is the same, dropped where it cannot be had now. How
// both are written: model/feature_constraint.h.
#include <algorithm>

#include "sched/rules/choices.h"
#include "sched/rules/node_rules.h"

namespace muster::sched {
namespace {

void narrow(const ClassQuestion& q) {
  RequestClass& c = q.asked;
  const FeatureIndex features = [&](const std::string& name) { return q.nodes.feature(name); };
  c.alternatives.clear();
  c.counts.clear();
  for (const FeatureExpr& e : c.shape.features.base) c.feasible &= eval_features(e, features);
  // resolve() cuts both down to the class's nodes once these are known.
  for (const FeatureExpr& e : c.shape.features.matching) c.alternatives.push_back(eval_features(e, features));
  for (const FeatureCount& count : c.shape.features.counts) c.counts.push_back({eval_features(count.expr, features), count.count});
}

void sort_out(const CensusQuestion& q, const Bitmap& left) {
  (left - q.with_features).for_each([&](size_t id) { q.out(NodeCause::kFeatures, static_cast<uint32_t>(id)); });
}

Result<> ever(const NamesQuestion& q) {
  for (const FeatureConstraint* f : {&q.shape.features, &q.shape.prefer}) {
    const bool preferred = f == &q.shape.prefer;
    if (preferred ? q.params.unknown_prefer_ok : q.params.unknown_features_wait) continue;
    for (const std::string& name : f->names)
      if (!q.nodes.feature(name))
        return fail(preferred ? Errc::kInvalidPrefer : Errc::kInvalidFeature, {},
                    "no node has the feature \"" + name + "\"" + choice_of(features_there(q.cluster), name));
  }
  return {};
}

std::string together(const Shape& s) {
  if (s.features.counts.empty() && s.features.matching.empty()) return {};
  return "the free nodes do not make up what --constraint asks for together";
}

}  // namespace

constinit const NodeRule kConstraint{
    .name = "--constraint", .narrow = narrow, .lacking = " lack the features,", .sort_out = sort_out, .ever = ever, .together = together};

}  // namespace muster::sched

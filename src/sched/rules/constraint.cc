// --constraint: features of nodes, wanted of each node or of all together. --prefer is the same, dropped where it cannot be had now. How
// both are written: model/feature_constraint.h. Features that a reboot changes: of the sets that would do, all nodes of a job get the same.
#include <algorithm>

#include "sched/rules/choices.h"
#include "sched/rules/node_rules.h"

namespace muster::sched {
namespace {

// Whether that was it: with changeable features, each set that would do is one alternative. Nodes that could have it count, too, unless the
// job takes nodes as they are. A text that was right when the job came and is not by the files of today asks for what is there.
bool narrow_by_sets(const ClassQuestion& question) {
  RequestClass& asked = question.asked;
  const ChangeableFeatures* changeable = question.nodes.changeable();
  if (!changeable || !changeable->any_of(asked.shape.features)) return false;
  const auto sets = feature_sets(asked.shape.features, *changeable);
  if (!sets) return false;
  const bool as_they_are = asked.shape.nodes_as_they_are && !question.nodes.ideal();
  Bitmap any(question.nodes.size());
  for (const FeatureList& set : *sets) {
    Bitmap with = asked.feasible;
    for (const std::string& name : set) {
      const Bitmap* active = question.nodes.feature(name);
      if (!as_they_are) with &= question.nodes.could_have(name);
      else with &= active ? *active : Bitmap();
    }
    any |= with;
    asked.alternatives.push_back(std::move(with));
  }
  asked.feasible &= any;
  return true;
}

void narrow(const ClassQuestion& q) {
  RequestClass& c = q.asked;
  const FeatureIndex features = [&](const std::string& name) { return q.nodes.feature(name); };
  c.alternatives.clear();
  c.counts.clear();
  if (narrow_by_sets(q)) return;
  for (const FeatureExpr& e : c.shape.features.base) c.feasible &= eval_features(e, features);
  // resolve() cuts both down to the class's nodes once these are known.
  for (const FeatureExpr& e : c.shape.features.matching) c.alternatives.push_back(eval_features(e, features));
  for (const FeatureCount& count : c.shape.features.counts) c.counts.push_back({eval_features(count.expr, features), count.count});
}

void sort_out(const CensusQuestion& q, const Bitmap& left) {
  (left - q.with_features).for_each([&](size_t id) { q.out(NodeCause::kFeatures, static_cast<uint32_t>(id)); });
}

Result<> ever(const NamesQuestion& question) {
  for (const FeatureConstraint* wanted : {&question.shape.features, &question.shape.prefer}) {
    const bool preferred = wanted == &question.shape.prefer;
    if (preferred ? question.params.unknown_prefer_ok : question.params.unknown_features_wait) continue;
    for (const std::string& name : wanted->names)
      if (question.nodes.could_have(name).none())
        return fail(preferred ? Errc::kInvalidPrefer : Errc::kInvalidFeature, {},
                    "no node has the feature \"" + name + "\"" + choice_of(features_there(question.cluster), name));
  }
  const ChangeableFeatures* changeable = question.nodes.changeable();
  if (!changeable || !changeable->any_of(question.shape.features)) return {};
  if (auto sets = feature_sets(question.shape.features, *changeable); !sets) return std::unexpected(sets.error());
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

#include "slurmctld/core/feature_boots.h"

#include <algorithm>

#include "base/text.h"

namespace muster::slurmctld {
namespace {

constexpr std::string_view kNotActive = "features not active after the boot: ";

const ChangeableFeatures* changeable_of(const View& view) { return view.settings.sched.changeable.get(); }

const Node& node_of(const View& view, const NodeShare& share) { return view.cluster.nodes.at(share.node.value); }

bool is_free(const Node& node) { return !node.has_jobs() && !(node.flags & (kNodePoweringUp | kNodeRebootIssued)); }

bool meets(const FeatureConstraint& wanted, const FeatureList& active) {
  const auto has = [&](const FeatureExpr& expr) { return has_features(expr, active); };
  return std::ranges::all_of(wanted.base, has) && (wanted.matching.empty() || std::ranges::any_of(wanted.matching, has));
}

// The changeable features that all its nodes get: those of the first set that they have; else of the first that they can have after a boot.
// None: nothing has to change.
class Choice {
 public:
  Choice(const View& view, const Job& job, const Allocation& allocation) : view_(view), job_(job), allocation_(allocation) {}

  Result<FeatureList> run() const {
    const ChangeableFeatures* changeable = changeable_of(view_);
    const FeatureConstraint& wanted = job_.request->features.value();
    if (!changeable || !changeable->any_of(wanted) || was_preferred()) return FeatureList{};
    const auto sets = feature_sets(wanted, *changeable);
    if (!sets || shared_by_all(*sets)) return FeatureList{};
    if (!changeable->may_boot(job_.request->user_name)) return gone();
    for (const FeatureList& set : *sets) {
      const FeatureList brought = changeable->only(set);
      const bool can = all([&](const Node& node) {
        if (contains_all(node.features_active, set)) return true;
        return is_free(node) && contains_all(available_features(node), brought) &&
               contains_all(changeable->after(node.features_active, brought), set);
      });
      if (can) return brought;
    }
    return gone();
  }

 private:
  template <class F>
  bool all(F&& holds) const {
    return std::ranges::all_of(allocation_.nodes, [&](const NodeShare& share) { return holds(node_of(view_, share)); });
  }
  bool shared_by_all(const std::vector<FeatureList>& sets) const {
    return std::ranges::any_of(
        sets, [&](const FeatureList& set) { return all([&](const Node& node) { return contains_all(node.features_active, set); }); });
  }
  // Placed by --prefer, which changes nothing.
  bool was_preferred() const {
    const FeatureConstraint& prefer = job_.request->prefer.value();
    return !prefer.empty() && all([&](const Node& node) { return meets(prefer, node.features_active); });
  }
  static std::unexpected<Error> gone() { return fail(Errc::kNodesBusy, {}, "its nodes no longer have the features that it asks for"); }

  const View& view_;
  const Job& job_;
  const Allocation& allocation_;
};

void reboot_for(const View& view, const Job& job, const Node& node, const FeatureList& features, Events& out) {
  event::NodeStateChanged change = state_of(node, view.now);
  change.flags = (change.flags & ~kNodeRebootRequested) | kNodeRebootIssued;
  change.reboot_issued = view.now;
  change.resume_deadline = resume_deadline(view, node);
  if (!features.empty()) change.resume_deadline = std::max(change.resume_deadline, view.now + view.settings.loaded->helpers.boot_time);
  change.boot_features = features;
  change.power_action.clear();
  if (change.reason.empty()) {
    change.reason = "rebooted for job " + std::to_string(job.id.value);
    change.by = view.settings.slurm_user;
    change.time = view.now;
  }
  change.reason += " : reboot issued";
  change.run = event::PowerProgram::kReboot;
  out.push_back(std::move(change));
}

}  // namespace

event::NodeUpdated attributes_of(const Node& node) {
  return {node.id, node.weight, node.features_active, node.comment, node.extra, node.instance_id, node.instance_type, node.topology};
}

Result<bool> boot_for_job(const View& view, const Job& job, const Allocation& allocation, Events& out) {
  MUSTER_TRY(wanted, Choice(view, job, allocation).run());
  const bool reboot = job.request->reboot && !view.settings.config().reboot_program.empty();  // else ignored, as documented
  if (wanted.empty() && !reboot) return false;
  bool any = false;
  for (const NodeShare& share : allocation.nodes) {
    const Node& node = node_of(view, share);
    if (!reboot && contains_all(node.features_active, wanted)) continue;
    if (!is_free(node)) return fail(Errc::kNodesBusy, {}, "node " + node.spec->name + " has to be rebooted and is in use");
    any = true;
    if (!(node.flags & kNodePoweredDown)) {
      reboot_for(view, job, node, wanted, out);
      continue;
    }
    if (contains_all(node.features_active, wanted)) continue;
    event::NodeUpdated change = attributes_of(node);
    change.features_active = changeable_of(view)->after(node.features_active, wanted);
    out.push_back(std::move(change));
  }
  return any;
}

NodeHardware known_features(const View& view, const NodeHardware& told) {
  NodeHardware known = told;
  const ChangeableFeatures* changeable = changeable_of(view);
  known.changeable = changeable ? changeable->only(told.changeable) : FeatureList{};
  known.changeable_active = changeable ? changeable->only(told.changeable_active) : FeatureList{};
  known.changeable_told = changeable ? changeable->only(told.changeable_told) : FeatureList{};
  return known;
}

FeaturesFound features_found(const View& view, const Node& node, const node_rpc::Register& report, bool booted) {
  const ChangeableFeatures* changeable = changeable_of(view);
  if (!changeable) return {node.features_active, {}};
  FeaturesFound found{node.features_active, report.fault};
  const FeatureList came_up = (node.flags & kNodePoweringUp) ? changeable->only(node.features_active) : FeatureList{};
  const FeatureList& wanted = booted ? node.boot_features : came_up;
  const FeatureList told = changeable->only(report.hardware.changeable_told), active = changeable->only(report.hardware.changeable_active);
  if (booted && report.fault.empty()) found.active = changeable->after(found.active, wanted);
  std::erase_if(found.active, [&](const std::string& name) { return contains_all(told, {name}) && !contains_all(active, {name}); });
  for (const std::string& name : active)
    if (!contains_all(found.active, {name})) found.active.push_back(name);
  if (!found.fault.empty() || contains_all(found.active, wanted)) return found;
  FeatureList missing;
  std::ranges::copy_if(wanted, std::back_inserter(missing), [&](const std::string& name) { return !contains_all(found.active, {name}); });
  found.fault = std::string(kNotActive) + join(missing, ",");
  return found;
}

void forget_features(const View& view, const Node& node, Events& out) {
  const ChangeableFeatures* changeable = changeable_of(view);
  if (!changeable || changeable->only(node.features_active).empty()) return;
  event::NodeUpdated change = attributes_of(node);
  change.features_active = changeable->without(node.features_active);
  out.push_back(std::move(change));
}

FeatureList features_configured(const View& view, const Node* known, const NodeSpec& spec) {
  const ChangeableFeatures* changeable = changeable_of(view);
  if (!changeable) return spec.features;
  FeatureList active = changeable->without(spec.features);
  if (!known) return active;
  for (const std::string& name : changeable->only(known->features_active))
    if (contains_all(available_features(*known), {name}) || contains_all(spec.features, {name})) active.push_back(name);
  return active;
}

}  // namespace muster::slurmctld

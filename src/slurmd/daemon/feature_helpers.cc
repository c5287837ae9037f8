#include "slurmd/daemon/feature_helpers.h"

#include <algorithm>

#include "base/text.h"
#include "slurmd/daemon/node_checks.h"

namespace muster::slurmd {

void FeatureHelpers::ask(std::function<void()> then) {
  std::vector<std::string> programs = setup_.loaded->helpers.programs_of(setup_.node);
  std::ranges::reverse(programs);
  ask_next(std::move(programs), std::make_shared<Answer>(), std::move(then));
}

void FeatureHelpers::ask_next(std::vector<std::string> left, const std::shared_ptr<Answer>& answer, std::function<void()> then) {
  if (left.empty()) {
    now_ = std::move(*answer);
    return then();
  }
  const std::string program = std::move(left.back());
  left.pop_back();
  programs_.run_and_read(
      site::ProgramCall(program), node_environment(setup_), setup_.loaded->helpers.exec_time,
      [this, program, answer, left = std::move(left), then = std::move(then)](const std::string& error, const std::string& output) {
        learn(program, error, output, *answer);
        ask_next(left, answer, then);
      });
}

// Of what it prints the features of this node count; what it does not mention of its own is not active.
void FeatureHelpers::learn(const std::string& program, const std::string& error, const std::string& output, Answer& answer) {
  const config::HelpersConf& conf = setup_.loaded->helpers;
  const bool cut = output.size() >= site::Programs::kOutputKept;
  if (!error.empty() || cut) {
    const std::string why = cut ? program + ": prints more than " + std::to_string(site::Programs::kOutputKept) + " characters" : error;
    log_.error("node features: {}", why);
    if (answer.fault.empty()) answer.fault = "node features: " + why;
    return;
  }
  const FeatureList printed = features_printed(output);
  if (printed.empty()) return;
  for (const std::string& name : conf.features_of(setup_.node)) {
    const bool active = contains_all(printed, {name});
    if (active && !contains_all(answer.active, {name})) answer.active.push_back(name);
    const bool of_this = conf.find(setup_.node, name)->program == program;
    if ((of_this || active) && !contains_all(answer.told, {name})) answer.told.push_back(name);
  }
}

void FeatureHelpers::bring(const FeatureList& features, std::function<void(std::string)> then) {
  if (bringing_) return;
  bringing_ = true;
  FeatureList left = features;
  std::ranges::reverse(left);
  bring_next(std::move(left), [this, then = std::move(then)](const std::string& error) {
    bringing_ = false;
    if (!error.empty()) now_.fault = "node features: " + error;
    then(error);
  });
}

void FeatureHelpers::bring_next(FeatureList left, std::function<void(std::string)> then) {
  if (left.empty()) return then("");
  const std::string feature = std::move(left.back());
  left.pop_back();
  const config::FeatureHelper* helper = setup_.loaded->helpers.find(setup_.node, feature);
  if (!helper) return then("helpers.conf of this node has no Feature \"" + feature + "\"");
  log_.info("node features: {} {}", helper->program, feature);
  programs_.run_and_read(site::ProgramCall(helper->program, {feature}), node_environment(setup_), setup_.loaded->helpers.exec_time,
                         [this, left = std::move(left), then = std::move(then)](const std::string& error, const std::string&) {
                           if (!error.empty()) {
                             log_.error("node features: {}", error);
                             return then(error);
                           }
                           bring_next(left, then);
                         });
}

bool FeatureHelpers::rebootless(const FeatureList& features) const {
  return !features.empty() && std::ranges::all_of(features, [&](const std::string& name) {
    const config::FeatureHelper* helper = setup_.loaded->helpers.find(setup_.node, name);
    return helper && helper->rebootless;
  });
}

void FeatureHelpers::tell(node_rpc::Register& registration) const {
  registration.hardware.changeable = setup_.loaded->helpers.features_of(setup_.node);
  registration.hardware.changeable_told = now_.told;
  registration.hardware.changeable_active = now_.active;
  registration.fault = now_.fault;
  if (booted_ != kTimeUnset) registration.hardware.boot_time = booted_;
}

}  // namespace muster::slurmd

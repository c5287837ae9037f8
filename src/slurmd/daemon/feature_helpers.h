// FeatureHelpers: runs the programs of helpers.conf on this node: without an argument they say which features are active, with one they see
// to it that this feature is active after the next boot. Each has ExecTime. They run as slurmd does; what they are told is a feature that this
// node's helpers.conf lists, as one argument and past no shell. Lives on the loop's thread. helpers.conf(5).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "os/log.h"
#include "site/programs.h"
#include "slurmd/daemon/setup.h"

namespace muster::slurmd {

class FeatureHelpers {
 public:
  FeatureHelpers(os::Log& log, const Setup& setup, site::Programs& programs) : log_(log), setup_(setup), programs_(programs) {}

  void ask(std::function<void()> then);
  // `then` gets "", or what went wrong with the first that failed; the rest is not tried. Ignored while the same is under way.
  void bring(const FeatureList& features, std::function<void(std::string error)> then);
  // Whether a node that gets these need not reboot.
  bool rebootless(const FeatureList& features) const;
  void tell(node_rpc::Register& registration) const;
  void note_boot(Time now) { booted_ = now; }  // as good as one

 private:
  struct Answer {
    FeatureList told, active;  // features whose helpers said something; those that are active
    std::string fault;
  };
  void ask_next(std::vector<std::string> left, const std::shared_ptr<Answer>& answer, std::function<void()> then);
  void bring_next(FeatureList left, std::function<void(std::string)> then);
  void learn(const std::string& program, const std::string& error, const std::string& output, Answer& answer);

  os::Log& log_;
  const Setup& setup_;
  site::Programs& programs_;
  Answer now_;
  Time booted_{};
  bool bringing_ = false;
};

}  // namespace muster::slurmd

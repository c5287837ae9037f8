// SPANK on a node: which plugins the next step gets, the plugins of slurmd itself, and what runs beside Prolog and Epilog.
// plugstack.conf is read again for each of them; plugins of slurmd itself stay as they were at its start (spank(8)).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "os/log.h"
#include "plugin/spank/plugstack.h"
#include "plugin/spank/stack.h"
#include "site/programs.h"
#include "slurmd/daemon/setup.h"

namespace muster::slurmd {

// plugstack.conf as it is now. Errors: read_plugstack.
Result<spank::Plugstack> plugstack_of(const Setup& setup);

// Puts the plugins into the launch, if there are any. Errors: read_plugstack (kConfig, the node's fault).
Result<> add_spank(const Setup& setup, const node_rpc::JobOnNode& job, step_rpc::StepdLaunch& launch);
Result<> add_spank(const Setup& setup, const rpc::StepCredential& credential, size_t node_index, const StepRequest& request,
                   step_rpc::StepdLaunch& launch);

class NodePlugins {
 public:
  explicit NodePlugins(os::Log& log) : log_(log) {}
  ~NodePlugins();
  // Loads slurmd's own plugins and calls their init. Errors: plugstack.conf, or a required plugin.
  Result<> start(const Setup& setup);
  // The process that calls the plugins' prolog or epilog, for jobs from now on; nullopt where no plugin has one.
  std::optional<site::ProgramCall> job_script(const Setup& setup, spank::Callback callback) const;

 private:
  os::Log& log_;
  std::vector<step_rpc::SpankPlugin> loaded_;
  std::unique_ptr<spank::Stack> stack_;
};

}  // namespace muster::slurmd

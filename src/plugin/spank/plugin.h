// One loaded plugin: its callbacks, name and table of options.
#pragma once

#include <slurm/spank.h>

#include <array>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/step_rpc.h"
#include "plugin/spank/callback.h"

namespace muster::spank {

class Plugin {
 public:
  // Errors: not an object that can be loaded, not a SPANK plugin. Functions that the plugin calls are looked up when it calls them. It
  // stays loaded to the end of the process: what it started may still need it.
  static Result<Plugin> load(const step_rpc::SpankPlugin& from);

  spank_f* callback(Callback c) const { return callbacks_[static_cast<size_t>(c)]; }
  const std::string& name() const { return name_; }  // "pyxis"
  const std::string& file() const { return file_; }  // "spank_pyxis.so"
  bool required() const { return required_; }
  spank_option* option_table() const { return table_; }  // may be null
  bool blames_job() const { return failure_mode_ == ESPANK_JOB_FAILURE; }

  // The arguments for a callback, which may write to them.
  int argc() const { return static_cast<int>(arguments_.size()); }
  std::vector<char*> argv();

  bool disabled = false;  // optional, and its init failed

 private:
  std::array<spank_f*, kCallbackNames.size()> callbacks_{};
  std::string name_, file_;
  std::vector<std::string> arguments_;
  bool required_ = false;
  spank_option* table_ = nullptr;
  int failure_mode_ = ESPANK_NODE_FAILURE;
};

}  // namespace muster::spank

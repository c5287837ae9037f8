// A process that stops on its way to its program, so that third-party code (SPANK plugins) can run in it. It is forked and has memory of
// its own, which makes it dearer than spawn(), whose children borrow ours and may not run anything.
//
// The child takes its place (cgroup, session, CPUs, descriptors), calls `as_root` with our rights, waits for release(), becomes the user in
// its directory, calls `as_user`, and executes its program, which is looked up in the environment as the hook left it. Until it is released
// it dies with us. SpawnSpec::pid_variable is not filled in: `as_user` can do that. Only for callers with one thread. A hook that fails
// ends the process with exit code 1.
#pragma once

#include <functional>
#include <string>

#include "os/process.h"

namespace muster::os {

struct StartHooks {
  std::function<bool()> as_root;
  std::function<bool(SpawnSpec&)> as_user;             // may change `env`, `argv`, `path`
  std::function<void(const std::string& why)> failed;  // in the child: reports `why` and ends the process
};

class HeldProcess {
 public:
  static Result<HeldProcess> start(const SpawnSpec& spec, const StartHooks& hooks);
  pid_t pid() const { return pid_; }
  void release();

 private:
  pid_t pid_ = 0;
  Fd gate_;
};

}  // namespace muster::os

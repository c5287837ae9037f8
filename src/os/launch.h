// Launch starts a program without waiting until it runs. Nobody waits in the kernel either (the child borrows our memory, CLONE_VM without
// CLONE_VFORK), because a child that has become the user may be stopped by that user, and its chdir or execve may wait for a file server
// that is away. An event loop hears when the child has replaced itself or failed. spawn() of process.h is the same with a wait of at most
// kSpawnPatience, for programs and users that can be trusted to go on.
//
// From its change of user on, a child has all three user and group numbers and the groups of that user (the kernel is asked), and it
// touches the user's things (cwd, the program) as that user.
#pragma once

#include <memory>
#include <optional>

#include "os/process.h"

namespace muster::os {

// A child on its way to its program. Its signals have default dispositions and an empty mask, whatever ours are.
class Launch {
 public:
  // Errors: the spec is wrong, or no process can be had. The spec's descriptors stay open until the launch has settled.
  static Result<Launch> start(SpawnSpec spec);
  Launch(Launch&&) noexcept;
  Launch& operator=(Launch&&) noexcept;
  // If the launch has not settled yet, the child is killed (it could go nowhere without us), and reaped by whoever reaps.
  ~Launch();

  pid_t pid() const;
  int fd() const;  // becomes readable as soon as it has settled
  // Whether the child runs its program, or why it does not; nullopt while neither is known. After a failure the child has ended or is about
  // to.
  std::optional<Result<>> settled();
  // As settled(), but waits up to `timeout`.
  std::optional<Result<>> settled_within(Duration timeout);
  bool failed_at_directory() const;  // SpawnSpec::cwd is what it could not enter

 private:
  struct State;
  explicit Launch(std::unique_ptr<State> state);
  void leave();
  std::unique_ptr<State> state_;
};

inline constexpr Duration kSpawnPatience = seconds(10);

}  // namespace muster::os

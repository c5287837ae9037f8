// Launch: a program is started without waiting for it to be there. Nor does anybody wait in the kernel (the child borrows our memory,
// CLONE_VM without CLONE_VFORK): a child that has become the user may be stopped by that user, and its chdir or execve may wait for a
// file server that is away. An event loop hears when the child has replaced itself or failed; spawn() of process.h is this with a
// wait of at most kSpawnPatience, and is for programs and users that can be trusted to go on.
//
// From its change of user on, a child has all three user and group numbers and the groups of that user (the kernel is asked);
// what it is told to touch of the user's (cwd, the program) it touches as that.
#pragma once

#include <memory>
#include <optional>

#include "os/process.h"

namespace muster::os {

// A child on its way to its program. Its signals have default dispositions and an empty mask, whatever ours are.
class Launch {
 public:
  // Errors: what is wrong with the spec, or no process can be had. The spec's descriptors stay open until it has settled.
  static Result<Launch> start(SpawnSpec spec);
  Launch(Launch&&) noexcept;
  Launch& operator=(Launch&&) noexcept;
  // Before it has settled: the child is killed (it could go nowhere without us), and reaped by whoever reaps.
  ~Launch();

  pid_t pid() const;
  int fd() const;  // becomes readable as soon as it has settled
  // Whether it runs its program, or why not; nullopt: neither yet. After a failure the child has ended or is about to.
  std::optional<Result<>> settled();
  // The same, waiting for it.
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

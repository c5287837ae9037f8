// Errand: what a user named is touched by a process of that user. A daemon that runs as root opens no file, makes no directory and
// connects to no address that a user chose, not even with a user's file-system identity: it would still be root to whoever is at the
// other end, and what blocks there (a FIFO, a full backlog, a file server that is away) would block the daemon. It sends an
// Errand: a child that becomes the user for good (all three ids and the groups; the kernel is asked), does what it was told, and
// ends. What it opened is then ours, for the child shares our descriptors as it shares our memory; it runs no program, so an errand
// costs about 50 µs. Without a user to become it is the same child with our own rights.
//
//   Errand e;
//   size_t out = e.open_output("/home/ann/slurm-7.out", how);
//   MUSTER_TRY_VOID(e.start(who));            // then watch e.fd(), or e.over_within(seconds(5))
//   if (e.over()) Result<Fd> fd = e.take(out);
//
// The child has every signal blocked but SIGKILL and SIGSTOP, is no child to wait(2) without __WALL, and dies with us. Whoever
// sends it has to set it a time: an errand that is destroyed is ended. One thread sends and takes.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>

#include "os/files.h"
#include "os/process.h"

namespace muster::os {

class Errand {
 public:
  Errand();
  Errand(Errand&&) noexcept;
  Errand& operator=(Errand&&) noexcept;
  ~Errand();  // ends it

  // The things that the errand is to do, in the order of these calls; each call returns the number to give to take(). A thing that fails
  // does not keep the others from being done. Paths are absolute, or relative to our own directory.
  size_t open_output(std::string path, const OpenOutput& how);
  size_t open_input(std::string path);
  // Makes `folder`/`name` for a user, 0700, and `folder` before where only its last part is missing. For an errand with our own rights:
  // it fails with EPERM where `folder` is not ours or root's, or somebody else may write to it, and where what stands there already is no
  // directory of the user's (or of ours, which becomes the user's). Nothing that a link points to is touched.
  size_t make_user_folder(std::string folder, const std::string& name, Uid uid, Gid gid);
  // Connects a stream socket to `address`; the socket is non-blocking for us. `name` is what an error calls it.
  size_t connect(const sockaddr_storage& address, socklen_t size, std::string name);
  // Writes all of `text`; `fd` stays open until the errand is over.
  size_t write(int fd, std::string text, std::string name = "write");
  // Copies what comes from `from`, until its end, to `to`: a pipe into a file that may be slow.
  size_t copy(int from, int to);

  // All of it is done in this namespace of mounts (job_namespace.h), which stays open until the errand is over. Needs root.
  void enter(int mount_namespace);

  Result<> start(const std::optional<Credentials>& who);
  bool started() const;
  pid_t pid() const;
  int fd() const;  // becomes readable when it is over
  bool over();
  bool over_within(Duration timeout);
  void end();  // now: whatever it has not done counts as failed
  // The descriptor that the thing with this number opened; an empty Fd where the thing opens none. Ask once for each. Errors: "/home/ann/x:
  // Permission denied"; kTimedOut where the errand was ended before it had done the thing.
  Result<Fd> take(size_t thing);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace muster::os

// ForkServer: a program that has been started once and makes a copy of itself for each further start. A program's own start (execve, its
// library's look at the CPU, its first page faults) costs 0.4 ms and more; a copy costs a third of that.
//
//   ForkServer server(spec);                                  // the program, which calls serve_copies() on descriptor 3
//   MUSTER_TRY(copy, server.start("slurmstepd: [7.0]", fd));  // a process that has `fd` as its descriptor 3
//
// The server is a child of whoever starts it, and the copies are the server's children: their ends are seen by their pidfds. A copy has a
// session of its own; directory, environment and limits are those that the spec gave the server, descriptors 1 and 2 are ours, 0 is
// /dev/null. The server ends when its ForkServer is destroyed or the process of that dies; its copies go on. docs/adr/0017 says why.
#pragma once

#include <span>
#include <string_view>

#include "os/process.h"

namespace muster::os {

class ForkServer {
 public:
  // `spec` without descriptors.
  explicit ForkServer(SpawnSpec spec) : spec_(std::move(spec)) {}

  struct Started {
    pid_t pid = 0;
    Fd process;  // a pidfd, opened while the copy's number could not be anybody else's
  };
  // Starts the server too where there is none. Waits for the copy, for at most kSpawnPatience. After an error a copy may have been made all
  // the same: close `descriptor`'s other end. `title` is shown as the copy's arguments, cut to kTitleRoom bytes.
  Result<Started> start(std::string_view title, const Fd& descriptor);
  bool running() const { return static_cast<bool>(orders_); }

  static constexpr size_t kTitleRoom = 64;

 private:
  Result<> serve();
  Result<Started> order_copy(std::string_view title, const Fd& descriptor);
  Result<Started> take_answer();

  SpawnSpec spec_;
  Fd orders_;
  pid_t pid_ = 0;
};

// The bytes that hold the arguments of this process, as ps(1) shows them.
std::span<char> argument_room(int argc, char** argv);

// In the program, with the server's end of the orders as descriptor 3: makes a copy for each order. Returns true in a copy, whose descriptor
// 3 is then the one it was started with (close-on-exec), and false in the server when nobody can order any more. To be called by a process
// with one thread and no children. `room` is overwritten with the titles.
bool serve_copies(std::span<char> room);

}  // namespace muster::os

// What holds a process that SIGKILL did not end: its state and where in the kernel its threads are, for an administrator. proc(5) stat, wchan.
// Nothing is read that needs the process's memory map (cmdline, environ, maps) or the lock that it holds while it executes a program (stack):
// whoever waits for these may wait as long as the process.
//
// Cost: two files of /proc for each thread, kMostThreads at most.
#pragma once

#include <string>
#include <vector>

#include "os/process_tree.h"

namespace muster::os {

struct ProcessHold {
  static constexpr size_t kMostThreads = 64;
  ProcessInfo process;  // its state is that of the thread that cannot be interrupted, if there is one
  std::string where;    // the function of the kernel in which it waits; "": nobody says
  bool uninterruptible() const { return process.state == 'D'; }
};
ProcessHold what_holds(const ProcessInfo& process);

// "nfs-cat (812) cannot be interrupted, in nfs_wait_bit_killable". The name is quoted where it is no plain text: its user has chosen it.
// `of` stands behind the number: " of step 7.0".
std::string hold_text(const ProcessHold& hold, const std::string& of = {});

}  // namespace muster::os

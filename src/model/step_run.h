// Messages between slurmd and slurmstepd of one node beside those of model/step_rpc.h, and the files in the spool by which the two find
// each other again. Plain values; no I/O here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/describe.h"

namespace muster::step_rpc {

// From slurmd to slurmstepd, before a StepdLaunch or StepdAttach: root, and not the step's user, named the address of its streams, so
// slurmstepd connects to it as root.
struct StepdRootsIo {
  static constexpr uint16_t kNumber = 217;
  template <class S, class V>
  static void describe(S&, V&&) {}
};

// From slurmd to slurmstepd, before a StepdLaunch: the job has a mount namespace of its own, and what runs as the user is in it.
struct StepdNamespace {
  static constexpr uint16_t kNumber = 218;
  std::string file;         // os/job_namespace.h
  bool whole_step = false;  // slurmstepd itself is in it, too
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "file", self.file);
    field(2, "whole_step", self.whole_step);
  }
};

// From slurmd to slurmstepd, before a StepdLaunch: how ready the kernel is to end slurmstepd, and the tasks, for want of memory (proc(5),
// oom_score_adj: -1000 never, 1000 first).
struct StepdOomScore {
  static constexpr uint16_t kNumber = 221;
  int32_t own = 0;
  int32_t tasks = 0;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "own", self.own);
    field(2, "tasks", self.tasks);
  }
};

// The file beside a step's socket that holds "PID START_TICKS UID" of its slurmstepd.
inline std::string run_file_of(const std::string& socket) { return socket.substr(0, socket.rfind('.')) + ".run"; }
// The name of a directory that slurmd is to remove ends in this.
inline constexpr std::string_view kAsideSuffix = ".gone";

}  // namespace muster::step_rpc

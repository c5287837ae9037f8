// What slurmd and slurmstepd of one node say to each other beside model/step_rpc.h, and the files in the spool by which they find
// each other again. Plain values; no I/O here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/describe.h"

namespace muster::step_rpc {

// slurmd to slurmstepd, before a StepdLaunch or StepdAttach: root named the address of its streams, and not the step's user. It is
// reached as root.
struct StepdRootsIo {
  static constexpr uint16_t kNumber = 217;
  template <class S, class V>
  static void describe(S&, V&&) {}
};

// Beside a step's socket: "PID START_TICKS UID" of its slurmstepd.
inline std::string run_file_of(const std::string& socket) { return socket.substr(0, socket.rfind('.')) + ".run"; }
// The end of the name of a directory that slurmd is to sweep.
inline constexpr std::string_view kAsideSuffix = ".gone";

}  // namespace muster::step_rpc

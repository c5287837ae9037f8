// What this machine is: sockets, cores, threads, memory, kernel, through hwloc. slurmd registers it, slurmd
// -C prints it.
//
// Only CPUs that our cgroup's cpuset allows count (a slurmd in a container sees its share). Our own affinity
// mask does not: slurmd binds itself to specialized cores, and must find the same machine after its restart.
// Cost: 5-50 ms, most of it hwloc reading /sys. Done once per start.
#pragma once

#include <string>
#include <vector>

#include "base/bitmap.h"
#include "base/result.h"
#include "base/time.h"
#include "model/cpu_map.h"
#include "model/node.h"

namespace muster::os {

using muster::CpuMap;  // model/cpu_map.h

struct DiscoverOptions {
  std::string tmp_fs = "/tmp";       // TmpFS of slurm.conf
  bool numa_node_as_socket = false;  // SlurmdParameters
  bool l3cache_as_socket = false;
  std::string topology_xml;  // an hwloc XML file or "synthetic:…" text instead of this machine (tests)
};

struct Machine {
  NodeHardware hardware;  // gres, version and slurmd_start are the caller's
  CpuMap cpus;
  std::vector<std::string> notes;  // what had to be simplified, for the log
};
// Machines whose sockets or cores differ (hybrid CPUs, cpusets that cut through a core) have no place in sockets × cores × threads: they
// are described as one thread per core, and as one socket if sockets differ, with a note.
Result<Machine> discover_machine(const DiscoverOptions& options = {});

// Two lines, without a newline at the end; with Gres=… in the first when devices were found:
// "NodeName=n1 CPUs=2 Boards=1 SocketsPerBoard=1 CoresPerSocket=2 ThreadsPerCore=1 RealMemory=24105\nUpTime=0-00:29:57"
std::string format_slurmd_C(const NodeHardware& hardware, std::string_view hostname, Duration uptime);
std::string format_gres(const std::vector<GresDevices>& devices);  // "gpu:nvidia_h100_80gb_hbm3:8"

std::string short_hostname();

}  // namespace muster::os

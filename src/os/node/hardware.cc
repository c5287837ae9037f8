#include "os/node/hardware.h"

#include <hwloc.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "base/text.h"
#include "os/clock.h"
#include "os/error.h"
#include "os/files.h"

namespace muster::os {
namespace {

struct TopologyDelete {
  void operator()(hwloc_topology* t) const { hwloc_topology_destroy(t); }
};
using Topology = std::unique_ptr<hwloc_topology, TopologyDelete>;

Result<Topology> load_topology(const DiscoverOptions& options) {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) < 0) return fail_errno("hwloc");
  Topology topology(raw);
  hwloc_topology_set_all_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_STRUCTURE);
  hwloc_topology_set_type_filter(raw, HWLOC_OBJ_PACKAGE, HWLOC_TYPE_FILTER_KEEP_ALL);
  hwloc_topology_set_type_filter(raw, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL);
  hwloc_topology_set_type_filter(raw, HWLOC_OBJ_L3CACHE, HWLOC_TYPE_FILTER_KEEP_ALL);
  hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_NONE);
  if (options.topology_xml.starts_with("synthetic:")) {
    if (hwloc_topology_set_synthetic(raw, options.topology_xml.c_str() + 10) < 0) return fail_errno("hwloc: " + options.topology_xml);
  } else if (!options.topology_xml.empty() && hwloc_topology_set_xml(raw, options.topology_xml.c_str()) < 0) {
    return fail_errno("hwloc: " + options.topology_xml);
  }
  if (hwloc_topology_load(raw) < 0) return fail_errno("hwloc cannot read the machine's topology");
  return topology;
}

struct Core {
  std::vector<uint32_t> threads;  // OS CPU numbers, ascending in hwloc's logical order
  uint32_t numa = 0;
};
using Socket = std::vector<Core>;

uint32_t numa_of(hwloc_obj_t core) {
  const int n = core->nodeset ? hwloc_bitmap_first(core->nodeset) : -1;
  return n < 0 ? 0 : static_cast<uint32_t>(n);
}

std::vector<uint32_t> pus_of(hwloc_topology_t t, hwloc_const_cpuset_t set) {
  std::vector<uint32_t> out;
  for (hwloc_obj_t pu = nullptr; (pu = hwloc_get_next_obj_inside_cpuset_by_type(t, set, HWLOC_OBJ_PU, pu));) out.push_back(pu->os_index);
  return out;
}

std::vector<Socket> sockets_by(hwloc_topology_t t, hwloc_obj_type_t type) {
  std::vector<Socket> sockets;
  for (hwloc_obj_t s = nullptr; (s = hwloc_get_next_obj_by_type(t, type, s));) {
    Socket socket;
    for (hwloc_obj_t c = nullptr; (c = hwloc_get_next_obj_inside_cpuset_by_type(t, s->cpuset, HWLOC_OBJ_CORE, c));)
      socket.push_back({pus_of(t, c->cpuset), numa_of(c)});
    if (socket.empty())  // a platform that does not tell cores
      for (uint32_t pu : pus_of(t, s->cpuset)) socket.push_back({{pu}, numa_of(s)});
    if (!socket.empty()) sockets.push_back(std::move(socket));
  }
  return sockets;
}

std::vector<Socket> read_sockets(hwloc_topology_t topology, const DiscoverOptions& options, std::vector<std::string>& notes) {
  hwloc_obj_type_t type = HWLOC_OBJ_PACKAGE;
  if (options.numa_node_as_socket) type = HWLOC_OBJ_NUMANODE;
  if (options.l3cache_as_socket) type = HWLOC_OBJ_L3CACHE;
  auto sockets = sockets_by(topology, type);
  if (sockets.empty() && type != HWLOC_OBJ_PACKAGE) {
    notes.push_back("this machine tells no " + std::string(options.l3cache_as_socket ? "L3 caches" : "NUMA nodes") +
                    ": sockets are the packages");
    sockets = sockets_by(topology, HWLOC_OBJ_PACKAGE);
  }
  if (sockets.empty()) sockets = sockets_by(topology, HWLOC_OBJ_MACHINE);
  return sockets;
}

// Makes the machine rectangular: every socket the same number of cores, every core the same number of threads.
void even_out(std::vector<Socket>& sockets, std::vector<std::string>& notes) {
  bool threads_differ = false, cores_differ = false;
  for (const auto& s : sockets) {
    cores_differ |= s.size() != sockets[0].size();
    for (const auto& c : s) threads_differ |= c.threads.size() != sockets[0][0].threads.size();
  }
  if (threads_differ) {
    notes.push_back("cores have different numbers of threads: every thread is told as a core");
    for (auto& s : sockets) {
      Socket flat;
      for (const auto& c : s)
        for (uint32_t pu : c.threads) flat.push_back({{pu}, c.numa});
      s = std::move(flat);
    }
    cores_differ = std::any_of(sockets.begin(), sockets.end(), [&](const auto& s) { return s.size() != sockets[0].size(); });
  }
  if (!cores_differ) return;
  notes.push_back("sockets have different numbers of cores: they are told as one socket");
  Socket all;
  for (auto& s : sockets) all.insert(all.end(), s.begin(), s.end());
  sockets = {std::move(all)};
}

void read_system(const DiscoverOptions& options, NodeHardware& hardware, std::vector<std::string>& notes) {
  hardware.real_memory_mb = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) >> 20;
  if (auto disk = disk_space(options.tmp_fs)) {
    hardware.tmp_disk_mb = disk->total >> 20;
  } else {
    notes.push_back("TmpFS: " + std::string(disk.error().message()));
  }
  utsname u{};
  uname(&u);
  hardware.arch = u.machine;
  hardware.os = std::string(u.sysname) + " " + u.release + " " + u.version;
  if (auto id = read_line("/proc/sys/kernel/random/boot_id")) hardware.boot_id = *id;
  hardware.boot_time = from_unix(unix_seconds(boot_time()));
}

}  // namespace

Result<Machine> discover_machine(const DiscoverOptions& options) {
  MUSTER_TRY(topology, load_topology(options));
  Machine machine;
  auto sockets = read_sockets(topology.get(), options, machine.notes);
  if (sockets.empty()) return fail(Errc::kIo, "hwloc found no CPU on this machine");
  even_out(sockets, machine.notes);
  NodeHardware& hardware = machine.hardware;
  hardware.boards = 1;  // hwloc has no boards below the machine
  hardware.sockets = static_cast<uint32_t>(sockets.size());
  hardware.cores_per_socket = static_cast<uint32_t>(sockets[0].size());
  hardware.threads_per_core = static_cast<uint32_t>(sockets[0][0].threads.size());
  hardware.cpus = hardware.sockets * hardware.cores_per_socket * hardware.threads_per_core;
  machine.cpus.threads_per_core = hardware.threads_per_core;
  machine.cpus.cores_per_socket = hardware.cores_per_socket;
  for (const auto& s : sockets)
    for (const auto& c : s)
      for (uint32_t pu : c.threads) {
        machine.cpus.os_cpu.push_back(pu);
        machine.cpus.numa_node.push_back(c.numa);
      }
  read_system(options, hardware, machine.notes);
  return machine;
}

std::string format_gres(const std::vector<GresDevices>& devices) {
  // Lines of one name and type are told together, in the order of their first appearance.
  std::vector<std::pair<std::string, uint64_t>> sums;
  for (const auto& d : devices) {
    const std::string key = d.type.empty() ? d.name : d.name + ":" + d.type;
    auto it = std::find_if(sums.begin(), sums.end(), [&](const auto& s) { return s.first == key; });
    if (it == sums.end()) {
      sums.emplace_back(key, d.count);
    } else {
      it->second += d.count;
    }
  }
  std::string out;
  for (const auto& [key, count] : sums) out += (out.empty() ? "" : ",") + key + ":" + std::to_string(count);
  return out;
}

std::string format_slurmd_C(const NodeHardware& h, std::string_view hostname, Duration uptime) {
  std::string out = "NodeName=" + std::string(hostname) + " CPUs=" + std::to_string(h.cpus) + " Boards=" + std::to_string(h.boards) +
                    " SocketsPerBoard=" + std::to_string(h.sockets / std::max(1u, h.boards)) +
                    " CoresPerSocket=" + std::to_string(h.cores_per_socket) + " ThreadsPerCore=" + std::to_string(h.threads_per_core) +
                    " RealMemory=" + std::to_string(h.real_memory_mb);
  if (!h.gres.empty()) out += " Gres=" + format_gres(h.gres);
  const long long s = std::max<int64_t>(0, to_seconds(uptime));
  char up[64];
  snprintf(up, sizeof up, "\nUpTime=%lld-%02lld:%02lld:%02lld", s / 86400, s / 3600 % 24, s / 60 % 60, s % 60);
  return out + up;
}

std::string short_hostname() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  const std::string_view full(name);
  return std::string(full.substr(0, full.find('.')));
}

}  // namespace muster::os

#include <unistd.h>

#include "base/text.h"
#include "os/error.h"
#include "os/files.h"
#include "os/node/cgroup_backend.h"

namespace muster::os {
namespace {

class V2 final : public CgroupBackend {
 public:
  static std::shared_ptr<V2> open(const CgroupOptions& options, std::string& why) {
    auto controllers = read_line(options.mountpoint + "/cgroup.controllers");
    if (!controllers) {
      why = options.mountpoint + " is no cgroup2 mount";
      return nullptr;
    }
    auto v2 = std::make_shared<V2>();
    v2->root_ = options.mountpoint;
    CgroupSupport& support = v2->support_;
    support.version = CgroupVersion::kV2;
    for (std::string_view part : split(options.prefix, '/')) {
      v2->pass_down(v2->root_);
      v2->root_ += "/" + std::string(part);
      auto made = make_directory(v2->root_);
      if (!made) {
        why = made.error().message();
        return nullptr;
      }
    }
    v2->pass_down(v2->root_);
    auto have = read_line(v2->root_ + "/cgroup.controllers");
    auto passed = read_line(v2->root_ + "/cgroup.subtree_control");
    if (!have || !passed || access((v2->root_ + "/cgroup.procs").c_str(), W_OK) != 0) {
      why = v2->root_ + " cannot be used";
      return nullptr;
    }
    support.memory = has(*passed, "memory");
    support.cpuset = has(*passed, "cpuset");
    support.pids = has(*passed, "pids");
    support.cpu_usage = support.freezer = true;  // part of every group
    support.devices = device_filters_work();
    for (auto [ok, name] : {std::pair{support.memory, "memory"}, {support.cpuset, "cpuset"}, {support.devices, "devices (eBPF)"}})
      if (!ok) support.reason += (support.reason.empty() ? "" : ", ") + std::string(name) + " not available";
    return v2;
  }

  std::vector<std::string> directories(const std::string& path) const override { return {dir(path)}; }

  Result<> make(const std::string& path) const override {
    const std::string d = dir(path);
    // The group above must hand its controllers down before this one has their files. It holds no processes
    // itself, which is the kernel's condition.
    pass_down(d.substr(0, d.find_last_of('/')));
    return make_directory(d);
  }

  Result<> set_memory(const std::string& path, const MemoryLimits& l) const override {
    if (!support_.memory) return fail(Errc::kUnsupported, "cgroup v2: no memory controller");
    const std::string d = dir(path) + "/memory.";
    if (l.swappiness) return fail(Errc::kUnsupported, "MemorySwappiness: cgroup v2 has no such setting");
    if (l.soft_bytes) MUSTER_TRY_VOID(write_value(d + "high", std::to_string(*l.soft_bytes)));
    if (l.hard_bytes) MUSTER_TRY_VOID(write_value(d + "max", std::to_string(*l.hard_bytes)));
    if (l.ram_and_swap_bytes) {
      // v2 limits swap by itself.
      const uint64_t ram = l.hard_bytes.value_or(0);
      const uint64_t swap = *l.ram_and_swap_bytes > ram ? *l.ram_and_swap_bytes - ram : 0;
      MUSTER_TRY_VOID(write_value(d + "swap.max", std::to_string(swap)));
    }
    return {};
  }

  Result<> set_cpus(const std::string& path, const Bitmap& cpus, const Bitmap& nodes) const override {
    if (!support_.cpuset) return fail(Errc::kUnsupported, "cgroup v2: no cpuset controller");
    MUSTER_TRY_VOID(write_value(dir(path) + "/cpuset.cpus", cpus.to_ranges()));
    if (nodes.any()) MUSTER_TRY_VOID(write_value(dir(path) + "/cpuset.mems", nodes.to_ranges()));
    return {};
  }

  Result<> deny_devices(const std::string& path, const std::vector<DeviceRule>& denied) const override {
    if (!support_.devices) return fail(Errc::kUnsupported, "cgroup v2: the kernel or our rights do not allow device filters (eBPF)");
    return attach_device_filter(dir(path), denied);
  }

  Result<> freeze(const std::string& path, bool frozen) const override {
    return write_value(dir(path) + "/cgroup.freeze", frozen ? "1" : "0");
  }

  Result<CgroupUsage> usage(const std::string& path) const override {
    CgroupUsage usage;
    MUSTER_TRY(cpu, read_file(dir(path) + "/cpu.stat", 1 << 16));
    usage.user_time = Duration(stat_value(cpu, "user_usec"));
    usage.system_time = Duration(stat_value(cpu, "system_usec"));
    if (support_.memory) {
      const std::string d = dir(path) + "/memory.";
      MUSTER_TRY(stat, read_file(d + "stat", 1 << 16));
      MUSTER_TRY(events, read_file(d + "events", 4096));
      usage.rss_bytes = stat_value(stat, "anon");
      usage.memory_bytes = number(d + "current");
      usage.peak_bytes = std::max(number(d + "peak"), usage.memory_bytes);  // Linux 5.19 and later
      usage.swap_bytes = number(d + "swap.current");
      usage.oom_kills = stat_value(events, "oom_kill");
      usage.limit_hits = stat_value(events, "max");
    }
    return usage;
  }

  bool kill_at_once(const std::string& path) const override { return write_value(dir(path) + "/cgroup.kill", "1").has_value(); }

 private:
  std::string dir(const std::string& path) const { return root_ + (path.empty() ? "" : "/" + path); }
  static bool has(std::string_view list, std::string_view name) {
    for (std::string_view c : split(list, ' '))
      if (c == name) return true;
    return false;
  }
  static uint64_t number(const std::string& file) {
    auto line = read_line(file);
    return line ? parse_number<uint64_t>(*line).value_or(0) : 0;
  }
  // One by one: a controller that cannot be enabled must not keep the others away. What is missing shows afterwards.
  static void pass_down(const std::string& d) {
    auto have = read_line(d + "/cgroup.controllers");
    auto passed = read_line(d + "/cgroup.subtree_control");
    if (!have || !passed) return;
    for (const char* c : {"cpu", "cpuset", "memory", "io", "pids"})
      if (has(*have, c) && !has(*passed, c)) (void)write_value(d + "/cgroup.subtree_control", "+" + std::string(c));
  }

  std::string root_;
};

}  // namespace

std::shared_ptr<const CgroupBackend> open_cgroups_v2(const CgroupOptions& options, std::string& why) { return V2::open(options, why); }

}  // namespace muster::os

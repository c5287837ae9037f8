#include <sys/stat.h>
#include <unistd.h>

#include <array>

#include "base/text.h"
#include "os/error.h"
#include "os/files.h"
#include "os/node/cgroup_backend.h"

namespace muster::os {
namespace {

class V1 final : public CgroupBackend {
 public:
  static std::shared_ptr<V1> open(const CgroupOptions& options, std::string& why) {
    auto v1 = std::make_shared<V1>();
    v1->mount_ = options.mountpoint;
    v1->prefix_ = options.prefix;
    CgroupSupport& s = v1->support_;
    s.version = CgroupVersion::kV1;
    s.freezer = v1->take("freezer", "cgroup.procs", why);  // also what holds the processes
    s.memory = v1->take("memory", "memory.limit_in_bytes", why);
    s.cpuset = v1->take("cpuset", "cpuset.cpus", why);
    s.devices = v1->take("devices", "devices.list", why);
    s.cpu_usage = v1->take("cpuacct", "cpuacct.usage", why);
    s.pids = v1->take("pids", "cgroup.procs", why);
    if (v1->controllers_.empty()) return nullptr;
    s.reason = why;
    return v1;
  }

  std::vector<std::string> directories(const std::string& path) const override {
    std::vector<std::string> out;
    for (const auto& c : controllers_) out.push_back(dir(c, path));
    return out;
  }

  Result<> make(const std::string& path) const override {
    for (const auto& c : controllers_) {
      const std::string d = dir(c, path);
      MUSTER_TRY_VOID(make_directory(d));
      // A cpuset starts empty and takes no process until it has CPUs and memory nodes.
      if (c == "cpuset") MUSTER_TRY_VOID(inherit_cpuset(d));
    }
    return {};
  }

  Result<> set_memory(const std::string& path, const MemoryLimits& l) const override {
    if (!support_.memory) return fail(Errc::kUnsupported, "cgroup v1: no memory controller");
    const std::string d = dir("memory", path) + "/memory.";
    if (l.swappiness) MUSTER_TRY_VOID(write_value(d + "swappiness", std::to_string(*l.swappiness)));
    if (l.soft_bytes) MUSTER_TRY_VOID(write_value(d + "soft_limit_in_bytes", std::to_string(*l.soft_bytes)));
    // RAM+swap may never be below RAM, whichever way the two move: first lift the outer limit, then set the inner and the outer one.
    const bool has_swap = access((d + "memsw.limit_in_bytes").c_str(), F_OK) == 0;
    if (l.ram_and_swap_bytes && !has_swap) return fail(Errc::kUnsupported, "cgroup v1: the kernel does not account swap (swapaccount=1)");
    if (l.hard_bytes && has_swap) MUSTER_TRY_VOID(write_value(d + "memsw.limit_in_bytes", "-1"));
    if (l.hard_bytes) MUSTER_TRY_VOID(write_value(d + "limit_in_bytes", std::to_string(*l.hard_bytes)));
    if (l.ram_and_swap_bytes) MUSTER_TRY_VOID(write_value(d + "memsw.limit_in_bytes", std::to_string(*l.ram_and_swap_bytes)));
    return {};
  }

  Result<> set_cpus(const std::string& path, const Bitmap& cpus, const Bitmap& nodes) const override {
    if (!support_.cpuset) return fail(Errc::kUnsupported, "cgroup v1: no cpuset controller");
    const std::string d = dir("cpuset", path);
    MUSTER_TRY_VOID(write_value(d + "/cpuset.cpus", cpus.to_ranges()));
    if (nodes.any()) MUSTER_TRY_VOID(write_value(d + "/cpuset.mems", nodes.to_ranges()));
    return {};
  }

  Result<> deny_devices(const std::string& path, const std::vector<DeviceRule>& denied) const override {
    if (!support_.devices) return fail(Errc::kUnsupported, "cgroup v1: no devices controller");
    const std::string files = dir("devices", path);
    // Here the last word counts: what is allowed comes after what is closed.
    for (bool allowed : {false, true})
      for (const DeviceRule& r : denied) {
        if (r.allowed != allowed) continue;
        const std::string minor = r.any_minor ? "*" : std::to_string(r.minor);
        MUSTER_TRY_VOID(write_value(files + (allowed ? "/devices.allow" : "/devices.deny"),
                                    std::string(1, r.type) + " " + std::to_string(r.major) + ":" + minor + " rwm"));
      }
    return {};
  }

  Result<> freeze(const std::string& path, bool frozen) const override {
    if (!support_.freezer) return fail(Errc::kUnsupported, "cgroup v1: no freezer controller");
    return write_value(dir("freezer", path) + "/freezer.state", frozen ? "FROZEN" : "THAWED");
  }

  Result<CgroupUsage> usage(const std::string& path) const override {
    CgroupUsage usage;
    if (support_.cpu_usage) {
      const std::string d = dir("cpuacct", path) + "/cpuacct.usage_";
      MUSTER_TRY(user, read_line(d + "user"));
      MUSTER_TRY(sys, read_line(d + "sys"));
      usage.user_time = Duration(parse_number<int64_t>(user, 0).value_or(0) / 1000);
      usage.system_time = Duration(parse_number<int64_t>(sys, 0).value_or(0) / 1000);
    }
    if (support_.memory) {
      const std::string d = dir("memory", path);
      MUSTER_TRY(stat, read_file(d + "/memory.stat", 1 << 16));
      usage.rss_bytes = stat_value(stat, "total_rss");
      usage.swap_bytes = stat_value(stat, "total_swap");
      usage.memory_bytes = number(d + "/memory.usage_in_bytes");
      usage.peak_bytes = number(d + "/memory.max_usage_in_bytes");
      // With equal limits the kernel counts at the outer one.
      usage.limit_hits = number(d + "/memory.failcnt") + number(d + "/memory.memsw.failcnt");
      usage.oom_kills = oom_kills(d, 0);
    }
    return usage;
  }

 private:
  std::string dir(std::string_view controller, const std::string& path) const {
    return mount_ + "/" + std::string(controller) + "/" + prefix_ + (path.empty() ? "" : "/" + path);
  }

  bool take(const std::string& controller, const std::string& file, std::string& why) {
    const std::string root = mount_ + "/" + controller;
    const char* problem = nullptr;
    if (access((root + "/" + file).c_str(), F_OK) != 0 && access((root + "/cgroup.procs").c_str(), F_OK) != 0) {
      problem = "not mounted";
    } else if (access(root.c_str(), W_OK) != 0) {
      problem = "read-only for us";
    } else {
      controllers_.push_back(controller);
      if (make_prefix(controller)) return true;
      controllers_.pop_back();
      problem = "no group can be made";
    }
    why += (why.empty() ? "" : ", ") + controller + " " + problem;
    return false;
  }

  bool make_prefix(const std::string& controller) {
    std::string d = mount_ + "/" + controller;
    for (std::string_view part : split(prefix_, '/')) {
      d += "/" + std::string(part);
      if (!make_directory(d)) return false;
      if (controller == "cpuset" && !inherit_cpuset(d)) return false;
    }
    return true;
  }

  static Result<> inherit_cpuset(const std::string& d) {
    const std::string parent = d.substr(0, d.find_last_of('/'));
    for (const char* file : {"/cpuset.cpus", "/cpuset.mems"}) {
      MUSTER_TRY(now, read_line(d + file));
      if (!now.empty()) continue;
      MUSTER_TRY(above, read_line(parent + file));
      MUSTER_TRY_VOID(write_value(d + file, above));
    }
    return {};
  }

  static uint64_t number(const std::string& file) {
    auto line = read_line(file);
    return line ? parse_number<uint64_t>(*line).value_or(0) : 0;
  }

  // v1 counts per group, not for the tree.
  static uint64_t oom_kills(const std::string& d, int depth) {
    auto text = read_file(d + "/memory.oom_control", 4096);
    uint64_t n = text ? stat_value(*text, "oom_kill") : 0;
    if (depth < 8)
      for (const auto& sub : subdirectories(d)) n += oom_kills(d + "/" + sub, depth + 1);
    return n;
  }

  std::string mount_, prefix_;
  std::vector<std::string> controllers_;
};

}  // namespace

std::shared_ptr<const CgroupBackend> open_cgroups_v1(const CgroupOptions& options, std::string& why) { return V1::open(options, why); }

}  // namespace muster::os

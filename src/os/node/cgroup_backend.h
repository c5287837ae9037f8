// Inside os/node: what the two cgroup versions do differently. Paths are below the prefix; "" is the prefix itself.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <linux/bpf.h>

#include "os/node/cgroups.h"

namespace muster::os {

class CgroupBackend {
 public:
  virtual ~CgroupBackend() = default;
  const CgroupSupport& support() const { return support_; }

  virtual std::vector<std::string> directories(const std::string& path) const = 0;  // one per hierarchy; may be empty
  virtual Result<> make(const std::string& path) const = 0;                         // the last level; its parent exists
  virtual Result<> set_memory(const std::string& path, const MemoryLimits& limits) const = 0;
  virtual Result<> set_cpus(const std::string& path, const Bitmap& cpus, const Bitmap& nodes) const = 0;
  virtual Result<> deny_devices(const std::string& path, const std::vector<DeviceRule>& denied) const = 0;
  virtual Result<> freeze(const std::string& path, bool frozen) const = 0;
  virtual Result<CgroupUsage> usage(const std::string& path) const = 0;
  virtual bool kill_at_once(const std::string&) const { return false; }  // cgroup.kill

 protected:
  CgroupSupport support_;
};

// nullptr when this machine does not have that version or we may not write to it; `why` says so.
std::shared_ptr<const CgroupBackend> open_cgroups_v1(const CgroupOptions& options, std::string& why);
std::shared_ptr<const CgroupBackend> open_cgroups_v2(const CgroupOptions& options, std::string& why);

// "key value" lines as memory.stat and cpu.stat have them; 0 when absent.
uint64_t stat_value(std::string_view text, std::string_view key);
bool directory_exists(const std::string& path);
Result<> make_directory(const std::string& path);  // existing is fine
std::vector<std::string> subdirectories(const std::string& path);
// Device filters of v2 (cgroup_devices_bpf.cc): the program, which returns 0 for a denied device and 1 for
// all others, and its attachment to a group.
std::vector<bpf_insn> device_program(const std::vector<DeviceRule>& denied);
Result<> attach_device_filter(const std::string& directory, const std::vector<DeviceRule>& denied);
bool device_filters_work();  // the kernel takes such programs from us

}  // namespace muster::os

// Device isolation of cgroup v2: a small eBPF program per group, which the kernel asks at every open of a
// device. The program is a list: for every allowed device compare type, access, major, minor; return 1 at a
// match, else 0.
#include <fcntl.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "os/error.h"
#include "os/node/cgroup_backend.h"

namespace muster::os {
namespace {

constexpr size_t kMaxRules =
    400;  // 4096 instructions are the kernel's limit for old versions; a rule takes at most 9

bpf_insn insn(int code, int dst, int src, int offset, int32_t immediate) {
  bpf_insn i{};
  i.code = static_cast<uint8_t>(code);
  i.dst_reg = static_cast<uint8_t>(dst) & 15;
  i.src_reg = static_cast<uint8_t>(src) & 15;
  i.off = static_cast<int16_t>(offset);
  i.imm = immediate;
  return i;
}

std::vector<bpf_insn> program_of(const std::vector<DeviceRule>& rules) {
  std::vector<bpf_insn> p;
  // r2 = type (low 16 bits of access_type), r3 = access (high 16 bits), r4 = major, r5 = minor
  p.push_back(insn(BPF_LDX | BPF_W | BPF_MEM, 2, 1, offsetof(bpf_cgroup_dev_ctx, access_type), 0));
  p.push_back(insn(BPF_ALU | BPF_MOV | BPF_X, 3, 2, 0, 0));
  p.push_back(insn(BPF_ALU | BPF_AND | BPF_K, 2, 0, 0, 0xffff));
  p.push_back(insn(BPF_ALU | BPF_RSH | BPF_K, 3, 0, 0, 16));
  p.push_back(insn(BPF_LDX | BPF_W | BPF_MEM, 4, 1, offsetof(bpf_cgroup_dev_ctx, major), 0));
  p.push_back(insn(BPF_LDX | BPF_W | BPF_MEM, 5, 1, offsetof(bpf_cgroup_dev_ctx, minor), 0));
  for (const DeviceRule& r : rules) {
    std::vector<size_t> jumps;  // to the next rule
    auto unless_equal = [&](int reg, uint32_t value) {
      jumps.push_back(p.size());
      p.push_back(insn(BPF_JMP32 | BPF_JNE | BPF_K, reg, 0, 0, static_cast<int32_t>(value)));
    };
    unless_equal(2, r.type == 'b' ? BPF_DEVCG_DEV_BLOCK : BPF_DEVCG_DEV_CHAR);
    const int access = (r.make ? BPF_DEVCG_ACC_MKNOD : 0) | (r.read ? BPF_DEVCG_ACC_READ : 0) |
                       (r.write ? BPF_DEVCG_ACC_WRITE : 0);
    // Anything asked for beyond `access` makes the rule fail.
    p.push_back(insn(BPF_ALU | BPF_MOV | BPF_X, 6, 3, 0, 0));
    p.push_back(insn(BPF_ALU | BPF_AND | BPF_K, 6, 0, 0, ~access));
    unless_equal(6, 0);
    if (r.major) unless_equal(4, *r.major);
    if (r.minor) unless_equal(5, *r.minor);
    p.push_back(insn(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 1));
    p.push_back(insn(BPF_JMP | BPF_EXIT, 0, 0, 0, 0));
    for (size_t j : jumps) p[j].off = static_cast<int16_t>(p.size() - j - 1);
  }
  p.push_back(insn(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0));
  p.push_back(insn(BPF_JMP | BPF_EXIT, 0, 0, 0, 0));
  return p;
}

Result<Fd> load(const std::vector<DeviceRule>& rules) {
  const auto program = program_of(rules);
  bpf_attr attr;
  memset(&attr, 0, sizeof attr);
  attr.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE;
  attr.insns = reinterpret_cast<uint64_t>(program.data());
  attr.insn_cnt = static_cast<uint32_t>(program.size());
  attr.license = reinterpret_cast<uint64_t>("Apache-2.0");
  const long fd = syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof attr);
  if (fd < 0) return fail_errno("device filter");
  return Fd(static_cast<int>(fd));
}

}  // namespace

Result<> attach_device_filter(const std::string& directory, const std::vector<DeviceRule>& allowed) {
  if (allowed.size() > kMaxRules)
    return fail(Errc::kInvalidArgument,
                directory + ": more than " + std::to_string(kMaxRules) + " device rules");
  MUSTER_TRY(program, load(allowed));
  Fd group(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!group) return fail_errno(directory);
  bpf_attr attr;
  memset(&attr, 0, sizeof attr);
  attr.target_fd = static_cast<uint32_t>(group.get());
  attr.attach_bpf_fd = static_cast<uint32_t>(program.get());
  attr.attach_type = BPF_CGROUP_DEVICE;
  // Without flags the program replaces one of ours that is there, and groups below cannot have their own;
  // with MULTI the filters of all levels must agree, as the hierarchy wants it. A second call then adds a
  // filter: it can only narrow.
  attr.attach_flags = BPF_F_ALLOW_MULTI;
  if (syscall(SYS_bpf, BPF_PROG_ATTACH, &attr, sizeof attr) < 0)
    return fail_errno(directory + ": device filter");
  return {};
}

bool device_filters_work() { return load({}).has_value(); }

}  // namespace muster::os

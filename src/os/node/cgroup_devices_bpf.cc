// Device isolation of cgroup v2: a small eBPF program per group, which the kernel asks at every open of a device. The program is a list:
// for every denied device compare type, major and minor; return 0 at a match, else 1. An allowed one that is named first returns 1.
#include <fcntl.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "os/error.h"
#include "os/node/cgroup_backend.h"

namespace muster::os {
namespace {

constexpr size_t kMaxRules = 800;  // 4096 instructions are the limit of old kernels; a rule takes 5

bpf_insn insn(int code, int dst, int src, int offset, int32_t immediate) {
  bpf_insn i{};
  i.code = static_cast<uint8_t>(code);
  i.dst_reg = static_cast<uint8_t>(dst) & 15;
  i.src_reg = static_cast<uint8_t>(src) & 15;
  i.off = static_cast<int16_t>(offset);
  i.imm = immediate;
  return i;
}

}  // namespace

std::vector<bpf_insn> device_program(const std::vector<DeviceRule>& denied) {
  std::vector<bpf_insn> program;
  // r2 = type (low 16 bits of access_type), r4 = major, r5 = minor
  program.push_back(insn(BPF_LDX | BPF_W | BPF_MEM, 2, 1, offsetof(bpf_cgroup_dev_ctx, access_type), 0));
  program.push_back(insn(BPF_ALU | BPF_AND | BPF_K, 2, 0, 0, 0xffff));
  program.push_back(insn(BPF_LDX | BPF_W | BPF_MEM, 4, 1, offsetof(bpf_cgroup_dev_ctx, major), 0));
  program.push_back(insn(BPF_LDX | BPF_W | BPF_MEM, 5, 1, offsetof(bpf_cgroup_dev_ctx, minor), 0));
  for (const DeviceRule& r : denied) {
    const int type = r.type == 'b' ? BPF_DEVCG_DEV_BLOCK : BPF_DEVCG_DEV_CHAR;
    const int left = r.any_minor ? 3 : 4;  // instructions to the next rule
    program.push_back(insn(BPF_JMP32 | BPF_JNE | BPF_K, 2, 0, left, type));
    program.push_back(insn(BPF_JMP32 | BPF_JNE | BPF_K, 4, 0, left - 1, static_cast<int32_t>(r.major)));
    if (!r.any_minor) program.push_back(insn(BPF_JMP32 | BPF_JNE | BPF_K, 5, 0, 2, static_cast<int32_t>(r.minor)));
    program.push_back(insn(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, r.allowed ? 1 : 0));
    program.push_back(insn(BPF_JMP | BPF_EXIT, 0, 0, 0, 0));
  }
  program.push_back(insn(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 1));
  program.push_back(insn(BPF_JMP | BPF_EXIT, 0, 0, 0, 0));
  return program;
}

namespace {

Result<Fd> load(const std::vector<DeviceRule>& rules) {
  const auto program = device_program(rules);
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

Result<> attach_device_filter(const std::string& directory, const std::vector<DeviceRule>& denied) {
  if (denied.size() > kMaxRules)
    return fail(Errc::kInvalidArgument, directory + ": more than " + std::to_string(kMaxRules) + " device rules");
  MUSTER_TRY(program, load(denied));
  Fd group(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!group) return fail_errno(directory);
  bpf_attr attr;
  memset(&attr, 0, sizeof attr);
  attr.target_fd = static_cast<uint32_t>(group.get());
  attr.attach_bpf_fd = static_cast<uint32_t>(program.get());
  attr.attach_type = BPF_CGROUP_DEVICE;
  // Without flags the program would replace one of ours that is there, and groups below could not have their own;
  // with MULTI the filters of all levels must agree, as the hierarchy wants it.
  attr.attach_flags = BPF_F_ALLOW_MULTI;
  if (syscall(SYS_bpf, BPF_PROG_ATTACH, &attr, sizeof attr) < 0) return fail_errno(directory + ": device filter");
  return {};
}

bool device_filters_work() { return load({}).has_value(); }

}  // namespace muster::os

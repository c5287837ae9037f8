#include "slurmd/core/mem_bind.h"

#include <algorithm>
#include <cstdio>

#include "base/hex_mask.h"

namespace muster::slurmd {
namespace {

using Kind = MemBind::Kind;
using step_rpc::MemoryPolicy;

constexpr struct {
  Kind kind;
  const char *label, *type;
} kNames[] = {{Kind::kNone, "NONE", "none"},
              {Kind::kLocal, "LOC", "local"},
              {Kind::kRank, "RANK", "rank"},
              {Kind::kMap, "MAP", "map_mem:"},
              {Kind::kMask, "MASK", "mask_mem:"}};
const auto& names_of(Kind kind) {
  return *std::ranges::find_if(kNames, [&](const auto& n) { return n.kind == kind; });
}

void add_environment(const MemBind& b, MemBinding& out) {
  const auto& names = names_of(b.kind);
  const std::string verbose = b.verbose ? "verbose" : "quiet", type = names.type;
  out.environment = {"SLURM_MEM_BIND=" + verbose + (b.prefer ? ",prefer," : ",") + type + b.list_text, "SLURM_MEM_BIND_VERBOSE=" + verbose,
                     "SLURM_MEM_BIND_TYPE=" + type, "SLURM_MEM_BIND_LIST=" + b.list_text};
  if (b.prefer) out.environment.emplace_back("SLURM_MEM_BIND_PREFER=prefer");
}

}  // namespace

Result<MemBinding> bind_memory(const MemBindText& asked, const std::vector<Bitmap>& os_cpus, const CpuMap& map) {
  MUSTER_TRY(binding, asked.parsed());
  MemBinding out;
  out.verbose = binding.verbose;
  out.sort = binding.sort;
  out.tasks.resize(os_cpus.size());
  if (binding.kind == Kind::kDefault) binding.kind = Kind::kNone;
  const Bitmap all = map.numa_nodes_of(Bitmap(map.cpus(), true));
  const bool names_nodes = binding.kind == Kind::kRank || binding.kind == Kind::kMap || binding.kind == Kind::kMask;
  for (size_t index = 0; index < os_cpus.size(); ++index) {
    step_rpc::TaskMemory& memory = out.tasks[index];
    Bitmap near = map.numa_nodes_of(map.from_os(os_cpus[index]));
    if (near.none()) near = all;
    if (binding.kind == Kind::kRank) memory.nodes.set(index);
    else if (names_nodes) memory.nodes = binding.list[index % binding.list.size()];
    if (names_nodes && (memory.nodes.none() || !all.contains(memory.nodes))) {
      const Bitmap missing = memory.nodes - all;
      const std::string type = names_of(binding.kind).type;
      return fail(Errc::kCpuBind, "NUMA node " + (missing.any() ? missing.to_ranges() : std::string("(none)")) +
                                      " does not exist; cannot bind local task " + std::to_string(index) +
                                      " to it (--mem-bind=" + type.substr(0, type.find(':')) + ")");
    }
    if (names_nodes) memory.policy = binding.prefer ? MemoryPolicy::kPrefer : MemoryPolicy::kBind;
    if (binding.kind == Kind::kLocal) memory.policy = MemoryPolicy::kLocal;
    out.shown.push_back(names_nodes ? memory.nodes : binding.kind == Kind::kLocal ? near : all);
  }
  const auto& names = names_of(binding.kind);
  out.label = std::string(binding.prefer ? "mem-bind PREFER " : "mem-bind=") + names.label;
  if (!asked.empty()) add_environment(binding, out);
  return out;
}

std::string mem_bind_line(const MemBinding& b, const std::string& node, uint32_t rank, uint32_t local_id) {
  char task[64];
  std::snprintf(task, sizeof task, ", task %2u %2u [%%p]: mask ", rank, local_id);
  return b.label + " - " + node + task + hex_mask(b.shown.at(local_id)) + (b.label.ends_with("NONE") ? "" : " set");
}

}  // namespace muster::slurmd

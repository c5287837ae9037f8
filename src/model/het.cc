#include "model/het.h"

namespace muster {
namespace {

// 4 4 1 becomes "4(x2),1".
std::string counted(const std::vector<uint32_t>& counts) {
  std::string out;
  for (size_t i = 0, same = 1; i < counts.size(); i += same) {
    for (same = 1; i + same < counts.size() && counts[i + same] == counts[i];) ++same;
    out += (out.empty() ? "" : ",") + std::to_string(counts[i]);
    if (same > 1) out += "(x" + std::to_string(same) + ")";
  }
  return out;
}

}  // namespace

std::string component_name(JobId id, const HetPart& het) {
  if (!het) return std::to_string(id.value);
  return std::to_string(het.leader.value) + "+" + std::to_string(het.offset);
}

std::string component_ids(const HetPart& het) {
  if (!het) return {};
  const std::string first = std::to_string(het.leader.value);
  return het.size > 1 ? first + "-" + std::to_string(het.leader.value + het.size - 1) : first;
}

std::vector<std::string> het_variables(const std::vector<HetComponent>& components) {
  std::vector<std::string> out;
  if (components.empty()) return out;
  out.push_back("SLURM_HET_SIZE=" + std::to_string(components.size()));
  for (size_t index = 0; index < components.size(); ++index) {
    const HetComponent& component = components[index];
    const std::string end = "_HET_GROUP_" + std::to_string(index) + "=";
    auto set = [&](std::string_view name, const std::string& value) {
      if (!value.empty()) out.push_back(std::string(name) + end + value);
    };
    auto number = [&](std::string_view name, uint64_t value) { set(name, value ? std::to_string(value) : std::string()); };
    number("SLURM_JOB_ID", component.job.value);
    set("SLURM_JOB_NAME", component.name);
    set("SLURM_JOB_PARTITION", component.partition);
    set("SLURM_JOB_ACCOUNT", component.account);
    set("SLURM_JOB_QOS", component.qos);
    set("SLURM_JOB_RESERVATION", component.reservation);
    set("SLURM_JOB_NODELIST", component.node_list);
    number("SLURM_JOB_NUM_NODES", component.cpus_per_node.size());
    number("SLURM_JOB_NODES", component.cpus_per_node.size());
    set("SLURM_JOB_CPUS_PER_NODE", counted(component.cpus_per_node));
    set("SLURM_TASKS_PER_NODE", counted(component.tasks_per_node));
    number("SLURM_NTASKS", component.num_tasks);
    number("SLURM_NPROCS", component.num_tasks);
    number("SLURM_CPUS_PER_TASK", component.cpus_per_task);
    number("SLURM_MEM_PER_CPU", component.mem_per_cpu_mb);
    number("SLURM_MEM_PER_NODE", component.mem_per_node_mb);
  }
  return out;
}

}  // namespace muster

#include "cli/salloc/allocation_environment.h"

#include <numeric>

#include "base/time.h"
#include "cli/common/counted.h"

namespace muster::cli {

void add_allocation_variables(const rpc::Allocated& allocated, const ClientConf& conf, VariableList& out) {
  std::string id = std::to_string(allocated.job.id.value);
  out.set("SLURM_JOB_ID", id);
  out.set("SLURM_JOBID", id);
  out.set("SLURM_JOB_NODELIST", allocated.job.node_list);
  out.set("SLURM_NODELIST", allocated.job.node_list);
  out.set("SLURM_JOB_NUM_NODES", std::to_string(allocated.job.nodes));
  out.set("SLURM_NNODES", std::to_string(allocated.job.nodes));
  out.set("SLURM_JOB_CPUS_PER_NODE", counted(allocated.cpus_per_node));
  out.set("SLURM_TASKS_PER_NODE", counted(allocated.tasks_per_node));
  const ShownRequest& request = allocated.request;
  if (request.num_tasks || request.ntasks_per_node || request.ntasks_per_socket || request.ntasks_per_core || request.ntasks_per_gpu) {
    uint32_t tasks = std::accumulate(allocated.tasks_per_node.begin(), allocated.tasks_per_node.end(), 0u);
    out.set("SLURM_NTASKS", std::to_string(tasks));
    out.set("SLURM_NPROCS", std::to_string(tasks));
  }
  out.set("SLURM_JOB_PARTITION", allocated.job.partition);
  out.set("SLURM_JOB_NAME", allocated.request.name);
  if (!conf.cluster_name.empty()) out.set("SLURM_CLUSTER_NAME", conf.cluster_name);
  if (!allocated.request.account.empty()) out.set("SLURM_JOB_ACCOUNT", allocated.request.account);
  if (!allocated.request.qos.empty()) out.set("SLURM_JOB_QOS", allocated.request.qos);
  if (!allocated.request.reservation.empty()) out.set("SLURM_JOB_RESERVATION", allocated.request.reservation.text());
  if (!allocated.exclusive.empty()) out.set("SLURM_JOB_EXCLUSIVE", allocated.exclusive);
  if (!allocated.oversubscribe.empty()) out.set("SLURM_JOB_OVERSUBSCRIBE", allocated.oversubscribe);
  if (!allocated.request.licenses.empty()) out.set("SLURM_JOB_LICENSES", allocated.request.licenses.text());
  if (allocated.job.started != kTimeUnset) out.set("SLURM_JOB_START_TIME", std::to_string(unix_seconds(allocated.job.started)));
  if (allocated.job.ends != kTimeUnset && allocated.job.ends != kTimeInfinite)
    out.set("SLURM_JOB_END_TIME", std::to_string(unix_seconds(allocated.job.ends)));
}

void add_component_variables(const std::vector<rpc::Allocated>& components, VariableList& out) {
  std::vector<HetComponent> all;
  for (const rpc::Allocated& a : components) {
    const ShownRequest& r = a.request;
    HetComponent& c = all.emplace_back();
    c = {a.job.id, r.name, a.job.partition, r.account, r.qos, r.reservation.text(), a.job.node_list, a.cpus_per_node, a.tasks_per_node};
    if (r.num_tasks || r.ntasks_per_node || r.ntasks_per_socket || r.ntasks_per_core || r.ntasks_per_gpu)
      c.num_tasks = std::accumulate(a.tasks_per_node.begin(), a.tasks_per_node.end(), 0u);
    c.mem_per_cpu_mb = r.mem_per_cpu_mb.value_or(0);
    c.mem_per_node_mb = r.mem_per_node_mb.value_or(0);
    c.cpus_per_task = r.cpus_per_task;
  }
  if (all.size() < 2) return;
  for (const std::string& variable : het_variables(all)) {
    const size_t equals = variable.find('=');
    out.set(std::string_view(variable).substr(0, equals), std::string_view(variable).substr(equals + 1));
  }
}

}  // namespace muster::cli

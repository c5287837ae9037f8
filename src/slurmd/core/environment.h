// What the node adds to the environment of batch scripts, of steps and of their tasks: sbatch(1) and srun(1), OUTPUT ENVIRONMENT VARIABLES.
// Pure; texts "NAME=value". Later entries win over earlier ones of the same name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/node_rpc.h"
#include "model/step_rpc.h"

namespace muster::slurmd {

// 4 4 1 becomes "4(x2),1", as in SLURM_JOB_CPUS_PER_NODE and SLURM_TASKS_PER_NODE.
std::string repeat_counts(const std::vector<uint32_t>& counts);

// The entries of NAME=value\0NAME=value\0…, the form in which a job's environment is stored.
std::vector<std::string> split_environment(std::string_view blob);

// What slurmd knows and the job's record does not have.
struct NodeContext {
  std::string node, host, conf_path, cluster, group_name;
  std::vector<GresDevices> gres;       // the node's devices
  bool devices_constrained = false;    // cgroups hide the others: devices count from 0
  bool gpus_configured = false;        // GresTypes has gpu
  std::vector<std::string> gpu_uuids;  // by GPU number, where they were detected: Flags=env_uuid, MIG
};

// The whole environment of a batch script: the job's own, then ours over it.
std::vector<std::string> batch_environment(const node_rpc::JobOnNode& job, std::string_view blob, const NodeContext& node);

// The whole environment of what runs in an external step from its start: what tells whose it is.
std::vector<std::string> external_environment(const node_rpc::JobOnNode& job, const NodeContext& node);

// The variables that all tasks of this node's part of a step have.
std::vector<std::string> step_environment(const rpc::StepCredential& step, size_t node_index, const rpc::LaunchStep& launch,
                                          const NodeContext& node);
// The variables of one task: SLURM_PROCID, SLURM_LOCALID.
std::vector<std::string> task_environment(uint32_t rank, uint32_t local_id);

// What prologs and epilogs may know of the job.
struct ProgramContext {
  JobId job{}, array_job{};
  uint32_t array_task = kNoArrayTask;
  Uid uid{};
  Gid gid{};
  std::string user_name, partition, account, job_name, node_list, work_dir, std_in, std_out, std_err, comment;
  std::string constraints, extra, licenses, qos, reservation;
  std::vector<uint32_t> cpus_per_node;  // none: the job is known from a step alone, and so the members below are not known
  uint32_t restarts = 0;
  Time started{}, ends{};
  std::vector<GresShare> gres;
  int32_t exit_status = 0;
  std::vector<std::string> spank_env;  // NAME=value: SPANK_NAME=value
};
ProgramContext program_context(const node_rpc::JobOnNode& job);
std::vector<std::string> program_environment(const ProgramContext& job, const NodeContext& node, bool epilog);

}  // namespace muster::slurmd

// The environment a job gets from its submission: the variables that --export lets through, SLURM_* variables for the options, and where it
// was submitted. The node adds what only it knows (ranks, nodes, devices). sbatch(1) --export, OUTPUT ENVIRONMENT VARIABLES; salloc(1).
// Pure but for what is passed in.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/common/client_conf.h"
#include "cli/common/options.h"

namespace muster::cli {

// A list of NAME=value texts; set() replaces a name that is there.
class VariableList {
 public:
  VariableList() = default;
  explicit VariableList(std::vector<std::string> list) : list_(std::move(list)) {}
  void set(std::string_view name, std::string_view value);
  // Sets the variable only where the name is not there yet.
  void set_default(std::string_view name, std::string_view value);
  bool has(std::string_view name) const { return find(name) != list_.size(); }
  const std::vector<std::string>& list() const { return list_; }
  // The list as NAME=value\0…
  std::string blob() const;

 private:
  size_t find(std::string_view name) const;
  std::vector<std::string> list_;
};

std::vector<std::string> own_environment();
// The variables of `all` that the --export of the options lets through; all of them without --export.
std::vector<std::string> exported(const JobOptions& options, std::span<const std::string> all);
// Reads an --export-file: NAME=value entries that each end in '\n' or '\0'.
std::vector<std::string> parse_environment_file(std::string_view text);

// Adds the options as variables (SLURM_NTASKS, SLURM_CPUS_PER_TASK, SLURM_MEM_PER_NODE …), so that commands in the job inherit them.
void add_option_variables(const JobOptions& options, VariableList& out);
// Adds SLURM_SUBMIT_DIR, SLURM_SUBMIT_HOST, SLURM_JOB_NAME, SLURM_CLUSTER_NAME, SLURM_PRIO_PROCESS and SLURM_UMASK.
void add_submit_variables(const JobOptions& options, const ClientConf& conf, std::string_view here, int nice, VariableList& out);

}  // namespace muster::cli

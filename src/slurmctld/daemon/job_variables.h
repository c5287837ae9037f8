// SLURM_JOB_…: what the controller's programs (MailProg, PrologSlurmctld, EpilogSlurmctld) are told of a job. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/cluster.h"

namespace muster::slurmctld {

// Names that the job's record does not hold itself.
struct JobNames {
  std::string cluster, partition, group, node_list;
};

class Variables {
 public:
  void set(std::string_view name, std::string_view value) { out_.push_back(std::string(name) + "=" + std::string(value)); }
  void set(std::string_view name, uint64_t value) { set(name, std::to_string(value)); }
  void if_any(std::string_view name, std::string_view value) {
    if (!value.empty()) set(name, value);
  }
  std::vector<std::string> take() { return std::move(out_); }

 private:
  std::vector<std::string> out_;
};

// Adds whose job it is, what and where, and its array.
void add_job(const Job& job, const JobNames& names, Variables& out);
// Adds SLURM_JOB_DERIVED_EC, SLURM_JOB_EXIT_CODE and _CODE2.
void add_exit(const Job& job, Variables& out);

// The whole environment of PrologSlurmctld or EpilogSlurmctld; it has no search path, as the manual says. slurm.conf(5), PROLOG AND EPILOG
// SCRIPTS.
std::vector<std::string> job_program_environment(const Job& job, const JobNames& names, bool epilog);

}  // namespace muster::slurmctld

// Scenario: the cluster and the jobs that a seed stands for: the text of slurm.conf and gres.conf, as a site would write them, the requests
// of jobs, how long a job runs and how it exits. Pure functions of the seed.
#pragma once

#include <string>
#include <vector>

#include "base/random.h"
#include "model/job_request.h"
#include "model/node.h"
#include "slurmctld/core/settings.h"

namespace muster::sim {

struct Scenario {
  explicit Scenario(Random random, uint64_t seed);

  std::string slurm_conf, gres_conf, resources_yaml;
  slurmctld::Settings settings;
  std::vector<std::string> nodes;      // names; index = NodeId
  std::vector<NodeHardware> hardware;  // as found on a healthy machine, boot_id empty
  std::vector<std::string> partitions;
  bool prolog = false, epilog = false;
  bool in_job = false;        // PrologFlags=RunInJob
  bool reservations = false;  // admins make some
  bool maintenance = false;   // administrators have nodes rebooted, a few at a time
  bool quarantine = false;    // the first node makes jobs fail, and such nodes are put into quarantine

  bool has_licenses() const { return licenses_; }
  JobRequest request(Random& rng, const std::vector<JobId>& known, Time now) const;
  // What the job would do by itself; the same for every asker.
  Duration runtime(JobId job, uint32_t generation, bool calm) const;
  int32_t exit_status(JobId job, uint32_t generation, bool calm) const;

 private:
  struct Group {
    std::string prefix, gpu;
    uint32_t count = 0, sockets = 1, cores = 1, threads = 1, gpus = 0;
    uint64_t memory = 0;
  };
  std::string globals(Random& rng) const;
  void add_group(Random& rng, const char* prefix);
  void add_preemption();
  void add_layers();
  void add_licenses();
  void add_channels();
  void ask_for_layers(JobRequest& request, Time now) const;
  void ask_for_more(JobRequest& request, Time now) const;
  void load();

  uint64_t seed_;
  bool licenses_ = false;
  std::vector<Group> groups_;
};

}  // namespace muster::sim

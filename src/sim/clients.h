// Clients: users and admins. They draw commands from the seed, send them to the controller, and react as the real commands do: salloc gives
// its allocation back, srun starts its step on the nodes and reports its end.
#pragma once

#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "model/maintenance.h"
#include "model/rpc.h"
#include "slurmctld/core/decide.h"

namespace muster::sim {

class World;

class Clients {
 public:
  explicit Clients(World& world) : world_(world) {}
  // Spreads the commands over the first phase.
  void schedule(Duration horizon);
  // The log says that a job got its nodes.
  void job_started(JobId job);
  // The admin's round in the second phase lets everything run that can run.
  void tidy();

 private:
  struct Deed;
  void act();
  void submit();
  void submit_together();
  void cancel();
  void control();
  void update_job();
  void admin();
  // ---- client_reservations.cc
  void reserve();
  void name_a_reservation(JobRequest& request);
  void end_reservations();
  // ---- client_maintenance.cc
  void schedule_maintenances(Duration horizon);
  void order_maintenance(const std::string& name, rpc::MaintenanceOrder order);
  bool is_in_maintenance(NodeId node) const;
  void end_maintenances();
  void finish_allocation(JobId job, uint32_t generation);
  void create_step(JobId job, uint32_t generation);
  void launch_step(const rpc::StepCreated& step, uint32_t generation);
  void update_node(const std::string& nodes, const std::string& state);
  void update_partition(const std::string& name, const std::string& state);
  JobId some_job();
  JobId wide_running_job();  // one that has nodes to give up; 0: none
  slurmctld::Caller someone(JobId job);
  rpc::JobSelector select(JobId job);
  void send(std::string what, const slurmctld::Caller& who, slurmctld::Command command);

  World& world_;
  std::vector<JobId> known_;
};

}  // namespace muster::sim

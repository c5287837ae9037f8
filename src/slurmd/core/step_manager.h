// StepManager: what the slurmd of a job's first node decides about the steps of that job (docs/adr/0011). Like the controller's code it
// decides without changing anything: a decision is a ManagerRecord, which becomes durable in the spool (daemon/managed_steps.h) and then
// true by apply(). No I/O, clock or thread.
//
// A job is managed from ManageSteps on, until its end is known here (end) or slurmctld says that it is over. What has become of its steps
// is kept as news, numbered from 1 in each run of the job, until slurmctld says that it has them. kStepsUntold bounds them, and
// kBytesOfUser bounds the memory that news and the steps of all jobs of one user take here: beyond either no more steps are made. About the
// job, slurmctld's word counts more than what is known here; about its steps, what is known here counts more.
// Cost: O(steps of the job) a request.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/cluster.h"
#include "model/node_rpc.h"
#include "steps/job_steps.h"

namespace muster::slurmd {

// The durable part of a managed job: its decisions, one after the other. Stored: append only.
struct ManagerRecord {
  std::optional<node_rpc::ManageSteps> manage;  // also in the first record of a job
  std::vector<node_rpc::StepNews> news;
  std::optional<rpc::PartEnded> part;  // together with what it makes of the step, in `news`
  uint64_t first_news = 0;             // in a record of a whole state: the number of the first of them; 0: they follow the news before
  uint64_t taken = 0;                  // slurmctld has them up to this number
  bool over = false;                   // only its news are still to be told
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "manage", self.manage);
    field(2, "news", self.news);
    field(3, "part", self.part);
    field(4, "first_news", self.first_news);
    field(5, "taken", self.taken);
    field(6, "over", self.over);
  }
};

class StepManager {
 public:
  static constexpr size_t kStepsUntold = 10000, kBytesOfUser = 64u << 20, kNewsAtOnce = 512, kBytesAtOnce = 1u << 20;

  template <class Reply>
  struct Decision {
    std::optional<ManagerRecord> record;  // to be made durable, and applied, before the answer
    Reply reply{};
  };

  // The names of slurm.conf's nodes, so that --exclude may name a node that is not of the job.
  void set_node_names(const std::vector<std::string>& names);
  void set_operators(Uid slurm_user) { slurm_user_ = slurm_user; }

  // ---- what users ask; `caller` as the connection proved it. kInvalidJobId for a job that is not managed here.
  bool manages(JobId job) const;
  bool may_ask_for(Uid caller, JobId job) const;
  Result<rpc::Allocated> attach(Uid caller, const rpc::AttachAllocation& c) const;
  Result<Decision<rpc::StepCreated>> create(Uid caller, const rpc::CreateStep& c, Time now) const;
  Result<rpc::StepCreated> ask(Uid caller, const rpc::AskCredential& c, Time now) const;
  Result<Decision<rpc::Empty>> finish(Uid caller, const rpc::FinishStep& c, Time now) const;

  // ---- what slurmctld and nodes say. No record: it was known already.
  std::optional<ManagerRecord> manage(const node_rpc::ManageSteps& order) const;
  std::optional<ManagerRecord> part_ended(const rpc::PartEnded& part, Time now) const;
  std::optional<ManagerRecord> cancel_waiting(const node_rpc::SignalJob& order, Time now) const;
  std::optional<ManagerRecord> suspend(const node_rpc::SuspendJob& order) const;
  std::optional<ManagerRecord> end(JobId job, uint32_t generation) const;
  std::optional<ManagerRecord> taken(const node_rpc::StepsTaken& order) const;
  // The nodes that still have a part of the step, except this one.
  std::vector<std::string> others_with(JobId job, StepId step, const std::string& node) const;

  // ---- what is durable
  void apply(JobId job, const ManagerRecord& record);
  ManagerRecord state_of(JobId job) const;  // all of it as one record
  bool forgotten(JobId job) const;          // it is over, and all is told: nothing of it is kept any more

  // ---- news. `after`: the number of the last one that has been sent.
  std::optional<node_rpc::StepsOfJob> news(JobId job, uint64_t after, Time now) const;
  uint64_t last_news(JobId job) const;
  uint64_t taken_news(JobId job) const;  // slurmctld has them up to this number
  std::vector<JobId> jobs() const;
  std::vector<node_rpc::ManagedJob> registration() const;  // jobs that are not over
  const node_rpc::ManageSteps* order_of(JobId job) const;  // null: not managed here
  std::string resv_ports_of(JobId job, StepId step) const;

 private:
  struct Managed {
    node_rpc::ManageSteps order;  // without its job, which is in `cluster`
    Cluster cluster;              // the job and its nodes alone
    std::deque<node_rpc::StepNews> news;
    uint64_t first_news = 1;        // the number of news.front(), or of the next one
    size_t bytes = 0;               // of news, about; see kept_bytes.h
    std::map<StepId, size_t> live;  // likewise, of each step that is there
    size_t live_bytes = 0;
    std::unordered_map<std::string, uint32_t> index_of;  // nodes of the order by name
    bool over = false;
    void count(const Step& step);
    void uncount(StepId step);
    const Job& job() const;
    Job& edit();
  };
  const Managed* find(JobId job) const;
  const Managed* find(JobId job, uint32_t generation) const;  // this run, if it is not over
  Result<const Managed*> may_ask(Uid caller, JobId job) const;
  steps::JobSteps steps_of(const Managed& m, Time now) const;
  static std::optional<ManagerRecord> used_late(const Managed& m, const rpc::PartEnded& part, NodeId node);
  static Result<> has_right(const Managed& m, Time now);
  size_t bytes_of(Uid user) const;
  Result<Decision<rpc::StepCreated>> decided(const Managed& managed, Result<steps::Made> made) const;
  Cluster with_all_names(const Managed& m) const;
  static Cluster cluster_of(const node_rpc::ManageSteps& order, Job job);
  static Job job_after(const Job& known, const node_rpc::ManageSteps& order);
  static void apply(Managed& managed, const node_rpc::StepNews& news);
  static void apply(Managed& managed, const rpc::PartEnded& part);

  Cluster others_;  // the nodes of slurm.conf as names alone
  Uid slurm_user_{};
  std::map<JobId, Managed> jobs_;
};

}  // namespace muster::slurmd

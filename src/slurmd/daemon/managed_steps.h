// ManagedSteps: the steps of jobs whose first node is this one, managed here (docs/adr/0011). StepManager decides; here its decisions
// become durable in the spool before anybody is answered, credentials are signed with the node's key and the job's warrant, and news go to
// slurmctld. News of a job are sent a batch at a time, each when slurmctld has the one before; all at once where an answer waits for them
// or the job's end would overtake them. What nodes report in one turn of the loop is synced together. One thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "net/loop.h"
#include "os/log.h"
#include "slurmd/core/step_manager.h"
#include "slurmd/daemon/setup.h"
#include "slurmd/daemon/step_journal.h"

namespace muster::slurmd {

class ManagedSteps {
 public:
  static constexpr Duration kNewsDelay = milliseconds(100), kAnswerTime = seconds(10), kLook = minutes(30);

  struct Ports {
    std::function<void(NodeReport)> report;                                     // to slurmctld, in order; lost without a session
    std::function<bool()> room;                                                 // whether slurmctld keeps up with what it is told
    std::function<void(const std::string& node, JobId job, StepId step)> kill;  // the step's part on that node
  };
  ManagedSteps(net::Loop& loop, os::Log& log, const Setup& setup, Ports ports);

  // Reads the spool. Jobs that ended with an earlier boot have only news left.
  Result<> start();
  const std::string& public_key() const { return public_key_; }
  void configure();  // slurm.conf was read

  // Handles a request that a user addressed to slurmctld, if it is about a job of that user which is managed here. False: it is not, and
  // slurmctld has to answer, or to refuse by its rules. `caller` as the connection, or slurmctld, proved it. `answer`: payload or error.
  bool takes(uint16_t message, std::string_view payload, Uid caller, Result<std::string>& answer);

  void on_order(const NodeOrder& order);
  void registered();  // a new session: what was on its way may be lost
  void disconnected() { registered_ = false; }
  void job_over(JobId job, uint32_t generation);  // nothing of it is left on this node
  // `done` is called from the loop, when it is on the disk or could not be written.
  void part_ended(const rpc::PartEnded& part, std::function<void(Result<>)> done);
  // Called before slurmctld learns of a job's end here: it must first have the news of the job's steps. False: they cannot all be sent yet.
  bool before(const NodeReport& report);
  // rpc::TellSteps: `told` is called once slurmctld has all that is known now, or can no longer be told.
  void tell(JobId job, std::function<void()> told);
  bool manages(JobId job) const { return core_.manages(job); }
  std::vector<node_rpc::ManagedJob> registration() const { return core_.registration(); }

 private:
  struct Telling {            // of one job
    uint64_t on_its_way = 0;  // the number of the last news sent in this session; 0: none
    std::unique_ptr<net::Loop::Timer> timer, again;
    std::vector<std::pair<uint64_t, std::function<void()>>> waiting;
  };
  template <class Request>
  static bool read(std::string_view payload, Request& request, Result<std::string>& answer);
  Result<> make_true(JobId job, const ManagerRecord& record, bool sync);
  void make_true(JobId job, const std::optional<ManagerRecord>& record);
  void sync();
  bool on_disk(JobId job);
  void look_at_rights();
  void changed(JobId job);
  bool send_news(JobId job, bool all);
  void answer_waiting(JobId job);
  Result<std::string> signed_answer(rpc::StepCreated created, bool job_shares, rpc::CredentialPurpose purpose) const;
  void order(const node_rpc::ManageSteps& o);
  void order(const node_rpc::StepsTaken& o);
  void order(const node_rpc::PartOfStepEnded& o);
  void order(const node_rpc::EndManagement& o);
  void order(const node_rpc::SignalJob& o);
  void order(const node_rpc::SuspendJob& o);
  template <class Other>
  void order(const Other&) {}

  net::Loop& loop_;
  os::Log& log_;
  const Setup& setup_;
  Ports ports_;
  StepManager core_;
  StepJournal journal_;
  std::string private_key_, public_key_;
  std::map<JobId, Telling> telling_;
  std::set<JobId> unsynced_;                                                       // written, and said to nobody yet
  std::vector<std::pair<JobId, std::function<void(Result<>)>>> waiting_for_sync_;  // those who reported it
  std::unique_ptr<net::Loop::Timer> look_;
  bool registered_ = false;
};

}  // namespace muster::slurmd

// Slurmd: the daemon put together. Orders and events go through NodeCore; what it decides is carried out here: processes by Stepds, prologs
// and epilogs by Programs, reports by ControllerLink. Step launches come in over the unix socket and TCP. One thread. slurmd(8).
#pragma once

#include <map>
#include <memory>
#include <string>

#include "agent/node_relay.h"
#include "agent/user_relay.h"
#include "net/loop.h"
#include "os/log.h"
#include "os/users.h"
#include "slurmd/core/node_core.h"
#include "slurmd/core/peers.h"
#include "slurmd/daemon/certificate_keeper.h"
#include "slurmd/daemon/configless.h"
#include "slurmd/daemon/content_cache.h"
#include "slurmd/daemon/controller_link.h"
#include "slurmd/daemon/ended_runs.h"
#include "slurmd/daemon/energy_watch.h"
#include "slurmd/daemon/file_transfers.h"
#include "slurmd/daemon/gpu_clocks.h"
#include "slurmd/daemon/gpu_watch.h"
#include "slurmd/daemon/job_channels.h"
#include "slurmd/daemon/job_memory.h"
#include "slurmd/daemon/job_namespaces.h"
#include "slurmd/daemon/late_launches.h"
#include "slurmd/daemon/leftovers.h"
#include "slurmd/daemon/local_users.h"
#include "slurmd/daemon/managed_steps.h"
#include "slurmd/daemon/neighbours.h"
#include "slurmd/daemon/node_checks.h"
#include "slurmd/daemon/setup.h"
#include "slurmd/daemon/spank.h"
#include "slurmd/daemon/step_ends.h"
#include "slurmd/daemon/stepds.h"
#include "slurmd/daemon/stopping.h"

namespace muster::slurmd {

class Slurmd {
 public:
  Slurmd(Setup setup, Arguments arguments, os::Log& log);
  Result<> start();
  void run() { loop_.run(); }

 private:
  struct Asker {
    std::weak_ptr<net::Channel> channel;
    uint64_t id = 0;
    uint16_t message = 0;
  };
  struct TrustedCredential : rpc::StepCredential {
    std::string manager;  // NodeName of the step manager that signed it; "": slurmctld
  };
  struct AskedStep : Asker {  // a launch that waits for the core's word
    TrustedCredential credential;
    rpc::LaunchStep launch;
    bool by_root = false;  // who asked
  };
  struct FileOwner {
    FileTransfers::Owner as;
    bool to_each = false;  // as far as the tree is wide
  };
  using StepKey = std::pair<JobId, StepId>;

  // Sends the reports and carries out the effects of the core, after each input.
  void settle();
  bool has_prolog_flag(std::string_view flag) const;
  std::vector<site::ProgramCall> job_programs(spank::Callback callback, const std::vector<std::string>& site) const;
  void look_for_programs();  // called before what may start a job or end it
  void give_up(const EndSteps& e);
  std::string tell_unkillable(const step_rpc::StepdReport& step);  // what holds it
  void run_around(JobId job, bool epilog, bool in_job, std::function<void(const std::string& error)> done);
  void carry_out(const RunProlog& e);
  void carry_out(const RunEpilog& e);
  void carry_out(const StartExternal& e);
  void carry_out(const EndExternal& e);
  void carry_out(const FindContent& e) { contents_.find(e.job, e.generation, e.hashes); }
  void carry_out(const StartBatch& e);
  Result<step_rpc::StepdLaunch> batch_launch_of(const node_rpc::LaunchBatch& order);
  Result<> read_content(node_rpc::LaunchBatch& order);
  template <class Start>
  bool comes_later(const Start& e, JobId job, StepId step, Uid uid, Gid gid);
  template <class Start>
  Result<bool> namespace_comes_later(const Start& e, StepId step, const JobNamespaces::Owner& owner);
  void end_late(JobId job, uint32_t generation, StepId step);
  void carry_out(const StartStep& e);
  Result<pid_t> start_stepd(step_rpc::StepdLaunch launch, std::optional<mpi_rpc::StepMpi> mpi = std::nullopt, bool io_by_root = false);
  Result<> open_channel(std::optional<uint32_t> channel, step_rpc::StepdLaunch& launch);
  Result<pid_t> launch_step(const AskedStep& asked);
  void carry_out(const RefuseStep& e);
  void carry_out(const EndSteps& e);
  void carry_out(const SignalSteps& e);
  void carry_out(const LimitSteps& e) { stepds_.limit(e.order.job, e.order.step, step_rpc::StepdLimit{e.order.limit}); }
  void carry_out(const MeasureSteps& e) {
    measure_job(stepds_, log_, e.job, [this, e](std::optional<Bytes> used) {
      core_.on_event(StepsMeasured{e.job, e.generation, used});
      settle();
    });
  }
  void carry_out(const LimitMemoryOfSteps& e) { stepds_.limit_memory(e.order.job, memory_limits(setup_, e.order.mem_mb)); }
  void carry_out(const StopSteps& e) { stopper_.carry_out(e); }
  void signal_all(JobId job, uint16_t signal);
  void carry_out(const ReleaseStep& e);
  void carry_out(const DropJob& e);
  void learn(const node_rpc::TerminateJob& t);
  void carry_out(const ReadConfig&) {
    follower_.bring([this] { read_config(); });
  }
  void read_config();
  void carry_out(const StopDaemon& e);
  void carry_out(const ChangeLogging& e);
  void carry_out(const Reboot& e);
  void carry_out(const PowerDown& e);
  void carry_out(const TestThisNode& e) { checks_.test(e.since); }
  void carry_out(const NotifySteps& e);
  void on_stepd(const step_rpc::StepdReport& r);
  void set_clocks(const TresFrequencyText& asked, const std::vector<GresShare>& gres, step_rpc::StepdLaunch& launch);
  void put_back_clocks();  // of steps that ended while no slurmd ran
  void end_abandoned();    // likewise their processes, where slurmstepd died as well
  void answer_launch(const step_rpc::StepdReport& r);
  void on_children();
  node_rpc::Register registration() const;

  // what srun asks
  void accepted(net::ChannelPtr channel);
  Result<> on_request(const net::ChannelPtr& channel, const net::Frame& frame);
  Result<> on_launch_step(const net::ChannelPtr& channel, const net::Frame& frame);
  Result<> on_signal_step(const net::ChannelPtr& channel, const net::Frame& frame);
  Result<> on_relay(const net::ChannelPtr& channel, const net::Frame& frame);
  // what scontrol asks on this host
  Result<> on_local_query(const net::ChannelPtr& channel, const net::Frame& frame);
  rpc::LocalSteps local_steps(const rpc::QueryLocalSteps& q) const;
  std::string about_this_daemon() const;
  Result<> on_adopt(const net::ChannelPtr& channel, const net::Frame& frame);  // pam_slurm_adopt
  Result<> on_attach(const net::ChannelPtr& channel, const net::Frame& frame);
  Result<> on_query_use(const net::ChannelPtr& channel, const net::Frame& frame);
  Result<> on_send_file(const net::ChannelPtr& channel, const net::Frame& frame);
  Result<FileOwner> file_owner(const net::Peer& peer, const rpc::SendFile& message);
  void pass_on(const rpc::SendFile& part, std::function<void(rpc::FileSent)> done);
  Result<TrustedCredential> verified(const std::string& text) const;
  Result<TrustedCredential> check_credential(const net::Peer& peer, const std::string& text, rpc::CredentialPurpose purpose) const;
  // steps that the slurmd of their job's first node manages
  bool answer_for_managed(const net::ChannelPtr& channel, const net::Frame& frame);
  void asked_by_controller(const net::ChannelPtr& channel, const net::Frame& frame);
  Result<> on_part_ended(const net::ChannelPtr& channel, const net::Frame& frame);
  void report(NodeReport r);
  void kill_part(const std::string& node, JobId job, StepId step);
  bool may_ask(PeerRight right, const net::Peer& peer) const { return may(right, peer.subject(setup_.slurm_user).kind); }
  void drop_clients(const std::string& why, const std::function<bool(const net::Peer&)>& which);

  void wire_signals();
  void reopen_log();
  void stop();
  void send_load();
  void watch_gpus(bool for_a_step);
  void apply_logging();  // the levels of the configuration

  Setup setup_;
  Arguments arguments_;
  os::Log& log_;
  net::Loop loop_;
  LocalUsers users_;
  NodeCore core_;
  Leftovers leftovers_;
  Sweeper sweeper_;
  Stepds stepds_;
  site::Programs programs_;
  NodePlugins plugins_;
  JobNamespaces namespaces_;
  JobChannels channels_;
  GpuClocks clocks_;
  GpuWatch gpu_watch_;
  EnergyWatch energy_;
  FileTransfers files_;
  ControllerLink link_;
  CertificateKeeper certificate_{loop_, log_, link_, arguments_.membership,
                                 [this](const std::string& why, const auto& which) { drop_clients(why, which); }};
  NodeChecks checks_;
  ManagedSteps managed_;
  NodePlaces places_{setup_};
  Neighbours neighbours_;
  std::vector<NodeReport> held_reports_;  // wait for news of steps, which have to go first
  std::unique_ptr<net::Loop::Timer> held_timer_;
  EndedRuns ended_runs_;
  StepEnds ends_;
  LateLaunches late_{loop_};
  ContentCache contents_;
  std::unique_ptr<net::Listener> agent_, tcp_;
  std::map<const net::Channel*, net::ChannelPtr> clients_;
  agent::NodeRelay to_nodes_{loop_, [this] { return agent::NodeRelay::Way{setup_.security, setup_.config().message_timeout}; }};
  ConfigFollower follower_{log_, link_, arguments_.configless};
  agent::UserRelay relay_{link_.connection(), [this] { return setup_.node; }};
  std::map<StepKey, AskedStep> asked_;
  std::map<StepKey, Asker> starting_;         // its slurmstepd has not said yet whether the tasks run
  Time last_order_{};                         // of the controller
  std::map<JobId, ProgramContext> contexts_;  // what prolog and epilog are told
  JobStopper stopper_{loop_, [this](JobId job, uint16_t signal) { signal_all(job, signal); },
                      [this](const StopSteps& e, bool later) {
                        core_.on_event(StepsStopped{e.job, e.generation, e.stop});
                        if (later) settle();
                      }};
  std::map<JobId, std::unique_ptr<net::Loop::Timer>> unkillable_;  // jobs that were told to end
  std::unique_ptr<net::Loop::Timer> load_timer_;
};

int run_slurmd(int argc, char** argv);

}  // namespace muster::slurmd

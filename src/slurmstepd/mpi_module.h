// MpiModule: the program that helps this node's tasks find the step's other tasks (srun --mpi; src/plugin/mpi/README.md). slurmstepd starts
// it with the step's user and groups, waits for its word before the first task starts, passes letters between it and srun, and kills it
// when the tasks are over. Its files are then removed. It runs as the user: what it says is checked and bounded as a user's word is.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/mpi_rpc.h"
#include "model/step_rpc.h"
#include "net/channel.h"
#include "os/launch.h"

namespace muster::slurmstepd {

using VariablesByRank = std::map<uint32_t, std::vector<std::string>>;
// The variables of the tasks here, each task once, with at most 1024 variables of 256 KiB together. Error: which task breaks which rule.
Result<VariablesByRank> variables_by_rank(mpi_rpc::ModuleReady ready, const std::vector<uint32_t>& ranks_here);
// Whether the letter is not too long, and for no more nodes than the step has.
bool may_be_sent(const mpi_rpc::NodeLetter& letter, size_t nodes);

class MpiModule {
 public:
  struct Events {
    std::function<void()> ready;
    std::function<void(const Error&)> failed;  // instead of `ready`
    std::function<void(const mpi_rpc::NodeLetter&)> letter;
    std::function<void(const std::string& why)> abort;
    std::function<void(const std::string& text)> note;
    std::function<void()> gone;  // it ended without being told to
  };
  MpiModule(net::Loop& loop, mpi_rpc::StepMpi setup, Events events) : loop_(loop), setup_(std::move(setup)), events_(std::move(events)) {}

  const std::string& type() const { return setup_.type; }
  // `spec` says which user it is and where it belongs (credentials, cgroups); path, files and environment are set here.
  Result<> start(const step_rpc::StepdLaunch& launch, os::SpawnSpec spec);
  // The process with this pid has ended. True: it was the module.
  bool is_ended(pid_t pid);
  bool running() const { return pid_ > 0; }
  pid_t pid() const { return pid_; }
  const std::string& why_not_started() const { return why_not_started_; }  // after its end; "": it was started
  void finish();                                                           // ends it when it has said all that it has to say
  void kill();
  std::vector<std::string> directories() const;  // of the user's, to be removed when all is over

  // The descriptor that a task is born with in addition (task_descriptor): ours until `close_sockets`. Nothing for most modules.
  std::optional<os::FdMapping> socket_of(uint32_t rank) const;
  void close_sockets() { sockets_.clear(); }
  // The NAME=value entries that the module gives this task; they go over the task's other variables.
  std::vector<std::string> variables_of(uint32_t rank) const;
  void deliver(const mpi_rpc::NodeLetter& m);
  void nodes_lost(const mpi_rpc::NodesLost& m);
  void task_gone(uint32_t rank, int32_t status);

 private:
  Result<> make_sockets(uint32_t node_id, std::vector<os::Fd>& theirs);
  void gone();
  void on_frame(const net::Frame& frame);
  void on_ready(const net::Frame& frame);
  void on_failed(const net::Frame& frame);
  template <class M>
  void tell(const M& m);

  net::Loop& loop_;
  mpi_rpc::StepMpi setup_;
  Events events_;
  net::ChannelPtr channel_;
  os::Fd socket_;  // the channel's, to look at
  pid_t pid_ = 0;
  std::optional<os::Launch> launch_;
  std::string why_not_started_;
  bool over_ = false;      // we ended it, or have told that it is gone
  bool answered_ = false;  // with ready or failed
  std::vector<uint32_t> ranks_here_;
  VariablesByRank variables_;
  std::map<uint32_t, os::Fd> sockets_;  // of tasks that have not started
};

}  // namespace muster::slurmstepd

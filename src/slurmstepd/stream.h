// SrunStream: the connection to srun, one per node and step. Output of the tasks goes out, input and signals come in. The address is the
// user's word, and so an Errand of the user connects to it. A srun that is slow stops the reading of the tasks' output (their pipes fill,
// they wait). Input is acknowledged when it is in the tasks' pipes (task_input.h); a sender that goes beyond its window breaks the protocol
// and is disconnected. When srun is gone, output is read and dropped. Beside srun, others may be attached (sattach): they get the same
// output and may send input, but no signals; one that does not keep up is dropped, for the tasks wait for srun alone. So at most a few MiB
// wait here for anybody.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "model/mpi_rpc.h"
#include "model/step_rpc.h"
#include "net/channel.h"
#include "os/fd.h"
#include "slurmstepd/errands.h"
#include "slurmstepd/task_input.h"

namespace muster::slurmstepd {

class SrunStream {
 public:
  struct Events {
    std::function<void(const step_rpc::IoSignal&)> signal;
    std::function<void(const step_rpc::IoWindow&)> window;
    std::function<bool()> takes_letters;  // whether there is an MPI module here
    std::function<void(const mpi_rpc::NodeLetter&)> letter;
    std::function<void(const mpi_rpc::NodesLost&)> nodes_lost;
    std::function<void()> lost;          // srun is gone
    std::function<void()> output_ended;  // every task's output reached its end
    std::function<void()> detached;      // an attached reader is gone
  };
  SrunStream(net::Loop& loop, Errands& errands, Events events) : loop_(loop), errands_(errands), events_(std::move(events)) {}

  using Connected = std::function<void(Result<>)>;
  // Connects and says hello; `done` is called from the loop.
  void connect(const step_rpc::StepdLaunch& launch, bool named_by_root, Connected done);
  bool connected() const { return channel_ != nullptr; }
  // Connects to one more reader, which is told of the tasks that `over` names. One that cannot be reached has gone already; one too many
  // is told so and let go.
  void attach(const step_rpc::StepdLaunch& launch, const rpc::StepIo& io, bool named_by_root, std::function<step_rpc::TasksEnded()> over);
  bool attached() const { return !attached_.empty(); }

  // The reading end of a task's pipe, or a pty's master; the stream owns it from here.
  void add_output(uint32_t rank, uint8_t stream, os::Fd fd, bool pty = false);
  // The writing end of a task's stdin.
  void add_input(uint32_t rank, os::Fd fd) { input_.add(rank, std::move(fd)); }
  void drop_input(uint32_t rank) { input_.drop(rank); }

  void tasks_ended(const step_rpc::TasksEnded& m);
  void note(const std::string& line);
  void say(uint32_t rank, std::string text);  // as if the task had written it to its stdout
  // Sends it to srun alone, if srun is there.
  void send_letter(const mpi_rpc::NodeLetter& m);
  void abort_step();
  bool outputs_open() const { return !outputs_.empty(); }
  void close_outputs();
  void say_end();  // after which srun closes and `lost` is called
  void close();    // also the connections of those attached

 private:
  struct Output {
    uint32_t rank = 0;
    uint8_t stream = 1;
    bool pty = false;
    os::Fd fd;
    std::unique_ptr<net::Loop::Watch> watch;
  };
  using Opened = std::function<void(Result<net::ChannelPtr>)>;
  void open(const step_rpc::StepdLaunch& launch, const rpc::StepIo& io, bool named_by_root, Opened opened);
  void attached(net::ChannelPtr reader, const step_rpc::TasksEnded& over);
  void drop_the_slow();
  std::shared_ptr<net::Shares> bounds();
  void on_frame(const net::Frame& frame);
  void on_input(const step_rpc::IoData& m, const net::ChannelPtr& from);
  void input_taken(TaskInput::Sender sender, size_t bytes);
  void read_output(Output* output);
  void pause_outputs();
  void go_on_reading();
  void srun_is_gone();
  template <class M>
  void send(const M& m);  // to all

  net::Loop& loop_;
  Errands& errands_;
  Events events_;
  net::ChannelPtr channel_;
  std::vector<net::ChannelPtr> attached_;
  size_t attaching_ = 0;
  bool paused_ = false, end_said_ = false, closed_ = false;
  std::vector<std::unique_ptr<Output>> outputs_;
  std::shared_ptr<net::Shares> shares_;
  TaskInput input_{loop_, [this](TaskInput::Sender sender, size_t bytes) { input_taken(sender, bytes); }};
};

}  // namespace muster::slurmstepd

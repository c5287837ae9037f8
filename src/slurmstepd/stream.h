// SrunStream: the connection to srun. Output of the tasks goes out, input and signals come in. One per node
// and step. A srun that takes its time stops the reading of the tasks' output (their pipes fill, they wait);
// input is acknowledged when it is in the tasks' pipes, so srun sends no more than a window. When srun is
// gone, output is read and dropped. Beside srun, others may be attached (sattach): they get the same output and
// may send input, but no signals; one that does not keep up is dropped, for the tasks wait for srun alone.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "model/mpi_rpc.h"
#include "model/step_rpc.h"
#include "net/channel.h"
#include "os/fd.h"

namespace muster::slurmstepd {

class SrunStream {
 public:
  struct Events {
    std::function<void(const step_rpc::IoSignal&)> signal;
    std::function<void(const step_rpc::IoWindow&)> window;
    std::function<void(const mpi_rpc::NodeLetter&)> letter;
    std::function<void(const mpi_rpc::NodesLost&)> nodes_lost;
    std::function<void()> lost;          // srun is gone
    std::function<void()> output_ended;  // every task's output reached its end
    std::function<void()> detached;      // an attached reader is gone
  };
  SrunStream(net::Loop& loop, Events events) : loop_(loop), events_(std::move(events)) {}

  // Connects and says hello. Blocks for as long as the kernel takes to connect (srun listens already).
  Result<> connect(const step_rpc::StepdLaunch& launch);
  bool connected() const { return channel_ != nullptr; }
  // To one more reader, who is told of the tasks that are over already.
  Result<> attach(const step_rpc::StepdLaunch& launch, const rpc::StepIo& io, const step_rpc::TasksEnded& over);
  bool attached() const { return !attached_.empty(); }

  // The reading end of a task's pipe, or a pty's master; the stream owns it from here.
  void add_output(uint32_t rank, uint8_t stream, os::Fd fd, bool pty = false);
  // The writing end of a task's stdin.
  void add_input(uint32_t rank, os::Fd fd);
  void drop_input(uint32_t rank);

  void tasks_ended(const step_rpc::TasksEnded& m);
  void note(const std::string& line);
  void say(uint32_t rank, std::string text);  // as if the task had written it to its stdout
  // To srun alone, if it is there.
  void send_letter(const mpi_rpc::NodeLetter& m);
  void abort_step();
  bool outputs_open() const { return !outputs_.empty(); }
  void close_outputs();
  void say_end();  // srun closes then, and `lost` is called
  void close();  // the attached ones, too

 private:
  struct Output {
    uint32_t rank = 0;
    uint8_t stream = 1;
    bool pty = false;
    os::Fd fd;
    std::unique_ptr<net::Loop::Watch> watch;
  };
  struct Chunk {
    std::string data;
    size_t holders = 0;
    std::weak_ptr<net::Channel> from;
  };
  struct Input {
    os::Fd fd;
    std::unique_ptr<net::Loop::Watch> watch;
    std::deque<std::shared_ptr<Chunk>> queue;
    size_t offset = 0;
    bool end = false;
  };

  Result<net::ChannelPtr> open(const step_rpc::StepdLaunch& launch, const rpc::StepIo& io);
  void on_frame(const net::Frame& frame);
  void on_input(step_rpc::IoData m, const net::ChannelPtr& from);
  void write_input(uint32_t rank);
  void done_with(const std::shared_ptr<Chunk>& chunk);
  void read_output(Output* output);
  void pause_outputs();
  template <class M>
  void send(const M& m);  // to all

  net::Loop& loop_;
  Events events_;
  net::ChannelPtr channel_;
  std::vector<net::ChannelPtr> attached_;
  bool paused_ = false;
  std::vector<std::unique_ptr<Output>> outputs_;
  std::map<uint32_t, Input> inputs_;
};

}  // namespace muster::slurmstepd

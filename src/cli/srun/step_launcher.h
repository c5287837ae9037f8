// StepLauncher: runs a created step to its end. It listens for the nodes' streams, asks each slurmd to launch its part, carries input,
// output and signals, and ends the step by the rules of --kill-on-bad-exit, --wait, --immediate signals and Ctrl-C. It runs a loop of its
// own on the calling thread. It can also attach to a step that runs (sattach): the streams are the same, but the step goes on without it,
// so signals end only the program.
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "cli/common/node_dial.h"
#include "cli/srun/step_output.h"
#include "cli/srun/task_report.h"
#include "model/file_pattern.h"
#include "model/mpi_rpc.h"
#include "model/step_rpc.h"
#include "net/channel.h"
#include "net/loop.h"
#include "net/socket.h"
#include "os/cli_log.h"
#include "os/files.h"
#include "os/pty.h"

namespace muster::cli {

// What the nodes of one more component of a heterogeneous job are told. Its nodes follow those before in `step.nodes` of the plan.
struct LaunchPart {
  std::string credential;
  StepRequest request;
  size_t first_node = 0;
};

struct LaunchPlan {
  rpc::StepCreated step;            // over several components: with the nodes of all
  StepRequest request;              // complete: argv, environment, files
  std::vector<LaunchPart> more;     // the components after the first
  std::string job_name, user_name;  // for names of files
  JobId array_job{};
  uint32_t array_task = kNoArrayTask;
  NodeDialer dialer;
  bool attach = false;                        // to a step that others launched
  std::pair<uint16_t, uint16_t> ports{0, 0};  // one of these is listened on; 0: any
  uint32_t kill_wait_seconds = 30;
  std::optional<Duration> launch_timeout;  // --msg-timeout: for a node's answer, and then for its stream
  uint32_t threads = 0;                    // nodes asked at the same time; 0 = all
  uint32_t wait_seconds = 0;               // after the first task's end; 0 = forever
  bool kill_on_bad_exit = false;
  bool async = false;  // only launch: nobody listens to the step
  bool disable_status = false, quit_on_interrupt = false, quiet_exits = false, reduce_exit_messages = false;
  std::set<int> ignored_signals;
};

class StepLauncher {
 public:
  StepLauncher(LaunchPlan plan, const os::CliLog& log);
  ~StepLauncher();
  // Runs the step to its end. Gives srun's exit code.
  int run();
  int32_t wait_status() const { return report_.wait_status(); }
  bool out_of_memory() const { return report_.out_of_memory(); }

 private:
  struct Node {
    const rpc::StepNode* step = nullptr;
    net::ChannelPtr stream;
    bool launched = false, over = false, told_started = false;
    uint64_t input_unacknowledged = 0;
    std::vector<std::string> letters;           // those that came before its stream
    std::unique_ptr<net::Loop::Timer> awaited;  // launched, and its stream is not there yet
  };
  // Accepted, and has not said which node it is.
  struct Stranger {
    net::ChannelPtr channel;
    std::unique_ptr<net::Loop::Timer> patience;
  };

  FileNames file_names() const;
  Result<> listen();
  Result<> listen_in_folder();  // of the tasks of this host
  Result<> listen_on_port();
  void launch_next();
  void launch(Node& node);
  void launch_failed(Node& node, const Error& error);
  void launched(Node& node);
  void node_lost(Node& node);
  void accept_stream();
  void turn_away(const net::Channel* stranger);
  Node* node_of(const net::Channel* stream);
  void on_hello(net::Channel* channel, const net::Frame& frame);
  void on_stream(Node& node, const net::Frame& frame);
  void stream_over(Node& node);
  void tasks_ended(Node& node, const step_rpc::TasksEnded& ended);
  void flush_lines();
  void node_over(Node& node);
  void check_done();
  Duration launch_timeout() const;

  // step_letters.cc
  void pass_on(const Node& from, const net::Frame& frame);
  void deliver(Node& node, const mpi_rpc::NodeLetter& letter);
  void deliver_kept(Node& node);
  void tell_of_lost_nodes();
  std::vector<uint32_t> lost_nodes() const;

  Result<> open_input();
  void read_input();
  void send_input(std::string data, bool end);
  void start_input();
  void wire_signals();
  void on_interrupt();
  void forward(int signal);
  // `signal` is sent to the tasks first; 0 ends them as scancel does.
  void end_step(const char* why, int signal = 0);
  void say_started(Node& node);
  void say_ended(const Node& node, const step_rpc::TasksEnded& ended);
  static std::string ranks_text(const Node& node);
  void abort_step();
  template <class M>
  void send_all(const M& m);

  LaunchPlan plan_;
  const os::CliLog& log_;
  net::Loop loop_;
  std::string name_;  // "12.0"
  TaskReport report_;
  StepOutput output_;
  std::shared_ptr<const StepRequest> request_;
  std::vector<std::shared_ptr<const StepRequest>> more_requests_;  // as plan_.more
  rpc::StepIo io_;
  std::optional<os::TempDir> socket_dir_;
  net::UniqueFd listener_;
  std::unique_ptr<net::Loop::Watch> listener_watch_;
  std::list<Stranger> strangers_;  // the oldest first
  std::vector<Node> nodes_;
  size_t asked_ = 0;         // nodes that were asked for a launch
  bool letters_ = false;     // nodes write to each other (--mpi)
  bool telling_ = false;     // ... and will be told in this turn which are over
  size_t kept_letters_ = 0;  // bytes
  int input_fd_ = 0;
  os::Fd input_file_;
  std::unique_ptr<net::Loop::Watch> input_watch_;
  uint32_t input_rank_ = step_rpc::kAllTasks;
  bool input_ended_ = false, input_wanted_ = true, input_sent_ = false;
  std::optional<os::RawMode> raw_;
  std::unique_ptr<net::Loop::Timer> line_timer_, wait_timer_, abort_timer_;
  Duration last_interrupt_{-1};
  bool ending_ = false, failed_ = false, first_ended_ = false;
};

}  // namespace muster::cli

// For tests: a slurmd with a directory of its own, and a controller that speaks model/node_rpc.h with it and keeps what it is told.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "model/node_rpc.h"
#include "model/step_rpc.h"
#include "net/channel.h"
#include "net/loop.h"
#include "os/files.h"
#include "os/process.h"

namespace muster::slurmd::test {

inline constexpr uint32_t kStepJob = 12;

struct Ran {
  int status = -1;  // wait status
  std::string out, err;
  Duration took{};
};

class FakeCluster {
 public:
  // `more` is added to slurm.conf.
  explicit FakeCluster(const std::string& more = "");
  ~FakeCluster();

  const std::string& dir() const { return dir_.path(); }
  std::string file(const std::string& name) const { return dir() + "/" + name; }
  std::string read(const std::string& name) const;  // "(why not)" when it cannot
  // Whether a script has written a whole line into that file: tests wait for that before they act on the content.
  bool has_line(const std::string& name) const;
  // Whether the process whose number is that file's first line has ended.
  bool ended(const std::string& pid_file) const;
  std::string socket() const { return dir() + "/slurmd.n1.sock"; }

  void start_slurmd();           // and waits for its registration
  void kill_slurmd(int signal);  // and waits for its end
  bool run_until(const std::function<bool()>& done, Duration limit = seconds(20));
  void send(NodeOrder order);
  // A LaunchBatch of ours whose script is `body` behind #!/bin/bash.
  node_rpc::LaunchBatch batch(uint32_t job, const std::string& body);
  void remember(uint32_t job) { jobs_.insert(job); }  // to be ended with us
  size_t steps_left() const;                          // sockets of slurmstepd in the spool
  void stop_listening() {
    channel_ = nullptr;
    clients_.clear();
    listener_.reset();
  }
  void listen();

  template <class T>
  std::vector<T> all() const {
    std::vector<T> out;
    for (const NodeReport& r : reports)
      if (auto* p = std::get_if<T>(&r)) out.push_back(*p);
    return out;
  }
  template <class T>
  const T* of_job(uint32_t job) const {
    for (const NodeReport& r : reports)
      if (auto* p = std::get_if<T>(&r)) {
        if constexpr (requires { p->job; }) {
          if (p->job == JobId(job)) return p;
        }
      }
    return nullptr;
  }

  // Runs the real srun in our directory while this controller answers.
  Ran srun(std::vector<std::string> args, const std::string& input = "", const std::function<void(pid_t)>& meanwhile = {});

  net::Loop loop;
  int busy_answers = 0;
  bool takes_step_ends = true;  // says that it has them
  std::string conf_for_srun;    // "" = slurmd's
  std::vector<GresShare> step_gres;
  Duration credential_life = seconds(60);
  std::vector<rpc::FinishStep> finished_steps;
  std::vector<rpc::FinishAllocation> finished_allocations;
  std::vector<rpc::Relay> relayed;  // what slurmd passed on; never answered
  std::vector<uint64_t> askers_gone;
  std::vector<NodeReport> reports;
  std::vector<node_rpc::Register> registrations;
  std::string authority = std::string(32, 'a');  // whose signature slurmd believes
  std::string key = "0123456789abcdef0123456789abcdef", credential_key = std::string(32, 'a'), credential_cluster = "test";

  rpc::StepCreated created(const rpc::CreateStep& m);

 private:
  void on_call(net::Channel& c, const net::Frame& f);
  os::TempDir dir_;
  uint16_t port_ = 0, controller_port_ = 0;
  pid_t slurmd_ = 0;
  std::unique_ptr<net::Listener> listener_;
  net::ChannelPtr channel_;  // slurmd's
  std::map<net::Channel*, net::ChannelPtr> clients_;
  uint32_t next_step_ = 0;
  bool hears_children_ = false;
  uint64_t session_ = 0, sent_ = 0;
  std::set<uint32_t> jobs_;
};

}  // namespace muster::slurmd::test

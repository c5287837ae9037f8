// Module: PMI-1 and PMI-2 for the tasks of one step on one node, between slurmstepd (its channel), the other nodes' modules
// and the tasks' sockets. Values put since the last fence travel with it; after it every node has all of them.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/socket.h"
#include "plugin/mpi_pmi2/session.h"
#include "plugin/mpi_program/module.h"

namespace muster::mpi_pmi2 {

class Module final : public mpi::Module {
 public:
  // The tasks' sockets follow `fd`, in the order of ranks here.
  Module(net::Loop& loop, int fd) : mpi::Module(loop, fd) {}

 private:
  struct Task {
    uint32_t rank = 0;
    net::UniqueFd fd;
    std::unique_ptr<net::Loop::Watch> watch;
    std::unique_ptr<Session> session;
    std::string unwritten;
    bool in_fence = false, gone = false;
  };

  Result<std::vector<mpi_rpc::TaskVariables>> prepare() override;
  void on_task_gone(const mpi_rpc::TaskGone& gone) override;
  std::unique_ptr<Task> make_task(uint32_t rank, int fd, uint32_t size, const std::string& mapping);
  void read_from(Task& task);
  void write_to(Task& task, const std::string& bytes);
  bool take(Task& task);
  void drop(Task& task);
  void fence_if_all();
  void fence_over(Result<std::string> data);
  void put_node(std::string key, std::string value);

  std::vector<std::unique_ptr<Task>> tasks_;
  std::map<std::string, std::string> keys_, node_keys_;
  std::string puts_;  // since the last fence, encoded
  bool fencing_ = false, aborted_ = false;
};

}  // namespace muster::mpi_pmi2

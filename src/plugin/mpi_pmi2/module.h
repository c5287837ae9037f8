// Module: PMI-1 and PMI-2 for the tasks of one step on one node, between slurmstepd (its channel), the other nodes' modules
// and the tasks' sockets. Values put since the last fence travel with it; after it every node has all of them.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/mpi_rpc.h"
#include "net/channel.h"
#include "net/loop.h"
#include "net/socket.h"
#include "plugin/mpi/fences.h"
#include "plugin/mpi_pmi2/session.h"

namespace muster::mpi_pmi2 {

class Module {
 public:
  // `fd`: our end of the socket pair that slurmstepd made. The tasks' sockets follow it, in the order of ranks here.
  Module(net::Loop& loop, int fd);

 private:
  struct Task {
    uint32_t rank = 0;
    net::UniqueFd fd;
    std::unique_ptr<net::Loop::Watch> watch;
    std::unique_ptr<Session> session;
    std::string unwritten;
    bool in_fence = false, gone = false;
  };

  void on_frame(const net::Frame& frame);
  void start();
  std::unique_ptr<Task> make_task(uint32_t rank, int fd, uint32_t size, const std::string& mapping);
  void read_from(Task& task);
  void write_to(Task& task, std::string bytes);
  void drop(Task& task);
  void fence_if_all();
  void fence_over(Result<std::string> data);
  void put_node(std::string key, std::string value);
  void watch_deadlines();

  net::Loop& loop_;
  net::ChannelPtr channel_;
  std::optional<mpi_rpc::ModuleStart> start_;
  std::optional<mpi::Fences> fences_;
  std::vector<std::unique_ptr<Task>> tasks_;
  std::map<std::string, std::string> keys_, node_keys_;
  std::string puts_;   // since the last fence, encoded
  bool fencing_ = false;
  std::unique_ptr<net::Loop::Timer> timer_;
};

}  // namespace muster::mpi_pmi2

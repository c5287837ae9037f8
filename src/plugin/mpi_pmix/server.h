// Server: OpenPMIx's server for the tasks of one step on one node. It hands what needs other nodes, or the step's end, to its Events, on
// the loop's thread (libpmix calls from a thread of its own), and gives answers back to the tasks. libpmix itself refuses publish, lookup,
// spawn, connect, groups and the rest that Slurm has no service for, with PMIX_ERR_NOT_SUPPORTED. Tasks stay registered to the end:
// PMIx_server_deregister_client closes a task's connection without taking it from libpmix's event loop, and the connection of the next
// task, which gets the same descriptor, would never be read. One server in a process: libpmix's callbacks carry no context.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/mpi_rpc.h"
#include "net/loop.h"
#include "plugin/mpi_pmix/library.h"

namespace muster::mpi_pmix {

// Gives a task the answer that it waits for. Called once, on any thread.
using Reply = std::function<void(pmix_status_t status, std::string data)>;

struct Operation {                          // a fence
  std::vector<uint32_t> ranks;              // who takes part, ascending
  std::string data;                         // of the tasks here
  std::optional<uint32_t> timeout_seconds;  // as a task asked; 0 = unlimited
};

class Server {
 public:
  struct Events {
    std::function<void(Operation, Reply)> fence;
    std::function<void(uint32_t rank, std::optional<uint32_t> timeout_seconds, Reply)> wanted;  // data of a task elsewhere
    std::function<void(uint32_t rank, int status, const std::string& text)> abort;
    std::function<void(const std::string& text)> debug;
  };
  Server(const Library& library, net::Loop::Poster post, Events events)
      : library_(library), post_(std::move(post)), events_(std::move(events)) {}

  // Blocks for as long as libpmix takes (some milliseconds). Returns the variables of each task here. Errors: libpmix's.
  Result<std::vector<mpi_rpc::TaskVariables>> start(const mpi_rpc::ModuleStart& start);
  // Finds the data of a task here, for another node; waits until the task gives it.
  void find(uint32_t rank, Reply reply);
  const char* name_of(pmix_status_t status) const { return library_.PMIx_Error_string(status); }

 private:
  friend struct Callbacks;
  Result<> check(const char* what, pmix_status_t rc) const;
  Result<> initialize(const mpi_rpc::ModuleStart& start);
  pmix_proc_t process(uint32_t rank) const;
  // The processes as ranks, PMIX_RANK_WILDCARD as those of the whole step; nullopt: a process is of another name space.
  std::optional<std::vector<uint32_t>> ranks_of(const pmix_proc_t* procs, size_t count) const;

  const Library& library_;
  net::Loop::Poster post_;
  Events events_;
  std::string name_;
  uint32_t size_ = 0;
};

}  // namespace muster::mpi_pmix

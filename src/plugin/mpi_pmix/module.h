// Module: the PMIx module of one step on one node, between slurmstepd (its channel), the other nodes' modules (letters
// through slurmstepd) and the tasks (Server). Ends when slurmstepd closes the channel; what is in its directories goes then.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "model/mpi_rpc.h"
#include "net/channel.h"
#include "net/loop.h"
#include "plugin/mpi/fences.h"
#include "plugin/mpi/questions.h"
#include "plugin/mpi_pmix/server.h"

namespace muster::mpi_pmix {

class Module {
 public:
  // `fd`: our end of the socket pair that slurmstepd made.
  Module(net::Loop& loop, int fd);

 private:
  void on_frame(const net::Frame& frame);
  void start();
  Result<std::vector<mpi_rpc::TaskVariables>> start_server();
  void on_letter(mpi_rpc::NodeLetter letter);
  void enter(Operation operation, Reply reply);
  void ask(uint32_t rank, std::optional<uint32_t> timeout_seconds, Reply reply);
  void send(const std::vector<uint32_t>& to, const mpi::Letter& letter);
  Duration deadline(std::optional<uint32_t> asked) const;
  void watch_deadlines();
  std::optional<uint32_t> node_of(uint32_t rank) const;
  // `error` to the task as PMIx has it, and in words to the step's stderr.
  void refuse(const Reply& reply, const Error& error);
  void debug(const std::string& text);
  template <class M>
  void tell(const M& m);

  net::Loop& loop_;
  net::ChannelPtr channel_;
  std::optional<mpi_rpc::ModuleStart> start_;
  std::vector<uint32_t> places_;  // of each rank among the step's nodes
  std::optional<Library> library_;
  std::optional<Server> server_;
  std::optional<mpi::Fences> fences_;
  std::optional<mpi::Questions> questions_;
  std::unique_ptr<net::Loop::Timer> timer_;
};

}  // namespace muster::mpi_pmix

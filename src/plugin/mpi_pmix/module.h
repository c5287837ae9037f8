// Module: the PMIx module of one step on one node, between slurmstepd (its channel), the other nodes' modules (letters through slurmstepd)
// and the tasks (Server). It ends when slurmstepd closes the channel, and empties its directories then.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "plugin/mpi/questions.h"
#include "plugin/mpi_pmix/server.h"
#include "plugin/mpi_program/module.h"

namespace muster::mpi_pmix {

class Module final : public mpi::Module {
 public:
  using OpenLibrary = std::function<Result<Library>()>;
  Module(net::Loop& loop, int fd, OpenLibrary open = Library::open) : mpi::Module(loop, fd), open_library_(std::move(open)) {}

 private:
  Result<std::vector<mpi_rpc::TaskVariables>> prepare() override;
  void on_letter(uint32_t from, mpi::Letter letter) override;
  void on_lost(uint32_t node) override;
  void on_task_gone(const mpi_rpc::TaskGone& gone) override;
  std::optional<Duration> expire(Duration now) override;

  Result<std::vector<mpi_rpc::TaskVariables>> start_server();
  void enter(Operation operation, Reply reply);
  void ask(uint32_t rank, std::optional<uint32_t> timeout_seconds, Reply reply);
  void answer(uint32_t to, uint64_t question, mpi::Answer answer);
  std::optional<uint32_t> node_of(uint32_t rank) const;
  // Tells the task the PMIx status for `error`, and the step's stderr its words.
  void refuse(const Reply& reply, const Error& error);
  void debug(const std::string& text);

  OpenLibrary open_library_;
  std::vector<uint32_t> places_;  // the node of each rank, by its place in the step
  std::optional<Library> library_;
  std::optional<Server> server_;
  std::optional<mpi::Questions> questions_;
};

}  // namespace muster::mpi_pmix

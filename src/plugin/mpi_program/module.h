// Module: what an MPI module does whatever its tasks speak. It hears slurmstepd on its channel, takes part in fences with the modules of
// the step's other nodes (letters through slurmstepd) and wakes when one of them is overdue; the hooks of each kind of module do the rest.
// It stops the loop when slurmstepd closes the channel. Everything runs on the loop's thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/mpi_rpc.h"
#include "net/channel.h"
#include "net/loop.h"
#include "net/notify.h"
#include "plugin/mpi/fences.h"

namespace muster::mpi {

class Module {
 public:
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

 protected:
  // `fd`: our end of the socket pair that slurmstepd made.
  Module(net::Loop& loop, int fd);
  virtual ~Module() = default;

  // ---- hooks
  // Called once, first: returns the variables of each task here. Its error fails the launch, and no other hook is called.
  virtual Result<std::vector<mpi_rpc::TaskVariables>> prepare() = 0;
  virtual void on_task_gone(const mpi_rpc::TaskGone& task) = 0;
  virtual void on_letter(uint32_t from, Letter letter) { fences_->on_letter(from, std::move(letter)); }
  virtual void on_lost(uint32_t node) { fences_->lost(node); }
  // Like Fences::expire, for everything that waits here.
  virtual std::optional<Duration> expire(Duration now) { return fences_->expire(now); }

  // ---- for the modules derived from this
  net::Loop& loop() { return loop_; }
  const mpi_rpc::ModuleStart& start() const { return *start_; }
  const mpi_rpc::StepMpi& setup() const { return start_->setup; }
  std::vector<std::string> node_names() const;
  template <class M>
  void tell(const M& message) {
    net::notify(*channel_, message);
  }
  // False: it is too long for a letter and was not sent.
  bool send(const std::vector<uint32_t>& to, const Letter& letter);
  // Like Fences::enter.
  void enter_fence(const std::string& group, std::vector<uint32_t> nodes, std::string data, Duration deadline, Fences::Done done);
  // The time `limit` seconds from now (0: never); nullopt: the limit of mpi.conf.
  Duration deadline(std::optional<uint32_t> limit = std::nullopt) const;
  // To be called when something that expires has begun.
  void watch_deadlines();

 private:
  void on_frame(const net::Frame& frame);
  void begin(const net::Frame& frame);

  net::Loop& loop_;
  net::ChannelPtr channel_;
  std::optional<mpi_rpc::ModuleStart> start_;
  bool prepared_ = false;
  std::optional<Fences> fences_;
  std::unique_ptr<net::Loop::Timer> timer_;
};

}  // namespace muster::mpi

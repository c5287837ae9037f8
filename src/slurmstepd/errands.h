// Errands of a step (os/errand.h) in its loop, each with a time limit. They open, connect to and write to whatever a user named; slurmstepd
// itself touches none of it.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "net/loop.h"
#include "os/errand.h"
#include "slurmstepd/namespace_sides.h"

namespace muster::slurmstepd {

class Errands {
 public:
  Errands(net::Loop& loop, std::optional<os::Credentials> who, const NamespaceSides* sides = nullptr)
      : loop_(loop), who_(std::move(who)), inside_(sides ? sides->inside.mount.get() : -1), outside_(sides ? sides->outside.get() : -1) {}

  // `done` is called once, from the loop, when the errand is over or was ended because its time is up.
  using Done = std::function<void(os::Errand&)>;
  void send(os::Errand errand, Duration patience, Done done) { send_as(who_, inside_, std::move(errand), patience, std::move(done)); }
  // As the user, but outside the job's namespace.
  void send_outside(os::Errand errand, Duration patience, Done done) {
    send_as(who_, outside_, std::move(errand), patience, std::move(done));
  }
  bool has_two_sides() const { return inside_ >= 0 || outside_ >= 0; }
  // Sends it with our own rights, outside the job's namespace: for what root named.
  void send_as_ourselves(os::Errand errand, Duration patience, Done done) {
    send_as(std::nullopt, outside_, std::move(errand), patience, std::move(done));
  }
  // Ends all of them now, as if their time were up.
  void end_all();
  std::vector<pid_t> pids() const;

 private:
  struct Sent {
    os::Errand errand;
    Done done;
    std::unique_ptr<net::Loop::Watch> watch;
    std::unique_ptr<net::Loop::Timer> timer;
  };
  void send_as(const std::optional<os::Credentials>& who, int mount_namespace, os::Errand errand, Duration patience, Done done);
  void finish(Sent* sent);

  net::Loop& loop_;
  std::optional<os::Credentials> who_;
  int inside_, outside_;
  std::list<std::unique_ptr<Sent>> sent_;
};

}  // namespace muster::slurmstepd

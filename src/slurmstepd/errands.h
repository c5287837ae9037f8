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

namespace muster::slurmstepd {

class Errands {
 public:
  Errands(net::Loop& loop, std::optional<os::Credentials> who) : loop_(loop), who_(std::move(who)) {}

  // `done` is called once, from the loop, when the errand is over or was ended because its time is up.
  using Done = std::function<void(os::Errand&)>;
  void send(os::Errand errand, Duration patience, Done done) { send_as(who_, std::move(errand), patience, std::move(done)); }
  // Sends it with our own rights: for what root named.
  void send_as_ourselves(os::Errand errand, Duration patience, Done done) {
    send_as(std::nullopt, std::move(errand), patience, std::move(done));
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
  void send_as(const std::optional<os::Credentials>& who, os::Errand errand, Duration patience, Done done);
  void finish(Sent* sent);

  net::Loop& loop_;
  std::optional<os::Credentials> who_;
  std::list<std::unique_ptr<Sent>> sent_;
};

}  // namespace muster::slurmstepd

// TurnDriver: the one way in which the controller moves. It owns the core and its log, starts both up and drives them turn by turn;
// slurmctld's core thread and the simulator hold one each and differ only in what is around it: a queue and a mutex there, faults here.
//
//   recover()    snapshot, replay of the events after it, the next term
//   open()       what the configuration says becomes part of the state, before anybody is served
//   turn(tasks)  each task decides, everything follows, ONE append, then commit or rollback
//
// After turn() returns, what it gives back may leave; nothing may before (durable before visible). The events of a turn that was kept stay in
// core().events() until take_effects() is called on the core.
//
// Cost: that of the tasks, one encoding for each event and one sync. Errors are the log's (store/event_log.h). A log that throws, as the
// simulator's does for a crash, leaves a driver that may only be destroyed. Not thread safe: one owner.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "slurmctld/core/core.h"
#include "slurmctld/turn/task.h"
#include "store/event_log.h"

namespace muster::slurmctld {

class TurnDriver {
 public:
  // `clock` outlives the driver.
  TurnDriver(Core core, std::unique_ptr<store::EventLog> log, const Clock& clock);

  struct Recovered {
    uint64_t replayed = 0, passed_over = 0;  // events
  };
  // Brings the core to the state that the log holds. An event that cannot be read is an error that names it, in `place`, or is passed over
  // and counted. Contents that no job refers to any more are dropped.
  Result<Recovered> recover(const std::string& place, bool pass_over_unreadable);
  // Applies the settings in a turn of its own. No node has a connection afterwards. Returns what was left to do when the last controller
  // ended.
  Result<std::vector<Effect>> open(const Settings& settings);

  struct Turn {
    std::vector<Reply> replies;    // run them in this order; where the turn is refused they tell so
    std::optional<Error> refused;  // why the log could not be written
    size_t records = 0;            // events that were appended, or refused
  };
  Turn turn(std::vector<Task> tasks);

  // Keeps the state as it is now; the log before it may be trimmed afterwards.
  Result<> save_snapshot();
  uint64_t events_since_snapshot() const { return since_snapshot_; }

  Core& core() { return core_; }
  const Core& core() const { return core_; }
  store::EventLog& log() { return *log_; }

 private:
  Result<> restore_snapshot(const std::string& place, store::Position& position);
  Result<> drop_unused_blobs();
  Result<> append();

  Core core_;
  std::unique_ptr<store::EventLog> log_;
  const Clock& clock_;
  store::Term term_ = 0;
  uint64_t since_snapshot_ = 0;
};

}  // namespace muster::slurmctld

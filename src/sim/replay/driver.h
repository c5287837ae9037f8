// Driver: a trace through a Site, from one moment at which something happens to the next. It plays the users of the trace: jobs are submitted when
// the trace says so, run as long as they ran there, fail, are cancelled or run into their limits as they did there. The rest is the controller's.
//
// Rules, where a replay cannot be as it was:
//   a job that the trace cancelled while it waited is cancelled after as long a wait, whether it runs by then or not
//   a job that was preempted or requeued begins anew and runs as long again: nothing is kept of its first run
//   a job that ended in a timeout runs until its limit strikes, whatever that limit is now; without one as long as it ran
//   a job that lost its node fails when it did then; no node fails here
//
// When passes are made: as slurmctld makes them, but that they take no time. At each moment at which the queue, the nodes or what is in use changed a
// quick one and then, as long as jobs wait, a full one, which fills gaps and gives every job an expected start (slurmctld lets 0.2 s go by in
// between); with `full_every` no sooner than so long after the last full one. A full one also every `idle_every`, since priorities move. All is a function
// of trace, settings and rules. Moments of the trace are shifted by whole weeks so that they come after 2024.
#pragma once

#include <functional>
#include <queue>

#include "sim/replay/collector.h"
#include "sim/replay/request.h"

namespace muster::sim::replay {

struct Pace {
  Duration full_every{};  // 0: bf_interval of slurm.conf
  Duration idle_every = minutes(5);
  Duration patience = minutes(60 * 24 * 60);  // after the last submission
};

struct Standing {  // how far a replay is
  Time now{};
  double part = 0;  // of the trace's time, 0 to 1
  uint64_t submitted = 0, jobs = 0, ended = 0;
  uint32_t waiting = 0, running = 0;
};

struct Drive {  // how it went
  bool stopped = false, out_of_patience = false;
  Time begin{}, end{};
  uint64_t turns = 0, events = 0, quick_passes = 0, full_passes = 0;
};

class Driver {
 public:
  Driver(const Trace& trace, slurmctld::Settings settings, const rpc::Entities& accounts, RequestRules rules, Pace pace, Duration bucket);
  // `progress` is called now and then; false: stop here.
  Drive run(const std::function<bool(const Standing&)>& progress);

  const Site& site() const { return site_; }
  const Collector& collector() const { return collector_; }
  const Adapted& adapted() const { return adapted_; }
  const Trace& trace() const { return trace_; }
  static int64_t shift_of(const Trace& trace);  // seconds to add to a moment of the trace
  Time begin() const { return begin_; }

 private:
  enum class Kind : uint8_t { kEnd, kCancel };
  struct Happening {
    Time at{};
    uint64_t sequence = 0;
    Kind kind{};
    uint32_t index = 0, token = 0;
    bool operator<(const Happening& o) const { return std::pair(o.at, o.sequence) < std::pair(at, sequence); }
  };
  struct Run {  // of a job that runs
    JobId id{};
    uint32_t generation = 0;
    uint32_t token = 0;  // an end with another token is of a run that is over, or was suspended
    Time ends = kTimeInfinite;
    Duration left{};  // while it is suspended
    bool on = false;
  };
  Site::Ports ports();
  Time moment(int64_t of_trace) const { return from_unix(of_trace + shift_); }
  Duration run_time(uint32_t index) const;
  void launched(JobId id, uint32_t generation);
  void terminated(JobId id, uint32_t generation);
  void settled(JobId id, uint32_t generation, bool stopped);
  void schedule(Kind kind, uint32_t index, Time at);
  void submit(slurmctld::Core& core, uint32_t index);
  void happen(slurmctld::Core& core, const Happening& happening);
  void cancel(slurmctld::Core& core, uint32_t index);
  Time next_moment() const;
  Time full_due() const;
  void step(Time now);
  void plan();
  size_t pass(sched::Pass kind, bool bounded);
  bool over();
  Standing standing() const;

  const Trace& trace_;
  const int64_t shift_;
  const Time begin_;
  RequestRules rules_;
  Pace pace_;
  Adapted adapted_;
  Collector collector_;
  std::vector<Run> runs_;
  std::priority_queue<Happening> queue_;
  uint64_t sequence_ = 0;
  uint32_t next_ = 0;                           // the next job to be submitted
  std::unordered_map<uint64_t, uint32_t> ids_;  // the trace's number → JobId, of those that another one follows
  Time now_, last_full_{}, quiet_since_{};
  uint64_t seen_nodes_ = ~0ull, seen_use_ = ~0ull, seen_jobs_ = ~0ull;
  bool dirty_ = true;
  Drive drive_;
  Site site_;  // the last, since it calls back
};

}  // namespace muster::sim::replay

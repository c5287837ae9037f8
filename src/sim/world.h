// World: one simulated cluster and its time. Holds the parts and is how they reach each other:
//
//   Clients ──commands──▶ ControllerHost (real Core, real MemoryLog, real Planner)
//                              ▲  │ Numbered<NodeOrder>
//            Numbered<NodeReport> │
//                              │  ▼
//                            Network ── NodeHost (real NodeCore, simulated processes), one per node
//   AccountingHost: slurmdbd, for half of the seeds.
//   Injector: faults while the first phase lasts; after heal() there are none, and everything must come to its end.
//   Checkers: see checkers.h.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/random.h"
#include "sim/accounting_host.h"
#include "sim/checkers.h"
#include "sim/clients.h"
#include "sim/controller_host.h"
#include "sim/event_queue.h"
#include "sim/injector.h"
#include "sim/journal.h"
#include "sim/network.h"
#include "sim/node_host.h"
#include "sim/options.h"
#include "sim/scenario.h"

namespace muster::sim {

inline constexpr Time kBeginning = from_unix(1'700'000'000);

// One stream per concern, so that a change in one does not shift the others.
struct Streams {
  explicit Streams(uint64_t seed)
      : root(seed),
        scenario(root.fork()),
        network(root.fork()),
        storage(root.fork()),
        nodes(root.fork()),
        planner(root.fork()),
        workload(root.fork()),
        faults(root.fork()),
        accounting(root.fork()) {}
  Random root, scenario, network, storage, nodes, planner, workload, faults, accounting;
};

class World {
 public:
  explicit World(const RunOptions& options);
  RunResult run();

  Time now() const { return queue.now(); }
  void after(Duration delay, std::function<void()> what) { queue.after(delay, std::move(what)); }
  Duration span(Random& r, Duration low, Duration high) {
    return Duration(static_cast<int64_t>(r.uniform(static_cast<uint64_t>(low.count()), static_cast<uint64_t>(high.count()))));
  }
  bool calm() const { return calm_; }  // the second phase: no faults

  RunOptions options;
  Streams random;
  Journal journal;
  EventQueue queue;
  Scenario scenario;
  Checkers checkers;
  Network network;
  std::vector<std::unique_ptr<NodeHost>> nodes;
  ControllerHost controller;
  AccountingHost accounting;
  Clients clients;
  Injector injector;

 private:
  void heal();
  void settle();
  bool all_done();
  RunResult result();

  bool calm_ = false, done_ = false;
  Time healed_{};
};

}  // namespace muster::sim

// For tests of NodeCore: a core that has a session, and what came of its last input.
#pragma once

#include <variant>
#include <vector>

#include "slurmd/core/node_core.h"

namespace muster::slurmd::test {

template <class T, class V>
std::vector<T> of(const std::vector<V>& all) {
  std::vector<T> out;
  for (const V& v : all)
    if (auto* p = std::get_if<T>(&v)) out.push_back(*p);
  return out;
}

struct Bench {
  explicit Bench(NodePrograms programs = {}) : core(programs) { order(node_rpc::Registered{1, {}}); }

  NodeCore core;
  std::vector<NodeReport> reports;
  std::vector<Effect> effects;

  void order(const NodeOrder& o) {
    core.on_order(o, from_unix(1000));
    collect();
  }
  void event(const NodeEvent& e) {
    core.on_event(e);
    collect();
  }
  void collect() {
    reports = core.take_reports();
    effects = core.take_effects();
  }
  static node_rpc::LaunchBatch launch(uint32_t job, uint32_t generation = 0) {
    node_rpc::LaunchBatch l;
    l.job.job = JobId(job);
    l.job.generation = generation;
    return l;
  }
  static node_rpc::TerminateJob terminate(uint32_t job, uint32_t generation = 0) {
    node_rpc::TerminateJob t;
    t.job = JobId(job);
    t.generation = generation;
    return t;
  }
};

}  // namespace muster::slurmd::test

// What nodes really run. Processes of a node that the controller lost (down, then released) are excused until slurmd, back
// in touch, is told to end them: nobody can end what nobody can reach.
#include "sim/world.h"

namespace muster::sim {
namespace {

std::string name_of(const Process& p) { return std::to_string(p.job.value) + "/" + std::to_string(p.generation); }

}  // namespace

void Checkers::process_started(uint32_t node, Process& p) {
  const Job* j = mirror_.jobs.find(p.job.value);
  const std::string where = world_.scenario.nodes[node] + ": " + name_of(p);
  if (p.step == kBatchStep && !started_.emplace(p.job, p.generation).second)
    return fail("run_once", where + ": the batch script runs a second time in one generation");
  if (!j) {
    p.excused = true;  // purged meanwhile: only a node that was out of touch can still start something of it
    if (p.step == kBatchStep) fail("processes", where + ": no such job");
    return;
  }
  if (j->restarts != p.generation || !j->allocation) {
    if (p.step == kBatchStep) fail("processes", where + ": not this generation");
    p.excused = true;
    return;
  }
  size_t index = 0;
  while (index < j->allocation->nodes.size() && j->allocation->nodes[index].node.value != node) ++index;
  if (index == j->allocation->nodes.size() && p.step != kBatchStep && j->run->resized != kTimeUnset) {
    p.excused = true;  // the step was asked for before the node was given up
    return;
  }
  if (index == j->allocation->nodes.size()) return fail("processes", where + ": not its node");
  const NodeShare& given = j->allocation->nodes[index];
  if (!given.cpus.contains(p.share.cpus) || p.share.mem_mb > std::max<uint64_t>(given.mem_mb, 1))
    return fail("processes", where + ": more than the job holds");
  p.share = given;
  bool held = !j->finished() || j->run->releasing.test(index);
  if (!held) {
    if (p.step == kBatchStep && mirror_.nodes.at(node).connected) return fail("processes", where + ": starts on a node that was released");
    p.excused = true;
    return;
  }
  check_overlap(node, p);
}

void Checkers::check_overlap(uint32_t node, const Process& p) {
  auto details = [&](const Process& x) -> const Allocation* {
    const Job* j = mirror_.jobs.find(x.job.value);
    return j && j->restarts == x.generation && j->allocation ? j->allocation.get() : nullptr;
  };
  // A job that was suspended gave its CPUs to others, and comes back beside them.
  auto was_stopped = [&](const Process& x) { return suspended_.contains(x.job); };
  const Allocation* mine = details(p);
  for (const auto& [key, o] : world_.nodes[node]->processes()) {
    if (o.ended || o.excused || (o.job == p.job && o.generation == p.generation)) continue;
    const std::string both = world_.scenario.nodes[node] + ": " + name_of(p) + " and " + name_of(o);
    const Allocation* theirs = details(o);
    if (!theirs) {
      fail("processes", both + ": the second is over for the controller and still runs");
      continue;
    }
    const bool beside = was_stopped(p) || was_stopped(o);
    bool shared = mine && mine->oversubscribe && theirs->oversubscribe;
    if (!beside && !shared && p.share.cpus.intersects(o.share.cpus)) fail("processes", both + " run on the same CPUs");
    if (!beside && ((mine && mine->whole_nodes) || theirs->whole_nodes)) fail("processes", both + " on a node held whole");
    for (const GresShare& g : p.share.gres)
      for (const GresShare& h : o.share.gres)
        if (g.name == h.name && g.devices.intersects(h.devices)) fail("processes", both + " use the same devices of " + g.name);
  }
}

void Checkers::check_released(const Event& event) {
  if (auto* r = std::get_if<event::JobNodesReleased>(&event)) {
    if (const Job* j = mirror_.jobs.find(r->job.value); j && j->allocation) check_released(*j, r->nodes, "released");
  } else if (auto* e = std::get_if<event::JobEnding>(&event)) {
    const Job* j = mirror_.jobs.find(e->job.value);
    if (!j || !j->allocation || j->finished()) return;
    check_released(*j, Bitmap(j->allocation->nodes.size(), true) - e->releasing, "released at its end");
  } else if (auto* s = std::get_if<event::JobShrunk>(&event)) {
    const Job* j = mirror_.jobs.find(s->job.value);
    if (j && j->allocation) check_released(*j, s->free_at_once, "given up");
  } else if (auto* l = std::get_if<event::JobNodeLeft>(&event)) {
    if (const Job* j = mirror_.jobs.find(l->job.value)) check_released(*j, l->node, "given up");
  }
}

void Checkers::check_released(const Job& job, const Bitmap& nodes, const char* by) {
  nodes.for_each([&](size_t i) { check_released(job, job.allocation->nodes[i].node, by); });
}

void Checkers::check_released(const Job& job, NodeId node, const char* by) {
  NodeHost& host = *world_.nodes[node.value];
  if (!host.runs(job.id, job.restarts)) return;
  bool reachable = world_.controller.up() && world_.controller.core().cluster().nodes.at(node.value).connected;
  if (reachable)
    fail("processes", name(node) + ": job " + std::to_string(job.id.value) + "/" + std::to_string(job.restarts) + " is " + by +
                          " while it runs:" + host.running_text());
  host.excuse(job.id, job.restarts);
}

}  // namespace muster::sim

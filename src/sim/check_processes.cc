// What nodes really run. Processes of a node that the controller lost (down, then released) are excused until slurmd, back
// in touch, is told to end them: nobody can end what nobody can reach.
#include "sim/world.h"

namespace muster::sim {
namespace {

std::string name_of(const Process& p) { return std::to_string(p.job.value) + "/" + std::to_string(p.generation); }

}  // namespace

void Checkers::process_started(uint32_t node, Process& process) {
  const Job* job = mirror_.jobs.find(process.job.value);
  const std::string where = world_.scenario.nodes[node] + ": " + name_of(process);
  if (process.step == kBatchStep && !started_.emplace(process.job, process.generation).second)
    return fail("run_once", where + ": the batch script runs a second time in one generation");
  if (!job) {
    process.excused = true;  // purged meanwhile: only a node that was out of touch can still start something of it
    if (process.step == kBatchStep) fail("processes", where + ": no such job");
    return;
  }
  if (job->restarts != process.generation || !job->allocation) {
    if (process.step == kBatchStep) fail("processes", where + ": not this generation");
    process.excused = true;
    return;
  }
  size_t index = 0;
  while (index < job->allocation->nodes.size() && job->allocation->nodes[index].node.value != node) ++index;
  if (index == job->allocation->nodes.size() && process.step != kBatchStep && job->run->resized != kTimeUnset) {
    process.excused = true;  // the step was asked for before the node was given up
    return;
  }
  if (index == job->allocation->nodes.size()) return fail("processes", where + ": not its node");
  const NodeShare& given = job->allocation->nodes[index];
  // A step that was asked for before its job gave memory back hears of that when it is up.
  const bool gave_back = process.step != kBatchStep && !job->request->mem_update.empty() && job->run->memory_due == kTimeUnset;
  if (!given.cpus.contains(process.share.cpus) || (process.share.mem_mb > std::max<uint64_t>(given.mem_mb, 1) && !gave_back))
    return fail("processes", where + ": more than the job holds");
  process.share = given;
  bool held = !job->finished() || job->run->releasing.test(index);
  if (!held) {
    if (process.step == kBatchStep && mirror_.nodes.at(node).connected)
      return fail("processes", where + ": starts on a node that was released");
    process.excused = true;
    return;
  }
  check_overlap(node, process);
}

void Checkers::check_overlap(uint32_t node, const Process& process) {
  auto details = [&](const Process& x) -> const Allocation* {
    const Job* j = mirror_.jobs.find(x.job.value);
    return j && j->restarts == x.generation && j->allocation ? j->allocation.get() : nullptr;
  };
  // A job that was suspended gave its CPUs to others, and comes back beside them.
  auto was_stopped = [&](const Process& x) { return suspended_.contains(x.job); };
  const Allocation* mine = details(process);
  check_channel(process);
  for (const auto& [key, other] : world_.nodes[node]->processes()) {
    if (other.ended || other.excused || (other.job == process.job && other.generation == process.generation)) continue;
    const std::string both = world_.scenario.nodes[node] + ": " + name_of(process) + " and " + name_of(other);
    const Allocation* theirs = details(other);
    if (!theirs) {
      fail("processes", both + ": the second is over for the controller and still runs");
      continue;
    }
    const bool beside = was_stopped(process) || was_stopped(other);
    bool shared = mine && mine->oversubscribe && theirs->oversubscribe;
    if (!beside && !shared && process.share.cpus.intersects(other.share.cpus)) fail("processes", both + " run on the same CPUs");
    if (!beside && ((mine && mine->whole_nodes) || theirs->whole_nodes)) fail("processes", both + " on a node held whole");
    for (const GresShare& g : process.share.gres)
      for (const GresShare& h : other.share.gres)
        if (g.name == h.name && g.devices.intersects(h.devices)) fail("processes", both + " use the same devices of " + g.name);
  }
}

// A channel joins nodes, so whoever has it anywhere counts.
void Checkers::check_channel(const Process& process) {
  if (!process.share.channel) return;
  const auto whole = [&](const Process& p) {
    const Job* job = mirror_.jobs.find(p.job.value);
    return job && job->het ? job->het.leader : p.job;
  };
  for (const auto& node : world_.nodes)
    for (const auto& [key, other] : node->processes()) {
      if (other.ended || other.excused || whole(other) == whole(process)) continue;
      if (other.share.channel == process.share.channel)
        fail("processes", name_of(process) + " and " + name_of(other) + " use channel " + std::to_string(*process.share.channel));
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

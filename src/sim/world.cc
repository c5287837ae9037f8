#include "sim/world.h"

#include "base/text.h"
#include "wire/cluster_codec.h"

namespace muster::sim {
namespace {

constexpr Duration kFirstPhase = minutes(60);
constexpr Duration kPatience = minutes(24 * 60);  // of the second phase

struct FaultName {
  const char* name;
  uint32_t bit;
};
constexpr FaultName kFaultNames[] = {
    {"network", kFaultNetwork},       {"reboot", kFaultReboot},     {"slurmd", kFaultSlurmd},
    {"controller", kFaultController}, {"disk", kFaultDisk},         {"clock", kFaultClock},
    {"admin", kFaultAdmin},           {"programs", kFaultPrograms}, {"hardware", kFaultHardware},
};

}  // namespace

std::optional<uint32_t> parse_faults(std::string_view text) {
  uint32_t out = 0;
  for (std::string_view word : split(text, ',')) {
    if (word == "all") out |= kAllFaults;
    else if (word == "none") out |= 0;
    else {
      uint32_t bit = 0;
      for (const FaultName& f : kFaultNames)
        if (word == f.name) bit = f.bit;
      if (!bit) return std::nullopt;
      out |= bit;
    }
  }
  return out;
}

std::string fault_names() {
  std::string out = "all, none";
  for (const FaultName& f : kFaultNames) out += std::string(", ") + f.name;
  return out;
}

World::World(const RunOptions& asked)
    : options(asked),
      random(asked.seed),
      journal(asked.verbose),
      queue(kBeginning),
      scenario(random.scenario, asked.seed),
      checkers(*this),
      network(*this, scenario.nodes.size()),
      controller(*this),
      accounting(*this),
      clients(*this),
      injector(*this) {
  for (uint32_t i = 0; i < scenario.nodes.size(); ++i) nodes.push_back(std::make_unique<NodeHost>(*this, i));
}

RunResult World::run() {
  journal.note("seed " + std::to_string(options.seed) + "\n" + scenario.slurm_conf);
  controller.start();
  for (auto& n : nodes) n->power_on();
  clients.schedule(kFirstPhase);
  injector.schedule(kFirstPhase);
  accounting.schedule(kFirstPhase);
  after(kFirstPhase, [this] { heal(); });
  while (!done_ && !journal.failed() && queue.run_next()) journal.set_time(queue.now());
  if (!journal.failed()) checkers.at_end(controller.core());
  return result();
}

void World::heal() {
  calm_ = true;
  healed_ = now();
  journal.note("healed");
  injector.heal();
  accounting.heal();
  settle();
}

// The admin's round, until there is nothing left to do.
void World::settle() {
  if (controller.up()) {
    clients.tidy();
    if (all_done()) {
      done_ = true;
      return;
    }
  }
  if (now() > healed_ + kPatience) {
    std::string left;
    checkers.mirror().jobs.for_each([&](uint32_t id, const Job& job) {
      if (job.finished() && job.all_released()) return;
      const Verdict* verdict = controller.up() ? controller.core().cluster().moment.verdicts.find(id) : nullptr;
      left += " " + std::to_string(id) + "(" + std::string(job_state_name(job.state)) + " " +
              std::string(reason_name(verdict ? verdict->reason : job.reason)) + (verdict ? " " + verdict->detail.str() : "") +
              (job.dependencies ? " " + std::string(job.own.get(&RequestOwn::dependency)) : "") + ")";
      const RequestBody& q = *job.request;
      left += " [-n" + std::to_string(q.num_tasks) + " -c" + std::to_string(q.cpus_per_task) + " -N" + std::to_string(q.min_nodes) + "-" +
              std::to_string(q.max_nodes) + " --mem=" + std::to_string(q.mem_per_node_mb.value_or(0)) +
              " --mem-per-cpu=" + std::to_string(q.mem_per_cpu_mb.value_or(0)) + " " + q.tres_per_node.text() + " " +
              q.tres_per_job.text() + " -p" + join(q.partitions, ",") + " -t" + std::to_string(job.time_limit_min) +
              " exclusive=" + std::to_string(static_cast<int>(q.exclusive)) + " -L" + q.licenses.text() + "]";
      if (verdict && verdict->expected_start != Time{})
        left += " expected in " + std::to_string(to_seconds(verdict->expected_start - now())) + " s";
      for (const Dependency& d : job.dependencies ? job.dependencies->list : std::vector<Dependency>())
        left += " on " + std::to_string(d.job.value) + " state " + std::to_string(static_cast<int>(d.state));
    });
    for (const auto& n : nodes) left += n->running_text();
    checkers.mirror().maintenances.for_each([&](uint32_t, const Maintenance& m) {
      if (!m.over()) left += "; maintenance " + m.name + " " + std::string(maintenance_state_name(m.state));
    });
    checkers.mirror().nodes.for_each(
        [&](uint32_t, const Node& n) { left += "; " + n.spec->name + " " + node_state_long(n.state(), n.flags); });
    if (controller.up()) {
      auto plan =
          sched::Planner().plan(controller.core().cluster(), controller.core().settings().sched, controller.now(), sched::Pass::kFull);
      left += "; a fresh planner would start " + std::to_string(plan.starts.size());
      for (const sched::StartItem& s : plan.starts) {
        const Job& j = controller.core().cluster().jobs.at(s.job.value);
        auto fits =
            sched::still_fits(controller.core().cluster(), scenario.settings.sched, *j.request, s, controller.now(), j.time_limit_min);
        left += " " + std::to_string(s.job.value) + (fits ? "" : " (" + std::string(fits.error().message()) + ")");
      }
    }
    return journal.fail("liveness", "a day after everything healed these are left:" + left);
  }
  after(seconds(30), [this] { settle(); });
}

bool World::all_done() {
  bool done = controller.core().indexes().obligations().empty() && controller.core().indexes().unrecorded().empty();
  controller.core().cluster().jobs.for_each([&](uint32_t, const Job& j) { done = done && j.finished() && j.all_released(); });
  for (const auto& n : nodes) done = done && !n->runs_anything();
  controller.core().cluster().maintenances.for_each([&](uint32_t, const Maintenance& m) { done = done && m.over(); });
  return done;
}

RunResult World::result() {
  RunResult result;
  result.ok = !journal.failed();
  result.checker = journal.checker();
  result.text = journal.text();
  result.tail = journal.tail();
  for (const std::string& chunk : encode_cluster(checkers.mirror())) journal.hash(chunk);
  result.hash = journal.digest();
  result.nodes = static_cast<uint32_t>(nodes.size());
  result.jobs = static_cast<uint32_t>(checkers.jobs_seen());
  result.turns = controller.turns();
  result.events = controller.events();
  result.crashes = controller.crashes();
  result.rollbacks = controller.rollbacks();
  result.simulated_seconds = static_cast<uint64_t>(to_seconds(now() - kBeginning));
  return result;
}

RunResult run_seed(const RunOptions& options) { return World(options).run(); }

}  // namespace muster::sim

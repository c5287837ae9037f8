#include "slurmd/daemon/job_memory.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "base/text.h"
#include "slurmd/core/cgroup_plan.h"
#include "slurmd/daemon/launch.h"
#include "slurmd/daemon/task_layout.h"

namespace muster::slurmd {
namespace {

// What the steps have answered so far.
struct Sum {
  size_t open = 0;
  uint64_t bytes = 0;
  bool gathered = true;
  std::optional<Error> failed;

  void take(const Result<rpc::StepUseNow>& use) {
    if (use && use->usage) bytes += use->usage->rss.total.value;
    else if (use) gathered = false;
    else if (use.error().code != Errc::kInvalidJobId) failed = use.error();  // that one has just ended
  }
};

}  // namespace

void measure_job(Stepds& stepds, os::Log& log, JobId job, std::function<void(std::optional<Bytes>)> done) {
  std::vector<StepId> steps;
  stepds.for_each(job, [&](StepId step) { steps.push_back(step); });
  if (steps.empty()) return done(Bytes(0));
  auto sum = std::make_shared<Sum>();
  sum->open = steps.size();
  for (StepId step : steps)
    stepds.ask_use(job, step, [sum, done, &log, job](const Result<rpc::StepUseNow>& use) {
      sum->take(use);
      if (--sum->open > 0) return;
      if (sum->failed) log.error("job {}: its memory use is not known: {}", job.value, sum->failed->message());
      else done(sum->gathered ? std::optional(Bytes(sum->bytes)) : std::nullopt);
    });
}

step_rpc::StepdMemory memory_limits(const Setup& setup, uint64_t mem_mb) {
  step_rpc::StepdMemory out;
  if (has_task_plugin(setup.config(), "cgroup")) {
    const MemoryPlan plan = memory_plan(setup.loaded->cgroup, mem_mb, setup.node_config().line->real_memory_mb);
    out.hard_bytes = plan.hard_bytes;
    out.soft_bytes = plan.soft_bytes;
    out.swap_bytes = plan.swap_bytes;
  }
  if (kills_over_memory(setup.config())) out.kill_above = Bytes(mem_mb << 20);
  return out;
}

}  // namespace muster::slurmd

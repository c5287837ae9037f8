// The end of a healed world: nothing is left to do, and nothing runs.
#include "sim/world.h"

namespace muster::sim {

void Checkers::at_end(const slurmctld::Core& core) {
  check_replay(core, "at the end");
  check_acknowledged(core.cluster());
  check_usage(core.cluster());
  check_records(core);
  core.cluster().nodes.for_each([&](uint32_t, const Node& n) {
    if (n.cpus_used.any() || n.mem_used_mb || !n.gres_used.empty() || n.has_jobs() || n.shared_jobs || n.exclusive_user ||
        !n.mcs_label.empty())
      fail("end", n.spec->name + " holds something with no job left");
  });
  for (const auto& host : world_.nodes)
    if (host->runs_anything()) fail("end", "processes are left:" + host->running_text());
}

}  // namespace muster::sim

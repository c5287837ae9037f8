#include "slurmd/daemon/cgroup_setup.h"

#include <unistd.h>

#include "base/text.h"
#include "os/node/step_scope.h"
#include "os/service_manager.h"
#include "slurmd/daemon/task_layout.h"

namespace muster::slurmd {
namespace {

constexpr uint16_t kUsualPort = 6818;

// Several slurmds on one machine, whether nodes of one cluster or of several, keep their groups apart by this name. "" for the only one.
std::string instance(const Setup& s) {
  std::vector<std::string> parts;
  if (s.node != s.host) parts.push_back(s.node);
  if (const uint16_t port = s.node_config().port; port != kUsualPort) parts.push_back(std::to_string(port));
  return join(parts, "_");
}

os::StepScope step_scope(const Setup& s) {
  const config::CgroupConf& c = s.loaded->cgroup;
  os::StepScope out;
  out.mountpoint = c.mountpoint;
  out.slice = c.slice;
  if (const std::string name = instance(s); !name.empty()) out.name = name + "_" + out.name;
  out.keeper = s.stepd;
  out.timeout = c.systemd_timeout;
  return out;
}

bool cgroups_wanted(const Setup& s) {  // and root may make them
  if (::geteuid() != 0 || s.loaded->cgroup.plugin == "disabled") return false;
  return s.config().proctrack_type == "proctrack/cgroup" || has_task_plugin(s.config(), "cgroup");
}

os::CgroupOptions cgroup_options(const Setup& s) {
  const config::CgroupConf& c = s.loaded->cgroup;
  os::CgroupOptions o;
  o.mountpoint = c.mountpoint;
  if (c.plugin == "cgroup/v1") o.version = os::CgroupVersion::kV1;
  if (c.plugin == "cgroup/v2") o.version = os::CgroupVersion::kV2;
  o.version = os::cgroup_version(o);
  const std::string name = instance(s);
  o.prefix = name.empty() ? "slurm" : "slurm_" + name;
  if (o.version == os::CgroupVersion::kV2) o.prefix = os::scope_path(step_scope(s));
  return o;
}

}  // namespace

Result<> prepare_cgroups(Setup& setup, os::Log& log) {
  const config::CgroupConf& conf = setup.loaded->cgroup;
  if (!cgroups_wanted(setup)) return {};
  setup.groups = cgroup_options(setup);
  if (setup.groups->version != os::CgroupVersion::kV2 || conf.ignore_systemd || !os::systemd_runs()) return {};
  const os::StepScope scope = step_scope(setup);
  if (auto made = os::open_step_scope(scope); made) {
    setup.scope = scope;
  } else {
    if (!conf.ignore_systemd_on_failure) return std::unexpected(made.error());
    log.error("{}; the groups of jobs are made without systemd (IgnoreSystemdOnFailure)", made.error().message());
  }
  return {};
}

Result<> look_after_scope(const Setup& s, os::Log& log) {
  if (!s.scope) return {};
  MUSTER_TRY(made, os::open_step_scope(*s.scope));
  if (made) log.error("the scope {} was gone; it is made again", s.scope->name);
  return {};
}

Result<> keep_cgroups(const Setup& before, Setup& fresh, os::Log& log) {
  if (!before.groups) return prepare_cgroups(fresh, log);
  fresh.groups = before.groups;
  fresh.scope = before.scope;
  if (!cgroups_wanted(fresh) || cgroup_options(fresh) != *before.groups)
    log.error("reconfigure: the groups of jobs stay in {}/{}: where they are, and whether there are any, changes at the next start",
              before.groups->mountpoint, before.groups->prefix);
  return {};
}

}  // namespace muster::slurmd

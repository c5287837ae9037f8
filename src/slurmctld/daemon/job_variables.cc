#include "slurmctld/daemon/job_variables.h"

#include <sys/wait.h>

namespace muster::slurmctld {
namespace {

std::string counted(const Allocation& a) {
  std::string out;
  for (size_t i = 0; i < a.nodes.size();) {
    size_t end = i, cpus = a.nodes[i].counted_cpus();
    while (end < a.nodes.size() && a.nodes[end].counted_cpus() == cpus) ++end;
    out += (out.empty() ? "" : ",") + std::to_string(cpus) + (end - i > 1 ? "(x" + std::to_string(end - i) + ")" : "");
    i = end;
  }
  return out;
}

std::string or_null(const std::string& text) { return text.empty() ? "(null)" : text; }

void add_array(const Job& j, Variables& v) {
  if (!j.array_job_id) return;
  v.set("SLURM_ARRAY_JOB_ID", j.array_job_id.value);
  if (j.array_task != kNoArrayTask) v.set("SLURM_ARRAY_TASK_ID", j.array_task);
  const ArrayExtent& tasks = j.request->array.value();
  if (!tasks.count) return;
  v.set("SLURM_ARRAY_TASK_COUNT", tasks.count);
  v.set("SLURM_ARRAY_TASK_MIN", tasks.min);
  v.set("SLURM_ARRAY_TASK_MAX", tasks.max);
}

}  // namespace

void add_job(const Job& j, const JobNames& names, Variables& v) {
  const JobRequest r = j.whole_request();
  v.set("SLURM_JOB_ID", j.id.value);
  v.set("SLURM_JOBID", j.id.value);
  v.set("SLURM_JOB_NAME", r.name);
  v.set("SLURM_JOB_USER", r.user_name);
  v.set("SLURM_JOB_UID", r.uid.value);
  v.set("SLURM_JOB_GID", r.gid.value);
  v.set("SLURM_JOB_GROUP", names.group);
  v.set("SLURM_JOB_ACCOUNT", or_null(r.account));
  v.set("SLURM_JOB_PARTITION", names.partition);
  v.set("SLURM_CLUSTER_NAME", names.cluster);
  v.set("SLURM_JOB_WORK_DIR", r.work_dir);
  v.set("SLURM_JOB_RESTART_COUNT", j.restarts);
  v.set("SLURM_JOB_NODELIST", or_null(names.node_list));
  if (j.allocation) {
    v.set("SLURM_JOB_NUM_NODES", j.allocation->nodes.size());
    v.set("SLURM_JOB_CPUS_PER_NODE", counted(*j.allocation));
  }
  v.if_any("SLURM_JOB_COMMENT", r.comment);
  v.if_any("SLURM_JOB_RESERVATION", j.run->reservation ? j.run->reservation_name : r.reservation.text());
  add_array(j, v);
}

void add_exit(const Job& j, Variables& v) {
  const bool signaled = WIFSIGNALED(j.exit_status);
  v.set("SLURM_JOB_DERIVED_EC", static_cast<uint64_t>(WEXITSTATUS(j.derived_exit_status)));
  v.set("SLURM_JOB_EXIT_CODE", static_cast<uint64_t>(j.exit_status));
  v.set("SLURM_JOB_EXIT_CODE2",
        std::to_string(signaled ? 0 : WEXITSTATUS(j.exit_status)) + ":" + std::to_string(signaled ? WTERMSIG(j.exit_status) : 0));
}

std::vector<std::string> job_program_environment(const Job& j, const JobNames& names, bool epilog) {
  const JobRequest r = j.whole_request();
  Variables v;
  add_job(j, names, v);
  v.set("SLURM_JOB_START_TIME", static_cast<uint64_t>(unix_seconds(j.started)));
  const Time end = epilog ? j.ended : j.ends;
  if (end != kTimeUnset && end != kTimeInfinite) v.set("SLURM_JOB_END_TIME", static_cast<uint64_t>(unix_seconds(end)));
  v.if_any("SLURM_JOB_CONSTRAINTS", r.features.text());
  v.if_any("SLURM_JOB_EXTRA", r.extra);
  v.if_any("SLURM_JOB_LICENSES", r.licenses.text());
  v.if_any("SLURM_JOB_QOS", r.qos);
  v.if_any("SLURM_JOB_STDERR", r.std_err);
  v.if_any("SLURM_JOB_STDIN", r.std_in);
  v.if_any("SLURM_JOB_STDOUT", r.std_out);
  v.if_any("SLURM_WCKEY", r.wckey);
  if (epilog) add_exit(j, v);
  v.set("SLURM_SCRIPT_CONTEXT", epilog ? "epilog_slurmctld" : "prolog_slurmctld");
  return v.take();
}

}  // namespace muster::slurmctld

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

void add_job(const Job& job, const JobNames& names, Variables& variables) {
  const JobRequest request = job.whole_request();
  variables.set("SLURM_JOB_ID", job.id.value);
  variables.set("SLURM_JOBID", job.id.value);
  variables.set("SLURM_JOB_NAME", request.name);
  variables.set("SLURM_JOB_USER", request.user_name);
  variables.set("SLURM_JOB_UID", request.uid.value);
  variables.set("SLURM_JOB_GID", request.gid.value);
  variables.set("SLURM_JOB_GROUP", names.group);
  variables.set("SLURM_JOB_ACCOUNT", or_null(request.account));
  variables.set("SLURM_JOB_PARTITION", names.partition);
  variables.set("SLURM_CLUSTER_NAME", names.cluster);
  variables.set("SLURM_JOB_WORK_DIR", request.work_dir);
  variables.set("SLURM_JOB_RESTART_COUNT", job.restarts);
  variables.set("SLURM_JOB_NODELIST", or_null(names.node_list));
  if (job.allocation) {
    variables.set("SLURM_JOB_NUM_NODES", job.allocation->nodes.size());
    variables.set("SLURM_JOB_CPUS_PER_NODE", counted(*job.allocation));
  }
  variables.if_any("SLURM_JOB_COMMENT", request.comment);
  variables.if_any("SLURM_JOB_RESERVATION", job.run->reservation ? job.run->reservation_name : request.reservation.text());
  add_array(job, variables);
}

void add_exit(const Job& j, Variables& v) {
  const bool signaled = WIFSIGNALED(j.exit_status);
  v.set("SLURM_JOB_DERIVED_EC", static_cast<uint64_t>(WEXITSTATUS(j.derived_exit_status)));
  v.set("SLURM_JOB_EXIT_CODE", static_cast<uint64_t>(j.exit_status));
  v.set("SLURM_JOB_EXIT_CODE2",
        std::to_string(signaled ? 0 : WEXITSTATUS(j.exit_status)) + ":" + std::to_string(signaled ? WTERMSIG(j.exit_status) : 0));
}

std::vector<std::string> job_program_environment(const Job& job, const JobNames& names, bool epilog) {
  const JobRequest request = job.whole_request();
  Variables variables;
  add_job(job, names, variables);
  variables.set("SLURM_JOB_START_TIME", static_cast<uint64_t>(unix_seconds(job.started)));
  const Time end = epilog ? job.ended : job.ends;
  if (end != kTimeUnset && end != kTimeInfinite) variables.set("SLURM_JOB_END_TIME", static_cast<uint64_t>(unix_seconds(end)));
  variables.if_any("SLURM_JOB_CONSTRAINTS", request.features.text());
  variables.if_any("SLURM_JOB_EXTRA", request.extra);
  variables.if_any("SLURM_JOB_LICENSES", request.licenses.text());
  variables.if_any("SLURM_JOB_QOS", request.qos);
  variables.if_any("SLURM_JOB_STDERR", request.std_err);
  variables.if_any("SLURM_JOB_STDIN", request.std_in);
  variables.if_any("SLURM_JOB_STDOUT", request.std_out);
  variables.if_any("SLURM_WCKEY", request.wckey);
  if (epilog) add_exit(job, variables);
  variables.set("SLURM_SCRIPT_CONTEXT", epilog ? "epilog_slurmctld" : "prolog_slurmctld");
  return variables.take();
}

}  // namespace muster::slurmctld

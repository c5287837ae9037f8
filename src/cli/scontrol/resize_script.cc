#include "cli/scontrol/resize_script.h"

#include <cstdio>

#include "cli/common/counted.h"
#include "os/files.h"

namespace muster::cli {

std::string resize_script(const rpc::Allocated& allocated, ShellKind shell) {
  const bool csh = shell == ShellKind::kCsh;
  std::string out;
  auto set = [&](const char* name, const std::string& value) {
    out += csh ? std::string("setenv ") + name + " \"" + value + "\"\n" : std::string("export ") + name + "=\"" + value + "\"\n";
  };
  const std::string nodes = std::to_string(allocated.job.nodes);
  set("SLURM_NODELIST", allocated.job.node_list);
  set("SLURM_JOB_NODELIST", allocated.job.node_list);
  set("SLURM_NNODES", nodes);
  set("SLURM_JOB_NUM_NODES", nodes);
  set("SLURM_JOB_CPUS_PER_NODE", counted(allocated.cpus_per_node));
  // These counted tasks on all the nodes the job had: srun must now take both counts from its command line.
  for (const char* gone : {"SLURM_NPROCS", "SLURM_NTASKS", "SLURM_TASKS_PER_NODE"})
    out += std::string(csh ? "unsetenv " : "unset ") + gone + "\n";
  return out;
}

void write_resize_scripts(Context& c, const rpc::Allocated& a) {
  const std::string base = "slurm_job_" + std::to_string(a.job.id.value) + "_resize";
  for (ShellKind shell : {ShellKind::kSh, ShellKind::kCsh}) {
    const std::string path = base + (shell == ShellKind::kSh ? ".sh" : ".csh");
    if (Result<> written = os::write_file_atomic(path, resize_script(a, shell), 0755); !written)
      return c.complain("scontrol: error: Could not write " + path + ": ", written.error());
  }
  if (c.options.quiet) return;
  std::printf("To correct Slurm's variables in a shell of the job:\n  sh, bash:  . ./%s.sh\n  csh, tcsh: source ./%s.csh\n", base.c_str(),
              base.c_str());
}

}  // namespace muster::cli

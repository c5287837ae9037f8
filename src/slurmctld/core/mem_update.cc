// --mem-update: after a while a running job is held to the memory that it uses then, and a margin. sbatch(1) --mem-update.
#include "slurmctld/core/decide.h"

namespace muster::slurmctld {

Result<> check_mem_update(const View& view, const JobRequest& request) {
  if (!request.mem_update.parsed())
    return fail(Errc::kInvalidReq, {}, "--mem-update: " + std::string(request.mem_update.parsed().error().message()));
  if (request.mem_update.empty() || view.settings.config().gathers_use()) return {};
  return fail(
      Errc::kNotSupportedHere, {},
      "--mem-update=" + request.mem_update.text() + ": JobAcctGatherType is not set in slurm.conf, so nobody measures what a job uses");
}

}  // namespace muster::slurmctld

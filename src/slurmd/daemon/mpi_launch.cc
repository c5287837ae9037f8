#include "slurmd/daemon/mpi_launch.h"

#include "base/text.h"
#include "site/mpi_modules.h"
#include "slurmd/daemon/stepds.h"

namespace muster::slurmd {
namespace {

// The module that talks to tasks over sockets which they are born with.
constexpr std::string_view kPmi2 = "pmi2";
constexpr uint32_t kPmiDescriptor = 3;

}  // namespace

void apply_mpi_conf(const config::SimpleConf& conf, const std::string& step, mpi_rpc::StepMpi& mpi) {
  mpi.timeout_seconds = static_cast<uint32_t>(conf.number("PMIxTimeout", 300));
  mpi.debug = conf.number("PMIxDebug") != 0;
  mpi.share_topology = conf.yes("PMIxShareServerTopology");
  for (std::string_view entry : split(conf.text("PMIxEnv"), ';'))
    if (entry = trim(entry); entry.find('=') != entry.npos) mpi.environment.emplace_back(entry);
  if (std::string_view base = conf.text("PMIxCliTmpDirBase"); !base.empty()) mpi.task_directory = std::string(base) + "/pmix." + step;
}

Result<std::optional<mpi_rpc::StepMpi>> step_mpi(const Setup& setup, const rpc::StepCredential& credential, const rpc::LaunchStep& launch) {
  if (!launch.request) return fail("the launch came without its request");
  const std::string& asked = launch.request->mpi;
  std::string_view type = site::mpi_type(asked.empty() ? setup.config().mpi_default : asked);
  if (type.empty()) return std::nullopt;
  mpi_rpc::StepMpi mpi;
  mpi.type = type;
  mpi.program = site::mpi_program(type);
  if (mpi.program.empty())
    return fail(Errc::kInvalidMpiPlugin,
                std::string(asked.empty() ? "MpiDefault=" : "--mpi=") + mpi.type + ": no such module on node " + setup.node);
  if (credential.nodes.size() > 1 && launch.io.host.empty() && launch.io.path.empty())
    return fail(Errc::kInvalidMpiPlugin, "--mpi=" + mpi.type + " on several nodes needs srun to stay (--async does not)");
  if (type == kPmi2) mpi.task_descriptor = kPmiDescriptor;
  for (const rpc::StepNode& n : credential.nodes) mpi.nodes.push_back({n.address.name, n.ranks});
  if (credential.own_nodes) mpi.whole_job = credential.het_leader;
  apply_mpi_conf(setup.loaded->mpi, step_name(credential.job, credential.step) + "." + setup.node, mpi);
  return mpi;
}

}  // namespace muster::slurmd

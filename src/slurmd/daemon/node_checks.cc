#include "slurmd/daemon/node_checks.h"

#include <algorithm>

#include "os/clock.h"
#include "os/files.h"
#include "os/node/gpu_health.h"
#include "slurmd/daemon/gres_setup.h"
#include "wire/instances.h"

namespace muster::slurmd {
namespace {

// Whether this boot of the machine was not seen before; it is from now on. A file that cannot be written is one more check, no less.
bool note_boot(const std::string& spool, const std::string& boot_id) {
  const std::string path = spool + "/boot";
  const bool anew = os::read_file(path, 256).value_or("") != boot_id;
  if (anew) (void)os::write_file_atomic(path, boot_id, 0600);
  return anew;
}

}  // namespace

std::vector<std::string> node_environment(const Setup& setup) {
  return {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "SLURMD_NODENAME=" + setup.node, "SLURM_NODE_NAME=" + setup.node,
          "SLURM_CONF=" + setup.config().path};
}

NodeChecks::NodeChecks(net::Loop& loop, os::Log& log, const Setup& setup, ControllerLink& link)
    : setup_(setup),
      link_(link),
      programs_(loop, log),
      health_(loop, log, setup.node, ports()),
      helpers_(log, setup, programs_),
      gpus_(loop, log, [this](const std::string& reason) { link_.send(node_rpc::NodeFault{reason}); }) {}

void NodeChecks::start(std::function<void()> then) {
  helpers_.ask([this, then = std::move(then)] {
    gpus_.start(gpu_plan(),
                [this, then] { health_.start(HealthRules::of(setup_.config()), note_boot(setup_.spool, setup_.hardware.boot_id), then); });
  });
}

GpuHealth::Plan NodeChecks::gpu_plan() const {
  GpuHealth::Plan plan{.program = setup_.program_directory + "/slurmd", .root = device_root()};
  if (setup_.parameters.has("gpu_checks")) plan.cards = os::cards_of(setup_.hardware.gres);
  if (!std::ranges::all_of(plan.cards, &GpuId::render)) plan.library = nvml_library();
  plan.interval = setup_.config().health_check_interval;
  plan.timeout = setup_.config().health_check_timeout;
  return plan;
}

// What was found while slurmctld was away, or did not reach it.
void NodeChecks::registered() {
  if (!gpus_.reason().empty()) link_.send(node_rpc::NodeFault{gpus_.reason()});
}

void NodeChecks::test(Time since) {
  if (std::exchange(test_, since)) return;
  if (!gpus_.on()) return test_by_program();
  gpus_.check([this](const std::string& reason) { reason.empty() ? test_by_program() : end_test(reason); });
}

void NodeChecks::test_by_program() {
  const HealthRules rules = HealthRules::of(setup_.config());
  if (rules.program.empty()) return end_test("");
  programs_.run({site::ProgramCall(rules.program)}, node_environment(setup_), rules.timeout,
                [this](const std::string& error) { end_test(error.empty() ? "" : "HealthCheckProgram: " + error); });
}

void NodeChecks::end_test(const std::string& fault) {
  const bool tested = gpus_.on() || !setup_.config().health_check_program.empty();
  link_.send(node_rpc::NodeTested{*std::exchange(test_, std::nullopt), tested, fault});
}

void NodeChecks::configure() {
  gpus_.configure(gpu_plan());
  health_.configure(HealthRules::of(setup_.config()));
  node_rpc::Register before;
  helpers_.tell(before);
  helpers_.ask([this, before] {
    node_rpc::Register now;
    helpers_.tell(now);
    if (!(now.hardware == before.hardware) || now.fault != before.fault) register_again();
  });
}

void NodeChecks::bring(const FeatureList& features, std::function<void()> reboot) {
  helpers_.bring(features, [this, features, reboot = std::move(reboot)](const std::string& error) {
    if (!error.empty()) return register_again();  // slurmctld is told, and has the jobs run elsewhere
    if (!helpers_.rebootless(features)) return reboot();
    helpers_.note_boot(os::wall_now());
    helpers_.ask([this] { register_again(); });
  });
}

HealthCheck::Ports NodeChecks::ports() {
  HealthCheck::Ports ports;
  ports.run = [this](const HealthRules& rules, std::function<void(std::string)> done) {
    programs_.run({site::ProgramCall(rules.program)}, node_environment(setup_), rules.timeout, std::move(done));
  };
  ports.connected = [this] { return link_.connected(); };
  ports.ask_for_node = [this](std::function<void(Result<NodeRow>)> answered) {
    rpc::QueryNodes query;
    query.nodes = setup_.node;
    query.show_all = true;
    link_.ask(query, [answered = std::move(answered)](Result<std::vector<rpc::NodeRows>> parts) {
      if (!parts) return answered(std::unexpected(parts.error()));
      for (rpc::NodeRows& part : *parts)
        if (!part.nodes.empty()) return answered(std::move(part.nodes.front()));
      answered(fail(Errc::kInvalidNodeName, {}, "slurmctld does not know this node"));
    });
  };
  return ports;
}

}  // namespace muster::slurmd

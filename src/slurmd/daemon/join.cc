#include "slurmd/daemon/join.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <thread>

#include "agent/may_come_later.h"
#include "net/backoff.h"
#include "net/client.h"
#include "os/node/hardware.h"
#include "site/conf_files.h"
#include "site/trust.h"
#include "slurmd/core/node_definition.h"
#include "slurmd/daemon/gres_setup.h"
#include "wire/codec.h"
#include "wire/instances.h"
#include "wire/messages.h"

namespace muster::slurmd {
namespace {

struct Machine {
  config::LoadedConfig loaded;  // of the files alone
  os::Machine found;
  std::string name;  // -N, else the host's
};

Result<config::LoadedConfig> read_files(const Arguments& arguments, const std::string& line) {
  site::DiskFiles files;
  auto loaded = config::load_config(files, site::find_conf(arguments.conf_file), line);
  if (!loaded) return fail(config::to_text(loaded.error()));
  return std::move(*loaded);
}

Result<os::Machine> discover(const Arguments& arguments, const config::Config* config) {
  os::DiscoverOptions options;
  const config::OptionList given = config::OptionList::parse(arguments.parameters);
  const auto has = [&](const char* word) { return given.has(word) || (config && config->slurmd_parameters.has(word)); };
  if (config) options.tmp_fs = config->tmp_fs;
  options.numa_node_as_socket = has("numa_node_as_socket");
  options.l3cache_as_socket = has("l3cache_as_socket");
  return os::discover_machine(options);
}

std::string name_of(const Arguments& arguments) { return arguments.node_name.empty() ? os::short_hostname() : arguments.node_name; }

Result<Machine> look_at_machine(const Arguments& arguments) {
  MUSTER_TRY(loaded, read_files(arguments, ""));
  MUSTER_TRY(found, discover(arguments, &loaded.config));
  return Machine{std::move(loaded), std::move(found), name_of(arguments)};
}

rpc::JoinNode as_future(const os::Machine& machine, const Arguments& arguments) {
  rpc::JoinNode request;
  request.as = rpc::JoinAs::kFuture;
  request.name = request.hostname = name_of(arguments);
  request.definition = node_definition(machine.hardware, {}, "");
  request.feature = arguments.feature;
  request.boot_id = machine.hardware.boot_id;
  return request;
}

// slurmd(8): GPUs are looked for unless --conf or a line of gres.conf for the node has some, or AutoDetect is off.
Result<std::string> find_gpus(Arguments& arguments, const Machine& machine) {
  if (has_gpus(arguments.conf)) return std::string();
  MUSTER_TRY(loaded, read_files(arguments, node_line(machine.name, node_definition(machine.found.hardware, arguments.conf, ""))));
  const auto index = loaded.config.node_index(machine.name);
  if (!index) return std::string();
  const auto is_gpu = [&](const config::GresLine& line) { return line.name == "gpu" && (line.all_nodes || line.nodes.test(*index)); };
  const config::AutoDetect how = config::autodetect_of(loaded.gres, *index);
  if (how == config::AutoDetect::kOff || std::ranges::any_of(loaded.gres.lines, is_gpu)) return std::string();
  arguments.detect_gpus = how == config::AutoDetect::kUnset;
  MUSTER_TRY(gpus, discover_gpus(arguments.detect_gpus ? config::AutoDetect::kFull : how, machine.found.cpus));
  if (gpus.inventory.devices.empty()) return std::string();
  if (std::ranges::find(loaded.config.gres_types, "gpu") != loaded.config.gres_types.end())
    return os::format_gres(os::to_gres(gpus.inventory));
  arguments.notes.push_back("this machine has GPUs, and gpu is not in GresTypes of slurm.conf: no job can ask for them");
  arguments.detect_gpus = false;
  return std::string();
}

Result<net::ClientOptions> way_to_controller(const config::Config& config, Uid slurm_user, const agent::Membership* membership) {
  net::ClientOptions out;
  if (!membership) out.agent_sockets = {site::slurmctld_agent_socket(config.slurmctld_pid_file, config.slurmctld_port.first)};
  out.trusted_uids = {slurm_user.value, ::geteuid()};
  for (const config::ControllerHost& host : config.slurmctld_hosts)
    out.controllers.push_back({config.slurmctld_addr.empty() ? host.address : config.slurmctld_addr, config.slurmctld_port.first});
  MUSTER_TRY(security, membership ? membership->security() : site::load_security(config, slurm_user));
  out.security = security.expecting("controller");
  out.timeout = config.message_timeout;
  return out;
}

Result<rpc::NodeJoined> ask_once(const net::ClientOptions& way, Uid slurm_user, const rpc::JoinNode& request) {
  MUSTER_TRY(client, net::connect_client(way));
  if (!client->peer().may_be_controller(slurm_user) && client->peer().uid.value != ::geteuid())
    return fail(Errc::kAccessDenied, client->peer().address + " belongs to a user who may not be the controller");
  MUSTER_TRY(answer, client->request(wire::number_of<rpc::JoinNode>, wire::encoded(request), way.timeout));
  rpc::NodeJoined joined;
  MUSTER_TRY_VOID(wire::decode(answer.payload, joined));
  return joined;
}

Result<rpc::NodeJoined> ask(const config::Config& config, const rpc::JoinNode& request, const agent::Membership* membership) {
  MUSTER_TRY(slurm_user, site::user_of(config.slurm_user));
  MUSTER_TRY(way, way_to_controller(config, slurm_user, membership));
  net::Backoff pauses(milliseconds(50), seconds(5), net::Backoff::random_seed());
  for (bool told = false;; told = true) {
    Result<rpc::NodeJoined> joined = ask_once(way, slurm_user, request);
    if (joined || !agent::may_be_reached_later(joined.error())) return joined;
    if (!told) {
      const Error& why = joined.error();
      std::fprintf(stderr, "slurmd: slurmctld has to say which node this is, and is waited for: %s\n",
                   std::string(why.hint.empty() ? why.message() : std::string_view(why.hint)).c_str());
    }
    std::this_thread::sleep_for(pauses.next());
  }
}

Result<> join_as_itself(Arguments& arguments, const Machine& machine) {
  if (machine.loaded.config.node_index(machine.name))
    return fail(Errc::kInvalidNodeName, "node " + machine.name + " is in slurm.conf",
                "start its slurmd without -Z, or choose another name with -N");
  MUSTER_TRY(gpus, find_gpus(arguments, machine));
  rpc::JoinNode request;
  request.name = machine.name;
  request.hostname = os::short_hostname();
  request.port = machine.loaded.config.slurmd_port;
  request.definition = node_definition(machine.found.hardware, arguments.conf, gpus);
  request.boot_id = machine.found.hardware.boot_id;
  arguments.node_name = machine.name;
  arguments.node_line = node_line(machine.name, request.definition);
  if (arguments.print_gres) return {};
  MUSTER_TRY(joined, ask(machine.loaded.config, request, arguments.membership.get()));
  if (!joined.note.empty()) arguments.notes.push_back(joined.note);
  return {};
}

Result<> join_as_future(Arguments& arguments, const Machine& machine) {
  MUSTER_TRY(request, future_request(arguments, &machine.loaded.config));
  MUSTER_TRY(joined, ask(machine.loaded.config, request, arguments.membership.get()));
  arguments.node_name = joined.name;
  if (!machine.loaded.config.node_index(joined.name)) arguments.node_line = node_line(joined.name, joined.definition);
  return {};
}

}  // namespace

Result<rpc::JoinNode> future_request(const Arguments& arguments, const config::Config* config) {
  if (arguments.print_gres) return fail(Errc::kInvalidNodeName, "with -F it is not known which node this is before slurmctld has said so");
  MUSTER_TRY(machine, discover(arguments, config));
  return as_future(machine, arguments);
}

Result<> join_cluster(Arguments& arguments) {
  MUSTER_TRY(machine, look_at_machine(arguments));
  return arguments.join == rpc::JoinAs::kFuture ? join_as_future(arguments, machine) : join_as_itself(arguments, machine);
}

}  // namespace muster::slurmd

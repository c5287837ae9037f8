#include "slurmd/daemon/setup.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/text.h"
#include "base/version.h"
#include "config/hosts.h"
#include "os/clock.h"
#include "os/files.h"
#include "site/conf_files.h"
#include "site/programs.h"
#include "site/trust.h"
#include "slurmd/daemon/gres_setup.h"

namespace muster::slurmd {
namespace {

// The node that we are: -N, else the one whose NodeHostname (or name) is ours.
Result<uint32_t> find_node(const config::Config& config, const Arguments& arguments, const std::string& host) {
  if (!arguments.node_name.empty()) {
    if (auto i = config.node_index(arguments.node_name)) return *i;
    return fail(Errc::kInvalidNodeName, "Unable to determine this slurmd's NodeName: '" + arguments.node_name + "' is not in slurm.conf");
  }
  for (uint32_t i = 0; i < config.nodes.size(); ++i)
    if (iequals(config.nodes[i].hostname(), host)) return i;
  if (auto i = config.node_index(host)) return *i;
  for (uint32_t i = 0; i < config.nodes.size(); ++i)
    if (iequals(config.nodes[i].hostname(), "localhost")) return i;
  return fail(Errc::kInvalidNodeName, "Unable to determine this slurmd's NodeName",
              "no NodeName or NodeHostname in slurm.conf is '" + host + "'; give one with -N");
}

// SlurmdParameters=config_overrides: the configured values are registered, whatever the machine has.
void override_hardware(Setup& setup) {
  NodeSpec spec = config::to_node_spec(setup.node_config());
  NodeHardware& h = setup.hardware;
  bool fits = spec.cpus <= h.cpus && spec.sockets * spec.cores_per_socket * spec.threads_per_core <= setup.cpus.cpus();
  setup.cpus_are_real =
      fits && spec.sockets == h.sockets && spec.cores_per_socket == h.cores_per_socket && spec.threads_per_core == h.threads_per_core;
  h.cpus = spec.cpus;
  h.boards = spec.boards;
  h.sockets = spec.sockets;
  h.cores_per_socket = spec.cores_per_socket;
  h.threads_per_core = spec.threads_per_core;
  h.real_memory_mb = spec.real_memory_mb;
  h.tmp_disk_mb = spec.tmp_disk_mb;
}

Result<> fill_hardware(Setup& setup, const Arguments& arguments) {
  os::DiscoverOptions options;
  options.tmp_fs = setup.config().tmp_fs;
  options.numa_node_as_socket = setup.parameters.has("numa_node_as_socket");
  options.l3cache_as_socket = setup.parameters.has("l3cache_as_socket");
  MUSTER_TRY(machine, os::discover_machine(options));
  setup.hardware = std::move(machine.hardware);
  setup.cpus = std::move(machine.cpus);
  for (std::string& n : machine.notes) setup.notes.push_back(std::move(n));
  MUSTER_TRY_VOID(find_gres(setup, arguments.detect_gpus));
  if (setup.parameters.has("config_overrides")) override_hardware(setup);
  setup.hardware.version = kVersion;
  setup.hardware.slurmd_start = os::wall_now();
  setup.hardware.features = setup.node_config().line->features;
  if (arguments.report_reboot) setup.hardware.boot_time = setup.hardware.slurmd_start;
  return {};
}

// What job_container.conf or namespace.yaml says for this node. Nothing of a job may run outside what was meant for it, so what is missing is an error.
Result<> find_job_namespace(Setup& setup) {
  if (!config::has_job_namespaces(setup.config())) return {};
  config::JobNamespace own = setup.loaded->job_namespaces.of(setup.node);
  const std::string type(config::namespace_type(setup.config()));
  auto said = [&own](const char* key) { return std::string(own.file()) + ": " + key + ": "; };
  if (own.base.empty())
    return fail(Errc::kConfig, said(own.base_key()) + "is not set for node " + setup.node + ", and NamespaceType is " + type,
                "none is for nodes whose jobs are to have the node's own directories");
  if (own.base == "none") return {};
  if (::geteuid() != 0) {
    setup.notes.push_back("NamespaceType=" + type + ": this slurmd is not root's: jobs have the node's own directories");
    return {};
  }
  own.base = config::substitute_node(own.base, setup.node, setup.host);
  for (config::PrivateDir& dir : own.dirs) dir.base = config::substitute_node(dir.base, setup.node, setup.host);
  if (const std::string_view in = config::private_above(own.dirs, setup.spool); !in.empty())
    return fail(Errc::kConfig, said(own.dirs_key()) + "SlurmdSpoolDir (" + setup.spool + ") lies in " + std::string(in) +
                                   ", so no job would find its script");
  setup.job_namespace = std::move(own);
  return {};
}

}  // namespace

std::string Setup::agent_socket() const { return site::slurmd_agent_socket(pid_file, node); }
std::string Setup::controller_agent() const {
  return site::slurmctld_agent_socket(config().slurmctld_pid_file, config().slurmctld_port.first);
}

Result<Setup> load_setup(const Arguments& arguments) {
  Setup setup;
  std::string path = site::find_conf(arguments.conf_file);
  site::DiskFiles files;
  auto loaded = config::load_config(files, path, arguments.node_line);
  if (!loaded) return fail(config::to_text(loaded.error()));
  setup.loaded = std::make_shared<const config::LoadedConfig>(std::move(*loaded));
  setup.notes = arguments.notes;
  // Slurmctld reports what is odd in slurm.conf; this node's own log has what became of its devices and limits.
  for (const config::ConfigNotice& n : setup.loaded->notices)
    if (n.file.ends_with("/gres.conf") || n.file.ends_with("/cgroup.conf")) setup.notes.push_back(n.text());
  const config::Config& config = setup.config();
  setup.host = os::short_hostname();
  MUSTER_TRY(index, find_node(config, arguments, setup.host));
  setup.node_index = index;
  setup.node = config.nodes[index].name;
  auto place = [&](const std::string& pattern) { return config::substitute_node(pattern, setup.node, setup.host); };
  setup.spool = place(config.slurmd_spool_dir);
  setup.pid_file = place(config.slurmd_pid_file);
  setup.log_file = arguments.log_file.empty() ? place(config.slurmd_log_file) : arguments.log_file;
  setup.program_directory = site::executable_directory();
  setup.stepd = arguments.stepd_path.empty() ? setup.program_directory + "/slurmstepd" : arguments.stepd_path;
  setup.stepd_with_plugins = setup.program_directory.substr(0, setup.program_directory.rfind('/')) + "/libexec/muster/slurmstepd";
  if (::access(setup.stepd.c_str(), X_OK) != 0) return fail("Unable to find slurmstepd file at " + setup.stepd);
  MUSTER_TRY(slurm_user, site::user_of(config.slurm_user));
  MUSTER_TRY(slurmd_user, site::user_of(config.slurmd_user));
  setup.slurm_user = slurm_user;
  setup.slurmd_user = slurmd_user;
  setup.by_token = arguments.membership && arguments.membership->by_token();
  if (setup.by_token && config.auth_type == "auth/munge")
    return fail(Errc::kConfig, "--token-file: tokens are for AuthType=auth/slurm, and this cluster has auth/munge");
  MUSTER_TRY(security, setup.by_token ? arguments.membership->security() : site::load_security(config, setup.slurm_user));
  setup.security = std::move(security);
  if (arguments.membership) setup.security.identity = arguments.membership->identity();
  std::string text;
  for (const auto& [k, v] : config.slurmd_parameters.items()) text += (text.empty() ? "" : ",") + k + (v.empty() ? "" : "=" + v);
  for (const std::string& more : {config.nodes[index].line->parameters, arguments.parameters})
    if (!more.empty()) text += (text.empty() ? "" : ",") + more;
  setup.parameters = config::OptionList::parse(text);
  MUSTER_TRY_VOID(find_job_namespace(setup));
  MUSTER_TRY_VOID(fill_hardware(setup, arguments));
  setup.prologs = site::expand_programs(config.prolog);
  setup.epilogs = site::expand_programs(config.epilog);
  setup.context.node = setup.node;
  setup.context.host = setup.host;
  setup.context.conf_path = config.path;
  setup.context.cluster = config.cluster_name;
  setup.context.gres = setup.hardware.gres;
  setup.context.gpus_configured = std::ranges::find(config.gres_types, "gpu") != config.gres_types.end();
  return setup;
}

os::LogOptions log_options(const Setup& s, const Arguments& a) {
  os::LogOptions o;
  o.program = "slurmd";
  o.file = s.log_file;
  int level = std::clamp(s.config().slurmd_debug + a.verbose, 0, 9);
  o.file_level = static_cast<os::LogLevel>(level);
  if (a.foreground) o.stderr_level = static_cast<os::LogLevel>(level);
  if (auto format = os::parse_log_time_format(s.config().log_time_format)) o.time_format = *format;
  if (o.file.empty() && !a.foreground) o.syslog_level = static_cast<os::LogLevel>(level);
  return o;
}

int print_hardware(const Arguments& arguments) {
  os::DiscoverOptions options;
  config::OptionList parameters = config::OptionList::parse(arguments.parameters);
  options.numa_node_as_socket = parameters.has("numa_node_as_socket");
  options.l3cache_as_socket = parameters.has("l3cache_as_socket");
  auto machine = os::discover_machine(options);
  if (!machine) {
    std::fprintf(stderr, "slurmd: fatal: %s\n", std::string(machine.error().message()).c_str());
    return 1;
  }
  if (auto gpus = discover_gpus(config::AutoDetect::kFull, machine->cpus)) machine->hardware.gres = os::to_gres(gpus->inventory);
  Duration up = os::wall_now() - os::boot_time();
  std::printf("%s\n", os::format_slurmd_C(machine->hardware, os::short_hostname(), up).c_str());
  return 0;
}

}  // namespace muster::slurmd

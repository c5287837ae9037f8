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
Result<uint32_t> find_node(const config::Config& c, const Arguments& a, const std::string& host) {
  if (!a.node_name.empty()) {
    if (auto i = c.node_index(a.node_name)) return *i;
    return fail(Errc::kInvalidNodeName, "Unable to determine this slurmd's NodeName: '" + a.node_name + "' is not in slurm.conf");
  }
  for (uint32_t i = 0; i < c.nodes.size(); ++i)
    if (iequals(c.nodes[i].hostname(), host)) return i;
  if (auto i = c.node_index(host)) return *i;
  for (uint32_t i = 0; i < c.nodes.size(); ++i)
    if (iequals(c.nodes[i].hostname(), "localhost")) return i;
  return fail(Errc::kInvalidNodeName, "Unable to determine this slurmd's NodeName",
              "no NodeName or NodeHostname in slurm.conf is '" + host + "'; give one with -N");
}

// SlurmdParameters=config_overrides: the configured values are registered, whatever the machine has.
void override_hardware(Setup& s) {
  NodeSpec spec = config::to_node_spec(s.node_config());
  NodeHardware& h = s.hardware;
  bool fits = spec.cpus <= h.cpus && spec.sockets * spec.cores_per_socket * spec.threads_per_core <= s.cpus.cpus();
  s.cpus_are_real =
      fits && spec.sockets == h.sockets && spec.cores_per_socket == h.cores_per_socket && spec.threads_per_core == h.threads_per_core;
  h.cpus = spec.cpus;
  h.boards = spec.boards;
  h.sockets = spec.sockets;
  h.cores_per_socket = spec.cores_per_socket;
  h.threads_per_core = spec.threads_per_core;
  h.real_memory_mb = spec.real_memory_mb;
  h.tmp_disk_mb = spec.tmp_disk_mb;
}

Result<> fill_hardware(Setup& s, const Arguments& a) {
  os::DiscoverOptions options;
  options.tmp_fs = s.config().tmp_fs;
  options.numa_node_as_socket = s.parameters.has("numa_node_as_socket");
  options.l3cache_as_socket = s.parameters.has("l3cache_as_socket");
  MUSTER_TRY(machine, os::discover_machine(options));
  s.hardware = std::move(machine.hardware);
  s.cpus = std::move(machine.cpus);
  for (std::string& n : machine.notes) s.notes.push_back(std::move(n));
  MUSTER_TRY_VOID(find_gres(s));
  if (s.parameters.has("config_overrides")) override_hardware(s);
  s.hardware.version = kVersion;
  s.hardware.slurmd_start = os::wall_now();
  s.hardware.features = s.node_config().line->features;
  if (a.report_reboot) s.hardware.boot_time = s.hardware.slurmd_start;
  return {};
}

}  // namespace

std::string Setup::agent_socket() const { return site::slurmd_agent_socket(pid_file, node); }
std::string Setup::controller_agent() const {
  return site::slurmctld_agent_socket(config().slurmctld_pid_file, config().slurmctld_port.first);
}

Result<Setup> load_setup(const Arguments& a) {
  Setup s;
  std::string path = site::find_conf(a.conf_file);
  site::DiskFiles files;
  auto loaded = config::load_config(files, path);
  if (!loaded) return fail(config::to_text(loaded.error()));
  s.loaded = std::make_shared<const config::LoadedConfig>(std::move(*loaded));
  // Slurmctld reports what is odd in slurm.conf; this node's own log has what became of its devices and limits.
  for (const config::ConfigNotice& n : s.loaded->notices)
    if (n.file.ends_with("/gres.conf") || n.file.ends_with("/cgroup.conf")) s.notes.push_back(n.text());
  const config::Config& c = s.config();
  s.host = os::short_hostname();
  MUSTER_TRY(index, find_node(c, a, s.host));
  s.node_index = index;
  s.node = c.nodes[index].name;
  auto place = [&](const std::string& pattern) { return config::substitute_node(pattern, s.node, s.host); };
  s.spool = place(c.slurmd_spool_dir);
  s.pid_file = place(c.slurmd_pid_file);
  s.log_file = a.log_file.empty() ? place(c.slurmd_log_file) : a.log_file;
  s.program_directory = site::executable_directory();
  s.stepd = a.stepd_path.empty() ? s.program_directory + "/slurmstepd" : a.stepd_path;
  s.stepd_with_plugins = s.program_directory.substr(0, s.program_directory.rfind('/')) + "/libexec/muster/slurmstepd";
  if (::access(s.stepd.c_str(), X_OK) != 0) return fail("Unable to find slurmstepd file at " + s.stepd);
  MUSTER_TRY(slurm_user, site::user_of(c.slurm_user));
  MUSTER_TRY(slurmd_user, site::user_of(c.slurmd_user));
  s.slurm_user = slurm_user;
  s.slurmd_user = slurmd_user;
  MUSTER_TRY(security, site::load_security(c, s.slurm_user));
  s.security = std::move(security);
  std::string text;
  for (const auto& [k, v] : c.slurmd_parameters.items()) text += (text.empty() ? "" : ",") + k + (v.empty() ? "" : "=" + v);
  for (const std::string& more : {c.nodes[index].line->parameters, a.parameters})
    if (!more.empty()) text += (text.empty() ? "" : ",") + more;
  s.parameters = config::OptionList::parse(text);
  MUSTER_TRY_VOID(fill_hardware(s, a));
  s.prologs = site::expand_programs(c.prolog);
  s.epilogs = site::expand_programs(c.epilog);
  s.context.node = s.node;
  s.context.host = s.host;
  s.context.conf_path = c.path;
  s.context.cluster = c.cluster_name;
  s.context.gres = s.hardware.gres;
  s.context.gpus_configured = std::ranges::find(c.gres_types, "gpu") != c.gres_types.end();
  return s;
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

int print_hardware(const Arguments& a) {
  os::DiscoverOptions options;
  config::OptionList parameters = config::OptionList::parse(a.parameters);
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

#include "cli/common/client_conf.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/port_range.h"
#include "base/text.h"
#include "config/auth_type.h"
#include "site/conf_files.h"

namespace muster::cli {
namespace {

constexpr int kMaxIncludeDepth = 16;

bool blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// Whether a line that begins with this key describes a record, which no command needs.
bool is_record_key(std::string_view key) {
  for (std::string_view k : {"NodeName", "PartitionName", "NodeSet", "DownNodes", "FrontendName", "Nodes"})
    if (iequals(key, k)) return true;
  return false;
}

std::string_view before_paren(std::string_view s) { return s.substr(0, s.find('(')); }

ControllerHost parse_host(std::string_view value) {
  ControllerHost h;
  h.name = std::string(trim(before_paren(value)));
  h.address = h.name;
  size_t open = value.find('('), close = value.find(')');
  if (open != std::string_view::npos && close != std::string_view::npos && close > open + 1)
    h.address = std::string(trim(value.substr(open + 1, close - open - 1)));
  return h;
}

void set_auth_info(ClientConf& c, std::string_view value) {
  for (std::string_view part : split(value, ',')) {
    part = trim(part);
    if (istarts_with(part, "socket=")) c.auth_socket = std::string(part.substr(7));
  }
}

// AccountingStorageEnforce=wckeys means TrackWCKey, whichever comes first.
void set_enforced(ClientConf& c, std::string_view value) {
  c.enforces_wckeys = false;
  for (std::string_view word : split(value, ','))
    if (word = trim(word); iequals(word, "wckeys") || iequals(word, "all")) c.enforces_wckeys = true;
}

void set_srun_ports(ClientConf& c, std::string_view value) {
  if (auto range = parse_port_range(value)) c.srun_ports = *range;
}

Result<> set_port(ClientConf& c, std::string_view value) {
  std::optional<uint16_t> port = parse_number<uint16_t>(value.substr(0, value.find('-')), 1);
  if (!port) return fail(Errc::kConfig, "SlurmctldPort=" + std::string(value) + " is not a port");
  c.slurmctld_port = *port;
  return {};
}

template <auto Member>
void text(ClientConf& c, std::string_view value) {
  c.*Member = std::string(value);
}
template <auto Member>
void lower(ClientConf& c, std::string_view value) {
  c.*Member = to_lower(value);
}
template <auto Member>
void flag(ClientConf& c, std::string_view value) {
  c.*Member = value == "1" || iequals(value, "yes");
}
// A value that is no number within the bounds counts as `Otherwise`: the daemons complain about it.
template <auto Member, uint32_t Least, uint32_t Most, uint32_t Otherwise>
void number(ClientConf& c, std::string_view value) {
  using Number = std::remove_reference_t<decltype(c.*Member)>;
  c.*Member = static_cast<Number>(parse_number<uint32_t>(value, Least, Most).value_or(Otherwise));
}

struct Key {
  std::string_view name;
  void (*set)(ClientConf&, std::string_view value);
};
using C = ClientConf;
constexpr Key kKeys[] = {
    {"ClusterName", lower<&C::cluster_name>},
    {"SlurmctldHost", [](C& c, std::string_view value) { c.controllers.push_back(parse_host(value)); }},
    {"AuthType", lower<&C::auth_type>},
    {"AuthInfo", set_auth_info},
    {"SlurmUser", [](C& c, std::string_view value) { c.slurm_user = std::string(before_paren(value)); }},
    {"SlurmctldPidFile", text<&C::slurmctld_pid_file>},
    {"SlurmdPidFile", text<&C::slurmd_pid_file>},
    {"MessageTimeout", number<&C::message_timeout_seconds, 1, 86400, 10>},
    {"PropagateResourceLimits", text<&C::propagate_limits>},
    {"PropagateResourceLimitsExcept", text<&C::propagate_limits_except>},
    {"LaunchParameters", lower<&C::launch_parameters>},
    {"InteractiveStepOptions", text<&C::interactive_step_options>},
    {"KillWait", number<&C::kill_wait_seconds, 0, 65533, 30>},
    {"WaitTime", number<&C::wait_seconds, 0, 65533, 0>},
    {"KillOnBadExit", flag<&C::kill_on_bad_exit>},
    {"SrunPortRange", set_srun_ports},
    {"SrunProlog", text<&C::srun_prolog>},
    {"SrunEpilog", text<&C::srun_epilog>},
    {"PlugStackConfig", text<&C::plug_stack_config>},
    {"PluginDir", text<&C::plugin_dir>},
    {"SchedulerParameters", text<&C::scheduler_parameters>},
    {"InactiveLimit", number<&C::inactive_limit_seconds, 0, 65533, 0>},
    {"ScronParameters",
     [](C& c, std::string_view value) {
       c.scrontab = false;
       for (std::string_view word : split(value, ',')) c.scrontab = c.scrontab || iequals(trim(word), "enable");
     }},
    {"BcastExclude", text<&C::bcast_exclude>},
    {"BcastParameters", text<&C::bcast_parameters>},
    {"TreeWidth", number<&C::tree_width, 1, 65533, 16>},
    {"AccountingStorageType", [](C& c, std::string_view value) { c.accounting_dbd = iequals(value, "accounting_storage/slurmdbd"); }},
    {"AccountingStorageHost", text<&C::accounting_host>},
    {"AccountingStorageBackupHost", text<&C::accounting_backup_host>},
    {"AccountingStoragePort", number<&C::accounting_port, 1, 65535, 6819>},
    {"TrackWCKey", flag<&C::track_wckey>},
    {"AccountingStorageEnforce", set_enforced},
    {"JobCompType", text<&C::job_completion_type>},
    {"JobCompLoc", text<&C::job_completion_place>},
    {"AllowSpecResourcesUsage", flag<&C::allow_spec_resources>},
    {"PriorityType", [](C& c, std::string_view value) { c.multifactor = !iequals(value, "priority/basic"); }},
};

Result<> set_key(ClientConf& c, std::string_view key, std::string_view value) {
  if (iequals(key, "SlurmctldPort")) return set_port(c, value);
  for (const Key& k : kKeys)
    if (iequals(key, k.name)) {
      k.set(c, value);
      break;
    }
  return {};
}

class Scan {
 public:
  Scan(config::FileSource& files, ClientConf& conf) : files_(files), conf_(conf) {}

  // Takes the controllers from the keys that releases before SlurmctldHost had (config/slurm_hosts.cc).
  void take_older_hosts() {
    if (!conf_.controllers.empty()) return;
    for (const OlderHost& h : older_)
      if (!h.name.empty()) conf_.controllers.push_back({h.name, h.address.empty() ? h.name : h.address});
  }

  Result<> file(const std::string& path, int depth) {
    if (depth > kMaxIncludeDepth)
      return fail(Errc::kConfig, path + ": files include each other more than " + std::to_string(kMaxIncludeDepth) + " deep");
    std::optional<std::string> text = files_.read(path);
    const std::string including = std::exchange(file_, path);
    struct Back {
      std::string& file;
      const std::string& before;
      ~Back() { file = before; }
    } back{file_, including};
    if (!text) return fail(Errc::kConfig, "Unable to open configuration file " + path);
    std::string_view rest = *text;
    if (rest.starts_with("\xEF\xBB\xBF")) rest.remove_prefix(3);  // a byte order mark
    while (!rest.empty()) {
      MUSTER_TRY_VOID(line(take_line(rest), depth));
    }
    return {};
  }

 private:
  // Takes one logical line without its end. A backslash before the end joins the next line; it stays in the text, where it counts as a
  // blank.
  static std::string_view take_line(std::string_view& rest) {
    size_t at = 0;
    for (;;) {
      size_t end = rest.find('\n', at);
      if (end == std::string_view::npos) {
        std::string_view all = rest;
        rest = {};
        return all;
      }
      size_t last = end;
      if (last > 0 && rest[last - 1] == '\r') --last;
      if (last > 0 && rest[last - 1] == '\\') {
        at = end + 1;
        continue;
      }
      std::string_view one = rest.substr(0, end);
      rest.remove_prefix(end + 1);
      return one;
    }
  }

  Result<> line(std::string_view text, int depth) {
    size_t index = 0;
    bool first = true;
    while (skip_blanks(text, index)) {
      size_t start = index;
      while (index < text.size() && text[index] != '=' && !blank(text[index]) && text[index] != '\n') ++index;
      std::string_view key = text.substr(start, index - start);
      if (first && is_record_key(key)) return {};
      if (first && iequals(key, "Include")) return include(trim(text.substr(index)), depth);
      first = false;
      skip_blanks(text, index);
      if (index >= text.size() || text[index] != '=') continue;  // a word alone: the daemons complain about it
      ++index;
      skip_blanks(text, index);
      const std::string_view given = value(text, index);
      for (OlderHost& h : older_) {
        if (iequals(key, h.machine)) h.name = given.substr(0, given.find(','));
        if (iequals(key, h.addr)) h.address = given;
      }
      MUSTER_TRY_VOID(set_key(conf_, key, given));
    }
    return {};
  }

  // False at the end of the line or at a comment.
  static bool skip_blanks(std::string_view text, size_t& i) {
    while (i < text.size() && (blank(text[i]) || text[i] == '\\' || text[i] == '\n')) ++i;
    return i < text.size() && text[i] != '#';
  }

  static std::string_view value(std::string_view text, size_t& i) {
    if (i < text.size() && text[i] == '"') {
      size_t start = ++i;
      size_t end = text.find('"', start);
      if (end == std::string_view::npos) end = text.size();
      i = std::min(end + 1, text.size());
      return text.substr(start, end - start);
    }
    size_t start = i;
    while (i < text.size() && !blank(text[i]) && text[i] != '#' && text[i] != '\n') ++i;
    return text.substr(start, i - start);
  }

  Result<> include(std::string_view name, int depth) {
    if (name.starts_with('=')) name = trim(name.substr(1));
    name = trim(name.substr(0, name.find('#')));
    if (name.size() >= 2 && name.front() == '"' && name.back() == '"') name = name.substr(1, name.size() - 2);
    std::string path(name);
    if (size_t at = path.find("%c"); at != std::string::npos) path.replace(at, 2, conf_.cluster_name);
    if (path.starts_with('/')) return file(path, depth + 1);
    // Includes are looked for as config/parser.cc does: beside slurm.conf, else beside the file that includes it.
    const std::string beside = site::directory_of(file_) + "/" + path;
    path.insert(0, conf_.directory() + "/");
    return file(files_.exists(path) ? path : beside, depth + 1);
  }

  config::FileSource& files_;
  ClientConf& conf_;
  std::string file_;  // being read
  struct OlderHost {
    std::string_view machine, addr;
    std::string name, address;
  };
  OlderHost older_[2] = {{"ControlMachine", "ControlAddr", "", ""}, {"BackupController", "BackupAddr", "", ""}};
};

}  // namespace

bool ClientConf::has_launch_parameter(std::string_view name) const {
  return std::ranges::any_of(split(launch_parameters, ','), [&](std::string_view word) { return trim(word) == name; });
}

std::string ClientConf::directory() const { return site::directory_of(path); }

Result<ClientConf> scan_client_conf(config::FileSource& files, const std::string& path) {
  ClientConf conf;
  conf.path = path;
  Scan scan(files, conf);
  MUSTER_TRY_VOID(scan.file(path, 0));
  scan.take_older_hosts();
  if (conf.auth_type.empty()) conf.auth_type = config::auth_type_if_absent(files, conf.directory());
  if (conf.controllers.empty())
    return fail(Errc::kConfig, path + ": no SlurmctldHost is named", "a line SlurmctldHost=HOST says where the controller runs");
  return conf;
}

Result<std::string> find_conf_path() {
  std::string tried;
  std::vector<std::string> candidates = site::conf_candidates();
  const char* named = getenv("SLURM_CONF");
  if (!named || !*named) candidates.emplace_back(site::kCachedConf);
  for (const std::string& path : candidates) {
    if (access(path.c_str(), R_OK) == 0) return path;
    tried += (tried.empty() ? "" : ", ") + path;
  }
  return fail(Errc::kConfig, "Could not establish a configuration source",
              "no readable configuration at " + tried + "; SLURM_CONF names another place, `muster up` makes a cluster");
}

Result<ClientConf> find_client_conf() {
  MUSTER_TRY(path, find_conf_path());
  site::DiskFiles files;
  return scan_client_conf(files, path);
}

Result<> check_clusters(const ClientConf& conf, std::string_view clusters) {
  for (std::string_view name : split(clusters, ',')) {
    if (iequals(trim(name), conf.cluster_name) || iequals(trim(name), "all")) continue;
    return fail(Errc::kInvalidClusterName, "'" + std::string(name) + "' can't be reached now, or it is an invalid entry for --cluster.",
                "only the cluster of this configuration can be asked: " + conf.cluster_name);
  }
  return {};
}

}  // namespace muster::cli

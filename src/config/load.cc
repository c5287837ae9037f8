#include "config/load.h"

#include <iterator>

#include "base/text.h"
#include "config/auth_type.h"
#include "config/job_container_conf.h"
#include "config/namespace_yaml.h"
#include "config/parameter_words.h"
#include "config/record.h"
#include "config/resources_yaml.h"
#include "config/slurm_build.h"
#include "config/step_profiles.h"

namespace muster::config {

namespace {

// The lines of a file beside slurm.conf; no lines when the file is missing (`present` says so).
std::vector<Line> side_lines(FileSource& source, const Config& config, ConfFile file, bool& present, std::vector<ConfigError>& errors) {
  std::string path = config.directory + "/" + std::string(file_name(file));
  ParsedFile parsed = parse_file(source, path);
  present = !parsed.missing;
  for (ConfigError& e : parsed.errors) errors.push_back(std::move(e));
  return std::move(parsed.lines);
}

// Turns errors into notices, for a file on which nothing depends (yet).
void take_as_notices(std::vector<ConfigError> odd, std::vector<ConfigNotice>& notices) {
  for (ConfigError& e : odd) {
    e.message += "; it is left out";
    notices.push_back(std::move(e));
  }
}

// Checks the files whose features are not there yet, so that a typing error shows today.
void check_side_files(FileSource& source, const Config& config, LoadedConfig& out) {
  for (ConfFile file : {ConfFile::kBurstBuffer, ConfFile::kOci}) {
    bool present = false;
    std::vector<ConfigError> odd;
    std::vector<Line> lines = side_lines(source, config, file, present, odd);
    std::vector<ConfigNotice> each_key;
    Findings findings{odd, each_key};
    for (const Line& line : lines)
      for (const KeyValue& kv : line.values) check_pair(file, Section::kGlobal, kv, findings);
    if (!each_key.empty()) out.notices.push_back(std::move(each_key.front()));  // one line for the file is enough
    take_as_notices(std::move(odd), out.notices);
  }
}

// Nothing depends on this file for a job to run, so what is wrong in it is told and left out.
void load_acct_gather(FileSource& source, LoadedConfig& out) {
  bool present = false;
  std::vector<ConfigError> odd;
  std::vector<ConfigNotice> each_key;
  const std::vector<Line> lines = side_lines(source, out.config, ConfFile::kAcctGather, present, odd);
  out.acct_gather = build_simple_conf(ConfFile::kAcctGather, lines, odd, each_key);
  out.acct_gather.present = present;
  if (!each_key.empty()) out.notices.push_back(std::move(each_key.front()));  // one line for the file is enough
  take_as_notices(std::move(odd), out.notices);
  check_step_profiles(out, out.notices);
}

// What nothing asks for is checked all the same, and what is wrong with it is no reason not to start.
HelpersConf load_helpers(FileSource& source, const Config& config, Findings& findings) {
  std::vector<ConfigError> odd;
  const bool on = has_helpers(config);
  bool present = false;
  const std::vector<Line> lines = side_lines(source, config, ConfFile::kHelpers, present, odd);
  Findings keys{odd, findings.notices}, line_findings{on ? findings.errors : odd, findings.notices};
  HelpersConf helpers = build_helpers_conf(lines, config, keys, line_findings);
  take_as_notices(std::move(odd), findings.notices);
  if (present && !on && !lines.empty())
    findings.notice(lines.front().pos, "", "is not read: NodeFeaturesPlugins of slurm.conf does not name node_features/helpers");
  if (on && helpers.helpers.empty())
    findings.notice(config.find_value("NodeFeaturesPlugins")->pos, "NodeFeaturesPlugins",
                    "node_features/helpers changes nothing: helpers.conf has no Feature line");
  return on ? std::move(helpers) : HelpersConf{};
}

// Where the file's namespaces are not asked for, what is wrong in it is no reason not to start. A controller needs no such file; a node that
// has no BasePath does not start (slurmd/daemon/job_namespaces.h).
JobNamespaceConf load_job_container(FileSource& source, const Config& config, Findings& findings) {
  std::vector<ConfigError> odd;
  const bool on = namespace_type(config) == "namespace/tmpfs";
  bool present = false;
  const std::vector<Line> lines = side_lines(source, config, ConfFile::kJobContainer, present, on ? findings.errors : odd);
  Findings keys{odd, findings.notices}, line_findings{on ? findings.errors : odd, findings.notices};
  JobNamespaceConf out = build_job_container_conf(lines, config, keys, line_findings);
  take_as_notices(std::move(odd), findings.notices);
  if (on && lines.empty())
    findings.notice(config.find_value("NamespaceType")->pos, "NamespaceType",
                    "namespace/tmpfs needs a BasePath: there is no job_container.conf", "nodes without it do not start");
  return out;
}

// Whether the text has any line that is neither blank nor a comment.
bool has_lines(std::string_view text) {
  for (std::string_view line : split(text, '\n'))
    if (std::string_view t = trim(line); !t.empty() && t[0] != '#') return true;
  return false;
}

// The same of namespace.yaml.
JobNamespaceConf load_namespace_yaml(FileSource& source, const Config& config, Findings& findings) {
  std::vector<ConfigError> odd;
  const bool on = namespace_type(config) == "namespace/linux";
  const std::string path = config.directory + "/namespace.yaml";
  const auto text = source.read(path);
  if (on && (!text || !has_lines(*text)))
    findings.notice(config.find_value("NamespaceType")->pos, "NamespaceType",
                    "namespace/linux needs a base_path: there is no namespace.yaml", "nodes without it do not start");
  Findings own{on ? findings.errors : odd, findings.notices};
  JobNamespaceConf out = build_namespace_yaml(path, text ? *text : std::string(), config, own);
  take_as_notices(std::move(odd), findings.notices);
  return out;
}

// Files that nothing reads yet. Whoever adds the feature removes its row.
constexpr std::pair<std::string_view, std::string_view> kUnreadFiles[] = {
    {"job_submit.lua", "job_submit/lua"},
    {"cli_filter.lua", "cli_filter/lua"},
};

void name_unread_files(FileSource& source, const Config& config, LoadedConfig& out) {
  for (const auto& [name, feature] : kUnreadFiles) {
    std::string path = config.directory + "/" + std::string(name);
    if (auto text = source.read(path); text && has_lines(*text))
      out.notices.push_back({path, 0, "", "is not read, this is not there yet: " + std::string(feature), ""});
  }
}

void put_first(std::string_view line, ParsedFile& parsed) {
  ParsedFile first = parse_text(line, "slurmd --conf");
  parsed.lines.insert(parsed.lines.begin(), std::make_move_iterator(first.lines.begin()), std::make_move_iterator(first.lines.end()));
  parsed.errors.insert(parsed.errors.begin(), first.errors.begin(), first.errors.end());
}

ConfigError no_such_file(const std::string& path) {
  return {path, 0, "", "cannot be read", "set SLURM_CONF, or start with -f and the path of slurm.conf"};
}

}  // namespace

ConfigReport check_config(FileSource& source, const std::string& path, std::string_view node_line) {
  ParsedFile parsed = parse_file(source, path);
  if (parsed.missing) return {{}, {no_such_file(path)}};
  if (!node_line.empty()) put_first(node_line, parsed);
  ConfigReport report;
  std::vector<ConfigError>& errors = report.errors = std::move(parsed.errors);
  LoadedConfig& out = report.loaded;
  out.config = build_slurm_config(parsed.lines, path, errors, out.notices);
  for (ConfigValue& v : out.config.values)
    if (std::string_view(v.row->name) == "AuthType" && !v.given)
      out.config.auth_type = v.text = auth_type_if_absent(source, out.config.directory);

  std::vector<ConfigError> odd;
  std::vector<Line> lines = side_lines(source, out.config, ConfFile::kGres, out.gres.present, odd);
  bool present = out.gres.present;
  out.gres = build_gres_conf(lines, out.config, errors, out.notices);
  out.gres.present = present;

  out.topology = load_topology(source, out.config, errors, out.notices);
  Findings findings{errors, out.notices};
  add_topology_nodes(out.config, out.topology.topologies, findings);
  out.resources = load_resources(source, out.config, out.topology.topologies, errors, out.notices);

  lines = side_lines(source, out.config, ConfFile::kCgroup, present, errors);
  out.cgroup = build_cgroup_conf(lines, errors, out.notices);
  out.cgroup.raw.present = present;

  lines = side_lines(source, out.config, ConfFile::kMpi, present, odd);
  out.mpi = build_simple_conf(ConfFile::kMpi, lines, odd, out.notices);
  out.mpi.present = present;

  load_acct_gather(source, out);
  out.helpers = load_helpers(source, out.config, findings);
  out.job_namespaces = load_job_container(source, out.config, findings);
  JobNamespaceConf by_yaml = load_namespace_yaml(source, out.config, findings);
  if (namespace_type(out.config) == "namespace/linux") out.job_namespaces = std::move(by_yaml);
  check_side_files(source, out.config, out);
  name_unread_files(source, out.config, out);
  take_as_notices(std::move(odd), out.notices);
  return report;
}

std::expected<LoadedConfig, std::vector<ConfigError>> load_config(FileSource& source, const std::string& path, std::string_view node_line) {
  ConfigReport report = check_config(source, path, node_line);
  if (!report.errors.empty()) return std::unexpected(std::move(report.errors));
  return std::move(report.loaded);
}

std::expected<LoadedSimple, std::vector<ConfigError>> load_simple(FileSource& source, const std::string& path, ConfFile file) {
  ParsedFile parsed = parse_file(source, path);
  if (parsed.missing) return std::unexpected(std::vector<ConfigError>{{path, 0, "", "cannot be read", ""}});
  std::vector<ConfigError> errors = std::move(parsed.errors);
  LoadedSimple out;
  out.conf = build_simple_conf(file, parsed.lines, errors, out.notices);
  out.conf.present = true;
  if (Findings findings{errors, out.notices}; file == ConfFile::kSlurmdbd) check_slurmdbd(out.conf, findings);
  if (!errors.empty()) return std::unexpected(std::move(errors));
  return out;
}

}  // namespace muster::config

#include "config/job_container_conf.h"

#include <algorithm>

#include "base/text.h"
#include "config/hosts.h"
#include "config/record.h"
#include "config/slurm_conf.h"

namespace muster::config {
namespace {

bool lies_in(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

class Reader {
 public:
  Reader(const Config& config, Findings& keys, Findings& findings) : config_(config), keys_(keys), findings_(findings) {}

  JobContainerConf run(const std::vector<Line>& lines) {
    for (const Line& line : lines)
      if (!line.find("NodeName")) read(line, out_.global);
    for (const Line& line : lines)
      if (line.find("NodeName")) node_line(line);
    return std::move(out_);
  }

 private:
  void node_line(const Line& line) {
    JobContainerConf::ForNodes of{{}, out_.global};
    const Record record = read(line, of.space);
    auto nodes = expand_hosts(record.text("NodeName"));
    if (!nodes) return findings_.error(record.pos("NodeName"), "NodeName", std::string(nodes.error().message()));
    for (const std::string& name : *nodes)
      if (!config_.node_index(name)) findings_.odd(record.pos("NodeName"), "NodeName", "slurm.conf has no node " + name, "it is left out");
    of.nodes = std::move(*nodes);
    out_.per_node.push_back(std::move(of));
  }

  // Over what is there already.
  Record read(const Line& line, JobNamespace& space) {
    Record record(ConfFile::kJobContainer, Section::kContainer);
    record.add(line, keys_);
    if (record.has("BasePath")) read_base(record, space.base);
    if (record.has("Dirs")) read_dirs(record, space.dirs);
    if (record.has("AutoBasePath")) space.make_base = record.yes("AutoBasePath");
    if (record.has("Shared")) space.shared = record.yes("Shared");
    if (record.has("EntireStepInNS")) space.whole_step = record.yes("EntireStepInNS");
    read_program(record, "InitScript", space.init_script);
    read_program(record, "CloneNSScript", space.script);
    read_program(record, "CloneNSEpilog", space.epilog);
    if (record.has("CloneNSScript_Wait")) space.script_wait = seconds(*record.number("CloneNSScript_Wait"));
    if (record.has("CloneNSEpilog_Wait")) space.epilog_wait = seconds(*record.number("CloneNSEpilog_Wait"));
    if (const std::string_view in = private_above(space.dirs, space.base); !in.empty())
      if (in == space.base)
        findings_.error(record.where(), "BasePath",
                        space.base + " is one of Dirs: the private directories would hide what they are kept in");
    return record;
  }

  void read_base(const Record& record, std::string& base) {
    const std::string_view given = trim(record.text("BasePath"));
    if (iequals(given, "none")) {
      base = "none";
      return;
    }
    auto path = plain_path(given);
    if (!path) return findings_.error(record.pos("BasePath"), "BasePath", "has to be " + std::string(kPlainPath) + ", or none");
    base = std::move(*path);
  }

  void read_dirs(const Record& record, std::vector<PrivateDir>& dirs) {
    std::vector<PrivateDir> out;
    for (std::string_view word : split(record.text("Dirs"), ',')) {
      auto path = plain_path(trim(word));
      if (!path)
        return findings_.error(record.pos("Dirs"), "Dirs", "\"" + std::string(trim(word)) + "\" has to be " + std::string(kPlainPath));
      if (std::ranges::find(out, *path, &PrivateDir::path) == out.end()) out.push_back({std::move(*path), {}, {}, false});
    }
    if (const auto two = private_within(out))
      return findings_.error(record.pos("Dirs"), "Dirs", two->first + " lies in " + two->second + ", which is private already");
    if (!out.empty()) dirs = std::move(out);
  }

  void read_program(const Record& record, const char* key, std::string& program) {
    if (!record.has(key)) return;
    program = trim(record.text(key));
    if (!program.empty() && program[0] != '/') findings_.error(record.pos(key), key, "has to be the absolute path of a program");
  }

  const Config& config_;
  Findings& keys_;
  Findings& findings_;
  JobContainerConf out_;
};

}  // namespace

const JobNamespace& JobContainerConf::of(std::string_view node) const {
  for (auto line = per_node.rbegin(); line != per_node.rend(); ++line)
    if (std::ranges::find(line->nodes, node) != line->nodes.end()) return line->space;
  return global;
}

std::string_view namespace_type(const Config& config) {
  const ConfigValue* given = config.find_value("NamespaceType");
  if (!given || (given->text != "namespace/tmpfs" && given->text != "namespace/linux")) return {};
  return given->text;
}

bool has_job_namespaces(const Config& config) { return !namespace_type(config).empty(); }

JobContainerConf build_job_container_conf(const std::vector<Line>& lines, const Config& config, Findings& keys, Findings& findings) {
  return Reader(config, keys, findings).run(lines);
}

std::optional<std::string> plain_path(std::string_view text) {
  if (!text.starts_with('/')) return std::nullopt;
  std::string out;
  for (std::string_view part : split(text, '/')) {
    if (part == "." || part == "..") return std::nullopt;
    out += "/" + std::string(part);
  }
  return out.empty() ? std::nullopt : std::optional(out);
}

std::string path_for(const PrivateDir& dir, std::string_view job, std::string_view sluid, std::string_view user) {
  std::string out;
  for (size_t i = 0; i < dir.path.size(); ++i) {
    const char kind = dir.path[i] == '%' && i + 1 < dir.path.size() ? dir.path[i + 1] : '\0';
    if (kind != 'j' && kind != 'S' && kind != 'u') {
      out += dir.path[i];
      continue;
    }
    out += kind == 'j' ? job : kind == 'S' ? sluid : user;
    ++i;
  }
  return out;
}

std::string_view private_above(const std::vector<PrivateDir>& dirs, std::string_view path) {
  for (const PrivateDir& dir : dirs)
    if (lies_in(path, dir.path)) return dir.path;
  return {};
}

std::optional<std::pair<std::string, std::string>> private_within(const std::vector<PrivateDir>& dirs) {
  for (const PrivateDir& one : dirs)
    for (const PrivateDir& other : dirs)
      if (one.path != other.path && lies_in(one.path, other.path)) return std::pair(one.path, other.path);
  return std::nullopt;
}

}  // namespace muster::config

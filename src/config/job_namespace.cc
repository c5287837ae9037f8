#include "config/job_namespace.h"

#include <algorithm>

#include "base/text.h"
#include "config/slurm_conf.h"

namespace muster::config {
namespace {

bool lies_in(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

}  // namespace

const JobNamespace& JobNamespaceConf::of(std::string_view node) const {
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

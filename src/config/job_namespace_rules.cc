#include "config/job_namespace_rules.h"

#include <algorithm>

#include "base/text.h"
#include "config/hosts.h"
#include "config/record.h"
#include "config/slurm_conf.h"

namespace muster::config {
namespace {

constexpr size_t kMostDirs = 64;
constexpr size_t kMostQuoted = 80;  // bytes of a wrong value in an error

std::string quoted(std::string_view text) { return "\"" + std::string(text.substr(0, kMostQuoted)) + "\""; }
std::string must_be_a_directory(std::string_view or_else = "") {
  return "has to be a directory by its absolute path, without . and .. in it" + std::string(or_else);
}

}  // namespace

std::optional<std::string> NamespaceRules::directory(const GivenText& given, std::string_view or_else) {
  auto path = plain_path(trim(given.text));
  if (!path) findings_.error(given.at, given.key, must_be_a_directory(or_else));
  return path;
}

void NamespaceRules::set_base(const GivenText& given, std::string& to) {
  if (iequals(trim(given.text), "none")) to = "none";
  else if (auto path = directory(given, ", or none")) to = std::move(*path);
}

void NamespaceRules::set_directory(const GivenText& given, std::string& to) {
  if (auto path = directory(given, "")) to = std::move(*path);
}

void NamespaceRules::set_program(const GivenText& given, std::string& to) {
  const std::string_view path = trim(given.text);
  if (path.empty() || path[0] == '/') to = path;
  else findings_.error(given.at, given.key, "has to be the absolute path of a program");
}

std::optional<std::vector<PrivateDir>> NamespaceRules::read_dirs(const GivenText& given) {
  std::vector<PrivateDir> out;
  for (const std::string_view word : split(given.text, ',')) {
    if (auto path = plain_path(trim(word))) out.push_back({std::move(*path), {}, {}, false});
    else findings_.error(given.at, given.key, quoted(trim(word)) + " " + must_be_a_directory());
  }
  return check_dirs(given.at, given.key, std::move(out));
}

std::optional<std::vector<PrivateDir>> NamespaceRules::check_dirs(const SourcePos& at, const char* key, std::vector<PrivateDir> dirs) {
  std::vector<PrivateDir> out;
  for (PrivateDir& dir : dirs)
    if (std::ranges::find(out, dir.path, &PrivateDir::path) == out.end()) out.push_back(std::move(dir));
    else findings_.odd(at, key, dir.path + " is there twice", "the first counts");
  if (out.size() > kMostDirs) findings_.error(at, key, "there are more than " + std::to_string(kMostDirs));
  if (const auto two = private_within(out)) findings_.error(at, key, two->first + " lies in " + two->second + ", which is private already");
  return out.empty() ? std::nullopt : std::optional(std::move(out));
}

std::vector<std::string> NamespaceRules::read_nodes(const GivenText& given) {
  auto nodes = expand_hosts(given.text);
  if (!nodes) {
    findings_.error(given.at, given.key, std::string(nodes.error().message()));
    return {};
  }
  for (const std::string& name : *nodes)
    if (!config_.node_index(name)) findings_.odd(given.at, given.key, "slurm.conf has no node " + name, "it is left out");
  return std::move(*nodes);
}

// A base below a private directory is found by its descriptor, whatever hides it later; one that is private itself would be mounted over itself.
void NamespaceRules::check(const JobNamespace& space, const SourcePos& at) {
  const auto is_private = [&](const std::string& base) {
    return std::ranges::find(space.dirs, base, &PrivateDir::path) != space.dirs.end();
  };
  std::vector<std::string> bases{space.base};
  for (const PrivateDir& dir : space.dirs) bases.push_back(dir.base);
  for (const std::string& base : bases)
    if (is_private(base)) {
      findings_.error(at, space.base_key(), base + " is one of the private directories, which would hide what they are kept in");
      break;
    }
  if (!space.user_script.empty() && !space.own_users)
    findings_.odd(at, "user_ns_script", "needs CLONE_NEWUSER in clone_ns_flags", "it is not run");
}

}  // namespace muster::config

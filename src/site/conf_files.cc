#include "site/conf_files.h"

#include <unistd.h>

#include <cstdlib>

#include "config/conf_path.h"
#include "os/files.h"

namespace muster::site {

std::optional<std::string> DiskFiles::read(const std::string& path) {
  auto text = os::read_file(path);
  if (!text) return std::nullopt;
  return std::move(*text);
}

bool DiskFiles::exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

std::optional<std::string> KeptFiles::read(const std::string& path) {
  auto text = disk_.read(path);
  if (text) read_[path] = *text;
  return text;
}

std::string directory_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string executable_directory() {
  char buffer[4096];
  const ssize_t n = ::readlink("/proc/self/exe", buffer, sizeof buffer);
  return n > 0 ? directory_of(std::string(buffer, static_cast<size_t>(n))) : "";
}

std::vector<std::string> conf_candidates() {
  const char* env = std::getenv("SLURM_CONF");
  return config::conf_candidates(env ? env : "", executable_directory());
}

std::string find_conf(const std::string& named) {
  if (!named.empty()) return named;
  const std::vector<std::string> candidates = conf_candidates();
  for (const std::string& path : candidates)
    if (::access(path.c_str(), R_OK) == 0) return path;
  return candidates.front();
}

}  // namespace muster::site

#include "site/mpi_modules.h"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "site/conf_files.h"

namespace muster::site {
namespace {

constexpr std::string_view kPrefix = "mpi_";

std::string folder() { return executable_directory() + "/../lib/slurm"; }

// "pmix_v4", not "pmi2"
bool is_version(std::string_view name) {
  size_t at = name.rfind("_v");
  return at != name.npos && at + 2 < name.size() && name.find_first_not_of("0123456789", at + 2) == name.npos;
}

}  // namespace

MpiModules mpi_modules() {
  MpiModules out;
  out.types.push_back("none");
  std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(folder().c_str()), ::closedir);
  while (dirent* e = directory ? ::readdir(directory.get()) : nullptr) {
    std::string_view name = e->d_name;
    if (!name.starts_with(kPrefix) || mpi_program(name.substr(kPrefix.size())).empty()) continue;
    name.remove_prefix(kPrefix.size());
    (is_version(name) ? out.versions : out.types).emplace_back(name);
  }
  std::ranges::sort(out.types);
  std::ranges::sort(out.versions);
  return out;
}

std::string_view mpi_type(std::string_view asked) {
  if (asked.starts_with("mpi/")) asked.remove_prefix(4);
  return asked == "none" ? std::string_view() : asked;
}

std::string mpi_program(std::string_view type) {
  if (type.empty() || type.find('/') != type.npos) return {};
  std::string path = folder() + "/" + std::string(kPrefix) + std::string(type);
  return ::access(path.c_str(), X_OK) == 0 ? path : std::string();
}

}  // namespace muster::site

#include "muster/check_config.h"

#include <sys/stat.h>

#include <algorithm>

#include "cli/common/client_conf.h"
#include "config/load.h"
#include "muster/verbs.h"
#include "muster/words.h"
#include "site/conf_files.h"

namespace muster::front {
namespace {

// Remembers which files were found.
class Watched : public config::FileSource {
 public:
  Watched(config::FileSource& below, std::vector<std::string>& seen) : below_(below), seen_(seen) {}
  std::optional<std::string> read(const std::string& path) override {
    std::optional<std::string> text = below_.read(path);
    if (text && std::find(seen_.begin(), seen_.end(), path) == seen_.end()) seen_.push_back(path);
    return text;
  }
  bool exists(const std::string& path) override { return below_.exists(path); }

 private:
  config::FileSource& below_;
  std::vector<std::string>& seen_;
};

void take(const std::vector<config::ConfigError>& from, Level level, std::vector<Finding>& out) {
  for (const config::ConfigError& e : from) out.push_back({level, e.file, e.line, e.key, e.message, e.hint});
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }
std::string beside(const std::string& path, std::string_view name) { return path.substr(0, path.rfind('/') + 1) + std::string(name); }

constexpr std::string_view kDbd = "slurmdbd.conf";

void check_dbd(config::FileSource& source, const std::string& path, ConfigCheck& out) {
  auto loaded = config::load_simple(source, path, config::ConfFile::kSlurmdbd);
  if (loaded) take(loaded->notices, Level::kWarning, out.findings);
  else take(loaded.error(), Level::kError, out.findings);
}

// The configuration file to check, for what was named: a directory, slurm.conf under any name, or a file that belongs to one.
Result<std::string> conf_file(const std::string& named) {
  struct stat status {};
  if (stat(named.c_str(), &status) != 0) return fail(Errc::kNotFound, named + ": no such file or directory");
  if (S_ISDIR(status.st_mode)) {
    std::string directory = named;
    while (directory.size() > 1 && directory.ends_with('/')) directory.pop_back();
    const std::string path = (directory == "/" ? "" : directory) + "/slurm.conf";
    if (stat(path.c_str(), &status) == 0) return path;
    return beside(path, kDbd);
  }
  const std::string name = base_name(named);
  for (config::ConfFile file : {config::ConfFile::kGres, config::ConfFile::kTopology, config::ConfFile::kCgroup,
                                config::ConfFile::kAcctGather, config::ConfFile::kBurstBuffer, config::ConfFile::kHelpers,
                                config::ConfFile::kJobContainer, config::ConfFile::kMpi, config::ConfFile::kOci})
    if (name == config::file_name(file)) return beside(named, "slurm.conf");
  return named;
}

}  // namespace

ConfigCheck check_files(config::FileSource& source, const std::string& path) {
  ConfigCheck out;
  Watched watched(source, out.files);
  if (base_name(path) == kDbd) {
    check_dbd(watched, path, out);
    return out;
  }
  config::ConfigReport report = config::check_config(watched, path);
  take(report.errors, Level::kError, out.findings);
  take(report.loaded.notices, Level::kWarning, out.findings);
  if (std::string dbd = beside(path, kDbd); watched.read(dbd)) check_dbd(watched, dbd, out);
  return out;
}

int check_config_verb(std::span<const std::string> arguments) {
  Result<Words> words = read_words(arguments, {"--json", "--strict"}, 1);
  if (!words) return complain(words.error());
  Result<std::string> path = words->rest.empty() ? cli::find_conf_path() : conf_file(words->rest[0]);
  if (!path) return complain(path.error());
  site::DiskFiles disk;
  ConfigCheck check = check_files(disk, *path);
  if (check.files.empty()) check.files.push_back(*path);
  const bool odd = words->has("--strict") && !check.findings.empty();
  return std::max(show(std::move(check.findings), check.files, words->has("--json")), odd ? 1 : 0);
}

}  // namespace muster::front

#include "sim/tool/site_files.h"

#include <sys/stat.h>

#include "base/text.h"
#include "sim/replay/accounts_file.h"
#include "sim/tool/command_line.h"
#include "slurmctld/core/records.h"

namespace muster::sim::tool {
namespace {

constexpr size_t kMaxFile = 64u << 20;

bool is_directory(const std::string& path) {
  struct stat st {};
  return ::stat(path.c_str(), &st) == 0 && S_ISDIR(st.st_mode);
}

class ChangedFiles final : public config::FileSource {
 public:
  ChangedFiles(std::string top, const std::vector<std::string>& with) : top_(std::move(top)), with_(with) {}
  std::optional<std::string> read(const std::string& path) override {
    struct stat st {};
    if (::stat(path.c_str(), &st) != 0 || !S_ISREG(st.st_mode) || static_cast<size_t>(st.st_size) > kMaxFile) return std::nullopt;
    std::string error;
    auto text = read_whole(path, error);
    if (text && path == top_ && !with_.empty()) return with_lines(*text, with_);
    return text;
  }

 private:
  std::string top_;
  const std::vector<std::string>& with_;
};

std::string key_of(std::string_view line) { return to_lower(trim(line.substr(0, line.find('=')))); }

}  // namespace

std::string with_lines(const std::string& slurm_conf, const std::vector<std::string>& with) {
  std::string out;
  bool dropped = false;  // the last line was, and it goes on in the next one
  for (std::string_view line : split(slurm_conf, '\n', true)) {
    const bool goes_on = !trim(line).empty() && trim(line).back() == '\\';
    bool same = dropped;
    if (!dropped)
      for (const std::string& w : with) same |= line.find('=') != line.npos && key_of(line) == key_of(w);
    out += same ? "#" : std::string(line);  // an empty comment: the numbers of the other lines stay
    out += '\n';
    dropped = same && goes_on;
  }
  for (const std::string& w : with) out += w + "\n";
  return out;
}

std::optional<SiteFiles> load_site(const std::string& config, const std::vector<std::string>& with, const std::string& accounts,
                                   const replay::Trace& trace, std::string& error) {
  const std::string path = is_directory(config) ? config + "/slurm.conf" : config;
  const std::string folder = path.find('/') == path.npos ? "." : path.substr(0, path.rfind('/'));
  ChangedFiles files(path, with);
  if (!files.read(path)) {
    error = path + ": cannot be read";
    return std::nullopt;
  }
  auto loaded = config::load_config(files, path);
  if (!loaded) {
    error = config + " is in error:\n" + config::to_text(loaded.error());
    return std::nullopt;
  }
  SiteFiles site;
  site.name = config + (with.empty() ? "" : " with " + join(with, ", "));
  if (loaded->config.nodes.empty()) {
    error = path + " has no nodes (NodeName=)";
    return std::nullopt;
  }
  site.settings = slurmctld::make_settings(std::make_shared<const config::LoadedConfig>(std::move(*loaded)), Uid{0}, false);
  std::string file = accounts;
  struct stat st {};
  if (file.empty() && ::stat((folder + "/accounts").c_str(), &st) == 0) file = folder + "/accounts";
  if (file.empty()) {
    site.accounts = replay::accounts_of(trace);
  } else {
    auto text = read_whole(file, error);
    if (!text) return std::nullopt;
    auto read = replay::read_accounts(*text);
    if (!read) {
      error = file + ": " + std::string(read.error().message());
      return std::nullopt;
    }
    site.accounts = std::move(*read);
  }
  if (!slurmctld::keeps_records(site.settings.config()))
    site.remarks.push_back(path +
                           ": AccountingStorageType keeps no accounts: fair share, limits and QOS have no effect, as they have none there");
  return site;
}

}  // namespace muster::sim::tool

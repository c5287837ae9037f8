// FetchedFiles: files that slurmctld sent and that are on no disk yet, to be read as a configuration. What they include from elsewhere is
// read from the disk, as it will be from the folder that they get.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "agent/config_download.h"
#include "config/load.h"
#include "site/conf_files.h"

namespace muster::agent {

class FetchedFiles final : public config::FileSource {
 public:
  static constexpr std::string_view kFolder = "/from-slurmctld/";
  explicit FetchedFiles(const FetchedConfig& config) : config_(config) {}
  std::optional<std::string> read(const std::string& path) override {
    if (!path.starts_with(kFolder)) return disk_.read(path);
    const FetchedFile* file = config_.find(std::string_view(path).substr(kFolder.size()));
    return file ? std::optional(file->content) : std::nullopt;
  }

 private:
  const FetchedConfig& config_;
  site::DiskFiles disk_;
};

inline Result<config::LoadedConfig> load_fetched(const FetchedConfig& fetched, std::string_view node_line = {}) {
  FetchedFiles files(fetched);
  auto loaded = config::load_config(files, std::string(FetchedFiles::kFolder) + "slurm.conf", node_line);
  if (!loaded) return fail(Errc::kConfig, "the configuration that slurmctld sent: " + config::to_text(loaded.error()));
  return std::move(*loaded);
}

}  // namespace muster::agent

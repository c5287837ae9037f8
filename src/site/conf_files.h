// Reads configuration files from the disk, and finds the slurm.conf of a program: -f, else SLURM_CONF, else etc/ of the prefix that the
// program is installed in, else /etc/slurm (DESIGN 7). slurmctld(8), slurmd(8).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/parser.h"

namespace muster::site {

// A file over 64 MiB is treated as missing.
class DiskFiles final : public config::FileSource {
 public:
  std::optional<std::string> read(const std::string& path) override;
  bool exists(const std::string& path) override;
};

// Reads likewise, and keeps what it has read.
class KeptFiles final : public config::FileSource {
 public:
  std::optional<std::string> read(const std::string& path) override;
  bool exists(const std::string& path) override { return disk_.exists(path); }
  const std::map<std::string, std::string>& read_files() const { return read_; }  // by path

 private:
  DiskFiles disk_;
  std::map<std::string, std::string> read_;
};

// Where commands find the configuration that slurmd or sackd of this host got from slurmctld. Guide configless_slurm.
inline constexpr const char* kCachedConf = "/run/slurm/conf/slurm.conf";

// The directory of a path: "/a/b" of "/a/b/c"; "." where there is no slash.
std::string directory_of(const std::string& path);
// The directory of the running program; "" if the kernel does not say.
std::string executable_directory();
// The places of slurm.conf in the order in which they are tried.
std::vector<std::string> conf_candidates();
// `named` (-f) if it is not empty, else the first candidate that can be read, else the first candidate.
std::string find_conf(const std::string& named);

}  // namespace muster::site

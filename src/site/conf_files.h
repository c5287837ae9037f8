// Configuration files from the disk, and which slurm.conf a program reads: -f, else SLURM_CONF, else etc/ of the
// prefix that the program stands in, else /etc/slurm (DESIGN 7). slurmctld(8), slurmd(8).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/parser.h"

namespace muster::site {

// Bounded: a file over 64 MiB counts as not there.
class DiskFiles final : public config::FileSource {
 public:
  std::optional<std::string> read(const std::string& path) override;
  bool exists(const std::string& path) override;
};

// "/a/b" of "/a/b/c"; "." where there is no slash.
std::string directory_of(const std::string& path);
// Of the program that runs; "" if the kernel does not say.
std::string executable_directory();
// In the order in which they are tried.
std::vector<std::string> conf_candidates();
// `named` (-f) if it is not empty, else the first candidate that can be read, else the first candidate.
std::string find_conf(const std::string& named);

}  // namespace muster::site

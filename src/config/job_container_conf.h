// job_container.conf: which directories a job has for itself on its nodes, and where they are kept. Read where NamespaceType=namespace/tmpfs;
// else the file is only checked. job_container.conf(5). Cost: O(bytes + nodes named).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "config/parser.h"

namespace muster::config {

struct Config;
struct Findings;

// What the jobs of a node get.
struct JobNamespace {
  std::string base;        // with %n and %h; "": not said; "none": no namespace
  bool make_base = false;  // where it is missing
  std::vector<std::string> dirs{"/tmp", "/dev/shm"};
  bool shared = false;      // what is mounted on the node later is seen in the job
  bool whole_step = false;  // slurmstepd itself is in it
  std::string init_script, script, epilog;
  Duration script_wait = seconds(10), epilog_wait = seconds(10);
  bool operator==(const JobNamespace&) const = default;
};

struct JobContainerConf {
  struct ForNodes {
    std::vector<std::string> nodes;
    JobNamespace space;
  };
  JobNamespace global;             // lines without NodeName
  std::vector<ForNodes> per_node;  // with all that the global lines say and theirs do not

  // The last line that names the node counts.
  const JobNamespace& of(std::string_view node) const;
};

// NamespaceType=namespace/tmpfs.
bool has_job_namespaces(const Config& config);
// `keys`: takes what is wrong with single keys and values; `findings`: lines that mean nothing.
JobContainerConf build_job_container_conf(const std::vector<Line>& lines, const Config& config, Findings& keys, Findings& findings);

// The directory of `dirs` that `path` lies in, or is; "": none. Both absolute.
std::string_view private_above(const std::vector<std::string>& dirs, std::string_view path);

}  // namespace muster::config

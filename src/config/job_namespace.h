// What each job has for itself on its nodes: directories, and perhaps processes and users. NamespaceType says whether, and which file says what:
// job_container.conf (job_container_conf.h) or namespace.yaml (namespace_yaml.h). What may stand in either is in job_namespace_rules.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"

namespace muster::config {

struct Config;

// A directory that a job has for itself.
struct PrivateDir {
  std::string path;     // with %j, %S and %u (dir_confs)
  std::string base;     // where it is kept, with %n and %h; "": in JobNamespace::base
  std::string options;  // of its mount, separated by commas
  bool tmpfs = false;   // /dev/shm is one always
  bool operator==(const PrivateDir&) const = default;
};

// What the jobs of a node get.
struct JobNamespace {
  bool by_yaml = false;    // namespace.yaml says it, not job_container.conf: errors name its keys
  std::string base;        // with %n and %h; "": not said; "none": no namespace
  bool make_base = false;  // where it is missing
  std::vector<PrivateDir> dirs{{"/tmp", {}, {}, false}, {"/dev/shm", {}, {}, false}};
  bool shared = false;         // what is mounted on the node later is seen in the job
  bool whole_step = false;     // slurmstepd itself is in it
  bool own_processes = false;  // CLONE_NEWPID
  bool own_users = false;      // CLONE_NEWUSER
  std::string init_script, user_script, script, epilog;
  Duration script_wait = seconds(10), epilog_wait = seconds(10);
  const char* file() const { return by_yaml ? "namespace.yaml" : "job_container.conf"; }
  const char* base_key() const { return by_yaml ? "base_path" : "BasePath"; }
  const char* dirs_key() const { return by_yaml ? "dirs" : "Dirs"; }
  bool operator==(const JobNamespace&) const = default;
};

struct JobNamespaceConf {
  struct ForNodes {
    std::vector<std::string> nodes;
    JobNamespace space;
  };
  JobNamespace global;             // of nodes that are not named
  std::vector<ForNodes> per_node;  // with all that is said for all nodes and not for these

  // What names the node last counts.
  const JobNamespace& of(std::string_view node) const;
};

// NamespaceType=namespace/tmpfs or namespace/linux.
bool has_job_namespaces(const Config& config);
// "namespace/tmpfs"; "" where jobs have no namespaces.
std::string_view namespace_type(const Config& config);

// The path without the slashes that say nothing; nullopt where it is none that means one directory whatever is around it.
std::optional<std::string> plain_path(std::string_view text);
// The path of one job's, in place of %j, %S and %u.
std::string path_for(const PrivateDir& dir, std::string_view job, std::string_view sluid, std::string_view user);
// The directory of `dirs` that `path` lies in, or is; "": none. Both absolute.
std::string_view private_above(const std::vector<PrivateDir>& dirs, std::string_view path);
// One that lies in another: the two; nullopt: none does.
std::optional<std::pair<std::string, std::string>> private_within(const std::vector<PrivateDir>& dirs);

}  // namespace muster::config

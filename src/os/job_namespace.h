// A private view of some directories for each job of a node: a mount namespace in which BASE/JOB/_tmp is at /tmp and a tmpfs of its own at
// /dev/shm, and so on. It is held by the file BASE/JOB/.ns, on which it is mounted, so it outlives every process of ours; who is to be in
// it enters it through that file. job_container.conf(5), the namespace guide.
//
// What belongs to the user begins below BASE/JOB/_tmp. BASE and BASE/JOB are root's alone, so no name that we look up there can be a user's; what is
// below is touched by descriptors only, which follow no link and cross into no other mount. All of this needs root with CAP_SYS_ADMIN,
// and make_job_namespace() a process with one thread. Errors name the path and the rule.
#pragma once

#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "os/fd.h"

namespace muster::os {

struct JobNamespaceSpec {
  std::string base;               // absolute; see prepare_namespace_base()
  std::string job;                // "7"
  Uid uid{};                      // whose the private directories are, with mode 0700
  std::vector<std::string> dirs;  // absolute, none in another
  bool shared = false;            // what is mounted on the node later is seen in it
};

// "/run/jobs/7/.ns"
std::string namespace_file(const std::string& base, const std::string& job);
// What a private directory is called below BASE/JOB: "/var/tmp" is kept in "_var_tmp".
std::string private_name(const std::string& dir);

// Makes BASE a mount of its own that passes nothing on (it stays one), after making the directory, 0755, with `make`. Once that is done it
// only looks. Errors: a base that is missing, not root's, or open to others; no right to mount.
Result<> prepare_namespace_base(const std::string& base, bool make);
// Whether `dir` can be private: a directory that is reached without links, through directories that only root changes.
Result<> check_private_dir(const std::string& dir);

// Makes BASE/JOB with its directories and the namespace. What is left there of an earlier run is put aside first. O(mounts).
Result<> make_job_namespace(const JobNamespaceSpec& spec);
// The namespace goes with its last process; what was in its directories is put aside for sweep_job_namespaces(). Absent is fine.
Result<> close_job_namespace(const std::string& base, const std::string& job);
// The jobs that have a directory in `base`, in no order.
Result<std::vector<JobId>> jobs_with_namespace(const std::string& base);
// Removes all that was put aside. Whatever users left: links are removed and not followed, what is mounted somewhere below stays with an
// error, and a file with another name elsewhere loses only this one. Memory and descriptors are bounded, however deep or wide it is. The
// first error is told when all else is removed.
Result<> sweep_job_namespaces(const std::string& base);

// For SpawnSpec::mount_namespace and Errand::enter(): the namespace of the file. Errors: it is none.
Result<Fd> open_job_namespace(const std::string& file);
Result<Fd> own_namespace();  // the one that this process is in
// Moves this process, which has one thread, into it.
Result<> enter_job_namespace(const Fd& space);

}  // namespace muster::os

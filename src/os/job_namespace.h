// The namespaces of a job on a node. There is always one of mounts: a private view of some directories, in which BASE/JOB/_tmp is at /tmp and
// a tmpfs of its own at /dev/shm, and so on. There may be one of processes, in which the job sees no other processes and which ends with its
// first process, and one of users. They are held by files on which they are mounted: BASE/JOB/.ns, .ns.pid and .ns.user; so they outlive
// every process of ours, and who is to be in them enters through those files. job_container.conf(5), namespace.yaml(5), the namespace guide.
//
// The namespaces of mounts and processes belong to the node's users and not to the job's: whatever rights somebody has in the job's namespace
// of users, he can mount nothing there and take nothing away.
//
// What belongs to the user begins below BASE/JOB/_tmp. BASE and BASE/JOB are root's alone, so no name that we look up there can be a user's; what is
// below is touched by descriptors only, which follow no link and cross into no other mount. All of this needs root with CAP_SYS_ADMIN,
// and make_job_namespace() a process with one thread. Errors name the path and the rule.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "os/process.h"

namespace muster::os {

// A directory that the job has for itself.
struct PrivateDirSpec {
  std::string path;     // absolute, in no other one
  std::string base;     // where it is kept, prepared as JobNamespaceSpec::base is; "": there
  std::string options;  // mount_options.h
  bool tmpfs = false;   // /dev/shm is one always
};

struct JobNamespaceSpec {
  std::string base;  // absolute; see prepare_namespace_base()
  std::string job;   // "7"
  Uid uid{};         // whose the private directories are, with mode 0700
  std::vector<PrivateDirSpec> dirs;
  bool shared = false;  // what is mounted on the node later is seen in it
  // Set: a namespace of processes, whose first is this program. It waits for orphans for as long as the job lives, and nothing else.
  std::vector<std::string> first_process;  // the program, then its arguments from the 0th on
  bool own_users = false;
  // Writes what the users and groups of that process are; unset: each is itself.
  std::function<Result<>(pid_t)> map_users;
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
// Ends the processes of a namespace of processes; else the namespace goes with its last process. What was in its directories, in each of
// `bases`, is put aside for sweep_job_namespaces(). The first base is JobNamespaceSpec::base. Absent is fine.
Result<> close_job_namespace(const std::vector<std::string>& bases, const std::string& job);
// The jobs that have a directory in `base`, in no order.
Result<std::vector<JobId>> jobs_with_namespace(const std::string& base);
// Removes all that was put aside. Whatever users left: links are removed and not followed, what is mounted somewhere below stays with an
// error, and a file with another name elsewhere loses only this one. Memory and descriptors are bounded, however deep or wide it is. The
// first error is told when all else is removed.
Result<> sweep_job_namespaces(const std::string& base);

// The namespaces that a file of a job's leads to; `pid` and `user` only where it has them.
struct OpenNamespace {
  Fd mount, pid, user;
  NamespaceFds fds() const { return {mount.get(), pid.get(), user.get()}; }  // for SpawnSpec::namespaces; valid as long as this is
};
Result<OpenNamespace> open_job_namespace(const std::string& file);  // Errors: it is none
Result<Fd> own_namespace();                                         // the one of mounts that this process is in
// Moves this process, which has one thread, into them; into the namespace of processes go those that it starts from now on.
Result<> enter_job_namespace(const OpenNamespace& space);

}  // namespace muster::os

#include "os/node/cgroups.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "base/text.h"
#include "os/clock.h"
#include "os/error.h"
#include "os/files.h"
#include "os/node/cgroup_backend.h"
#include "os/process.h"
#include "os/process_tree.h"

namespace muster::os {

uint64_t stat_value(std::string_view text, std::string_view key) {
  for (std::string_view line : split(text, '\n'))
    if (line.size() > key.size() && line.starts_with(key) && line[key.size()] == ' ')
      return parse_number<uint64_t>(line.substr(key.size() + 1)).value_or(0);
  return 0;
}

bool directory_exists(const std::string& path) {
  struct stat st {};
  return stat(path.c_str(), &st) == 0 && S_ISDIR(st.st_mode);
}

Result<> make_directory(const std::string& path) {
  if (mkdir(path.c_str(), 0755) == 0 || (errno == EEXIST && directory_exists(path))) return {};
  return fail_errno("mkdir " + path);
}

std::vector<std::string> subdirectories(const std::string& path) {
  std::vector<std::string> out;
  std::unique_ptr<DIR, int (*)(DIR*)> dir(opendir(path.c_str()), closedir);
  while (const dirent* e = dir ? readdir(dir.get()) : nullptr)
    if (e->d_type == DT_DIR && e->d_name[0] != '.') out.emplace_back(e->d_name);
  std::sort(out.begin(), out.end());
  return out;
}

namespace {

class NoCgroups final : public CgroupBackend {
 public:
  explicit NoCgroups(std::string reason) { support_.reason = std::move(reason); }
  std::vector<std::string> directories(const std::string&) const override { return {}; }
  Result<> make(const std::string&) const override { return {}; }
  Result<> set_memory(const std::string&, const MemoryLimits&) const override { return no("limit memory"); }
  Result<> set_cpus(const std::string&, const Bitmap&, const Bitmap&) const override { return no("confine to CPUs"); }
  Result<> deny_devices(const std::string&, const std::vector<DeviceRule>&) const override { return no("confine devices"); }
  Result<> freeze(const std::string&, bool) const override { return no("freeze"); }
  Result<CgroupUsage> usage(const std::string&) const override { return no("account"); }

 private:
  std::unexpected<Error> no(const char* what) const {
    return fail(Errc::kUnsupported, std::string("no cgroups to ") + what + ": " + support_.reason);
  }
};

void nap(int milliseconds) {
  const timespec t{0, milliseconds * 1'000'000L};
  nanosleep(&t, nullptr);
}

void collect_pids(const std::string& directory, int depth, std::vector<pid_t>& out) {
  auto text = read_file(directory + "/cgroup.procs", 16 << 20);
  if (!text) return;
  for (std::string_view line : split(*text, '\n'))
    if (auto pid = parse_number<pid_t>(line, 1)) out.push_back(*pid);
  if (depth >= 8) return;
  for (const auto& sub : subdirectories(directory)) collect_pids(directory + "/" + sub, depth + 1, out);
}

// Removes what is below, deepest first. False when something is still in use.
bool remove_below(const std::string& directory, int depth, int& err) {
  bool gone = true;
  if (depth < 8)
    for (const auto& sub : subdirectories(directory)) gone &= remove_below(directory + "/" + sub, depth + 1, err);
  if (!gone) return false;
  if (rmdir(directory.c_str()) == 0 || errno == ENOENT) return true;
  err = errno;
  return false;
}

bool bad_level(const std::string& name) {
  return name.empty() || name[0] == '.' || name.size() > 128 || name.find_first_of("/\n") != std::string::npos;
}

}  // namespace

Result<DeviceRule> device_rule(const std::string& path) {
  struct stat st {};
  if (stat(path.c_str(), &st) < 0) return fail_errno(path);
  if (!S_ISCHR(st.st_mode) && !S_ISBLK(st.st_mode)) return fail(Errc::kInvalidArgument, path + ": not a device file");
  DeviceRule r;
  r.type = S_ISCHR(st.st_mode) ? 'c' : 'b';
  r.major = major(st.st_rdev);
  r.minor = minor(st.st_rdev);
  return r;
}

CgroupVersion cgroup_version(const CgroupOptions& o) {
  if (o.version) return *o.version;
  const bool unified = access((o.mountpoint + "/cgroup.controllers").c_str(), F_OK) == 0;
  return unified ? CgroupVersion::kV2 : CgroupVersion::kV1;
}

std::vector<std::string> group_levels(JobId job, std::optional<StepId> step) {
  std::vector<std::string> out = {"job_" + std::to_string(job.value)};
  if (!step) return out;
  if (*step == kBatchStep) out.emplace_back("step_batch");
  else if (*step == kExternStep) out.emplace_back("step_extern");
  else if (*step == kInteractiveStep) out.emplace_back("step_interactive");
  else out.push_back("step_" + std::to_string(step->value));
  return out;
}

Result<Cgroups> Cgroups::open(const CgroupOptions& options) {
  std::shared_ptr<const CgroupBackend> backend;
  std::string why;
  const CgroupVersion version = cgroup_version(options);
  if (version != CgroupVersion::kNone && !options.mountpoint.starts_with('/'))
    return fail(Errc::kInvalidArgument, "CgroupMountpoint=" + options.mountpoint + " is not an absolute path");
  for (std::string_view part : split(options.prefix, '/', true))
    if (bad_level(std::string(part))) return fail(Errc::kInvalidArgument, "cgroup path \"" + options.prefix + "\" is not usable");
  if (version == CgroupVersion::kNone) {
    why = "disabled";
  } else if (version == CgroupVersion::kV2) {
    backend = open_cgroups_v2(options, why);
  } else {
    backend = open_cgroups_v1(options, why);
  }
  if (!backend) backend = std::make_shared<NoCgroups>(std::move(why));
  return Cgroups(std::move(backend));
}

const CgroupSupport& Cgroups::support() const { return backend_->support(); }

Result<Cgroup> Cgroups::create(const std::vector<std::string>& levels) const {
  std::string path;
  for (const auto& level : levels) {
    if (bad_level(level)) return fail(Errc::kInvalidArgument, "cgroup name \"" + level + "\" is not usable");
    path += (path.empty() ? "" : "/") + level;
    MUSTER_TRY_VOID(backend_->make(path));
  }
  if (levels.empty()) return fail(Errc::kInvalidArgument, "a cgroup needs a name");
  return Cgroup(backend_, path);
}

std::optional<Cgroup> Cgroups::find(const std::vector<std::string>& levels) const {
  const std::string path = join(levels, "/");
  for (const auto& d : backend_->directories(path))
    if (directory_exists(d)) return Cgroup(backend_, path);
  return std::nullopt;
}

std::vector<std::string> Cgroups::list(const std::vector<std::string>& levels) const {
  const auto dirs = backend_->directories(join(levels, "/"));
  std::vector<std::string> out;
  for (const auto& d : dirs)  // v1: a crash may have left a group in some hierarchies only
    for (auto& s : subdirectories(d)) out.push_back(std::move(s));
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

Result<> Cgroup::add(pid_t pid) {
  for (const auto& d : backend_->directories(path_)) MUSTER_TRY_VOID(write_value(d + "/cgroup.procs", std::to_string(pid)));
  return {};
}

Result<std::vector<Fd>> Cgroup::open_procs() const {
  std::vector<Fd> out;
  for (const auto& d : backend_->directories(path_)) {
    Fd fd(::open((d + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
    if (!fd) return fail_errno(d + "/cgroup.procs");
    out.push_back(std::move(fd));
  }
  return out;
}

Result<> Cgroup::set_memory(const MemoryLimits& limits) { return backend_->set_memory(path_, limits); }
Result<> Cgroup::set_cpus(const Bitmap& cpus, const Bitmap& nodes) {
  if (cpus.none()) return fail(Errc::kInvalidArgument, "cgroup " + path_ + ": no CPUs given");
  return backend_->set_cpus(path_, cpus, nodes);
}
Result<> Cgroup::deny_devices(const std::vector<DeviceRule>& denied) {
  return denied.empty() ? Result<>() : backend_->deny_devices(path_, denied);
}
Result<> Cgroup::freeze(bool frozen) { return backend_->freeze(path_, frozen); }
Result<CgroupUsage> Cgroup::usage() const { return backend_->usage(path_); }

Result<std::vector<pid_t>> Cgroup::pids() const {
  const auto dirs = backend_->directories(path_);
  if (dirs.empty()) return fail(Errc::kUnsupported, "no cgroups to list processes: " + backend_->support().reason);
  std::vector<pid_t> out;
  for (const auto& d : dirs) collect_pids(d, 0, out);  // v1: a process that left one hierarchy is still in the others
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

// Signals each process through a handle taken before the process was seen to be in the group, so that a number that has become another's
// since is not hit.
Result<> Cgroup::signal_all(int signal) {
  MUSTER_TRY(listed, pids());
  std::vector<std::pair<pid_t, Fd>> held;
  for (pid_t pid : listed)
    if (auto fd = open_pidfd(pid)) held.emplace_back(pid, std::move(*fd));
  MUSTER_TRY(members, pids());
  for (const auto& [pid, fd] : held)
    if (std::ranges::binary_search(members, pid)) static_cast<void>(signal_pidfd(fd.get(), signal));
  return {};
}

Result<> Cgroup::kill(Duration timeout) {
  const Time deadline = monotonic_now() + timeout;
  for (int round = 0;; ++round) {
    MUSTER_TRY(all, pids());
    // A zombie still counts as a member until it is reaped, by whoever its parent is.
    std::erase_if(all, [](pid_t pid) {
      auto p = read_process(pid);
      return !p || p->state == 'Z' || p->state == 'X';
    });
    if (all.empty()) return {};
    if (!backend_->kill_at_once(path_)) MUSTER_TRY_VOID(signal_all(SIGKILL));
    if (backend_->support().freezer) (void)backend_->freeze(path_, false);  // v1: the frozen do not die
    if (monotonic_now() >= deadline) {
      std::string text = "cgroup " + path_ + ":";
      for (size_t i = 0; i < all.size() && i < 8; ++i) {
        auto p = read_process(all[i]);
        text += " process " + std::to_string(all[i]) + (p ? std::string(" (") + p->state + ", " + p->name + ")" : "");
      }
      return fail(Errc::kTimedOut, text + " cannot be killed");
    }
    if (round > 0) nap(std::min(1 << std::min(round, 6), 50));
  }
}

Result<> Cgroup::remove(Duration timeout) {
  const Time deadline = monotonic_now() + timeout;
  for (int round = 0;; ++round) {
    int err = 0;
    bool gone = true;
    for (const auto& d : backend_->directories(path_)) gone &= remove_below(d, 0, err);
    if (gone) return {};
    if (monotonic_now() >= deadline) return fail_errno("remove cgroup " + path_, err);
    nap(std::min(1 << std::min(round, 6), 50));
  }
}

}  // namespace muster::os

#include "slurmd/daemon/job_namespaces.h"

#include <algorithm>

#include "base/text.h"
#include "model/without_job.h"
#include "os/job_namespace.h"
#include "os/node/step_scope.h"

namespace muster::slurmd {
namespace {

constexpr std::string_view kItsWords = ": exit code 1: ";  // what it says itself follows
constexpr Duration kBesideScripts = seconds(60), kSweepTime = minutes(30);

std::string number(JobId job) { return std::to_string(job.value); }
std::string in_seconds(Duration d) { return std::to_string(to_seconds(d)); }

}  // namespace

Result<> JobNamespaces::start(const Setup& setup) {
  settings_ = setup.job_namespace;
  groups_ = setup.groups;
  if (!settings_) return {};
  const config::JobNamespace& own = *settings_;
  auto refused = [&own](const char* key, const Result<>& r) {
    return fail(Errc::kConfig, std::string(own.file()) + ": " + key + ": " + std::string(r.error().message()));
  };
  for (const std::string& base : bases())
    if (auto ok = os::prepare_namespace_base(base, own.make_base); !ok) return refused(own.base_key(), ok);
  std::vector<std::string> paths;
  for (const config::PrivateDir& dir : own.dirs) {
    paths.push_back(dir.path);
    if (dir.path.contains('%')) continue;  // each job has another one, which is looked at when it comes
    if (auto ok = os::check_private_dir(dir.path); !ok) return refused(own.dirs_key(), ok);
  }
  log_.info("jobs have their own {}{}{} in {}", join(paths, ", "), own.own_processes ? ", processes" : "", own.own_users ? ", users" : "",
            own.base);
  if (own.own_processes && !groups_)
    log_.error(
        "{}: clone_ns_flags: without control groups (ProctrackType=proctrack/cgroup) what a step leaves behind ends with its job only",
        own.file());
  return {};
}

// Each once, that of the namespaces first.
std::vector<std::string> JobNamespaces::bases() const {
  std::vector<std::string> out{settings_->base};
  for (const config::PrivateDir& dir : settings_->dirs)
    if (!dir.base.empty() && std::ranges::find(out, dir.base) == out.end()) out.push_back(dir.base);
  return out;
}

void JobNamespaces::find_again(const std::map<JobId, uint32_t>& living) {
  if (!on()) return;
  std::set<JobId> left;
  for (const std::string& base : bases()) {
    auto found = os::jobs_with_namespace(base);
    if (!found) log_.error("{}", found.error().message());
    else left.insert(found->begin(), found->end());
  }
  for (const auto& [job, generation] : living) jobs_[job] = {generation, State::kReady, false, {}};
  for (const JobId job : left)
    if (!living.contains(job)) close(job);
  sweep();
  found_ = true;
  for (const JobId job : std::exchange(early_, {})) changed_(job);
}

Result<bool> JobNamespaces::ready(const Owner& owner, const std::vector<std::string>& environment) {
  const JobId job = owner.job;
  if (!on() || is_without_job(job)) return true;
  if (!found_) {
    early_.insert(job);
    return false;
  }
  auto [at, fresh] = jobs_.try_emplace(job);
  Job& known = at->second;
  if (!fresh && known.state == State::kFailed) {
    const std::string fault = std::move(known.fault);
    jobs_.erase(at);
    return fail(Errc::kConfig, "no namespace for the job: " + fault);
  }
  if (!fresh && known.state != State::kClosing) known.generation = std::max(known.generation, owner.generation);
  if (!fresh) return known.state == State::kReady;
  known.generation = owner.generation;
  auto call = call_to_make(owner);
  if (!call) {
    jobs_.erase(at);
    return std::unexpected(call.error());
  }
  programs_.run(
      {std::move(*call)}, environment, 3 * settings_->script_wait + kBesideScripts,
      [this, job](const std::string& error) { made(job, error); }, daemons_group());
  return false;
}

Result<site::ProgramCall> JobNamespaces::call_to_make(const Owner& owner) const {
  const config::JobNamespace& own = *settings_;
  std::vector<std::string> kinds;
  for (const auto& [is, word] : {std::pair{own.shared, "shared"}, std::pair{own.own_processes, "pid"}, std::pair{own.own_users, "user"}})
    if (is) kinds.emplace_back(word);
  site::ProgramCall call(program_, {"namespace", "make", own.base, number(owner.job), std::to_string(owner.uid.value), join(kinds, ","),
                                    own.init_script, own.user_script, own.script, in_seconds(own.script_wait)});
  for (const config::PrivateDir& dir : own.dirs) {
    const std::string path = config::path_for(dir, number(owner.job), owner.sluid ? sluid_text(owner.sluid) : "", owner.user);
    if (config::plain_path(path) != path) return fail(Errc::kConfig, "no namespace for the job: " + dir.path + " is no path for it");
    for (const std::string& argument : {path, dir.base, dir.options, std::string(dir.tmpfs ? "1" : "0")})
      call.arguments.push_back(argument);
  }
  return call;
}

// A first process outlives us: it is where slurmstepds are, and not in our own group (control groups of version 2).
std::vector<os::Fd> JobNamespaces::daemons_group() const {
  if (!settings_->own_processes || !groups_) return {};
  auto groups = os::Cgroups::open(*groups_);
  if (!groups || groups->support().version != os::CgroupVersion::kV2) return {};
  auto group = groups->create({os::kStepDaemonsGroup});
  auto procs = group ? group->open_procs() : std::unexpected(group.error());
  if (!procs) log_.error("the namespaces of jobs: {}", procs.error().message());
  return procs ? std::move(*procs) : std::vector<os::Fd>();
}

void JobNamespaces::made(JobId job, const std::string& error) {
  Job& known = jobs_[job];
  known.state = error.empty() ? State::kReady : State::kFailed;
  const size_t words = error.find(kItsWords);
  known.fault = words == error.npos ? error : error.substr(words + kItsWords.size());
  if (!error.empty()) log_.error("job {}: {}", job.value, error);
  if (known.over) return close(job);
  changed_(job);
}

std::string JobNamespaces::file_of(JobId job) const {
  return on() && !is_without_job(job) ? os::namespace_file(settings_->base, number(job)) : std::string();
}

std::optional<step_rpc::StepdNamespace> JobNamespaces::for_step(JobId job, StepId step) const {
  const std::string file = file_of(job);
  if (file.empty()) return std::nullopt;
  return step_rpc::StepdNamespace{file, settings_->whole_step && step != kExternStep};
}

void JobNamespaces::remove(JobId job, uint32_t generation) {
  const auto at = jobs_.find(job);
  if (at == jobs_.end() || at->second.generation > generation) return;
  if (at->second.state == State::kMaking) at->second.over = true;
  else if (at->second.state != State::kClosing) close(job);
}

void JobNamespaces::close(JobId job) {
  jobs_[job].state = State::kClosing;
  const config::JobNamespace& s = *settings_;
  site::ProgramCall call(program_, {"namespace", "close", number(job), s.epilog, in_seconds(s.epilog_wait)});
  for (std::string& base : bases()) call.arguments.push_back(std::move(base));
  programs_.run({std::move(call)}, {"SLURM_JOB_ID=" + number(job), "PATH=/usr/sbin:/usr/bin:/sbin:/bin"}, s.epilog_wait + kBesideScripts,
                [this, job](const std::string& error) {
                  if (!error.empty()) log_.error("the namespace of job {}: {}", job.value, error);
                  jobs_.erase(job);
                  sweep();
                  changed_(job);
                });
}

// One run at a time, over all bases: it removes whatever has been put aside by then.
void JobNamespaces::sweep() {
  sweep_again_ = sweeping_;
  if (std::exchange(sweeping_, true)) return;
  std::vector<site::ProgramCall> calls;
  for (const std::string& base : bases()) calls.emplace_back(program_, std::vector<std::string>{"namespace", "sweep", base});
  sweeps_.run(std::move(calls), {}, kSweepTime, [this](const std::string& error) {
    if (!error.empty()) log_.error("what jobs left in their directories stays: {}", error);
    sweeping_ = false;
    if (std::exchange(sweep_again_, false)) sweep();
  });
}

}  // namespace muster::slurmd

#include "slurmd/daemon/job_namespaces.h"

#include <algorithm>

#include "base/text.h"
#include "model/without_job.h"
#include "os/job_namespace.h"

namespace muster::slurmd {
namespace {

constexpr std::string_view kItsWords = ": exit code 1: ";  // what it says itself follows
constexpr Duration kBesideScripts = seconds(60), kSweepTime = minutes(30);

std::string number(JobId job) { return std::to_string(job.value); }
std::string in_seconds(Duration d) { return std::to_string(to_seconds(d)); }

}  // namespace

Result<> JobNamespaces::start(const Setup& setup) {
  settings_ = setup.job_namespace;
  if (!settings_) return {};
  auto refused = [](const char* key, const Result<>& r) {
    return fail(Errc::kConfig, std::string("job_container.conf: ") + key + ": " + std::string(r.error().message()));
  };
  if (auto ok = os::prepare_namespace_base(settings_->base, settings_->make_base); !ok) return refused("BasePath", ok);
  for (const std::string& dir : settings_->dirs)
    if (auto ok = os::check_private_dir(dir); !ok) return refused("Dirs", ok);
  log_.info("jobs have their own {} in {}", join(settings_->dirs, ", "), settings_->base);
  return {};
}

void JobNamespaces::find_again(const std::map<JobId, uint32_t>& living) {
  if (!on()) return;
  auto found = os::jobs_with_namespace(settings_->base);
  if (!found) log_.error("{}", found.error().message());
  for (const auto& [job, generation] : living) jobs_[job] = {generation, State::kReady, false, {}};
  for (const JobId job : found ? *found : std::vector<JobId>())
    if (!living.contains(job)) close(job);
  sweep();
  found_ = true;
  for (const JobId job : std::exchange(early_, {})) changed_(job);
}

Result<bool> JobNamespaces::ready(JobId job, uint32_t generation, Uid uid, const std::vector<std::string>& environment) {
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
  if (!fresh && known.state != State::kClosing) known.generation = std::max(known.generation, generation);
  if (!fresh) return known.state == State::kReady;
  known.generation = generation;
  const config::JobNamespace& s = *settings_;
  programs_.run({site::ProgramCall(program_, {"namespace", "make", s.base, number(job), std::to_string(uid.value), join(s.dirs, ","),
                                              s.shared ? "1" : "0", s.init_script, s.script, in_seconds(s.script_wait)})},
                environment, 2 * s.script_wait + kBesideScripts, [this, job](const std::string& error) { made(job, error); });
  return false;
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
  programs_.run({site::ProgramCall(program_, {"namespace", "close", s.base, number(job), s.epilog, in_seconds(s.epilog_wait)})},
                {"SLURM_JOB_ID=" + number(job), "PATH=/usr/sbin:/usr/bin:/sbin:/bin"}, s.epilog_wait + kBesideScripts,
                [this, job](const std::string& error) {
                  if (!error.empty()) log_.error("the namespace of job {}: {}", job.value, error);
                  jobs_.erase(job);
                  sweep();
                  changed_(job);
                });
}

// One at a time: it removes whatever has been put aside by then.
void JobNamespaces::sweep() {
  sweep_again_ = sweeping_;
  if (std::exchange(sweeping_, true)) return;
  sweeps_.run({site::ProgramCall(program_, {"namespace", "sweep", settings_->base})}, {}, kSweepTime, [this](const std::string& error) {
    if (!error.empty()) log_.error("what jobs left in their directories stays: {}", error);
    sweeping_ = false;
    if (std::exchange(sweep_again_, false)) sweep();
  });
}

}  // namespace muster::slurmd

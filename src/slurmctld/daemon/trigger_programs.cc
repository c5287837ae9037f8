#include "slurmctld/daemon/trigger_programs.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "os/error.h"
#include "os/process_tree.h"

namespace muster::slurmctld {
namespace {

// The words of "program" or "program argument 'another one'".
std::vector<std::string> words_of(const std::string& program) {
  std::vector<std::string> out;
  for (std::string_view word : split(program, ' '))
    if (!word.empty()) out.emplace_back(word);
  return out;
}

std::string marker(uint32_t trigger) { return "MUSTER_TRIGGER=" + std::to_string(::getpid()) + "." + std::to_string(trigger); }

}  // namespace

TriggerPrograms::TriggerPrograms(net::Loop& loop, os::Log& log, std::string cluster, std::function<void(uint32_t)> started)
    : loop_(loop), log_(log), cluster_(std::move(cluster)), started_(std::move(started)), users_(loop) {}

TriggerPrograms::~TriggerPrograms() = default;

void TriggerPrograms::run(const Trigger& trigger) {
  if (!asked_.insert(trigger.id).second) return;
  waiting_.push_back(trigger);
  start_waiting();
}

void TriggerPrograms::start_waiting() {
  for (auto at = waiting_.begin(); at != waiting_.end() && all_busy_ < kAtOnce;) {
    if (size_t& own = busy_[at->user]; own < kOfUser) {
      ++own;
      ++all_busy_;
      Trigger next = std::move(*at);
      waiting_.erase(at);
      users_.prepare(next.user, [this, next]() mutable { start(std::move(next)); });
      at = waiting_.begin();
    } else {
      ++at;
    }
  }
}

void TriggerPrograms::start(Trigger trigger) {
  auto known = users_.find(trigger.user);
  if (!known) return over(trigger, "its user is not known: " + std::string(known.error().message()));
  os::Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  std::vector<std::string> words = words_of(trigger.spec.program);
  if (null.get() < 0 || words.empty()) return over(trigger, "nothing can be started");
  words.push_back(trigger.argument);
  const os::User& user = (*known)->user;
  os::SpawnSpec spec;
  spec.path = words.front();
  spec.argv = std::move(words);
  spec.env = {"PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin",
              "HOME=" + user.home,
              "USER=" + user.name,
              "LOGNAME=" + user.name,
              "SHELL=/bin/sh",
              "SLURM_CLUSTER_NAME=" + cluster_,
              marker(trigger.id)};
  if (const char* conf = ::getenv("SLURM_CONF")) spec.env->push_back("SLURM_CONF=" + std::string(conf));
  spec.cwd = "/";
  spec.new_session = true;
  spec.umask = 077;
  spec.fds = {{null.get(), 0}, {null.get(), 1}, {null.get(), 2}};
  if (::geteuid() == 0) spec.credentials = os::Credentials{user.uid, user.gid, (*known)->groups};
  else if (Uid(::geteuid()) != user.uid) return over(trigger, "slurmctld is not root and runs no programs as " + user.name);
  auto launch = os::Launch::start(std::move(spec));
  if (!launch) return over(trigger, std::string(launch.error().message()));
  auto run = std::make_shared<Run>();
  run->trigger = std::move(trigger);
  run->launch = std::move(*launch);
  run->pid = run->launch->pid();
  running_[run->pid] = run;
  run->timer = loop_.after(kTime, [this, weak = std::weak_ptr<Run>(run)] {
    if (auto r = weak.lock()) kill(*r);
  });
  // `null` may go once it has settled.
  auto kept = std::make_shared<os::Fd>(std::move(null));
  run->settling = loop_.watch(run->launch->fd(), [this, weak = std::weak_ptr<Run>(run), kept] {
    if (auto r = weak.lock()) settled(r);
  });
}

void TriggerPrograms::settled(const std::shared_ptr<Run>& run) {
  const auto result = run->launch->settled();
  if (!result) return;
  if (!*result) log_.info("trigger {}: {} cannot be started: {}", run->trigger.id, run->trigger.spec.program, result->error().message());
  else log_.verbose("trigger {}: {} runs", run->trigger.id, run->trigger.spec.program);
  asked_.erase(run->trigger.id);
  started_(run->trigger.id);
  loop_.defer([run] {  // not within its own callback
    run->settling.reset();
    run->launch.reset();
  });
}

// The trigger is over without a process.
void TriggerPrograms::over(const Trigger& trigger, const std::string& error) {
  if (auto untold = told_.tell("trigger", net::Loop::monotonic()))
    log_.error("trigger {}: {}: {}{}", trigger.id, trigger.spec.program, error, net::Pace::more(*untold));
  asked_.erase(trigger.id);
  started_(trigger.id);
  --all_busy_;
  if (--busy_[trigger.user] == 0) busy_.erase(trigger.user);
  loop_.defer([this] { start_waiting(); });
}

void TriggerPrograms::kill(const Run& run) {
  log_.info("trigger {}: {} has not ended in {} seconds and is killed", run.trigger.id, run.trigger.spec.program, to_seconds(kTime));
  os::ProcessSet all;
  all.session = run.pid;
  all.env_marker = marker(run.trigger.id);
  if (::geteuid() == 0) all.only_of = run.trigger.user;
  os::signal_processes(all, SIGKILL);
}

bool TriggerPrograms::reaped(pid_t pid) {
  const auto at = running_.find(pid);
  if (at == running_.end()) return false;
  std::shared_ptr<Run> run = at->second;
  running_.erase(at);
  if (run->launch) (void)run->launch->settled();                 // or it would be killed once more, by a number that may be another's
  if (asked_.erase(run->trigger.id)) started_(run->trigger.id);  // it ended before anybody saw it settle
  run->timer.reset();
  run->settling.reset();
  --all_busy_;
  if (--busy_[run->trigger.user] == 0) busy_.erase(run->trigger.user);
  loop_.defer([this, run] {
    run->launch.reset();
    start_waiting();
  });
  return true;
}

}  // namespace muster::slurmctld

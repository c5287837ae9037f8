#include "site/programs.h"

#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "os/error.h"
#include "os/process.h"

namespace muster::site {
namespace {

constexpr Duration kRetryAfter = seconds(1);

std::string what_went_wrong(const std::string& program, const os::ExitStatus& s, bool timed_out, const std::string& output) {
  std::string text = program + ": ";
  if (timed_out) text += "timed out";
  else if (s.signal) text += "ended by signal " + std::to_string(s.signal);
  else text += "exit code " + std::to_string(s.code);
  std::string_view said = trim(output);
  if (!said.empty()) text += ": " + std::string(said.substr(0, said.find('\n')));
  return text;
}

}  // namespace

std::vector<std::string> own_environment() {
  std::vector<std::string> out;
  for (char** variable = ::environ; variable && *variable; ++variable) out.emplace_back(*variable);
  return out;
}

std::vector<std::string> expand_programs(const std::vector<std::string>& patterns) {
  std::vector<std::string> out;
  for (const std::string& p : patterns) {
    if (p.find_first_of("*?[") == std::string::npos) {
      out.push_back(p);
      continue;
    }
    glob_t g{};
    if (::glob(p.c_str(), 0, nullptr, &g) == 0)
      for (size_t i = g.gl_pathc; i-- > 0;) out.emplace_back(g.gl_pathv[i]);
    ::globfree(&g);
  }
  return out;
}

Programs::Run Programs::run(std::vector<ProgramCall> programs, std::vector<std::string> environment, std::optional<Duration> timeout,
                            std::function<void(std::string)> done, std::vector<os::Fd> groups) {
  auto job = std::make_unique<Job>();
  job->left = std::move(programs);
  std::ranges::reverse(job->left);
  job->environment = std::move(environment);
  job->timeout = timeout;
  job->done = std::move(done);
  job->groups = std::move(groups);
  return queue(std::move(job));
}

Programs::Run Programs::run_and_read(ProgramCall program, std::vector<std::string> environment, std::optional<Duration> timeout,
                                     std::function<void(std::string, std::string)> done) {
  auto job = std::make_unique<Job>();
  job->left.push_back(std::move(program));
  job->environment = std::move(environment);
  job->timeout = timeout;
  job->read = std::move(done);
  return queue(std::move(job));
}

Programs::Run Programs::queue(std::unique_ptr<Job> job) {
  const Run number = job->number = ++last_;
  waiting_.push_back(std::move(job));
  start_waiting();
  return number;
}

void Programs::abandon(Run run) {
  auto is = [run](const auto& job) { return job->number == run; };
  std::erase_if(waiting_, is);
  for (auto& [pid, job] : running_) {
    if (!is(job)) continue;
    job->left.clear();
    job->read = nullptr;
    job->done = [](const std::string&) {};
    ::kill(-pid, SIGKILL);
  }
}

void Programs::ended(std::unique_ptr<Job> job, const std::string& error) {
  if (job->read) job->read(error, job->printed.text);
  else job->done(error);
  start_waiting();
}

void Programs::start_waiting() {
  if (std::exchange(starting_, true)) return;  // a program ended at once, inside the outer call, which goes on
  while (!waiting_.empty() && !short_ && running_.size() < most_) {
    std::unique_ptr<Job> first = std::move(waiting_.front());
    waiting_.pop_front();
    next(std::move(first));
  }
  starting_ = false;
}

void Programs::try_later(std::unique_ptr<Job> job, const Error& why) {
  log_.error("{} has to wait, the machine has nothing to start it with: {}", job->current, why.message());
  waiting_.push_front(std::move(job));
  short_ = true;
  retry_ = loop_.after(kRetryAfter, [this] {
    short_ = false;
    start_waiting();
  });
}

void Programs::next(std::unique_ptr<Job> job) {
  if (job->left.empty()) return ended(std::move(job), "");
  ProgramCall call = std::move(job->left.back());
  job->left.pop_back();
  auto pid = spawn(*job, call);
  if (!pid && pid.error().code == Errc::kTryAgainLater) {
    job->left.push_back(std::move(call));
    return try_later(std::move(job), pid.error());
  }
  if (!pid) {
    std::string error = job->current + ": " + std::string(pid.error().message());
    return ended(std::move(job), error);
  }
  Job* raw = job.get();
  for (Job::Words* words : {&job->said, &job->printed})
    if (words->pipe) words->watch = loop_.watch(words->pipe.get(), [words] { read_output(*words); });
  if (job->timeout)
    job->timer = loop_.after(*job->timeout, [raw, p = *pid] {
      raw->timed_out = true;
      ::kill(-p, SIGKILL);
    });
  running_[*pid] = std::move(job);
}

// The end that the program writes to.
Result<os::Fd> Programs::open(Job::Words& words) {
  words = {};
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0) return os::fail_errno("pipe");
  words.pipe.reset(ends[0]);
  return os::Fd(ends[1]);
}

Result<pid_t> Programs::spawn(Job& job, const ProgramCall& call) {
  job.current = call.path;
  MUSTER_TRY(says, open(job.said));
  os::Fd prints;
  if (job.read) {
    MUSTER_TRY(end, open(job.printed));
    prints = std::move(end);
  }
  os::Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (null.get() < 0) return os::fail_errno("/dev/null");
  os::SpawnSpec s;
  s.path = job.current;
  s.argv = call.arguments;
  s.argv.insert(s.argv.begin(), job.current);
  s.env = job.environment;
  s.cwd = "/";
  s.process_group = 0;
  if (bound_to_us_) s.parent_death_signal = SIGKILL;
  for (const os::Fd& group : job.groups) s.cgroup_procs_fds.push_back(group.get());
  s.fds = {{null.get(), 0}, {job.read ? prints.get() : says.get(), 1}, {says.get(), 2}};
  return os::spawn(s);
}

void Programs::read_output(Job::Words& words) {
  char buffer[4096];
  for (;;) {
    ssize_t n = ::read(words.pipe.get(), buffer, sizeof buffer);
    if (n < 0) return;
    if (n == 0) return words.watch.reset();
    if (words.text.size() < kOutputKept) words.text.append(buffer, static_cast<size_t>(n));
  }
}

void Programs::reap_ours() {
  std::vector<pid_t> pids;  // one that ends may begin another
  for (const auto& [pid, job] : running_) pids.push_back(pid);
  for (pid_t pid : pids)
    if (int raw = 0; ::waitpid(pid, &raw, WNOHANG) == pid) reaped(pid, raw);
}

bool Programs::reaped(pid_t pid, int raw_status) {
  auto at = running_.find(pid);
  if (at == running_.end()) return false;
  std::unique_ptr<Job> job = std::move(at->second);
  running_.erase(at);
  job->timer.reset();
  for (Job::Words* words : {&job->said, &job->printed}) {
    if (words->watch) read_output(*words);
    words->watch.reset();
  }
  os::ExitStatus status = os::ExitStatus::of(raw_status);
  if (!job->said.text.empty()) log_.debug("{}: {}", job->current, std::string(trim(job->said.text)));
  if (status.ok() && !job->timed_out) {
    next(std::move(job));
  } else {
    std::string error = what_went_wrong(job->current, status, job->timed_out, job->said.text.empty() ? job->printed.text : job->said.text);
    ended(std::move(job), error);
  }
  return true;
}

}  // namespace muster::site

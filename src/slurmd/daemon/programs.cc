#include "slurmd/daemon/programs.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "os/process.h"

namespace muster::slurmd {
namespace {

constexpr size_t kOutputKept = 4096;

std::string what_went_wrong(const std::string& program, const os::ExitStatus& s, bool timed_out,
                            const std::string& output) {
  std::string text = program + ": ";
  if (timed_out)
    text += "timed out";
  else if (s.signal)
    text += "ended by signal " + std::to_string(s.signal);
  else
    text += "exit code " + std::to_string(s.code);
  std::string_view said = trim(output);
  if (!said.empty()) text += ": " + std::string(said.substr(0, said.find('\n')));
  return text;
}

}  // namespace

void Programs::run(std::vector<ProgramCall> programs, std::vector<std::string> environment,
                   std::optional<Duration> timeout, std::function<void(std::string)> done) {
  auto job = std::make_unique<Job>();
  job->left = std::move(programs);
  std::ranges::reverse(job->left);
  job->environment = std::move(environment);
  job->timeout = timeout;
  job->done = std::move(done);
  if (serial_ && !running_.empty())
    waiting_.push_back(std::move(job));
  else
    next(std::move(job));
}

void Programs::ended(std::unique_ptr<Job> job, const std::string& error) {
  job->done(error);
  if (waiting_.empty() || !running_.empty()) return;
  std::unique_ptr<Job> first = std::move(waiting_.front());
  waiting_.pop_front();
  next(std::move(first));
}

void Programs::next(std::unique_ptr<Job> job) {
  if (job->left.empty()) return ended(std::move(job), "");
  ProgramCall call = std::move(job->left.back());
  job->left.pop_back();
  job->current = call.path;
  job->output.clear();
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0) {
    std::string error = job->current + ": no pipe";
    return ended(std::move(job), error);
  }
  os::Fd write_end(ends[1]);
  job->watch.reset();
  job->pipe.reset(ends[0]);
  os::Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  os::SpawnSpec s;
  s.path = job->current;
  s.argv = std::move(call.arguments);
  s.argv.insert(s.argv.begin(), job->current);
  s.env = job->environment;
  s.cwd = "/";
  s.process_group = 0;
  s.fds = {{null.get(), 0}, {write_end.get(), 1}, {write_end.get(), 2}};
  auto pid = os::spawn(s);
  if (!pid) {
    std::string error = job->current + ": " + std::string(pid.error().message());
    return ended(std::move(job), error);
  }
  Job* raw = job.get();
  job->watch = loop_.watch(job->pipe.get(), [raw] { read_output(*raw); });
  if (job->timeout)
    job->timer = loop_.after(*job->timeout, [raw, p = *pid] {
      raw->timed_out = true;
      ::kill(-p, SIGKILL);
    });
  running_[*pid] = std::move(job);
}

void Programs::read_output(Job& job) {
  char buffer[4096];
  for (;;) {
    ssize_t n = ::read(job.pipe.get(), buffer, sizeof buffer);
    if (n < 0) return;
    if (n == 0) return job.watch.reset();
    if (job.output.size() < kOutputKept) job.output.append(buffer, static_cast<size_t>(n));
  }
}

bool Programs::reaped(pid_t pid, int raw_status) {
  auto at = running_.find(pid);
  if (at == running_.end()) return false;
  std::unique_ptr<Job> job = std::move(at->second);
  running_.erase(at);
  job->timer.reset();
  if (job->watch) read_output(*job);
  job->watch.reset();
  os::ExitStatus status = os::ExitStatus::of(raw_status);
  if (!job->output.empty()) log_.debug("{}: {}", job->current, std::string(trim(job->output)));
  if (status.ok() && !job->timed_out) {
    next(std::move(job));
  } else {
    std::string error = what_went_wrong(job->current, status, job->timed_out, job->output);
    ended(std::move(job), error);
  }
  return true;
}

}  // namespace muster::slurmd

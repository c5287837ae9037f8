#include "slurmstepd/user_programs.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "os/error.h"
#include "os/process_tree.h"

namespace muster::slurmstepd {
namespace {

constexpr size_t kMostOutput = 1u << 20;
constexpr int kLastReads = 64;  // more than a pipe holds: what was left behind may write for ever
constexpr Duration kLookAgain = milliseconds(20);

}  // namespace

void UserPrograms::run(os::SpawnSpec spec, Patience patience, std::function<void(Outcome)> done) {
  running_.push_back(std::make_unique<Program>());
  Program* program = running_.back().get();
  program->patience = patience;
  program->done = std::move(done);
  if (auto ok = start(*program, std::move(spec)); !ok) {
    program->outcome.not_started = ok.error();
    program->timer = loop_.after(Duration{}, [this, program] { finish(program); });
    return;
  }
  program->timer = loop_.after(patience.program, [program] {
    program->outcome.timed_out = true;
    ::kill(-program->pid, SIGKILL);  // it has not been reaped
    ::kill(program->pid, SIGKILL);   // it may not have come to its group
  });
}

Result<> UserPrograms::start(Program& program, os::SpawnSpec spec) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) < 0) return os::fail_errno("pipe");
  program.reading.reset(ends[0]);
  const os::Fd writing(ends[1]), null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null) return os::fail_errno("/dev/null");
  ::fcntl(program.reading.get(), F_SETFL, O_NONBLOCK);
  spec.fds = {{null.get(), 0}, {writing.get(), 1}, {writing.get(), 2}};
  spec.process_group = 0;
  MUSTER_TRY(launch, os::Launch::start(std::move(spec)));
  program.pid = launch.pid();
  program.launch.emplace(std::move(launch));
  program.watch = loop_.watch(program.reading.get(), [raw = &program] {
    if (!read_some(*raw)) raw->watch.reset();
  });
  return {};
}

// False at the end of its output.
bool UserPrograms::read_some(Program& p) {
  char buffer[16384];
  const ssize_t n = ::read(p.reading.get(), buffer, sizeof buffer);
  if (n < 0) return errno == EINTR || errno == EAGAIN;
  std::string& out = p.outcome.output;
  out.append(buffer, std::min(static_cast<size_t>(n), kMostOutput - out.size()));
  return n > 0;
}

bool UserPrograms::reaped(pid_t pid, int raw_status) {
  auto at = std::ranges::find_if(running_, [&](const auto& p) { return p->pid == pid && !p->ended; });
  if (at == running_.end()) return false;
  Program* p = at->get();
  p->ended = true;
  p->outcome.status = os::ExitStatus::of(raw_status);
  if (auto settled = p->launch->settled(); settled && !*settled) p->outcome.not_started = settled->error();
  for (int i = 0; i < kLastReads && p->watch; ++i)
    if (!read_some(*p)) break;
  p->watch.reset();
  p->timer.reset();
  look_after(p, Duration{});
  return true;
}

void UserPrograms::look_after(Program* p, Duration since_its_end) {
  if (!p->patience.left_behind || os::processes_below(::getpid(), p->pid).empty()) return finish(p);
  if (since_its_end >= *p->patience.left_behind) os::signal_group_below(::getpid(), p->pid, SIGKILL);
  p->timer = loop_.after(kLookAgain, [this, p, since_its_end] { look_after(p, since_its_end + kLookAgain); });
}

void UserPrograms::finish(Program* program) {
  auto at = std::ranges::find_if(running_, [&](const auto& p) { return p.get() == program; });
  if (at == running_.end()) return;
  std::unique_ptr<Program> kept = std::move(*at);
  running_.erase(at);
  kept->watch.reset();
  kept->done(std::move(kept->outcome));
  if (running_.empty() && on_idle) on_idle();
}

void UserPrograms::end_all() {
  for (const auto& p : running_) {
    p->patience.left_behind.reset();
    p->outcome.timed_out = true;
    if (p->pid <= 0 || p->ended) continue;
    ::kill(-p->pid, SIGKILL);
    ::kill(p->pid, SIGKILL);
  }
}

std::vector<pid_t> UserPrograms::groups() const {
  std::vector<pid_t> out;
  for (const auto& p : running_)
    if (p->pid > 0) out.push_back(p->pid);
  return out;
}

}  // namespace muster::slurmstepd

#include "slurmd/daemon/gpu_watch.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "os/error.h"
#include "os/node/gpu_samples.h"

namespace muster::slurmd {
namespace {

constexpr Duration kCheck = seconds(5), kPatience = seconds(60), kPause = minutes(10);
constexpr size_t kMostTold = 100;

}  // namespace

void GpuWatch::tell(const std::string& fault) {
  if (told_.size() < kMostTold && told_.insert(fault).second) log_.error("use of GPUs: {}", fault);
}

void GpuWatch::need(Duration every) {
  plan_.every = every;
  if (pid_ == 0 && net::Loop::monotonic() >= next_start_) start();
  if (!timer_) timer_ = loop_.after(kCheck, [this] { check(); });
}

void GpuWatch::start() {
  next_start_ = net::Loop::monotonic() + kPause;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) < 0) return tell(std::string(os::fail_errno("pipe").error().message()));
  const os::Fd theirs(ends[0]), null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  os::Fd ours(ends[1]);
  os::SpawnSpec spec;
  spec.path = plan_.program;
  spec.argv = {plan_.program, "gpu-watch", plan_.library, plan_.file, std::to_string(plan_.every / milliseconds(1))};
  spec.cwd = "/";
  spec.process_group = 0;
  spec.fds = {{theirs.get(), 0}, {null.get(), 1}, {null.get(), 2}};
  auto launch = os::Launch::start(std::move(spec));
  if (!launch) return tell(std::string(launch.error().message()));
  pid_ = launch->pid();
  launch_ = std::make_unique<os::Launch>(std::move(*launch));
  end_ = std::move(ours);
  killed_ = false;
  last_sample_ = net::Loop::monotonic();
}

void GpuWatch::check() {
  timer_ = nullptr;
  const Duration now = net::Loop::monotonic();
  if (auto samples = os::read_gpu_samples(plan_.file)) {
    last_sample_ = now;
    for (const std::string& fault : samples->faults) tell(fault);
  } else if (pid_ && samples.error().code == Errc::kInvalidArgument) {
    tell(std::string(samples.error().message()));
  }
  if (!wanted_()) {
    if (pid_ && !end_) ::kill(pid_, SIGKILL);  // it was told at the check before, and is not reaped: the driver does not answer it
    end_ = {};
    if (pid_ == 0) return;
  } else if (pid_ == 0) {
    if (now >= next_start_) start();
  } else if (now - last_sample_ > kPatience + plan_.every && !std::exchange(killed_, true)) {
    tell("the driver has not answered for " + std::to_string((now - last_sample_) / seconds(1)) +
         " seconds; the process that asked is killed");
    ::kill(pid_, SIGKILL);  // not reaped
  }
  timer_ = loop_.after(kCheck, [this] { check(); });
}

bool GpuWatch::reaped(pid_t pid) {
  if (pid_ == 0 || pid != pid_) return false;
  if (auto samples = os::read_gpu_samples(plan_.file))
    for (const std::string& fault : samples->faults) tell(fault);
  pid_ = 0;
  launch_.reset();
  if (!end_) next_start_ = {};  // we ended it
  end_ = {};
  return true;
}

}  // namespace muster::slurmd

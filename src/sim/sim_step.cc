#include "sim/sim_step.h"

#include <signal.h>

#include "sim/world.h"

namespace muster::sim {
namespace {

constexpr uint32_t kTask = 0, kChild = 1;

}  // namespace

// A step may be gone by then, with its machine: then nothing happens.
void SimStep::later(Duration low, Duration high, std::function<void()> what) {
  world_.after(world_.span(world_.random.nodes, low, high), [ref = weak_from_this(), what = std::move(what)] {
    if (auto self = ref.lock()) what();
  });
}

void SimStep::begin() {
  slurmstepd::StepPlan plan;
  plan.tasks = 1;
  plan.batch = life_.batch;
  plan.stays = life_.stays;
  plan.to_srun = !life_.batch && !life_.stays;
  plan.kill_wait_seconds = 30;
  core_.begin(std::move(plan), {});
}

Duration SimStep::now() { return world_.now().time_since_epoch(); }

void SimStep::set_timer(slurmstepd::StepTimer timer, Duration delay) {
  const uint64_t number = ++timers_[timer];
  later(delay, delay, [this, timer, number] {
    if (timers_[timer] == number) core_.fired(timer);
  });
}

// ---- the start
void SimStep::connect_to_srun() {
  later(Duration(50), milliseconds(2), [this] {
    srun_ = true;
    core_.connected({});
  });
}

void SimStep::open_files() {
  later(Duration(50), milliseconds(2), [this] { core_.files_open(); });
}

Result<slurmstepd::StepHost::Launched> SimStep::launch(size_t task, bool in_tmp) {
  Random& random = world_.random.nodes;
  if (life_.breaks && !in_tmp && random.chance(0.02)) {
    add(kTask, milliseconds(10), 0);
    later(Duration(50), milliseconds(2), [this, task] {
      if (alive_.erase(kTask) == 0) return;  // it was killed on its way
      core_.not_started(task, Error(Errc::kError, "chdir: No such file or directory"), true);
    });
    return Launched::kOnItsWay;
  }
  if (life_.stays) alive_[kTask] = {};
  else add(kTask, life_.runtime, life_.exit_status);
  if (!life_.stays && random.chance(0.1)) add(kChild, life_.runtime + world_.span(random, milliseconds(1), seconds(20)), 0);
  later(Duration(50), milliseconds(2), [this, task] {
    if (alive_.contains(kTask)) core_.started(task);
  });
  return Launched::kOnItsWay;
}

void SimStep::go_to_tmp(size_t task, const Error&) {
  later(Duration(10), milliseconds(1), [this, task] { core_.launch_again(task); });
}

// ---- processes
void SimStep::add(uint32_t number, Duration runtime, int32_t status) {
  alive_[number] = {};
  ends_in(number, runtime, status);
}

void SimStep::ends_in(uint32_t number, Duration in, int32_t status) {
  Process& p = alive_[number];
  p.plan = ++last_plan_;
  p.ends = world_.now() + in;
  p.status = status;
  later(in, in, [this, number, plan = p.plan] {
    auto at = alive_.find(number);
    if (at != alive_.end() && at->second.plan == plan) gone(number, at->second.status);
  });
}

void SimStep::gone(uint32_t number, int32_t status) {
  alive_.erase(number);
  if (number == kTask) dead_.push_back(status);
  if (alive_.empty()) told_.empty();
  reap();
}

void SimStep::reap() {
  slurmstepd::StepCore::Reaped what;
  for (int32_t status : std::exchange(dead_, {})) {
    core_.task_ended(0, status);
    what.tasks.push_back({0, status, {}});
  }
  core_.reaped(what);
}

void SimStep::signal(int number) {
  if (!alive_.contains(kTask)) return;
  if (number == SIGKILL) return core_.end(0, {});
  if (!stopped_ && (number == SIGTERM || number == SIGINT)) ends_in(kTask, milliseconds(3), number);
}

// Half of the processes do not mind a signal.
void SimStep::signal_everything(int number) {
  Random& random = world_.random.nodes;
  if (number == SIGCONT) return stop(false);
  for (auto& [process, p] : alive_)
    if (random.chance(0.5)) ends_in(process, world_.span(random, Duration(100), milliseconds(40)), number);
}

void SimStep::kill_everything() {
  for (auto& [process, p] : alive_) ends_in(process, world_.span(world_.random.nodes, Duration(10), milliseconds(150)), SIGKILL);
}

void SimStep::stop(bool stopped) {
  if (std::exchange(stopped_, stopped) == stopped) return;
  for (auto& [process, p] : alive_) {
    if (stopped) {
      p.left = std::max(p.ends - world_.now(), Duration::zero());
      p.plan = ++last_plan_;
    } else {
      ends_in(process, p.left, p.status);
    }
  }
}

// ---- the end
void SimStep::write_the_rest() {
  later(Duration(10), milliseconds(5), [this] { core_.written(); });
}

void SimStep::say_end_to_srun() {
  later(Duration(50), milliseconds(20), [this] {
    srun_ = false;
    core_.srun_lost();
  });
}

}  // namespace muster::sim

#include "net/bounded_calls.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "net/backoff.h"

namespace muster::net {
namespace {

using Clock = std::chrono::steady_clock;

struct Call {
  std::function<void()> work, probe;
  bool over = false, done = false, given_up = false;
};

Duration time_of(const std::function<void()>& work) {
  const Clock::time_point begun = Clock::now();
  work();
  return std::chrono::duration_cast<Duration>(Clock::now() - begun);
}

}  // namespace

struct BoundedCalls::State {
  explicit State(CallFigures f) : figures(f), backoff(f.first_pause, f.longest_pause, Backoff::random_seed()) {}

  const CallFigures figures;
  std::mutex mutex;
  std::condition_variable come, done;
  std::deque<std::shared_ptr<Call>> waiting;
  std::shared_ptr<Call> running;
  bool started = false, over = false, refusing = false;
  // Used by the thread alone.
  Backoff backoff;
  Clock::time_point well_since{};

  void serve();
  void end(Call& call, bool has_run);
  void probe_until_quick(std::unique_lock<std::mutex>& lock, const std::function<void()>& probe);
};

void BoundedCalls::State::end(Call& call, bool has_run) {
  call.over = true;
  call.done = has_run;
  done.notify_all();
}

// The thread keeps the shared state alive while it is in a call, even if the owner lets go of it.
void BoundedCalls::State::serve() {
  std::unique_lock lock(mutex);
  while (true) {
    come.wait(lock, [this] { return over || !waiting.empty(); });
    if (over) return;
    const std::shared_ptr<Call> call = std::move(waiting.front());
    waiting.pop_front();
    if (call->given_up) continue;
    running = call;
    lock.unlock();
    const Duration took = time_of(call->work);
    lock.lock();
    running.reset();
    const bool slow = took > figures.quick || call->given_up;
    refusing = slow && call->probe;
    end(*call, true);
    if (refusing) probe_until_quick(lock, call->probe);
  }
}

void BoundedCalls::State::probe_until_quick(std::unique_lock<std::mutex>& lock, const std::function<void()>& probe) {
  if (Clock::now() - well_since > kForgiven) backoff.reset();
  while (refusing && !over) {
    for (const auto& call : std::exchange(waiting, {})) end(*call, false);
    if (come.wait_for(lock, backoff.next(), [this] { return over; })) return;
    lock.unlock();
    const Duration took = time_of(probe);
    lock.lock();
    refusing = took > figures.quick;
  }
  well_since = Clock::now();
}

BoundedCalls::BoundedCalls(CallFigures figures) : state_(std::make_shared<State>(figures)) {}

BoundedCalls::~BoundedCalls() {
  std::lock_guard lock(state_->mutex);
  state_->over = true;
  state_->come.notify_all();
}

bool BoundedCalls::run(std::function<void()> work, std::function<void()> probe) {
  const auto call = std::make_shared<Call>();
  call->work = std::move(work);
  call->probe = std::move(probe);
  std::unique_lock lock(state_->mutex);
  if (state_->refusing || (state_->running && state_->running->given_up)) return false;
  if (!state_->started) {
    std::thread([state = state_] { state->serve(); }).detach();
    state_->started = true;
  }
  state_->waiting.push_back(call);
  state_->come.notify_one();
  state_->done.wait_for(lock, state_->figures.patience, [&] { return call->over; });
  call->given_up = !call->over;
  return call->done;
}

}  // namespace muster::net

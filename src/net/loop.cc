// epoll directly, not Boost.Asio: Asio owns the descriptors it watches, allocates and requeues one operation per readiness (a
// level-triggered watch must be re-armed after every event), and has no hook at the end of a turn, which is what lets many frames leave
// in one write. This file is the whole replacement, and programs that use it need no Boost.
#include "net/loop.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <utility>
#include <vector>

#include "base/check.h"

namespace muster::net {
namespace {

constexpr size_t kNotQueued = static_cast<size_t>(-1);
constexpr uint32_t kWakeSlot = 0xffffffffu;
constexpr uint32_t kSignalSlot = 0xfffffffeu;
constexpr size_t kScratchBytes = 256u << 10;
constexpr int kDeferRounds = 8;  // deferred work may defer again (answers → writes); beyond that, descriptors get a turn

int64_t clock_us(clockid_t id) {
  timespec t{};
  clock_gettime(id, &t);
  return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

struct TimerNode {
  int64_t at = 0;
  uint64_t order = 0;  // equal times fire in the order of arming
  size_t position = kNotQueued;
  std::function<void()> f;
};

// A binary heap whose nodes know their place, so that cancelling is O(log n) and leaves nothing behind.
class TimerHeap {
 public:
  bool empty() const { return nodes_.empty(); }
  TimerNode* top() const { return nodes_.front(); }
  void push(TimerNode* n) {
    nodes_.push_back(n);
    n->position = nodes_.size() - 1;
    up(n->position);
  }
  void remove(TimerNode* n) {
    size_t i = n->position;
    TimerNode* last = nodes_.back();
    nodes_.pop_back();
    n->position = kNotQueued;
    if (last == n) return;
    put(i, last);
    up(i);
    down(last->position);
  }

 private:
  static bool before(const TimerNode* a, const TimerNode* b) { return a->at != b->at ? a->at < b->at : a->order < b->order; }
  void put(size_t i, TimerNode* n) {
    nodes_[i] = n;
    n->position = i;
  }
  void up(size_t i) {
    TimerNode* n = nodes_[i];
    for (; i > 0 && before(n, nodes_[(i - 1) / 2]); i = (i - 1) / 2) put(i, nodes_[(i - 1) / 2]);
    put(i, n);
  }
  void down(size_t i) {
    TimerNode* n = nodes_[i];
    for (size_t c; (c = 2 * i + 1) < nodes_.size(); i = c) {
      if (c + 1 < nodes_.size() && before(nodes_[c + 1], nodes_[c])) ++c;
      if (!before(nodes_[c], n)) break;
      put(i, nodes_[c]);
    }
    put(i, n);
  }

  std::vector<TimerNode*> nodes_;
};

struct WatchState {
  int fd = -1;
  bool dup = false;     // the caller watches this descriptor twice: ours is a copy
  bool always = false;  // epoll refuses it (EPERM): ready at every turn
  bool registered = false;
  bool alive = true;
  bool reading = true;
  bool writing = false;
  uint32_t slot = 0;
  uint32_t generation = 0;
  std::function<void()> readable, writable;
};

// What a signal handler may touch: plain atomics with static lifetime. This is the one mutable global of the folder, because POSIX
// gives handlers no argument for passing anything else.
struct SignalTable {
  std::array<std::atomic<int>, NSIG> wake_fd;
  std::array<std::atomic<bool>, NSIG> pending;
};
SignalTable signal_table;

void signal_arrived(int signo) {
  int saved = errno;
  signal_table.pending[static_cast<size_t>(signo)].store(true, std::memory_order_release);
  uint64_t one = 1;
  int fd = signal_table.wake_fd[static_cast<size_t>(signo)].load(std::memory_order_acquire);
  if (fd > 0) [[maybe_unused]]
    ssize_t n = write(fd, &one, sizeof one);
  errno = saved;
}

struct SignalHook {
  int signo;
  struct sigaction old;
  std::function<void()> f;
};

}  // namespace

struct Loop::Impl : std::enable_shared_from_this<Loop::Impl> {
  Impl();
  ~Impl();
  void run();
  void turn();
  int wait_for_events(epoll_event* events, int max);
  void dispatch(const epoll_event& e);
  void dispatch_always_ready();
  void dispatch_signals();
  void run_timers();
  void run_posted();
  void run_deferred();
  void wake() const;
  void post(std::function<void()> work);
  void add_epoll(int fd, uint32_t slot) const;
  void update(WatchState& watched);
  void forget(WatchState& w);
  void shut_down();

  int epoll_fd = -1, wake_fd = -1, signal_fd = -1;
  std::atomic<bool> stopping{false}, sleeping{false};
  bool has_pwait2 = true;
  bool dead = false;

  TimerHeap timers;
  uint64_t timer_order = 0;
  std::vector<std::shared_ptr<WatchState>> slots;
  std::vector<uint32_t> free_slots;
  uint32_t generation = 0;
  std::vector<uint32_t> always_ready;  // slots
  std::vector<SignalHook> signals;
  std::vector<std::function<void()>> deferred;
  std::unique_ptr<char[]> scratch = std::make_unique_for_overwrite<char[]>(kScratchBytes);  // no page of it is touched before its use
  std::list<std::shared_ptr<void>> kept;

  std::mutex mutex;  // guards `posted`
  std::vector<std::function<void()>> posted;
};

namespace {

class TimerHandle final : public Loop::Timer {
 public:
  template <class ImplPtr>
  TimerHandle(ImplPtr impl, TimerHeap& heap) : keep_(std::move(impl)), heap_(heap) {}
  ~TimerHandle() override {
    if (node.position != kNotQueued) heap_.remove(&node);
  }
  TimerNode node;

 private:
  std::shared_ptr<void> keep_;
  TimerHeap& heap_;
};

}  // namespace

Loop::Impl::Impl()
    : epoll_fd(epoll_create1(EPOLL_CLOEXEC)),
      wake_fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      signal_fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  MUSTER_CHECK(epoll_fd >= 0 && wake_fd >= 0 && signal_fd >= 0);
  add_epoll(wake_fd, kWakeSlot);
  add_epoll(signal_fd, kSignalSlot);
}

Loop::Impl::~Impl() {
  close(epoll_fd);
  close(wake_fd);
  close(signal_fd);
}

// The eventfd is watched edge-triggered: once written, it wakes once and need not be read back.
void Loop::Impl::add_epoll(int fd, uint32_t slot) const {
  epoll_event e{};
  e.events = EPOLLIN | EPOLLET;
  e.data.u64 = slot;
  MUSTER_CHECK(epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &e) == 0);
}

void Loop::Impl::run() {
  while (!stopping.load(std::memory_order_acquire)) turn();
  stopping.store(false, std::memory_order_release);
}

void Loop::Impl::turn() {
  std::array<epoll_event, 256> events;
  int n = wait_for_events(events.data(), static_cast<int>(events.size()));
  for (int i = 0; i < n; ++i) dispatch(events[static_cast<size_t>(i)]);
  dispatch_always_ready();
  run_timers();
  run_posted();
  run_deferred();
}

int Loop::Impl::wait_for_events(epoll_event* events, int max) {
  bool idle = deferred.empty();
  for (uint32_t slot : always_ready) idle = idle && !(slots[slot]->reading || slots[slot]->writing);
  if (idle) {
    std::lock_guard lock(mutex);
    idle = posted.empty() && !stopping.load(std::memory_order_acquire);
    if (idle) sleeping.store(true, std::memory_order_relaxed);
  }
  int64_t wait = -1;  // microseconds
  if (!idle) {
    wait = 0;
  } else if (!timers.empty()) {
    wait = std::max<int64_t>(0, timers.top()->at - clock_us(CLOCK_MONOTONIC));
  }
  int ready;
  if (wait > 0 && has_pwait2) {
    timespec t{wait / 1000000, wait % 1000000 * 1000};
    ready = epoll_pwait2(epoll_fd, events, max, &t, nullptr);
    if (ready < 0 && errno == ENOSYS) {
      has_pwait2 = false;
      ready = 0;
    }
  } else {
    // The wait is rounded up: waking early for a timer would spin until it is due.
    int ms = wait < 0 ? -1 : static_cast<int>(std::min<int64_t>((wait + 999) / 1000, 3600 * 1000));
    ready = epoll_wait(epoll_fd, events, max, ms);
  }
  sleeping.store(false, std::memory_order_relaxed);
  return std::max(ready, 0);
}

void Loop::Impl::dispatch(const epoll_event& e) {
  uint32_t slot = static_cast<uint32_t>(e.data.u64);
  if (slot == kWakeSlot) return;
  if (slot == kSignalSlot) return dispatch_signals();
  if (slot >= slots.size()) return;
  std::shared_ptr<WatchState> w = slots[slot];  // the callback may end the watch
  if (!w || w->generation != static_cast<uint32_t>(e.data.u64 >> 32)) return;
  constexpr uint32_t kBroken = EPOLLERR | EPOLLHUP;
  if ((e.events & (EPOLLIN | EPOLLRDHUP | kBroken)) && w->reading) w->readable();
  if (w->alive && (e.events & (EPOLLOUT | kBroken)) && w->writing && w->writable) w->writable();
}

void Loop::Impl::dispatch_always_ready() {
  if (always_ready.empty()) return;
  for (uint32_t slot : std::vector<uint32_t>(always_ready)) {
    std::shared_ptr<WatchState> w = slots[slot];
    if (!w || !w->always) continue;
    if (w->reading) w->readable();
    if (w->alive && w->writing && w->writable) w->writable();
  }
}

void Loop::Impl::dispatch_signals() {
  for (size_t i = 0; i < signals.size(); ++i) {
    auto& pending = signal_table.pending[static_cast<size_t>(signals[i].signo)];
    if (!pending.exchange(false, std::memory_order_acq_rel)) continue;
    auto f = signals[i].f;  // the callback may register more
    f();
  }
}

void Loop::Impl::run_timers() {
  if (timers.empty()) return;
  int64_t now = clock_us(CLOCK_MONOTONIC);
  uint64_t armed_later = timer_order;  // what the callbacks arm waits for the next turn
  while (!timers.empty() && timers.top()->at <= now && timers.top()->order < armed_later) {
    TimerNode* n = timers.top();
    timers.remove(n);
    std::function<void()> f = std::move(n->f);  // the handle, and with it the node, may go in the callback
    f();
  }
}

void Loop::Impl::run_posted() {
  std::vector<std::function<void()>> batch;
  {
    std::lock_guard lock(mutex);
    batch.swap(posted);
  }
  for (auto& f : batch) f();
}

void Loop::Impl::run_deferred() {
  for (int round = 0; round < kDeferRounds && !deferred.empty(); ++round) {
    std::vector<std::function<void()>> batch;
    batch.swap(deferred);
    for (auto& f : batch) f();
  }
}

void Loop::Impl::wake() const {
  uint64_t one = 1;
  [[maybe_unused]] ssize_t n = write(wake_fd, &one, sizeof one);
}

void Loop::Impl::post(std::function<void()> work) {
  bool asleep;
  {
    std::lock_guard lock(mutex);
    if (dead) return;
    posted.push_back(std::move(work));
    asleep = sleeping.exchange(false, std::memory_order_relaxed);
  }
  if (asleep) wake();
}

// Registers what is wanted. A watch that wants nothing is not registered at all: epoll reports hang-ups regardless of the mask, and a
// paused connection whose peer has gone would keep the loop spinning.
void Loop::Impl::update(WatchState& watched) {
  if (watched.always || dead) return;
  epoll_event event{};
  event.events = (watched.reading ? EPOLLIN | EPOLLRDHUP : 0u) | (watched.writing ? EPOLLOUT : 0u);
  event.data.u64 = static_cast<uint64_t>(watched.generation) << 32 | watched.slot;
  if (event.events == 0) {
    if (watched.registered) epoll_ctl(epoll_fd, EPOLL_CTL_DEL, watched.fd, &event);
    watched.registered = false;
    return;
  }
  int rc = epoll_ctl(epoll_fd, watched.registered ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, watched.fd, &event);
  if (rc == 0) {
    watched.registered = true;
  } else if (errno == EPERM) {
    watched.always = true;
    always_ready.push_back(watched.slot);
  } else if (errno == EEXIST && !watched.dup) {
    watched.fd = fcntl(watched.fd, F_DUPFD_CLOEXEC, 0);
    watched.dup = true;
    update(watched);
  } else {
    MUSTER_CHECK(rc == 0);  // a descriptor that is not open: the caller's mistake
  }
}

void Loop::Impl::forget(WatchState& w) {
  w.alive = false;
  if (dead) return;
  epoll_event e{};
  if (w.registered) epoll_ctl(epoll_fd, EPOLL_CTL_DEL, w.fd, &e);
  if (w.dup) close(w.fd);
  if (w.always) std::erase(always_ready, w.slot);
  free_slots.push_back(w.slot);
  slots[w.slot] = nullptr;  // last: may destroy what owns `w`'s callbacks
}

// Callbacks hold channels, and channels hold handles of this loop, so they are let go of while the loop can still be called.
void Loop::Impl::shut_down() {
  for (SignalHook& s : signals) {
    sigaction(s.signo, &s.old, nullptr);
    signal_table.wake_fd[static_cast<size_t>(s.signo)].store(0);
  }
  std::exchange(kept, {}).clear();
  for (int round = 0; round < kDeferRounds; ++round) {
    std::vector<std::function<void()>> drop;
    {
      std::lock_guard lock(mutex);
      drop.swap(posted);
    }
    std::move(deferred.begin(), deferred.end(), std::back_inserter(drop));
    deferred.clear();
    if (drop.empty()) break;
  }
  {
    std::lock_guard lock(mutex);
    dead = true;
  }
  auto watched = std::move(slots);
  for (auto& w : watched)
    if (w && w->dup) close(w->fd);
  watched.clear();
  signals.clear();
}

Loop::Loop() : impl_(std::make_shared<Impl>()) {}
Loop::~Loop() { impl_->shut_down(); }
void Loop::run() { impl_->run(); }
void Loop::post(std::function<void()> work) { impl_->post(std::move(work)); }
void Loop::defer(std::function<void()> work) {
  if (!impl_->dead) impl_->deferred.push_back(std::move(work));
}
Loop::Kept Loop::keep(std::shared_ptr<void> thing) { return impl_->kept.insert(impl_->kept.end(), std::move(thing)); }
void Loop::let_go(Kept kept) { impl_->kept.erase(kept); }
std::span<char> Loop::scratch() { return {impl_->scratch.get(), kScratchBytes}; }

void Loop::stop() {
  impl_->stopping.store(true, std::memory_order_release);
  impl_->wake();
}

Loop::Poster Loop::poster() const {
  return [impl = impl_](std::function<void()> work) { impl->post(std::move(work)); };
}

std::unique_ptr<Loop::Timer> Loop::after(Duration delay, std::function<void()> f) {
  auto handle = std::make_unique<TimerHandle>(impl_, impl_->timers);
  int64_t now = clock_us(CLOCK_MONOTONIC);
  int64_t wait = std::clamp<int64_t>(delay.count(), 0, INT64_MAX / 4);
  handle->node.at = now + wait;
  handle->node.order = impl_->timer_order++;
  handle->node.f = std::move(f);
  impl_->timers.push(&handle->node);
  return handle;
}

std::unique_ptr<Loop::Watch> Loop::watch(int fd, std::function<void()> readable, std::function<void()> writable) {
  class Handle final : public Watch {
   public:
    Handle(std::shared_ptr<Impl> impl, std::shared_ptr<WatchState> state) : impl_(std::move(impl)), state_(std::move(state)) {}
    ~Handle() override { impl_->forget(*state_); }
    void want_write(bool on) override { change(state_->writing, on); }
    void pause_read(bool paused) override { change(state_->reading, !paused); }

   private:
    void change(bool& what, bool on) {
      if (what == on) return;
      what = on;
      impl_->update(*state_);
    }
    std::shared_ptr<Impl> impl_;
    std::shared_ptr<WatchState> state_;
  };
  auto watched = std::make_shared<WatchState>();
  watched->fd = fd;
  watched->generation = ++impl_->generation;
  watched->readable = std::move(readable);
  watched->writable = std::move(writable);
  if (impl_->free_slots.empty()) {
    watched->slot = static_cast<uint32_t>(impl_->slots.size());
    impl_->slots.push_back(watched);
  } else {
    watched->slot = impl_->free_slots.back();
    impl_->free_slots.pop_back();
    impl_->slots[watched->slot] = watched;
  }
  impl_->update(*watched);
  return std::make_unique<Handle>(impl_, std::move(watched));
}

void Loop::on_signal(int signo, std::function<void()> f) {
  MUSTER_CHECK(signo > 0 && signo < NSIG && signal_table.wake_fd[static_cast<size_t>(signo)].load() == 0);
  SignalHook hook{signo, {}, std::move(f)};
  signal_table.pending[static_cast<size_t>(signo)].store(false);
  signal_table.wake_fd[static_cast<size_t>(signo)].store(impl_->signal_fd);
  struct sigaction action = {};
  action.sa_handler = signal_arrived;
  action.sa_flags = SA_RESTART | (signo == SIGCHLD ? SA_NOCLDSTOP : 0);
  sigfillset(&action.sa_mask);
  MUSTER_CHECK(sigaction(signo, &action, &hook.old) == 0);
  impl_->signals.push_back(std::move(hook));
}

Time Loop::now() { return Time(Duration(clock_us(CLOCK_REALTIME))); }
Duration Loop::monotonic() { return Duration(clock_us(CLOCK_MONOTONIC)); }

}  // namespace muster::net

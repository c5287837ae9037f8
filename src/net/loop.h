// Loop: one thread's timers, descriptors, signals and posted work.
//
// Everything registered runs on the thread that calls run(); only post(), stop() and a poster may be used from other threads. Callbacks
// must not block. The daemons read the clock through this loop (now()), so that no other code hides a clock read.
//
// One turn: ready descriptors → due timers → posted work → deferred work, then sleep until something is due.
// Costs: a turn is one epoll_wait; a timer O(log n) to arm and to cancel; a watch O(1) plus one epoll_ctl per change of interest; post()
// a lock and, only while the loop sleeps, one wake-up for however many are posted before it wakes. Handles (timers, watches) may outlive
// the loop and may be destroyed inside their own callback. The owner keeps the Loop until its channels and listeners are gone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <span>

#include "base/time.h"

namespace muster::net {

class Loop {
 public:
  Loop();
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  void run();                             // until stop(); a stop() that came before run() makes it return at once
  void stop();                            // from any thread
  void post(std::function<void()> work);  // from any thread

  // A post() that may be called at any time, even when the loop is gone (the work is dropped then).
  using Poster = std::function<void(std::function<void()>)>;
  Poster poster() const;

  // Runs `work` at the end of this turn, before the loop sleeps, so that what a turn gathered (frames to write, commands to commit) is
  // handled once. Loop thread only; no wake-up, no lock.
  void defer(std::function<void()> work);

  // Keeps a thing until it is let go of, or until the loop's end. An object owned only by its own callback would stay for ever if the
  // loop ended before that callback ran. Loop thread only.
  using Kept = std::list<std::shared_ptr<void>>::iterator;
  Kept keep(std::shared_ptr<void> thing);
  void let_go(Kept kept);

  // Timers fire once. Destroying the handle cancels; the handle of a fired or cancelled timer may be kept.
  class Timer {
   public:
    virtual ~Timer() = default;
  };
  [[nodiscard]] std::unique_ptr<Timer> after(Duration delay, std::function<void()> f);

  // Readiness of a descriptor that the caller owns. The watch ends when the handle is destroyed, which must happen before the
  // descriptor is closed. Level-triggered. Descriptors that epoll cannot watch (plain files, /dev/null) are always ready, as with
  // poll(2). An error or hang-up counts as readiness for whatever is wanted.
  class Watch {
   public:
    virtual ~Watch() = default;
    virtual void want_write(bool on) = 0;  // off at first; reading is always wanted unless pause_read
    virtual void pause_read(bool paused) = 0;
  };
  [[nodiscard]] std::unique_ptr<Watch> watch(int fd, std::function<void()> readable, std::function<void()> writable = {});

  // Delivers signals to callbacks instead of the process (SIGCHLD, SIGTERM, SIGHUP …), coalesced as signals are. A signal belongs to
  // one loop of the process at a time; the old disposition comes back at the loop's end. Handlers are used and not a blocked mask, so
  // that a program started with exec inherits defaults and an empty mask.
  void on_signal(int signo, std::function<void()> f);

  // One buffer for the reads of all callbacks of this loop: its content is valid until the callback returns.
  std::span<char> scratch();

  static Time now();            // wall clock
  static Duration monotonic();  // since an arbitrary start, never steps

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace muster::net

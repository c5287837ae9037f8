// What the tests of net/ share: a loop that cannot hang, a temporary directory, an echo server on a unix socket.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "net/channel.h"
#include "net/socket.h"

namespace muster::net::test {

class TempDir {
 public:
  TempDir() {
    char t[] = "/tmp/muster-net-XXXXXX";
    path_ = mkdtemp(t);
  }
  ~TempDir() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct Fixture {
  Loop loop;
  // Runs until stop(); a test that forgets to stop fails instead of hanging.
  void run(Duration limit = seconds(30)) {
    auto guard = loop.after(limit, [this] {
      ADD_FAILURE() << "the loop was not stopped in time";
      loop.stop();
    });
    loop.run();
  }
};

// Accepts channels and answers each request through `handler` (the same payload by default).
class Echo {
 public:
  using Handler = std::function<void(Channel&, Frame)>;
  explicit Echo(Fixture& f, Handler handler = {}) : fixture_(f), handler_(std::move(handler)) {
    if (!handler_)
      handler_ = [](Channel& c, Frame q) {
        if (q.kind == FrameKind::kRequest) c.answer(q.id, q.message, std::move(q.payload));
      };
    auto l = listen_unix(f.loop, path(), accepter());
    EXPECT_TRUE(l) << l.error().message();
    if (l) listener = std::move(*l);
  }
  std::string path() const { return dir_.path() + "/s"; }
  std::function<void(ChannelPtr)> accepter() {
    return [this](ChannelPtr c) {
      c->on_request = [this, raw = c.get()](Frame q) { handler_(*raw, std::move(q)); };
      c->on_closed = [this, raw = c.get()](const Error& e) {
        if (on_closed) on_closed(e);
        std::erase_if(channels, [&](const ChannelPtr& p) { return p.get() == raw; });
      };
      channels.insert(std::move(c));
      if (on_accepted) on_accepted();
    };
  }
  ChannelPtr connect() {
    ChannelPtr out;
    connect_unix(fixture_.loop, path(), [&](Result<ChannelPtr> r) {
      EXPECT_TRUE(r) << r.error().message();
      if (r) out = *r;
      fixture_.loop.stop();
    });
    fixture_.run();
    return out;
  }
  int raw_connection() {
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    Result<Address> a = unix_address(path());
    EXPECT_EQ(::connect(fd, a->get(), a->size), 0);
    return fd;
  }

  std::function<void(const Error&)> on_closed;
  std::function<void()> on_accepted;
  // Listens over TCP too; returns the port.
  uint16_t listen(const Security& security, const std::string& address = "127.0.0.1") {
    auto l = listen_tcp(fixture_.loop, address, 0, security, accepter());
    EXPECT_TRUE(l) << l.error().message();
    tcp = std::move(*l);
    return tcp->port();
  }

  std::set<ChannelPtr> channels;
  std::unique_ptr<Listener> listener, tcp;

 private:
  Fixture& fixture_;
  Handler handler_;
  TempDir dir_;
};

// A loop on a thread of its own, for code that blocks on this thread. `build` runs there first and returns what shall live as long as
// the loop.
class Background {
 public:
  using Keep = std::shared_ptr<void>;
  explicit Background(std::function<Keep(Fixture&)> build) {
    bool built = false;
    std::mutex m;
    std::condition_variable ready;
    thread_ = std::thread([&, build] {
      Fixture f;
      Keep keep = build(f);
      {
        std::lock_guard lock(m);
        fixture_ = &f;
        post_ = f.loop.poster();
        built = true;
        ready.notify_one();  // under the lock: the waiting thread destroys `ready` once it goes on
      }
      f.run(seconds(60));
    });
    std::unique_lock lock(m);
    ready.wait(lock, [&] { return built; });
  }
  ~Background() {
    // stop() is not called from this thread: the loop may be gone before it returns.
    post_([loop = &fixture_->loop] { loop->stop(); });
    thread_.join();
  }
  Loop& loop() { return fixture_->loop; }

 private:
  std::thread thread_;
  Loop::Poster post_;
  Fixture* fixture_ = nullptr;
};

// A child process of the test. The only place of these tests that sends signals to a pid: -1 would be every process of the machine, and
// a reaped pid may be somebody else's.
class Child {
 public:
  Child() = default;
  explicit Child(pid_t pid) : pid_(pid) { EXPECT_GT(pid, 1); }
  Child(Child&& o) noexcept : pid_(std::exchange(o.pid_, 0)) {}
  Child& operator=(Child&& o) noexcept {
    std::swap(pid_, o.pid_);
    return *this;
  }
  ~Child() {
    if (pid_ <= 1) return;
    ::kill(pid_, SIGTERM);
    wait();
  }
  void signal(int number) const {
    if (pid_ > 1) ::kill(pid_, number);
  }
  // Returns the wait status; -1 when there is no child (any more).
  int wait() {
    int status = -1;
    if (pid_ > 1) waitpid(std::exchange(pid_, 0), &status, 0);
    return status;
  }
  bool running() {
    if (pid_ > 1 && waitpid(pid_, nullptr, WNOHANG) == 0) return true;
    pid_ = 0;
    return false;
  }

 private:
  pid_t pid_ = 0;
};

inline Security slurm_key(std::string key = std::string(32, 'k')) {
  Security s;
  s.key = std::move(key);
  return s;
}

inline Result<ChannelPtr> connect_and_wait(Fixture& f, uint16_t port, const Security& s, const std::string& host = "127.0.0.1",
                                           Duration timeout = seconds(10)) {
  Result<ChannelPtr> out = fail(Errc::kError);
  connect_tcp(f.loop, host, port, s, timeout, [&](Result<ChannelPtr> r) {
    out = std::move(r);
    f.loop.stop();
  });
  f.run();
  return out;
}

inline std::string ask(Fixture& f, Channel& c, std::string payload) {
  std::string got = "no answer";
  c.request(1, std::move(payload), seconds(10), [&](Result<Frame> r) {
    got = r ? std::move(r->payload) : std::string(r.error().message()) + r.error().hint;
    f.loop.stop();
  });
  f.run();
  return got;
}

}  // namespace muster::net::test

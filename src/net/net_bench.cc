// Measures the figures of README.md: round trips, connecting, frames per second, the start of a command's client. Built on request:
// ninja net_bench.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

#include "net/channel.h"
#include "net/client.h"

namespace muster::net {
namespace {

Security key() {
  Security s;
  s.key = std::string(32, 'k');
  return s;
}

// Echo servers on a loop of their own thread.
class Server {
 public:
  Server() : path_("/tmp/muster-net-bench-" + std::to_string(getpid())) {
    std::mutex m;
    std::condition_variable ready;
    thread_ = std::thread([&] {
      Loop loop;
      std::set<ChannelPtr> channels;
      auto accept = [&](ChannelPtr c) {
        c->on_request = [raw = c.get()](Frame q) { raw->answer(q.id, q.message, std::move(q.payload)); };
        c->on_closed = [&, raw = c.get()](const Error&) { std::erase_if(channels, [&](const ChannelPtr& p) { return p.get() == raw; }); };
        channels.insert(std::move(c));
      };
      auto unix_listener = listen_unix(loop, path_, accept);
      auto tcp = listen_tcp(loop, "127.0.0.1", 0, key(), accept);
      std::unique_ptr<Listener> munge;
      if (const char* socket = getenv("MUNGE_SOCKET")) {
        munge_.kind = Security::Kind::kMunge;
        munge_.munge_socket = socket;
        munge = std::move(*listen_tcp(loop, "127.0.0.1", 0, munge_, accept));
        munge_port_ = munge->port();
      }
      {
        std::lock_guard lock(m);
        loop_ = &loop;
        port_ = (*tcp)->port();
      }
      ready.notify_one();
      loop.run();
    });
    std::unique_lock lock(m);
    ready.wait(lock, [&] { return loop_ != nullptr; });
  }
  ~Server() {
    loop_->stop();
    thread_.join();
  }
  ClientOptions unix_options() const {
    ClientOptions o;
    o.agent_sockets = {path_};
    o.trusted_uids = {getuid()};
    return o;
  }
  ClientOptions tcp_options() const {
    ClientOptions o;
    o.controllers = {{"127.0.0.1", port_}};
    o.security = key();
    return o;
  }
  ClientOptions munge_options() const {
    ClientOptions o;
    o.controllers = {{"127.0.0.1", munge_port_}};
    o.security = munge_;
    return o;
  }
  uint16_t port() const { return port_; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::thread thread_;
  Loop* loop_ = nullptr;
  uint16_t port_ = 0, munge_port_ = 0;
  Security munge_;
};

Server& server() {
  static Server s;
  return s;
}

void round_trips(benchmark::State& state, const ClientOptions& o) {
  auto c = connect_client(o);
  if (!c) return state.SkipWithError("no connection");
  std::string payload(static_cast<size_t>(state.range(0)), 'p');
  for (auto _ : state)
    if (!(*c)->request(1, payload, seconds(10))) return state.SkipWithError("no answer");
  state.SetBytesProcessed(state.iterations() * state.range(0) * 2);
}

void RoundTripUnix(benchmark::State& s) { round_trips(s, server().unix_options()); }
void RoundTripTls(benchmark::State& s) { round_trips(s, server().tcp_options()); }
BENCHMARK(RoundTripUnix)->Arg(100)->Arg(100000)->Arg(10000000)->MeasureProcessCPUTime()->UseRealTime();
BENCHMARK(RoundTripTls)->Arg(100)->Arg(100000)->Arg(10000000)->MeasureProcessCPUTime()->UseRealTime();

void connects(benchmark::State& state, const ClientOptions& o) {
  for (auto _ : state) {
    auto c = connect_client(o);
    if (!c || !(*c)->request(1, "x", seconds(10))) return state.SkipWithError("no connection");
  }
}

void ConnectUnix(benchmark::State& s) { connects(s, server().unix_options()); }
void ConnectTls(benchmark::State& s) { connects(s, server().tcp_options()); }
void ConnectMunge(benchmark::State& s) {
  if (!getenv("MUNGE_SOCKET")) return s.SkipWithError("set MUNGE_SOCKET");
  connects(s, server().munge_options());
}
BENCHMARK(ConnectUnix)->MeasureProcessCPUTime()->UseRealTime();
BENCHMARK(ConnectTls)->MeasureProcessCPUTime()->UseRealTime();
BENCHMARK(ConnectMunge)->MeasureProcessCPUTime()->UseRealTime();

// Keeps 1,000 requests in flight on one channel; the threads of both ends are counted.
void pipelined(benchmark::State& state, bool tls) {
  Loop loop;
  ChannelPtr c;
  auto connected = [&](Result<ChannelPtr> r) {
    if (r) c = *r;
    loop.stop();
  };
  tls ? connect_tcp(loop, "127.0.0.1", server().port(), key(), seconds(10), connected) : connect_unix(loop, server().path(), connected);
  loop.run();
  if (!c) return state.SkipWithError("no connection");
  constexpr int kWindow = 1000;
  for (auto _ : state) {
    int left = kWindow;
    for (int i = 0; i < kWindow; ++i)
      c->request(1, std::string(100, 'p'), seconds(60), [&](Result<Frame>) {
        if (--left == 0) loop.stop();
      });
    loop.run();
  }
  state.SetItemsProcessed(state.iterations() * kWindow);
}

void PipelinedUnix(benchmark::State& s) { pipelined(s, false); }
void PipelinedTls(benchmark::State& s) { pipelined(s, true); }
BENCHMARK(PipelinedUnix)->MeasureProcessCPUTime()->UseRealTime();
BENCHMARK(PipelinedTls)->MeasureProcessCPUTime()->UseRealTime();

void PostFromAnotherThread(benchmark::State& state) {
  Loop loop;
  std::thread t([&] { loop.run(); });
  int64_t posted = 0;
  std::atomic<int64_t> done{0};
  for (auto _ : state) {
    loop.post([&] { done.fetch_add(1, std::memory_order_relaxed); });
    ++posted;
  }
  while (done.load() < posted) std::this_thread::yield();
  loop.stop();
  t.join();
}
BENCHMARK(PostFromAnotherThread)->UseRealTime();

void TimerArmAndCancel(benchmark::State& state) {
  Loop loop;
  std::vector<std::unique_ptr<Loop::Timer>> standing;
  for (int i = 0; i < 10000; ++i) standing.push_back(loop.after(seconds(i + 1), [] {}));
  for (auto _ : state) benchmark::DoNotOptimize(loop.after(seconds(5000), [] {}));
}
BENCHMARK(TimerArmAndCancel);

}  // namespace
}  // namespace muster::net

// "net_bench serve" is the server for client_bench.
int main(int argc, char** argv) {
  using namespace muster;
  if (argc == 2 && std::string_view(argv[1]) == "serve") {
    printf("%s %u\n", net::server().path().c_str(), net::server().port());
    fflush(stdout);
    pause();
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}

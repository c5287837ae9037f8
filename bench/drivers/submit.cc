// Submissions over kept connections: how many jobs a second the controller makes durable when no process is started per job.
//   muster-bench-submit SOCKET [jobs=20000] [window=64] [connections=1] [distinct=0|1|2] [run=0|1]
// `window` requests are on their way at a time on each connection. Jobs are held unless `run` is 1. `distinct` 1: names of their own; 2: also
// different sizes and lengths, and they would sleep for 600 s.
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "net/channel.h"
#include "wire/instances.h"
#include "wire/messages.h"

using namespace muster;

namespace {

struct Run {
  net::Loop loop;
  uint32_t jobs, window, connections;
  uint32_t distinct;
  bool run_them;
  uint32_t sent = 0, answered = 0, failed = 0;
  Duration began{};
  std::vector<net::ChannelPtr> channels;

  rpc::SubmitJob job(uint32_t i) const {
    rpc::SubmitJob s;
    s.request.uid = Uid(::geteuid());
    s.request.gid = Gid(::getegid());
    s.request.name = distinct ? "bench" + std::to_string(i) : "bench";
    s.request.hold = !run_them;
    s.request.time_limit_min = 60;
    s.request.work_dir = "/tmp";
    s.request.std_out = distinct ? "/tmp/bench/" + std::to_string(i) + ".out" : "/dev/null";
    s.request.argv = {"/tmp/bench.sh"};
    s.script = "#!/bin/sh\ntrue\n";
    s.environment = std::string("PATH=/usr/bin:/bin\0HOME=/tmp\0", 29);
    if (distinct == 2) mix(i, s.request);
    return s;
  }
  // Many below a node, some of several nodes; the same every time. muster-hollow lets a job of that name run for so long.
  static void mix(uint32_t i, AskedRequest& request) {
    const uint32_t drawn = i * 2654435761u >> 8;
    constexpr std::array<uint32_t, 8> kMinutes{10, 30, 60, 120, 240, 480, 1440, 2880};
    request.name = "sleep600000ms";
    request.time_limit_min = kMinutes[drawn % 8];
    if (drawn / 8 % 10 < 7) {
      request.num_tasks = 1u << (drawn / 128 % 7);
    } else {
      request.min_nodes = request.max_nodes = 1u << (drawn / 128 % 4);
      request.exclusive = Exclusive::kNode;
    }
  }
  void send_one(const net::ChannelPtr& c) {
    if (sent == jobs) return;
    std::string bytes;
    wire::encode(job(sent++), bytes);
    c->request(wire::number_of<rpc::SubmitJob>, std::move(bytes), seconds(60), [this, c](Result<net::Frame> answer) {
      ++answered;
      if (!answer && failed++ == 0) std::fprintf(stderr, "first error: %s\n", std::string(answer.error().message()).c_str());
      if (answered == jobs) loop.stop();
      else send_one(c);
    });
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: muster-bench-submit SOCKET [jobs] [window] [connections] [distinct] [run]\n");
    return 2;
  }
  auto number = [&](int i, uint32_t otherwise) { return argc > i ? static_cast<uint32_t>(std::atoi(argv[i])) : otherwise; };
  Run run{{}, number(2, 20000), number(3, 64), number(4, 1), number(5, 0), number(6, 0) != 0};
  for (uint32_t i = 0; i < run.connections; ++i)
    net::connect_unix(run.loop, argv[1], [&](Result<net::ChannelPtr> c) {
      if (!c) {
        std::fprintf(stderr, "%s\n", std::string(c.error().message()).c_str());
        std::exit(1);
      }
      run.channels.push_back(*c);
      if (run.channels.size() < run.connections) return;
      run.began = net::Loop::monotonic();
      for (uint32_t w = 0; w < run.window; ++w)
        for (const auto& channel : run.channels) run.send_one(channel);
    });
  run.loop.run();
  double s = static_cast<double>((net::Loop::monotonic() - run.began).count()) / 1e6;
  std::printf("%u jobs, %u failed, %.3f s, %.0f durable submissions/s\n", run.jobs, run.failed, s, run.jobs / s);
  return run.failed ? 1 : 0;
}

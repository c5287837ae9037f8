// How long a submission takes until it is durable, one every so often; and clients that ask meanwhile.
//   muster-bench-latency SOCKET submit SECONDS RATE              held jobs, RATE a second whether or not those before are answered
//   muster-bench-latency SOCKET poll SECONDS CLIENTS PERIOD_MS   connections that each ask for one job every PERIOD_MS
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "net/channel.h"
#include "net/loop.h"
#include "wire/instances.h"
#include "wire/messages.h"

using namespace muster;

namespace {

struct Clients {
  net::Loop loop;
  Duration ends{};
  std::vector<net::ChannelPtr> channels;
  std::vector<std::unique_ptr<net::Loop::Timer>> timers;
  std::vector<double> took_ms;
  uint32_t failed = 0, on_their_way = 0;

  bool over() const { return net::Loop::monotonic() >= ends; }
  template <class Message>
  void ask(const net::ChannelPtr& c, const Message& message) {
    std::string bytes;
    wire::encode(message, bytes);
    ++on_their_way;
    const Duration sent = net::Loop::monotonic();
    const auto part = [](net::Frame) {};
    c->request_stream(wire::number_of<Message>, std::move(bytes), seconds(60), part, [this, sent](Result<net::Frame> answer) {
      took_ms.push_back(static_cast<double>((net::Loop::monotonic() - sent).count()) / 1e3);
      if (!answer && failed++ == 0) std::fprintf(stderr, "first error: %s\n", std::string(answer.error().message()).c_str());
      if (--on_their_way == 0 && over()) loop.stop();
    });
  }
  // `what` now, and again every `period` until the end.
  void again(size_t client, Duration period, const std::function<void(const net::ChannelPtr&)>& what) {
    if (over()) {
      if (on_their_way == 0) loop.stop();
      return;
    }
    what(channels[client]);
    timers[client] = loop.after(period, [=, this] { again(client, period, what); });
  }
};

rpc::SubmitJob held_job() {
  rpc::SubmitJob s;
  s.request.uid = Uid(::geteuid());
  s.request.gid = Gid(::getegid());
  s.request.name = "latency";
  s.request.hold = true;
  s.request.time_limit_min = 60;
  s.request.work_dir = "/tmp";
  s.request.std_out = "/dev/null";
  s.request.argv = {"/tmp/bench.sh"};
  s.script = "#!/bin/sh\ntrue\n";
  s.environment = std::string("PATH=/usr/bin:/bin\0HOME=/tmp\0", 29);
  return s;
}

rpc::QueryJobs one_job() {
  rpc::QueryJobs q;
  q.filter.names = {"latency-none"};
  q.filter.users = {Uid(::geteuid())};
  return q;
}

int usage() {
  std::fprintf(stderr, "usage: muster-bench-latency SOCKET submit SECONDS RATE\n"
                       "       muster-bench-latency SOCKET poll SECONDS CLIENTS PERIOD_MS\n");
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 2 ? argv[2] : "";
  const bool submits = what == "submit" && argc == 5, polls = what == "poll" && argc == 6;
  if (!submits && !polls) return usage();
  const int length = std::atoi(argv[3]), number = std::atoi(argv[4]), period_ms = polls ? std::atoi(argv[5]) : 0;
  if (length < 1 || length > 600 || number < 1 || number > 10000 || (polls && period_ms < 1)) return usage();
  Clients clients;
  const size_t count = submits ? 1 : static_cast<size_t>(number);
  const Duration period = submits ? Duration(1'000'000 / number) : Duration(int64_t{period_ms} * 1000);
  clients.timers.resize(count);
  for (size_t i = 0; i < count; ++i)
    net::connect_unix(clients.loop, argv[1], [&](Result<net::ChannelPtr> c) {
      if (!c) {
        std::fprintf(stderr, "%s\n", std::string(c.error().message()).c_str());
        std::exit(1);
      }
      clients.channels.push_back(*c);
      if (clients.channels.size() < count) return;
      clients.ends = net::Loop::monotonic() + seconds(length);
      for (size_t k = 0; k < count; ++k)
        clients.timers[k] =
            clients.loop.after(period * static_cast<int64_t>(k) / static_cast<int64_t>(count), [&clients, k, period, submits] {
              clients.again(k, period, [&clients, submits](const net::ChannelPtr& channel) {
                if (submits) clients.ask(channel, held_job());
                else clients.ask(channel, one_job());
              });
            });
    });
  clients.loop.run();
  std::vector<double>& took = clients.took_ms;
  std::ranges::sort(took);
  const auto at = [&](double part) { return took.empty() ? 0.0 : took[static_cast<size_t>(part * static_cast<double>(took.size() - 1))]; };
  std::printf("%zu answers, %u failed, p50 %.3f ms, p99 %.3f ms, longest %.3f ms\n", took.size(), clients.failed, at(0.5), at(0.99), at(1));
  return clients.failed ? 1 : 0;
}

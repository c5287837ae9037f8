// One query over a fresh connection, as a command makes it, without printing: what the controller and the wire cost.
//   muster-bench-query SOCKET [jobs|running|nodes] [repeat=5]
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "net/client.h"
#include "net/loop.h"
#include "wire/instances.h"
#include "wire/messages.h"

using namespace muster;

namespace {

template <class Part, class Query, class Count>
bool run_once(const net::ClientOptions& options, const Query& q, Count count) {
  Duration began = net::Loop::monotonic();
  auto client = net::connect_client(options);
  if (!client) {
    std::fprintf(stderr, "%s\n", std::string(client.error().message()).c_str());
    return false;
  }
  size_t rows = 0, bytes = 0;
  std::string payload;
  wire::encode(q, payload);
  auto done = (*client)->request_stream(wire::number_of<Query>, payload, seconds(60), [&](std::string_view part) -> Result<> {
    Part p;
    bytes += part.size();
    MUSTER_TRY_VOID(wire::decode(part, p));
    rows += count(p);
    return {};
  });
  if (!done) {
    std::fprintf(stderr, "%s\n", std::string(done.error().message()).c_str());
    return false;
  }
  std::printf("%zu rows, %zu bytes, %.2f ms\n", rows, bytes, static_cast<double>((net::Loop::monotonic() - began).count()) / 1e3);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: muster-bench-query SOCKET [jobs|running|nodes] [repeat]\n");
    return 2;
  }
  net::ClientOptions options;
  options.agent_sockets = {argv[1]};
  options.trusted_uids = {0, ::geteuid()};
  std::string_view what = argc > 2 ? argv[2] : "jobs";
  for (int i = 0, n = argc > 3 ? std::atoi(argv[3]) : 5; i < n; ++i) {
    bool ok;
    if (what == "nodes") {
      ok = run_once<rpc::NodeRows>(options, rpc::QueryNodes{}, [](const rpc::NodeRows& p) { return p.nodes.size(); });
    } else {
      rpc::QueryJobs q;
      if (what == "running") q.filter.states = 1u << static_cast<unsigned>(JobState::kRunning);
      ok = run_once<rpc::JobRows>(options, q, [](const rpc::JobRows& p) { return p.jobs.size(); });
    }
    if (!ok) return 1;
  }
  return 0;
}

// Hollow nodes: one process that plays many slurmds with live connections, so that the controller is measured at scale on a
// small machine. Scripts are not fetched, since nothing runs. Jobs "run" for as long as their name says ("sleep250ms", default: not at all) and always succeed.
// With SlurmctldParameters=enable_configless they get the configuration as slurmd --conf-server does, and a line says when all have it.
//   muster-hollow SOCKET NODES…          host list, e.g. h[1-10000]
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <unordered_map>
#include <vector>

#include "agent/config_download.h"
#include "base/text.h"
#include "hostlist/hostlist.h"
#include "model/node_rpc.h"
#include "net/channel.h"
#include "wire/instances.h"
#include "wire/messages.h"

using namespace muster;

namespace {

uint64_t g_started = 0;

// How many nodes have which configuration.
struct Configured {
  size_t nodes = 0, have = 0;
  std::string version;
  void got(const std::string& v) {
    if (v != version) have = 0;
    version = v;
    if (++have == nodes) std::printf("all have configuration %s\n", v.c_str());
    std::fflush(stdout);
  }
};
Configured g_configured;

class HollowNode {
 public:
  HollowNode(net::Loop& loop, std::string socket, std::string name) : loop_(loop), socket_(std::move(socket)), name_(std::move(name)) {}

  void connect() {
    net::connect_unix(loop_, socket_, [this](Result<net::ChannelPtr> c) {
      if (!c) {
        retry_ = loop_.after(milliseconds(500), [this] { connect(); });
        return;
      }
      channel_ = *c;
      channel_->on_request = [this](net::Frame f) { on_order(f); };
      channel_->on_closed = [this](const Error&) {
        channel_.reset();
        retry_ = loop_.after(milliseconds(500), [this] { connect(); });
      };
      session_ = static_cast<uint64_t>(net::Loop::now().time_since_epoch().count());
      sent_ = received_ = 0;
      node_rpc::Register r;
      r.node = name_;
      r.session = session_;
      r.hardware.cpus = 64;
      r.hardware.sockets = 2;
      r.hardware.cores_per_socket = 32;
      r.hardware.threads_per_core = 1;
      r.hardware.real_memory_mb = 1u << 20;
      r.hardware.version = "hollow";
      report(r);
    });
  }

 private:
  void report(NodeReport m) {
    if (!channel_) return;
    Numbered<NodeReport> n;
    n.session = session_;
    n.sequence = ++sent_;
    n.message = std::move(m);
    std::string bytes;
    wire::encode(n, bytes);
    channel_->notify(wire::kNodeReport, std::move(bytes));
  }
  void on_order(const net::Frame& f) {
    Numbered<NodeOrder> n;
    if (!wire::decode(f.payload, n) || n.session != session_ || n.sequence <= received_) return;
    received_ = n.sequence;
    if (auto* hello = std::get_if<node_rpc::Registered>(&n.message)) configure(hello->config);
    if (auto* again = std::get_if<node_rpc::Reconfigure>(&n.message)) configure(again->config);
    if (auto* launch = std::get_if<node_rpc::LaunchBatch>(&n.message)) run(*launch);
    else if (auto* end = std::get_if<node_rpc::TerminateJob>(&n.message)) {
      timers_.erase(end->job.value);
      report(node_rpc::JobGone{end->job, end->generation, {}});
    }
  }
  void configure(const std::string& version) {
    if (version.empty() || version == config_.version) return;
    const agent::Ask ask = [this](uint16_t message, std::string payload, std::function<void(Result<net::Frame>)> answered) {
      channel_->request(message, std::move(payload), minutes(1), std::move(answered));
    };
    agent::fetch_config(ask, config_, false, [this](Result<agent::FetchedConfig> config) {
      if (!config) return;
      config_ = std::move(*config);
      g_configured.got(config_.version);
    });
  }
  void run(const node_rpc::LaunchBatch& launch) {
    ++g_started;
    JobId job = launch.job.job;
    uint32_t generation = launch.job.generation;
    report(node_rpc::BatchStarted{job, generation});
    std::string_view name = launch.job.request->name;
    int64_t ms = 0;
    if (name.starts_with("sleep") && name.ends_with("ms")) ms = parse_number<int64_t>(name.substr(5, name.size() - 7)).value_or(0);
    auto finish = [this, job, generation] {
      node_rpc::BatchFinished done;
      done.job = job;
      done.generation = generation;
      done.gone = true;
      report(done);
    };
    if (ms == 0) finish();
    else timers_[job.value] = loop_.after(milliseconds(ms), finish);
  }

  net::Loop& loop_;
  std::string socket_, name_;
  net::ChannelPtr channel_;
  uint64_t session_ = 0, sent_ = 0, received_ = 0;
  agent::FetchedConfig config_;
  std::unique_ptr<net::Loop::Timer> retry_;
  std::unordered_map<uint32_t, std::unique_ptr<net::Loop::Timer>> timers_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: muster-hollow SOCKET HOSTLIST\n");
    return 2;
  }
  auto names = expand_hosts(argv[2]);
  if (!names) {
    std::fprintf(stderr, "%s\n", std::string(names.error().message()).c_str());
    return 2;
  }
  net::Loop loop;
  std::vector<std::unique_ptr<HollowNode>> nodes;
  for (std::string& name : *names) nodes.push_back(std::make_unique<HollowNode>(loop, argv[1], name));
  g_configured.nodes = nodes.size();
  for (auto& n : nodes) n->connect();
  std::printf("%zu hollow nodes\n", nodes.size());
  std::fflush(stdout);
  for (int signo : {2, 15}) loop.on_signal(signo, [&] { loop.stop(); });
  loop.run();
  std::printf("%lu jobs started\n", static_cast<unsigned long>(g_started));
  return 0;
}

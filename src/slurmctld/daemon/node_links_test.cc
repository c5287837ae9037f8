// Orders go to a node at its pace: a node that does not read costs neither its connection nor more than a bounded queue.
#include "slurmctld/daemon/node_links.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include "net/channel.h"
#include "slurmctld/daemon/peer_host.h"
#include "wire/instances.h"
#include "wire/messages.h"

namespace muster::slurmctld {
namespace {

struct Bench {
  explicit Bench(bool reconfigures_first = false) : reconfigures(reconfigures_first) {
    Cluster c;
    auto spec = std::make_shared<NodeSpec>();
    spec->name = "n1";
    Node n;
    n.id = NodeId(1);
    n.spec = spec;
    c.nodes.set(1, n);
    c.node_names = std::make_shared<const std::unordered_map<std::string, uint32_t>>(std::unordered_map<std::string, uint32_t>{{"n1", 1}});
    cluster = std::make_shared<const Cluster>(std::move(c));
    NodeLinks::Ports p;
    p.snapshot = [this] { return cluster; };
    p.report = [this](NodeId, const NodeReport&) { ++reports; };
    p.connected = [](NodeId) {};
    p.disconnected = [this](NodeId) { ++disconnected; };
    p.reconfigures_first = [this] { return reconfigures; };
    p.behind = [this](NodeId) { ++behind; };
    p.close = [this](const net::ChannelPtr& channel) {
      ended.push_back(channel.get());
      channel->close();
    };
    links = std::make_unique<NodeLinks>(*log, std::move(p));
    int fds[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
    ours = net::adopt_channel(loop, fds[0], at("10.0.0.1:4000"));
    ours->on_closed = [this](const Error&) { links->on_closed(ours.get()); };
    theirs_fd = fds[1];
    EXPECT_TRUE(links->on_report(ours, registration("boot-1", 5)));
  }
  ~Bench() {
    close(theirs_fd);
    for (int fd : others) close(fd);
  }
  static net::Peer at(const std::string& address, net::Trust trust = net::Trust::kClusterKey) {
    net::Peer peer;
    peer.trust = trust;
    peer.address = address;
    peer.certified = {SubjectKind::kNode, "n1"};
    return peer;
  }
  static std::string registration(const std::string& boot_id, uint64_t session) {
    node_rpc::Register r;
    r.node = "n1";
    r.hardware.boot_id = boot_id;
    return wire::encoded(Numbered<NodeReport>{session, 1, r});
  }
  // A registration as n1 on a connection of its own.
  Result<> registers(const std::string& address, const std::string& boot_id, uint64_t session, net::Trust trust = net::Trust::kClusterKey) {
    int fds[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
    others.push_back(fds[1]);
    channels.push_back(net::adopt_channel(loop, fds[0], at(address, trust)));
    return links->on_report(channels.back(), registration(boot_id, session));
  }
  bool is_first() const { return links->node_of(ours.get()).has_value(); }
  static node_rpc::LaunchBatch launch(uint32_t job, size_t bytes) {
    node_rpc::LaunchBatch l;
    l.job.job = JobId(job);
    l.script.assign(bytes, 'x');
    return l;
  }
  // Reads what is there, as a node would, and notes the jobs of launches.
  void read_until(const std::function<bool()>& done) { read_until(theirs_fd, done); }
  void read_until(int fd, const std::function<bool()>& done) {
    theirs = net::adopt_channel(loop, dup(fd), net::Peer{});
    theirs->on_request = [&](net::Frame f) {
      Numbered<NodeOrder> m;
      ASSERT_TRUE(wire::decode(f.payload, m));
      EXPECT_EQ(m.sequence, ++sequence);
      told_to_read += std::holds_alternative<node_rpc::Reconfigure>(m.message);
      if (auto* l = std::get_if<node_rpc::LaunchBatch>(&m.message)) launched.push_back(l->job.job.value);
      if (done()) loop.stop();
    };
    auto guard = loop.after(seconds(20), [this] {
      ADD_FAILURE() << "not all orders came";
      loop.stop();
    });
    loop.run();
  }

  net::Loop loop;
  std::unique_ptr<os::Log> log = *os::Log::open({.program = "test"});
  std::shared_ptr<const Cluster> cluster;
  std::unique_ptr<NodeLinks> links;
  net::ChannelPtr ours, theirs;
  std::vector<net::ChannelPtr> channels;
  std::vector<int> others;
  int theirs_fd = -1, disconnected = 0, behind = 0, reports = 0, told_to_read = 0;
  bool reconfigures = false;
  uint64_t sequence = 0;
  std::vector<uint32_t> launched;
  std::vector<const net::Channel*> ended;
};

TEST(NodeLinks, OrdersWaitForANodeThatDoesNotRead) {
  Bench b;
  constexpr uint32_t kJobs = 1000;
  for (uint32_t j = 1; j <= kJobs; ++j) b.links->send(NodeId(1), Bench::launch(j, 20'000));
  EXPECT_LE(b.ours->queued_bytes(), NodeLinks::kWindow + 21'000);
  EXPECT_GT(b.links->waiting(NodeId(1)), 900u);
  EXPECT_EQ(b.links->connected(), 1u);
  b.read_until([&] { return b.launched.size() == kJobs; });
  ASSERT_EQ(b.launched.size(), kJobs);
  for (uint32_t j = 1; j <= kJobs; ++j) ASSERT_EQ(b.launched[j - 1], j);
  EXPECT_EQ(b.disconnected, 0);
  EXPECT_EQ(b.behind, 0);
}

TEST(NodeLinks, ReadsItsFilesAgainAtTheFirstRegistrationAlone) {
  for (bool on : {false, true}) {
    Bench b(on);
    b.links->send(NodeId(1), Bench::launch(1, 10));
    b.read_until([&] { return b.launched.size() == 1; });
    EXPECT_EQ(b.told_to_read, on ? 1 : 0);
    EXPECT_TRUE(b.registers("10.0.0.1:4001", "boot-1", 6));  // it has lost its connection
    b.links->send(NodeId(1), Bench::launch(2, 10));
    b.sequence = 0;
    b.read_until(b.others.back(), [&] { return b.launched.size() == 2; });
    EXPECT_EQ(b.told_to_read, on ? 1 : 0);
  }
}

TEST(NodeLinks, WhatIsLeftOutIsAskedForAgain) {
  Bench b;
  const auto most = static_cast<uint32_t>(NodeLinks::kMostWaiting);
  for (uint32_t j = 1; j <= 3 * most; ++j) b.links->send(NodeId(1), Bench::launch(j, 8192));
  EXPECT_EQ(b.links->waiting(NodeId(1)), NodeLinks::kMostWaiting);
  b.links->send(NodeId(1), node_rpc::SignalJob{});
  EXPECT_EQ(b.links->waiting(NodeId(1)), NodeLinks::kMostWaiting + 1) << "nothing repeats a signal";
  b.read_until([&] { return b.behind == 1 || b.sequence >= 3 * most; });
  EXPECT_EQ(b.behind, 1);
  EXPECT_EQ(b.links->waiting(NodeId(1)), 0u);
}

TEST(NodeLinks, NothingIsTakenBehindAReportThatWasLost) {
  Bench b;
  auto report = [&](uint64_t number) {
    return b.links->on_report(b.ours, wire::encoded(Numbered<NodeReport>{5, number, node_rpc::JobGone{}}));
  };
  EXPECT_EQ(b.reports, 1) << "the registration";
  EXPECT_TRUE(report(2));
  EXPECT_TRUE(report(2));
  EXPECT_EQ(b.reports, 2) << "what comes twice is taken once";
  EXPECT_TRUE(report(4));
  EXPECT_EQ(b.reports, 2);
  EXPECT_EQ(b.disconnected, 1) << "the node connects again and says what it still has to say";
  EXPECT_EQ(b.links->connected(), 0u);
}

// Whoever has the cluster key can speak as any slurmd; a name is not taken from a machine that is there all the same.
TEST(NodeLinks, AnotherMachineDoesNotTakeTheNameOfAConnectedNode) {
  Bench b;
  const Result<> stolen = b.registers("10.0.0.66:4000", "boot-66", 99);
  ASSERT_FALSE(stolen);
  EXPECT_EQ(stolen.error().hint, "node 'n1' is another machine, at 10.0.0.1, which is connected");
  EXPECT_TRUE(b.is_first());
  EXPECT_EQ(b.reports, 1);
  b.links->on_closed(b.ours.get());
  EXPECT_TRUE(b.registers("10.0.0.66:4000", "boot-66", 100)) << "it is gone, and was replaced";
}

// The id of the boot lies in the node's spool, and disks are copied.
TEST(NodeLinks, WhoHasACopyOfTheDiskDoesNotTakeTheNodesPlace) {
  for (const net::Trust first : {net::Trust::kClusterKey, net::Trust::kCertificate}) {
    Bench b;
    ASSERT_TRUE(b.registers("10.0.0.1:4000", "boot-1", 6, first));
    const net::Channel* node = b.channels.back().get();
    EXPECT_FALSE(b.registers("10.0.0.66:4000", "boot-1", 99, net::Trust::kCertificate));
    EXPECT_TRUE(b.links->node_of(node));
    EXPECT_TRUE(b.registers("10.0.0.1:4001", "boot-2", 7, net::Trust::kCertificate)) << "the node itself, from its address";
    b.links->on_closed(b.channels.back().get());
    EXPECT_TRUE(b.registers("10.0.0.66:4000", "boot-1", 99, net::Trust::kCertificate)) << "nobody is there";
  }
}

// Nothing could take the place of the greatest number.
TEST(NodeLinks, ASessionOfTheFutureIsRefused) {
  Bench b;
  const auto now = static_cast<uint64_t>(net::Loop::now().time_since_epoch().count());
  const auto day = static_cast<uint64_t>(Duration(minutes(24 * 60)).count());
  for (const uint64_t session : {~uint64_t{0}, now + day + 60'000'000}) {
    auto refused = b.registers("10.0.0.1:4001", "boot-1", session);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().hint.find("more than a day ahead"), std::string::npos) << refused.error().hint;
  }
  EXPECT_TRUE(b.is_first());
  EXPECT_TRUE(b.registers("10.0.0.1:4001", "boot-1", now + day / 2)) << "clocks differ";
}

TEST(NodeLinks, TheHostOfAPeer) {
  for (const char* address : {"10.1.2.3:41234", "[::ffff:10.1.2.3]:41234"}) EXPECT_EQ(host_of_peer(address), "10.1.2.3");
  EXPECT_EQ(host_of_peer("[::1]:41234"), "::1");
  EXPECT_EQ(host_of_peer("[fe80::1]:41234"), "fe80::1");
  EXPECT_EQ(host_of_peer("unix"), "unix");
}

TEST(NodeLinks, TheSameMachineTakesItsPlaceAnew) {
  Bench b;
  EXPECT_FALSE(b.registers("10.0.0.1:4001", "boot-1", 4)) << "an older session that comes late";
  EXPECT_TRUE(b.is_first());
  EXPECT_TRUE(b.registers("[::ffff:10.0.0.1]:4002", "boot-2", 6)) << "rebooted, before its old connection was seen to be over";
  EXPECT_FALSE(b.is_first());
  EXPECT_TRUE(b.registers("10.0.0.9:4003", "boot-2", 7)) << "by another of its interfaces";
}

// Whoever holds the connection is told, so that nothing of it stays.
TEST(NodeLinks, WhatIsReplacedOrDroppedIsEnded) {
  Bench b;
  EXPECT_TRUE(b.registers("10.0.0.1:4002", "boot-1", 6));
  EXPECT_EQ(b.ended, std::vector<const net::Channel*>{b.ours.get()});
  EXPECT_EQ(b.disconnected, 0) << "the node is there all the time";
  b.links->drop(NodeId(1));
  EXPECT_EQ(b.ended.size(), 2u);
  EXPECT_EQ(b.disconnected, 1);
}

}  // namespace
}  // namespace muster::slurmctld

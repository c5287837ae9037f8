// slurmd -Z and -F: nodes that come by themselves, and how they end. slurmd(8), guide dynamic_nodes.
#include "slurmctld/core/join_node.h"

#include <gtest/gtest.h>

#include <set>

#include "model/request_texts.h"
#include "slurmctld/core/core_testing.h"
#include "slurmctld/core/token_book.h"

namespace muster::slurmctld {
namespace {

const char kRoom[] = "MaxNodeCount=10\nReturnToService=2\nGresTypes=gpu,tmpfs\n";

rpc::JoinNode asks(const std::string& name, const std::vector<std::pair<std::string, std::string>>& conf = {},
                   const std::string& boot = "boot-d") {
  rpc::JoinNode j;
  j.name = name;
  j.hostname = name + "-host";
  j.port = 7001;
  j.boot_id = boot;
  j.definition = {{"CPUs", "=", "8"}, {"RealMemory", "=", "1000"}};
  for (const auto& [key, value] : conf) j.definition.push_back({key, "=", value});
  return j;
}

struct Dynamic : Bench {
  explicit Dynamic(const std::string& conf = kRoom, bool nodes_up = true) : Bench(conf, nodes_up) {}
  Result<rpc::NodeJoined> join(const rpc::JoinNode& request, const std::string& address = "10.0.0.1", Caller who = Caller::root()) {
    who.address = address;
    Result<rpc::NodeJoined> r;
    turn([&] { r = core.run(who, request); });
    return r;
  }
  const Node& known(const std::string& name) const { return *core.cluster().node(name); }
  bool in(const std::string& partition, const std::string& name) const {
    return core.cluster().partition(partition)->nodes.test(known(name).id.value);
  }
  void registers(const std::string& name, const std::string& boot = "boot-d") {
    const NodeSpec& s = *known(name).spec;
    node_rpc::Register r;
    r.node = name;
    r.hardware.cpus = s.cpus;
    r.hardware.boards = s.boards;
    r.hardware.sockets = s.sockets;
    r.hardware.cores_per_socket = s.cores_per_socket;
    r.hardware.threads_per_core = s.threads_per_core;
    r.hardware.real_memory_mb = s.real_memory_mb;
    r.hardware.boot_id = boot;
    const NodeId id = known(name).id;
    turn([&] {
      core.node_connected(id);
      core.report(id, r);
    });
  }
  // Of all nodes, those that joined alone have 8 CPUs.
  JobId starts_a_job_on(const std::string& name) {
    registers(name);
    const JobId job = submit([](JobRequest& r) { r.min_cpus_per_node = 8; });
    EXPECT_EQ(plan(), 1u);
    started(job);
    EXPECT_EQ(host(job), known(name).id.value);
    return job;
  }
  Result<rpc::Messages> remove(const std::string& nodes) {
    rpc::UpdateNode c;
    c.nodes = nodes;
    c.remove = true;
    Result<rpc::Messages> r;
    turn([&] { r = core.run(Caller::root(), c); });
    return r;
  }
  Result<rpc::Messages> create(const std::string& nodes, const std::string& state) {
    rpc::UpdateNode c{nodes, {{"CPUs", "=", "8"}, {"RealMemory", "=", "1000"}, {"State", "=", state}}};
    c.create = true;
    Result<rpc::Messages> r;
    turn([&] { r = core.run(Caller::root(), c); });
    return r;
  }
  bool drops(NodeId node) const {
    for (const Effect& e : effects)
      if (auto* d = std::get_if<DropNode>(&e); d && d->node == node) return true;
    return false;
  }
};

template <class T>
Errc code(const Result<T>& r) {
  return r ? Errc::kOk : r.error().code;
}

TEST(JoinNode, ANodeOfItsOwnIsInTheLogAndWorksOnceItRegisters) {
  Dynamic b(std::string(kRoom) + "NodeSet=dynamic Feature=dyn\nPartitionName=late Nodes=dynamic\nPartitionName=others Nodes=n0\n");
  const auto joined = b.join(asks("d1", {{"Feature", "dyn"}}));
  ASSERT_TRUE(joined) << joined.error().message();
  EXPECT_EQ(joined->name, "d1");
  EXPECT_EQ(joined->note, "");
  const Node& d1 = b.known("d1");
  EXPECT_EQ(d1.spec->address, "10.0.0.1");
  EXPECT_EQ(d1.spec->hostname, "d1-host");
  EXPECT_EQ(d1.spec->port, 7001);
  EXPECT_EQ(d1.spec->cpus, 8u);
  EXPECT_TRUE(b.in("main", "d1") && b.in("late", "d1"));
  EXPECT_FALSE(b.in("others", "d1"));
  EXPECT_EQ(node_state_long(b.known("d1").state(), b.known("d1").flags), "UNKNOWN+DYNAMIC_NORM");
  b.registers("d1");
  EXPECT_EQ(node_state_long(b.known("d1").state(), b.known("d1").flags), "IDLE+DYNAMIC_NORM");
  b.turn([&] { b.core.configure(b.settings); });
  EXPECT_TRUE(b.in("main", "d1") && b.in("late", "d1"));
  const JobId job = b.submit([](JobRequest& r) { r.min_cpus_per_node = 8; });  // no node of slurm.conf has as many
  EXPECT_EQ(b.plan(), 1u);
  EXPECT_EQ(b.host(job), b.known("d1").id.value);
  b.expect_replay_equal();
}

TEST(JoinNode, OnlyRootAndTheDaemonsMayAsk) {
  Dynamic b;
  const auto refused = b.join(asks("d1"), "10.0.0.1", Caller{Uid(1000), Gid(1000), {}, {}});
  EXPECT_EQ(code(refused), Errc::kAccessDenied);
  EXPECT_FALSE(b.core.cluster().node("d1"));
  EXPECT_EQ(code(b.join(asks("d1"), "10.0.0.1", Caller{b.settings.slurm_user, {}, {}, {}})), Errc::kOk);
}

TEST(JoinNode, WithoutMaxNodeCountThereIsRoomForSlurmConfOnly) {
  Dynamic none("");
  EXPECT_EQ(code(none.join(asks("d1"))), Errc::kInvalidNodeCount);
  EXPECT_EQ(code(none.create("d1", "CLOUD")), Errc::kInvalidNodeCount);
  Dynamic less("MaxNodeCount=2\n");
  EXPECT_EQ(code(less.join(asks("d1"))), Errc::kInvalidNodeCount);
  Dynamic five("MaxNodeCount=5\n");
  EXPECT_EQ(code(five.join(asks("d1"))), Errc::kOk);
  EXPECT_EQ(code(five.join(asks("d2"))), Errc::kInvalidNodeCount);
  EXPECT_EQ(code(five.join(asks("d1"))), Errc::kOk);  // it is there already
}

TEST(JoinNode, ADefinitionIsJudgedAsALineOfSlurmConf) {
  Dynamic b;
  const std::vector<std::pair<std::string, std::string>> bad[] = {{{"PartitionName", "main"}},
                                                                  {{"Nodes", "ALL"}},
                                                                  {{"NodeName", "d2"}},
                                                                  {{"Port", "99"}},
                                                                  {{"NodeHostname", "x"}},
                                                                  {{"Gres", "gpu:4294967296"}},
                                                                  {{"Gres", "gpu:a:600,gpu:b:600"}},
                                                                  {{"Gres", "tape:1"}},
                                                                  {{"Boards", "many"}},
                                                                  {{"State", "CLOUD"}},
                                                                  {{"State", "FUTURE"}},
                                                                  {{"State", "EXTERNAL"}},
                                                                  {{"Feature", "a\nb"}},
                                                                  {{"Feature", "a\" CPUs=9"}},
                                                                  {{"Feature CPUs", "9"}},
                                                                  {{"", "9"}},
                                                                  {{"Feature", "\x1b[2J"}},
                                                                  {{"Topology", "tree:s1"}},
                                                                  {{"\nNodeName", "d2"}},
                                                                  {{"CPUs=9 Weight", "1"}}};
  for (const auto& conf : bad) {
    const auto refused = b.join(asks("d1", conf));
    EXPECT_FALSE(refused) << conf.front().first << "=" << conf.front().second;
    EXPECT_FALSE(b.core.cluster().node("d1")) << conf.front().first;
    EXPECT_TRUE(b.last_events.empty()) << conf.front().first;
  }
  for (const char* name : {"d[1-2]", "", "ALL", "d 1", "d1\n", "d1,d2", "../d1", "n0"}) EXPECT_FALSE(b.join(asks(name))) << name;
  EXPECT_FALSE(b.join(asks(std::string(5000, 'd'))));
  EXPECT_FALSE(b.join(asks("d1", {{"Feature", std::string(100'000, 'f')}})));
  rpc::JoinNode many = asks("d1");
  many.definition.assign(300, {"Weight", "=", "1"});
  EXPECT_FALSE(b.join(many));
}

// As those of a node of slurm.conf without gres.conf: each device has a number of its own, and what is no device is a count.
TEST(JoinNode, GresAreThoseOfALineOfSlurmConf) {
  Dynamic b;
  ASSERT_TRUE(b.join(asks("d1", {{"Gres", "gpu:a:2,gpu:b:3,tmpfs:1000"}})));
  const std::vector<GresDevices>& gres = b.known("d1").spec->gres;
  ASSERT_EQ(gres.size(), 3u);
  EXPECT_EQ(gres[0].first_index, 0u);
  EXPECT_EQ(gres[1].first_index, 2u);
  EXPECT_FALSE(gres[1].count_only);
  EXPECT_TRUE(gres[2].count_only);
}

TEST(JoinNode, AConnectedMachineKeepsItsName) {
  Dynamic b;
  ASSERT_TRUE(b.join(asks("d1")));
  b.registers("d1");
  const auto stolen = b.join(asks("d1", {}, "boot-of-another"), "10.0.0.66");
  ASSERT_FALSE(stolen);
  EXPECT_EQ(stolen.error().message(), "node d1 is another machine, which is connected");
  EXPECT_EQ(b.known("d1").spec->address, "10.0.0.1");
  EXPECT_TRUE(b.join(asks("d1", {}, "boot-after")));          // rebooted, at the same address
  EXPECT_TRUE(b.join(asks("d1", {}, "boot-d"), "10.0.0.2"));  // the same boot, by another interface
  EXPECT_EQ(b.known("d1").spec->address, "10.0.0.2");
  b.turn([&] { b.core.node_disconnected(b.known("d1").id); });
  EXPECT_TRUE(b.join(asks("d1", {}, "boot-of-another"), "10.0.0.66"));  // its machine was replaced
  EXPECT_EQ(b.known("d1").spec->address, "10.0.0.66");
  b.expect_replay_equal();
}

TEST(JoinNode, AnotherDefinitionCountsWhenNoJobIsThere) {
  Dynamic b(std::string(kRoom) + "NodeSet=big Feature=big\nPartitionName=big Nodes=big\n");
  ASSERT_TRUE(b.join(asks("d1")));
  b.registers("d1");
  EXPECT_FALSE(b.in("big", "d1"));
  const JobId job = b.submit([](JobRequest& r) { r.min_cpus_per_node = 8; });
  ASSERT_EQ(b.plan(), 1u);
  b.started(job);
  const auto kept = b.join(asks("d1", {{"Feature", "big"}}));
  ASSERT_TRUE(kept);
  EXPECT_TRUE(kept->note.starts_with("jobs run on node d1")) << kept->note;
  EXPECT_FALSE(b.in("big", "d1"));
  b.ends(job);
  const auto taken = b.join(asks("d1", {{"Feature", "big"}}));
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->note, "");
  EXPECT_TRUE(b.in("big", "d1"));
  EXPECT_EQ(b.known("d1").features_active, std::vector<std::string>{"big"});
  b.expect_replay_equal();
}

TEST(JoinNode, WhatScontrolCreatedKeepsItsDefinition) {
  Dynamic b;
  ASSERT_TRUE(b.create("d1", "CLOUD"));
  const auto joined = b.join(asks("d1", {{"Feature", "own"}}));
  ASSERT_TRUE(joined);
  EXPECT_TRUE(joined->note.starts_with("node d1 was created by scontrol")) << joined->note;
  EXPECT_TRUE(b.known("d1").spec->features.empty());
  EXPECT_EQ(b.known("d1").spec->address, "10.0.0.1");
  EXPECT_TRUE(b.known("d1").spec->cloud);
  b.registers("d1");
  EXPECT_EQ(b.known("d1").state(), NodeState::kIdle);
  EXPECT_EQ(code(b.join(asks("n1"))), Errc::kInvalidNodeName);  // of slurm.conf
  b.expect_replay_equal();
}

TEST(DeleteNode, EndsADynamicNodeUnlessItIsNeeded) {
  Dynamic b;
  ASSERT_TRUE(b.join(asks("d1")));
  const JobId job = b.starts_a_job_on("d1");
  EXPECT_EQ(code(b.remove("d1")), Errc::kNodesBusy);
  b.ends(job);
  const NodeId id = b.known("d1").id;
  ASSERT_TRUE(b.remove("d1"));
  EXPECT_FALSE(b.core.cluster().node("d1"));
  EXPECT_FALSE(b.core.cluster().partition("main")->nodes.test(id.value));
  EXPECT_TRUE(b.drops(id));  // no order of a later node with this number reaches its slurmd
  b.expect_replay_equal();
}

// An ended job names its node by number until MinJobAge is over.
TEST(DeleteNode, ItsNumberIsNotGivenAgainWhileAJobIsKnownByIt) {
  Dynamic b;
  ASSERT_TRUE(b.join(asks("d1")));
  const JobId job = b.starts_a_job_on("d1");
  b.ends(job);
  const NodeId id = b.known("d1").id;
  ASSERT_TRUE(b.remove("d1"));
  ASSERT_TRUE(b.join(asks("d2")));
  EXPECT_NE(b.known("d2").id, id);
  b.wait(seconds(200));  // MinJobAge
  ASSERT_FALSE(b.exists(job));
  ASSERT_TRUE(b.join(asks("d3")));
  EXPECT_EQ(b.known("d3").id, id);
  b.expect_replay_equal();
}

TEST(JoinNode, AFutureNodeIsGivenToAMachineOfItsMake) {
  Dynamic b(std::string(kRoom) + "NodeName=f[1-2] CPUs=8 RealMemory=1000 State=FUTURE Feature=small\n" +
                "NodeName=g1 Sockets=2 CoresPerSocket=4 RealMemory=1000 State=FUTURE Feature=wide\n",
            false);
  auto future = [&](const std::string& host, const std::string& feature, const std::string& boot) {
    rpc::JoinNode j = asks(host, {}, boot);
    j.as = rpc::JoinAs::kFuture;
    j.feature = feature;
    return j;
  };
  EXPECT_EQ(code(b.join(future("a", "wide", "1"))), Errc::kInvalidNodeName);
  const auto first = b.join(future("a", "", "1"));
  ASSERT_TRUE(first) << first.error().message();
  EXPECT_EQ(first->name, "f1");
  EXPECT_EQ(b.known("f1").spec->hostname, "a");
  EXPECT_EQ(b.known("f1").spec->address, "10.0.0.1");
  b.registers("f1", "1");
  EXPECT_EQ(node_state_long(b.known("f1").state(), b.known("f1").flags), "IDLE+DYNAMIC_FUTURE");
  EXPECT_EQ(b.join(future("a", "", "1"))->name, "f1");  // started again
  EXPECT_EQ(b.join(future("b", "small", "2"), "10.0.0.2")->name, "f2");
  EXPECT_EQ(code(b.join(future("c", "", "3"), "10.0.0.3")), Errc::kInvalidNodeName);
  EXPECT_EQ(code(b.join(future("a", "", "9"), "10.0.0.9")), Errc::kInvalidNodeName);  // a name that is another machine's
  b.turn([&] { b.core.configure(b.settings); });
  EXPECT_EQ(b.known("f1").spec->hostname, "a");
  b.set_node("f1", "FUTURE");
  EXPECT_EQ(b.known("f1").spec->hostname, "f1");
  EXPECT_EQ(b.known("f1").spec->address, "f1");
  EXPECT_FALSE(b.known("f1").flags & kNodeDynamicFuture);
  EXPECT_TRUE(b.drops(b.known("f1").id));
  b.turn([&] { b.core.node_disconnected(b.known("f1").id); });
  EXPECT_EQ(b.join(future("c", "", "3"), "10.0.0.3")->name, "f1");
  b.expect_replay_equal();
}

// A certificate names the node, and what else the machine says does not count.
TEST(JoinNode, AFutureNodeByACertificateIsThatNodeForGood) {
  Dynamic b(std::string(kRoom) + "NodeName=f[1-3] CPUs=8 RealMemory=1000 State=FUTURE\n" +
                "NodeName=g1 Sockets=2 CoresPerSocket=4 RealMemory=1000 State=FUTURE\n",
            false);
  auto as = [&](const std::string& node) {
    Caller who = Caller::root();
    who.through_node = b.known(node).id;
    return who;
  };
  auto future = [&](const std::string& host, const std::string& boot) {
    rpc::JoinNode j = asks(host, {}, boot);
    j.as = rpc::JoinAs::kFuture;
    return j;
  };
  EXPECT_EQ(b.join(future("a", "1"), "10.0.0.1", as("f2"))->name, "f2") << "not the first that fits";
  b.registers("f2", "1");
  EXPECT_EQ(b.join(future("b", "2"), "10.0.0.2")->name, "f1");
  b.registers("f1", "2");
  EXPECT_EQ(b.join(future("b", "1"), "10.0.0.1", as("f2"))->name, "f2") << "whatever it is called: f1 is another's";
  EXPECT_EQ(b.known("f1").spec->address, "10.0.0.2");
  EXPECT_EQ(code(b.join(future("c", "3"), "10.0.0.3", as("f2"))), Errc::kInvalidNodeName) << "it is connected from elsewhere";
  EXPECT_EQ(code(b.join(future("d", "4"), "10.0.0.4", as("g1"))), Errc::kInvalidNodeName) << "it does not fit";
  b.expect_replay_equal();
}

TEST(JoinNode, AFutureNodeIsChosenAmongTheNamesOfAToken) {
  Dynamic b(std::string(kRoom) + "NodeName=f[1-3] CPUs=8 RealMemory=1000 State=FUTURE Feature=small\n", false);
  rpc::JoinNode machine = asks("a");
  machine.as = rpc::JoinAs::kFuture;
  std::set<std::string> named{"f2", "f3"}, given;
  const FutureNames names{[&](const std::string& n) { return named.contains(n); },
                          [&](const std::string& n) { return !given.contains(n); }};
  const auto choose = [&] { return choose_future(b.core.cluster(), b.settings.config(), machine, names).value_or(""); };
  EXPECT_EQ(choose(), "f2");
  given = {"f2"};
  EXPECT_EQ(choose(), "f3");
  given = {"f2", "f3"};
  EXPECT_EQ(choose(), "") << "f1 is none of its names";
  ASSERT_EQ(b.join(machine)->name, "f1");
  named = {"f1", "f2"};
  EXPECT_EQ(choose(), "f1") << "the machine had it before";
  named = {"f2"};
  EXPECT_EQ(choose(), "");
  given = {};
  machine.feature = "wide";
  EXPECT_EQ(choose(), "");
  machine.feature = "small";
  EXPECT_EQ(choose(), "f2");
  machine.name = "f[1-9]";
  EXPECT_EQ(choose(), "");
  machine.name = std::string(kMostText + 1, 'x');
  EXPECT_EQ(choose(), "");
}

Caller with_key(TokenNames names) {
  Caller who = Caller::root();
  who.token_names = std::make_shared<const TokenNames>(std::move(names));
  return who;
}

TEST(JoinNode, AFutureNodeThatATokenIsForIsNotGivenToTheClusterKey) {
  Dynamic b(std::string(kRoom) + "NodeName=f[1-3] CPUs=8 RealMemory=1000 State=FUTURE\n", false);
  rpc::JoinNode machine = asks("a");
  machine.as = rpc::JoinAs::kFuture;
  ASSERT_EQ(b.join(machine)->name, "f1");
  rpc::JoinNode other = asks("b", {}, "boot-b");
  other.as = rpc::JoinAs::kFuture;
  EXPECT_EQ(code(b.join(other, "10.0.0.2", with_key({{"f3"}, {"f1", "f2"}}))), Errc::kInvalidNodeName);
  EXPECT_EQ(b.join(machine, "10.0.0.1", with_key({{}, {"f1", "f2"}}))->name, "f1") << "it had the name before there was a token";
  EXPECT_EQ(code(b.join(machine, "10.0.0.1", with_key({{"f1"}, {"f2", "f3"}}))), Errc::kInvalidNodeName)
      << "it has joined by a token since";
  EXPECT_EQ(b.join(other, "10.0.0.2", with_key({{"f1"}, {"f2"}}))->name, "f3");
  b.expect_replay_equal();
}

TEST(JoinNode, ANodeOfItsOwnThatATokenIsForIsNotJoinedWithTheClusterKey) {
  Dynamic b;
  const auto early = b.join(asks("d1"), "10.0.0.1", with_key({{}, {"d1"}}));
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().message(), "the name of node d1 is for who joins by a token");
  EXPECT_FALSE(b.core.cluster().node("d1"));
  ASSERT_TRUE(b.create("d2", "CLOUD"));
  EXPECT_FALSE(b.join(asks("d2"), "10.0.0.1", with_key({{}, {"d2"}}))) << "nobody has been it yet";
  ASSERT_TRUE(b.join(asks("d1"), "10.0.0.1", with_key({{"d2"}, {"d3"}})));
  b.registers("d1");
  EXPECT_TRUE(b.join(asks("d1"), "10.0.0.1", with_key({{}, {"d1"}}))) << "it has the name already";
  EXPECT_FALSE(b.join(asks("d1"), "10.0.0.1", with_key({{"d1"}, {}}))) << "it has joined by a token since";
  b.expect_replay_equal();
}

TEST(JoinNode, ItIsPlacedInTheTopologyThatItNames) {
  Dynamic b;
  auto loaded = std::make_shared<config::LoadedConfig>(*b.settings.loaded);
  Topology tree{.kind = TopologyKind::kTree};
  tree.name = "tree";
  tree.units.push_back({.name = "s1", .nodes = {0, 1, 2, 3}});
  loaded->topology.topologies.all = {tree};
  b.settings.loaded = loaded;
  b.turn([&] { b.core.configure(b.settings); });
  ASSERT_TRUE(b.join(asks("d1", {{"Topology", "tree:s1"}})));
  auto placed = [&] { return placed_at(*b.core.cluster().topologies, 4); };
  EXPECT_EQ(placed(), "tree:s1");
  ASSERT_TRUE(b.remove("d1"));
  EXPECT_EQ(placed(), "");
  ASSERT_TRUE(b.join(asks("d2")));  // with the same number, and nowhere
  ASSERT_EQ(b.known("d2").id, NodeId(4));
  EXPECT_EQ(placed(), "");
  b.expect_replay_equal();
}

}  // namespace
}  // namespace muster::slurmctld

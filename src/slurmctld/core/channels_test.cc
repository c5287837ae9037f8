// IMEX channels: who is given which, and until when.
#include "slurmctld/core/channels.h"

#include "model/channels.h"
#include "slurmctld/core/core_testing.h"

namespace muster::slurmctld {
namespace {

std::string conf(uint32_t channels) {
  return "SwitchType=switch/nvidia_imex\nSwitchParameters=imex_channel_count=" + std::to_string(channels) + "\n";
}

struct Channels : Bench {
  explicit Channels(uint32_t count = 2) : Bench(conf(count)) {}

  JobId runs(uint32_t nodes = 1, const std::function<void(JobRequest&)>& more = {}) {
    const JobId id = submit([&](JobRequest& r) {
      r.min_nodes = r.max_nodes = r.num_tasks = nodes;
      r.mem_per_node_mb = 10;
      if (more) more(r);
    });
    plan();
    if (state(id) == JobState::kRunning) started(id);
    return id;
  }
  std::vector<uint32_t> held(JobId job) const { return channels_held(get(job)); }
  Verdict verdict(JobId job) const {
    const Verdict* known = core.cluster().moment.verdicts.find(job.value);
    return known ? *known : Verdict();
  }
  Result<rpc::JobSubmitted> ask(const std::function<void(JobRequest&)>& change) {
    Result<rpc::JobSubmitted> r = fail(Errc::kError);
    const JobRequest q = request(change);
    turn([&] { r = core.run(Caller{q.uid, q.gid, {}, {}}, q); });
    return r;
  }
  Result<rpc::JobSubmitted> ask_together(std::vector<std::function<void(JobRequest&)>> components) {
    HetRequest h;
    for (auto& change : components) h.components.push_back(request(change));
    Result<rpc::JobSubmitted> r = fail(Errc::kError);
    turn([&] { r = core.run(Caller{Uid(1000), {}, {}, {}}, h); });
    return r;
  }
  // Two base blocks, n0 and n1, n2 and n3.
  void make_blocks() {
    auto loaded = std::make_shared<config::LoadedConfig>(*settings.loaded);
    Topology t{.name = "racks", .kind = TopologyKind::kBlock, .cluster_default = true};
    t.units = {{.name = "b1", .nodes = {0, 1}}, {.name = "b2", .nodes = {2, 3}}};
    t.block_sizes = {2};
    loaded->topology.topologies.all = {t};
    settings.loaded = loaded;
    turn([&] { core.configure(settings); });
  }
};

const auto kPerSegment = [](JobRequest& r) {
  r.segment = 2;
  r.network = "unique-channel-per-segment";
};

TEST(FreeChannels, AreLookedForOnAndRound) {
  PersistentMap<uint32_t> used;
  used.set(1, 1);
  used.set(4, 2);
  using Found = std::vector<uint32_t>;
  EXPECT_EQ(free_channels(used, 5, 0, 2), (Found{0, 2}));
  EXPECT_EQ(free_channels(used, 5, 3, 2), (Found{3, 0}));
  EXPECT_EQ(free_channels(used, 5, 8, 1), (Found{3}));
  EXPECT_EQ(free_channels(used, 5, 0, 4), Found());
  EXPECT_EQ(free_channels(used, 0, 7, 1), Found());
}

TEST(Channel, IsOfAJobOnAllItsNodesAndStandsInWhatTheyAreTold) {
  Channels b;
  const JobId job = b.runs(2);
  ASSERT_EQ(b.held(job).size(), 1u);
  for (const NodeShare& share : b.get(job).allocation->nodes) EXPECT_EQ(share.channel, b.held(job).front());
  EXPECT_EQ(job_on_node(b.core.cluster(), b.get(job), 1).share.channel, b.held(job).front());
  b.expect_replay_equal();
}

TEST(Channel, IsNobodysWithoutTheSwitchType) {
  Bench b;
  const JobId job = b.submit([](JobRequest& r) { r.network = "job_vni"; });  // it is recorded
  b.plan();
  EXPECT_EQ(b.get(job).allocation->nodes[0].channel, std::nullopt);
  EXPECT_TRUE(b.core.cluster().channels.empty());
}

TEST(Channel, IsKeptUntilNothingOfTheJobIsLeftOnAnyNode) {
  Channels b;
  const JobId first = b.runs(2), second = b.runs(), waits = b.runs();
  EXPECT_NE(b.held(first), b.held(second));
  EXPECT_EQ(b.state(waits), JobState::kPending);
  EXPECT_EQ(b.verdict(waits).reason, Reason::kResources);
  EXPECT_EQ(b.verdict(waits).detail.str(), "all 2 IMEX channels are in use (imex_channel_count)");
  const std::vector<uint32_t> had = b.held(first);
  const uint32_t other = b.get(first).allocation->nodes[1].node.value;
  b.ends(first);  // gone on the node of its script
  EXPECT_EQ(b.held(first), had);
  b.plan();
  EXPECT_EQ(b.state(waits), JobState::kPending);
  b.gone(first, other);
  EXPECT_TRUE(b.held(first).empty());
  b.plan();
  ASSERT_EQ(b.state(waits), JobState::kRunning);
  EXPECT_EQ(b.held(waits), had);
  b.expect_replay_equal();
}

// Two jobs are planned for the one channel that is left.
TEST(Channel, IsNotGivenTwiceByAPlan) {
  Channels b(1);
  const auto little = [](JobRequest& r) { r.mem_per_node_mb = 10; };
  const JobId one = b.submit(little), two = b.submit(little);
  EXPECT_EQ(b.plan(), 1u);
  EXPECT_EQ(b.state(one), JobState::kRunning);
  EXPECT_EQ(b.state(two), JobState::kPending);
  b.started(one);
  b.ends(one);
  EXPECT_EQ(b.plan(), 1u);
  EXPECT_EQ(b.state(two), JobState::kRunning);
}

TEST(Channel, OfANodeThatWasGivenUpIsKeptUntilThatIsClean) {
  Channels b(1);
  const JobId job = b.runs(2);
  const uint32_t left = b.get(job).allocation->nodes[1].node.value;
  ASSERT_TRUE(b.update(job, "NumNodes", "1"));
  ASSERT_FALSE(b.get(job).run->leaving.empty());
  b.ends(job);
  EXPECT_EQ(b.held(job).size(), 1u);
  b.gone(job, left);
  EXPECT_TRUE(b.core.cluster().channels.empty());
  b.expect_replay_equal();
}

TEST(Channel, OfEachSegmentIsItsOwn) {
  Channels b;
  b.make_blocks();
  const JobId job = b.runs(4, kPerSegment);
  ASSERT_EQ(b.state(job), JobState::kRunning);
  std::map<uint32_t, std::set<uint32_t>> blocks;  // by channel
  for (const NodeShare& share : b.get(job).allocation->nodes) blocks[share.channel.value()].insert(share.node.value / 2);
  ASSERT_EQ(blocks.size(), 2u);
  for (const auto& [channel, where] : blocks) EXPECT_EQ(where.size(), 1u) << channel;
  EXPECT_EQ(b.core.cluster().channels.size(), 2u);
  b.expect_replay_equal();
}

TEST(Channel, OfSegmentsIsOneWhereThereAreNoBlocks) {
  Channels b(1);
  EXPECT_EQ(b.held(b.runs(4, kPerSegment)).size(), 1u);
}

TEST(Network, MoreChannelsThanThereAreAreRefused) {
  Channels b(1);
  b.make_blocks();
  const auto big = [](JobRequest& r) {
    kPerSegment(r);
    r.min_nodes = r.max_nodes = r.num_tasks = 4;
  };
  const auto refused = b.ask(big);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kRequestedNodeConfigUnavailable);
  EXPECT_EQ(refused.error().hint,
            "--network=unique-channel-per-segment: the job may have 2 segments that want a channel each, and there are 1 channels "
            "(SwitchParameters=imex_channel_count)");
  const auto small = [&](JobRequest& r) { big(r), r.min_nodes = r.max_nodes = 2; };  // two tasks on each
  const auto taken = b.ask(small);
  ASSERT_TRUE(taken);
  EXPECT_FALSE(b.update(taken->job, "NumNodes", "4"));  // nor later
}

TEST(Network, WordsThatAreNotKnownAreRefused) {
  Channels b;
  const auto refused = b.ask([](JobRequest& r) { r.network = "unique-channel-per-segment,job_vni"; });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kInterconnectFailed);
  EXPECT_EQ(refused.error().hint, "--network: \"job_vni\" is not known to switch/nvidia_imex, which takes unique-channel-per-segment");
}

TEST(Network, OfAStepIsWhatItsJobHas) {
  Channels b;
  b.make_blocks();
  const JobId job = b.runs(4, [](JobRequest& r) { r.segment = 2; });
  const auto step = [&](JobId of, const std::string& network) {
    rpc::CreateStep c;
    c.job = of;
    c.request.network = network;
    c.request.overlap = true;
    Result<rpc::StepCreated> r = fail(Errc::kError);
    b.turn([&] { r = b.core.run(Caller{Uid(1000), {}, {}, {}}, c); });
    return r;
  };
  const auto plain = step(job, "");
  ASSERT_TRUE(plain) << plain.error().hint;
  for (const rpc::StepNode& node : plain->nodes) EXPECT_EQ(node.channel, b.held(job).front());
  EXPECT_EQ(step(job, "no_vni").error().code, Errc::kInterconnectFailed);
  EXPECT_EQ(step(job, "unique-channel-per-segment").error().code, Errc::kInterconnectFailed);
}

// What runs over all components is one program.
TEST(Channel, OfComponentsIsOne) {
  Channels b(1);
  const auto node = [](JobRequest& r) {
    r.min_nodes = r.max_nodes = 1;
    r.exclusive = Exclusive::kNode;
  };
  const auto leader = b.ask_together({node, node, node});
  ASSERT_TRUE(leader);
  b.plan();
  std::set<std::vector<uint32_t>> held;
  for (uint32_t i = 0; i < 3; ++i) {
    ASSERT_EQ(b.state(JobId(leader->job.value + i)), JobState::kRunning);
    held.insert(b.held(JobId(leader->job.value + i)));
  }
  EXPECT_EQ(held, (std::set<std::vector<uint32_t>>{{0}}));
  EXPECT_EQ(b.core.cluster().channels.at(0), 3u);
  b.expect_replay_equal();
}

TEST(Channel, OfComponentsWithSegmentsAreCountedTogether) {
  Channels b(2);
  b.make_blocks();
  const auto segments = [](JobRequest& r) {
    r.segment = 1;
    r.network = "unique-channel-per-segment";
    r.min_nodes = r.max_nodes = r.num_tasks = 2;
  };
  const auto node = [](JobRequest& r) { r.min_nodes = r.max_nodes = 1; };
  EXPECT_EQ(b.ask_together({segments, node}).error().code, Errc::kRequestedNodeConfigUnavailable);
  EXPECT_TRUE(b.ask_together({node, node}));
}

}  // namespace
}  // namespace muster::slurmctld

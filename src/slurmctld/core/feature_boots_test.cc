// Jobs that wait for nodes to boot with other features: what nodes are told, what they say when they are back, what becomes of the job.
#include "slurmctld/core/feature_boots.h"

#include <algorithm>

#include "base/text.h"
#include "slurmctld/core/core_testing.h"

namespace muster::slurmctld {
namespace {

constexpr const char* kHelpers = "Feature=nps1,nps2 Helper=/h/nps\nFeature=mig Helper=/h/mig\nMutuallyExclusive=nps1,nps2\nBootTime=200\n";

Settings with_helpers(const std::string& more, const std::string& helpers, const std::string& features = "fast,nps1,nps2") {
  config::MemoryFiles files{
      {"/etc/slurm/slurm.conf",
       "ClusterName=c\nSlurmctldHost=ctl\nSelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\nSlurmdTimeout=60\n"
       "RebootProgram=/b\nResumeTimeout=100\nNodeFeaturesPlugins=node_features/helpers\n" +
           more + "NodeName=n[0-3] CPUs=4 Features=" + features + "\nPartitionName=main Nodes=ALL Default=YES MaxTime=60\n"},
      {"/etc/slurm/helpers.conf", helpers}};
  auto loaded = config::load_config(files, "/etc/slurm/slurm.conf");
  EXPECT_TRUE(loaded.has_value()) << (loaded ? "" : config::to_text(loaded.error()));
  Settings settings = make_settings(std::make_shared<const config::LoadedConfig>(std::move(*loaded)), Uid(64030), false);
  settings.requeue_delay = {};
  return settings;
}

// n0 has nps1, the others nps2.
struct Site : Bench {
  explicit Site(const std::string& more = "", const std::string& helpers = kHelpers) : Bench("", false) {
    settings = with_helpers(more, helpers);
    turn([&] { core.configure(settings); });
    for (uint32_t i = 0; i < 4; ++i) came(i, "boot1", i == 0 ? "nps1" : "nps2");
  }
  // "-": its helpers print nothing.
  void came(uint32_t index, const std::string& boot, const std::string& active, const std::string& fault = "") {
    node_rpc::Register r;
    r.node = "n" + std::to_string(index);
    r.hardware.cpus = r.hardware.sockets = 4;
    r.hardware.cores_per_socket = r.hardware.threads_per_core = 1;
    r.hardware.real_memory_mb = 1;
    r.hardware.boot_id = boot;
    r.hardware.changeable = {"nps1", "nps2", "mig", "unheard"};
    if (active != "-") {
      r.hardware.changeable_told = {"nps1", "nps2"};
      r.hardware.changeable_active = {active};
    }
    r.fault = fault;
    turn([&] {
      core.node_connected(NodeId(index));
      core.report(NodeId(index), r);
    });
  }
  std::string active(uint32_t index) const { return join(node(index).features_active, ","); }
  JobId job(const std::string& constraint, uint32_t nodes = 1, const std::string& user = "ann") {
    return submit([&](JobRequest& r) {
      r.features = constraint;
      r.min_nodes = r.max_nodes = nodes;
      r.user_name = user;
      if (user != "ann") r.uid = Uid(1001);
      r.requeue = TriState::kYes;
    });
  }
  // On that node, queued again where it cannot start.
  JobId on(const std::string& node, const std::string& constraint) {
    return submit([&](JobRequest& r) {
      r.features = constraint;
      r.required_nodes = node;
      r.requeue = TriState::kYes;
    });
  }
  bool boots(uint32_t index) const { return node(index).flags & kNodeRebootIssued; }
  bool configures(JobId id) const { return get(id).flags & kJobConfiguring; }
  std::string refused(const std::function<void(JobRequest&)>& change, const Caller& who = Caller{Uid(1000), Gid(1000), {}, {}}) {
    Result<rpc::JobSubmitted> answer = fail(Errc::kError);
    turn([&] { answer = core.run(who, request(change)); });
    return answer ? "" : std::string(answer.error().message()) + " " + std::string(answer.error().hint);
  }
};

TEST(FeatureBoots, WhatANodeHas) {
  Site site;
  EXPECT_EQ(site.active(0), "fast,nps1") << "of slurm.conf's only what cannot change is active by itself";
  EXPECT_EQ(site.active(1), "fast,nps2");
  EXPECT_EQ(join(available_features(site.node(0)), ","), "fast,nps1,nps2,mig") << "helpers.conf of slurmctld does not know the other";
  site.turn([&] { site.core.configure(site.settings); });  // scontrol reconfigure
  EXPECT_EQ(site.active(0), "fast,nps1");
  site.expect_replay_equal();
}

TEST(FeatureBoots, ANodeThatHasItIsNotRebooted) {
  Site site;
  const JobId job = site.job("nps1");
  EXPECT_EQ(site.plan(), 1u);
  EXPECT_EQ(site.host(job), 0u);
  EXPECT_FALSE(site.boots(0));
  EXPECT_FALSE(site.configures(job));
}

TEST(FeatureBoots, OthersRebootAndTheJobStartsWhenTheyAreBack) {
  Site site;
  const JobId job = site.job("nps1", 2);
  EXPECT_EQ(site.plan(), 1u);
  EXPECT_FALSE(site.boots(0)) << "it has it";
  ASSERT_TRUE(site.boots(1));
  EXPECT_TRUE(site.configures(job));
  EXPECT_TRUE(site.get(job).flags & kJobPowerUpNode);
  ASSERT_EQ(site.orders<node_rpc::RebootNode>().size(), 1u);
  EXPECT_EQ(site.orders<node_rpc::RebootNode>()[0].features, FeatureList{"nps1"});
  EXPECT_EQ(site.node(1).reason, "rebooted for job " + std::to_string(job.value) + " : reboot issued");
  EXPECT_TRUE(site.orders<node_rpc::LaunchBatch>().empty());
  EXPECT_EQ(site.node(1).resume_deadline, site.now + seconds(200)) << "BootTime is longer than ResumeTimeout";
  site.came(1, "boot1", "nps2");  // it has not gone yet: told again, with the features
  ASSERT_EQ(site.orders<node_rpc::RebootNode>().size(), 1u);
  EXPECT_EQ(site.orders<node_rpc::RebootNode>()[0].features, FeatureList{"nps1"});
  EXPECT_TRUE(site.configures(job));
  site.came(1, "boot2", "nps1");
  EXPECT_FALSE(site.boots(1));
  EXPECT_FALSE(site.configures(job));
  EXPECT_EQ(site.active(1), "fast,nps1");
  EXPECT_EQ(site.node(1).reason, "");
  EXPECT_TRUE(site.node(1).boot_features.empty());
  EXPECT_EQ(site.orders<node_rpc::LaunchBatch>().size(), 1u);
  site.expect_replay_equal();
}

// Its helpers print nothing: what it was told to bring is active.
TEST(FeatureBoots, WhereHelpersSayNothingSlurmctldKnows) {
  Site site;
  site.came(2, "boot1", "-");
  EXPECT_EQ(site.active(2), "fast,nps2") << "as it was";
  const JobId job = site.on("n2", "nps1&mig");
  EXPECT_EQ(site.plan(), 1u);
  ASSERT_EQ(site.orders<node_rpc::RebootNode>().size(), 1u);
  EXPECT_EQ(site.orders<node_rpc::RebootNode>()[0].features, (FeatureList{"nps1", "mig"}));
  site.came(2, "boot2", "-");
  EXPECT_EQ(site.active(2), "fast,nps1,mig") << "nps1 took the place of nps2";
  EXPECT_FALSE(site.configures(job));
}

TEST(FeatureBoots, ANodeThatDoesNotComeBackIsDownAndTheJobWaitsAgain) {
  Site site;
  const JobId job = site.on("n1", "nps1");
  site.plan();
  site.turn([&] { site.core.node_disconnected(NodeId(1)); });
  site.wait(seconds(201));
  EXPECT_EQ(site.node(1).admin, NodeState::kDown);
  EXPECT_EQ(site.node(1).reason, "rebooted for job " + std::to_string(job.value) + " : reboot timed out");
  EXPECT_TRUE(site.node(1).boot_features.empty());
  EXPECT_EQ(site.get(job).restarts, 1u);
  site.expect_replay_equal();
}

TEST(FeatureBoots, ANodeThatComesBackWithoutItTakesNoJobs) {
  Site site;
  const JobId job = site.on("n1", "nps1");
  site.plan();
  site.came(1, "boot2", "nps2");
  EXPECT_TRUE(site.node(1).flags & kNodeDrain);
  EXPECT_EQ(site.node(1).reason, "features not active after the boot: nps1");
  EXPECT_EQ(site.active(1), "fast,nps2");
  EXPECT_EQ(site.get(job).restarts, 1u);
  EXPECT_TRUE(site.orders<node_rpc::LaunchBatch>().empty());
  site.expect_replay_equal();
}

TEST(FeatureBoots, WhatAnAdministratorSaidOfTheNodeIsKept) {
  Site site;
  rpc::ControlNodes reboot;
  reboot.nodes = "n1";
  reboot.asap = true;
  reboot.reason = "bad disk";
  site.turn([&] { ASSERT_TRUE(site.core.run(Caller::root(), reboot).has_value()); });
  ASSERT_TRUE(site.boots(1)) << site.node(1).reason;
  site.came(1, "boot1", "nps2", "node features: /h/nps: exit code 1");
  EXPECT_FALSE(site.boots(1));
  EXPECT_TRUE(site.node(1).flags & kNodeDrain);
  EXPECT_EQ(site.node(1).reason, "bad disk");
  EXPECT_FALSE(site.node(1).action_drained) << "it does not come back by itself";
}

TEST(FeatureBoots, AFeatureThatSlurmConfBringsIsNotActiveByItself) {
  Site site;
  EXPECT_EQ(site.active(2), "fast,nps2");
  site.settings = with_helpers("", kHelpers, "fast,nps1,nps2,mig");
  site.turn([&] { site.core.configure(site.settings); });
  EXPECT_EQ(site.active(2), "fast,nps2");
  site.expect_replay_equal();
}

TEST(FeatureBoots, HelpersThatFailEndTheReboot) {
  Site site;
  const JobId job = site.on("n1", "nps1");
  site.plan();
  site.came(1, "boot1", "nps2", "node features: /h/nps: exit code 1");
  EXPECT_FALSE(site.boots(1));
  EXPECT_TRUE(site.orders<node_rpc::RebootNode>().empty());
  EXPECT_TRUE(site.node(1).flags & kNodeDrain);
  EXPECT_EQ(site.node(1).reason, "node features: /h/nps: exit code 1");
  EXPECT_EQ(site.get(job).restarts, 1u);
  site.came(3, "boot1", "-", "node features: /h/nps: timed out");  // at its start
  EXPECT_TRUE(site.node(3).flags & kNodeDrain);
}

TEST(FeatureBoots, OnlyWhoIsAllowedTo) {
  Site site("", std::string(kHelpers) + "AllowUserBoot=ann\n");
  const JobId bob = site.job("nps1", 2, "bob"), ann = site.job("nps1", 2, "ann");
  EXPECT_EQ(site.plan(), 1u);
  EXPECT_EQ(site.state(bob), JobState::kPending);
  EXPECT_TRUE(site.configures(ann));
}

TEST(FeatureBoots, TheControllersProgramIsToldTheFeatures) {
  Site site("SlurmctldParameters=reboot_from_controller\n");
  site.job("nps1", 3);
  site.plan();
  EXPECT_TRUE(site.orders<node_rpc::RebootNode>().empty());
  size_t calls = 0;
  for (const Effect& effect : site.effects)
    if (auto* power = std::get_if<PowerNodes>(&effect)) {
      ++calls;
      EXPECT_EQ(power->nodes.size(), 2u) << "one program for both";
      EXPECT_EQ(power->features, FeatureList{"nps1"});
    }
  EXPECT_EQ(calls, 1u);
}

TEST(FeatureBoots, RebootItself) {
  Site site;
  const auto rebooted = [](JobRequest& r) {
    r.reboot = true;
    r.required_nodes = "n3";
  };
  EXPECT_NE(site.refused(rebooted).find("only administrators may reboot nodes"), std::string::npos);
  EXPECT_EQ(site.refused(rebooted, Caller::root()), "");
  EXPECT_EQ(site.plan(), 1u);
  ASSERT_TRUE(site.boots(3));
  EXPECT_TRUE(site.orders<node_rpc::RebootNode>()[0].features.empty());
  EXPECT_EQ(site.node(3).resume_deadline, site.now + seconds(100)) << "ResumeTimeout";
  site.came(3, "boot2", "nps2");
  EXPECT_EQ(site.orders<node_rpc::LaunchBatch>().size(), 1u);
  Bench none;  // without RebootProgram: ignored, as the page says
  none.turn([&] { EXPECT_TRUE(none.core.run(Caller::root(), Bench::request(rebooted)).has_value()); });
  EXPECT_EQ(none.plan(), 1u);
  EXPECT_EQ(none.node(3).flags & kNodeRebootIssued, 0u);
}

// It comes up with the features: ResumeProgram finds them in its file.
TEST(FeatureBoots, ANodeThatIsPoweredDown) {
  for (const char* came : {"nps1", "nps2"}) {
    Site site("SuspendProgram=/s\nResumeProgram=/r\nSuspendTimeout=20\n");
    rpc::ControlNodes down;
    down.action = rpc::NodeAction::kPowerDown;
    down.nodes = "n3";
    site.turn([&] { EXPECT_TRUE(site.core.run(Caller::root(), down).has_value()); });
    site.turn([&] { site.core.node_disconnected(NodeId(3)); });
    site.wait(seconds(21));
    ASSERT_TRUE(site.node(3).flags & kNodePoweredDown);
    EXPECT_EQ(site.active(3), "fast");
    const JobId job = site.on("n3", "nps1");
    EXPECT_EQ(site.plan(), 1u);
    EXPECT_TRUE(site.node(3).flags & kNodePoweringUp);
    EXPECT_FALSE(site.boots(3));
    EXPECT_EQ(site.active(3), "fast,nps1");
    site.came(3, "boot2", came);
    const bool wrong = std::string_view(came) != "nps1";
    EXPECT_EQ((site.node(3).flags & kNodeDrain) != 0, wrong);
    EXPECT_EQ(site.get(job).restarts, wrong ? 1u : 0u);
    EXPECT_EQ(site.orders<node_rpc::LaunchBatch>().size(), wrong ? 0u : 1u);
    site.expect_replay_equal();
  }
}

TEST(FeatureBoots, ACancelledJobLeavesTheNodeToBoot) {
  Site site;
  const JobId job = site.job("nps1", 2);
  site.plan();
  site.cancel(job);
  EXPECT_EQ(site.node(1).jobs_running + site.node(1).jobs_completing, 0u);
  EXPECT_TRUE(site.boots(1));
  site.came(1, "boot2", "nps1");
  EXPECT_FALSE(site.boots(1));
  EXPECT_EQ(site.active(1), "fast,nps1");
  site.expect_replay_equal();
}

TEST(FeatureBoots, WhatIsRefused) {
  Site site;
  for (const auto& [constraint, rule] :
       {std::pair{"nps1&nps2", "exclude each other"}, std::pair{"[nps1|nps2]", "no brackets and no counts"},
        std::pair{"nps1*2", "no brackets and no counts"}, std::pair{"nps1;reboot", "no node has the feature"},
        std::pair{"$(id)", "--constraint="}, std::pair{"unheard", "no node has the feature"}}) {
    const std::string said = site.refused([&](JobRequest& r) { r.features = constraint; });
    EXPECT_NE(said.find(rule), std::string::npos) << constraint << ": " << said;
  }
}

TEST(FeatureBoots, AnAdministratorSaysWhatIsActive) {
  Site site;
  Result<rpc::Messages> answer;
  auto set = [&](const std::string& features) {
    site.turn([&] { answer = site.core.run(Caller::root(), rpc::UpdateNode{"n3", {{"ActiveFeatures", "=", features}}}); });
  };
  set("fast,mig");  // only its slurmd tells of it
  EXPECT_TRUE(answer.has_value());
  EXPECT_EQ(site.active(3), "fast,mig");
  set("unheard");
  EXPECT_FALSE(answer.has_value());
  set("");
  EXPECT_EQ(site.active(3), "");
  const std::string said = site.refused([](JobRequest& r) {
    r.features = "fast";
    r.required_nodes = "n3";
  });
  EXPECT_NE(said.find("lack the features"), std::string::npos) << said;
}

}  // namespace
}  // namespace muster::slurmctld

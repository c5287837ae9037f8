#include "config/load.h"

#include <gtest/gtest.h>

#include <chrono>

#include "config/conf_path.h"
#include "config/hosts.h"

namespace muster::config {
namespace {

constexpr char kHead[] = "ClusterName=c\nSlurmctldHost=ctl\nGresTypes=gpu,mps\n";

std::expected<LoadedConfig, std::vector<ConfigError>> load_all(const std::string& rest, const std::string& gres = "",
                                                               const std::string& topology = "") {
  MemoryFiles files{{"/etc/slurm/slurm.conf", kHead + rest}};
  if (!gres.empty()) files.put("/etc/slurm/gres.conf", gres);
  if (!topology.empty()) files.put("/etc/slurm/topology.conf", topology);
  return load_config(files, "/etc/slurm/slurm.conf");
}

LoadedConfig loaded(const std::string& rest, const std::string& gres = "", const std::string& topology = "") {
  auto r = load_all(rest, gres, topology);
  EXPECT_TRUE(r.has_value()) << (r ? "" : to_text(r.error()));
  return r ? std::move(*r) : LoadedConfig{};
}

std::string errors(const std::string& rest, const std::string& gres = "", const std::string& topology = "") {
  auto r = load_all(rest, gres, topology);
  return r ? "loaded" : to_text(r.error());
}

// Loads, and this is what the log says of it.
std::string odd(const std::string& rest, const std::string& gres = "") { return to_text(loaded(rest, gres).notices); }

std::string notices(const LoadedConfig& l) { return to_text(l.notices); }

TEST(Load, DefaultsOfASmallFile) {
  Config c = loaded("NodeName=n1\nPartitionName=p Nodes=ALL Default=YES\n").config;
  EXPECT_EQ(c.cluster_name, "c");
  ASSERT_EQ(c.slurmctld_hosts.size(), 1u);
  EXPECT_EQ(c.slurmctld_hosts[0].address, "ctl");
  EXPECT_EQ(c.slurmctld_port, (PortRange{6817, 6817}));
  EXPECT_EQ(c.slurmd_port, 6818);
  EXPECT_EQ(c.kill_wait, seconds(30));
  EXPECT_EQ(c.min_job_age, seconds(300));
  EXPECT_EQ(c.max_array_size, 1001u);
  EXPECT_EQ(c.enforce_part_limits, EnforcePartitionLimits::kNo);
  EXPECT_EQ(c.suspend_time, std::nullopt);
  EXPECT_EQ(c.unkillable_step_timeout, seconds(60));
  EXPECT_EQ(c.plug_stack_config, "/etc/slurm/plugstack.conf");
  EXPECT_EQ(c.select_flags.unit, SelectFlags::Unit::kCore);
  EXPECT_TRUE(c.select_flags.memory);
  EXPECT_EQ(c.priority_decay_half_life, minutes(7 * 1440));
  ASSERT_EQ(c.partitions.size(), 1u);
  EXPECT_EQ(c.partitions[0].spec.nodes.count(), 1u);
  EXPECT_EQ(c.partitions[0].spec.max_time_min, kUnlimited32);
  EXPECT_EQ(c.default_partition(), &c.partitions[0]);
}

TEST(Load, GlobalKeysOfEveryKind) {
  Config c = loaded("slurmctldport=7002-7005 "
                    "slurmdport=7003\nSLURMCTLDHOST=b2(10.0.0.2)\nSlurmdTimeout=0\nSuspendTime="
                    "300\nResumeTimeout=INFINITE\n"
                    "MessageTimeout=20\nDefMemPerCPU=2G\nMaxMemPerNode=0\nOverTimeLimit="
                    "UNLIMITED\nSchedulerParameters=bf_window=1440,defer\n"
                    "SelectTypeParameters=CR_CPU_Memory,CR_LLN\nPreemptType=preempt/"
                    "partition_prio\nPreemptMode=suspend,gang\nPreemptExemptTime=1:30\n"
                    "PriorityMaxAge=1-0\nPrologFlags=alloc,contain\nProlog=prolog.sh\nProlog=/opt/"
                    "p2\nPrologEpilogTimeout=44\nEpilogTimeout=55\n"
                    "AccountingStorageEnforce=safe,qos\nAccountingStorageTRES=gres/gpu,license/"
                    "x\nPropagateResourceLimits=NONE\nSlurmctldDebug=debug2\n"
                    "JobRequeue=0\nPrivateData=jobs,users\nTaskPlugin=task/affinity,task/"
                    "cgroup\nTopologyPlugin=topology/default\nNodeName=n1\n")
                 .config;
  EXPECT_EQ(c.slurmctld_port, (PortRange{7002, 7005}));
  ASSERT_EQ(c.slurmctld_hosts.size(), 2u);
  EXPECT_EQ(c.slurmctld_hosts[1], (ControllerHost{"b2", "10.0.0.2"}));
  EXPECT_EQ(c.slurmd_timeout, std::nullopt);
  EXPECT_EQ(c.suspend_time, seconds(300));
  EXPECT_EQ(c.resume_timeout, std::nullopt);
  EXPECT_EQ(c.unkillable_step_timeout, seconds(100));
  EXPECT_EQ(c.def_mem_per_cpu_mb, 2048u);
  EXPECT_EQ(c.max_mem_per_node_mb, std::nullopt);
  EXPECT_EQ(c.over_time_limit_min, std::nullopt);
  EXPECT_EQ(c.scheduler_parameters.number("bf_window", 0), 1440);
  EXPECT_TRUE(c.scheduler_parameters.has("DEFER"));
  EXPECT_EQ(c.select_flags.unit, SelectFlags::Unit::kCpu);
  EXPECT_TRUE(c.select_flags.lln);
  EXPECT_EQ(c.preempt_modes.how, PreemptModes::How::kSuspend);
  EXPECT_TRUE(c.preempt_modes.gang);
  EXPECT_EQ(c.preempt_exempt_time, seconds(90));
  EXPECT_EQ(c.priority_max_age, seconds(86400));
  EXPECT_EQ(c.prolog_flags, (std::vector<std::string>{"Alloc", "Contain"}));
  EXPECT_EQ(c.prolog, (std::vector<std::string>{"/etc/slurm/prolog.sh", "/opt/p2"}));
  EXPECT_EQ(c.prolog_timeout, seconds(44));
  EXPECT_EQ(c.epilog_timeout, seconds(55));
  EXPECT_TRUE(c.enforce.limits && c.enforce.associations && c.enforce.qos && c.enforce.safe && !c.enforce.wckeys);
  EXPECT_EQ(c.accounting_storage_tres.size(), 12u);
  EXPECT_EQ(c.accounting_storage_tres[8], "gres/gpu");
  EXPECT_EQ(c.slurmctld_debug, 6);
  EXPECT_FALSE(c.job_requeue);
  EXPECT_EQ(c.task_plugins.size(), 2u);
  EXPECT_EQ(c.topology_plugin, "topology/flat");
}

TEST(Load, LabelsOfJobs) {
  auto rules = [](const std::string& rest) { return loaded("NodeName=n1\n" + rest).config.mcs; };
  EXPECT_EQ(rules(""), McsRules());
  McsRules m = rules("MCSPlugin=mcs/group\nMCSParameters=enforced,noselect,privatedata:physics|art\n");
  EXPECT_EQ(m.plugin, McsRules::Plugin::kGroup);
  EXPECT_EQ(m.select, McsRules::Select::kNever);
  EXPECT_TRUE(m.enforced && m.private_data);
  EXPECT_EQ(m.groups, (std::vector<std::string>{"physics", "art"}));
  EXPECT_EQ(rules("MCSPlugin=mcs/label\nMCSParameters=ondemand,select\n").select, McsRules::Select::kAlways);
  EXPECT_NE(odd("NodeName=n1\nMCSParameters=forced\n").find("\"forced\" is no word of it"), std::string::npos);
  EXPECT_NE(odd("NodeName=n1\nMCSPlugin=mcs/user\nMCSParameters=enforced:a\n").find("only mcs/group has a list"), std::string::npos);
}

TEST(Load, ImexChannelsAreOfTheSwitchType) {
  const std::string rest = "NodeName=n1\nPartitionName=p Nodes=ALL\n", imex = "SwitchType=switch/nvidia_imex\n";
  EXPECT_EQ(loaded(rest).config.imex_channels, 0u);
  EXPECT_EQ(loaded(imex + rest).config.imex_channels, 2048u);
  const LoadedConfig some = loaded(imex + "SwitchParameters=imex_channel_count=16\n" + rest);
  EXPECT_EQ(some.config.imex_channels, 16u);
  EXPECT_EQ(notices(some), "");
  EXPECT_EQ(loaded(imex + "SwitchParameters=imex_channel_count=0\n" + rest).config.imex_channels, 2048u);
  EXPECT_NE(odd("SwitchParameters=imex_channel_count=16\n" + rest).find("has no effect without SwitchType=switch/nvidia_imex"),
            std::string::npos);
  EXPECT_NE(odd("SwitchType=switch/hpe_slingshot\n" + rest).find("this is not there yet: switch/hpe_slingshot"), std::string::npos);
}

TEST(Load, EnforcedWckeysAreTracked) {
  const Config c = loaded("NodeName=n1\nAccountingStorageEnforce=wckeys\n").config;
  EXPECT_TRUE(c.enforce.associations && c.enforce.wckeys && c.track_wckey);
  EXPECT_FALSE(loaded("NodeName=n1\nAccountingStorageEnforce=limits\n").config.track_wckey);
}

TEST(Load, OnlyModifiersInSelectTypeParametersKeepTheDefault) {
  EXPECT_TRUE(loaded("NodeName=n1\nSelectTypeParameters=CR_LLN\n").config.select_flags.memory);
  EXPECT_FALSE(loaded("NodeName=n1\nSelectTypeParameters=CR_Core\n").config.select_flags.memory);
}

TEST(Nodes, RangesGoInStep) {
  Config c = loaded("NodeName=n[01-03] NodeAddr=10.0.0.[1-3] NodeHostname=localhost Port=[7001-7003] CPUs=4 "
                    "Gres=gpu:h100:8\n")
                 .config;
  ASSERT_EQ(c.nodes.size(), 3u);
  EXPECT_EQ(c.nodes[2].name, "n03");
  EXPECT_EQ(c.nodes[2].address(), "10.0.0.3");
  EXPECT_EQ(c.nodes[2].hostname(), "localhost");
  EXPECT_EQ(c.nodes[2].port, 7003);
  EXPECT_EQ(c.nodes[0].line, c.nodes[2].line);
  EXPECT_EQ(c.nodes[0].line->gres.at(0).count, 8u);
  EXPECT_EQ(c.node_index("n02"), 1u);
  EXPECT_EQ(c.node_index("n2"), std::nullopt);
  NodeSpec s = to_node_spec(c.nodes[1]);
  EXPECT_EQ(s.name, "n02");
  EXPECT_EQ(s.cpus, 4u);
  EXPECT_EQ(s.sockets, 4u);
}

TEST(Nodes, OutOfStepIsAnError) {
  EXPECT_NE(errors("NodeName=n[1-3] NodeAddr=a[1-2]\n").find("has 2 names for 3 nodes"), std::string::npos);
  EXPECT_NE(errors("NodeName=n[1-3] Port=[1-2]\n").find("Port"), std::string::npos);
  EXPECT_NE(errors("NodeName=n[3-1]\n").find("NodeName"), std::string::npos);
  EXPECT_NE(errors("NodeName=n[1-\n").find("NodeName"), std::string::npos);
  EXPECT_NE(errors("NodeName=n[0-99999999999]\n").find("NodeName"), std::string::npos);
  EXPECT_NE(errors("NodeName=ALL\n").find("reserved"), std::string::npos);
}

TEST(Nodes, DefaultLinesAddUpAndApplyBelow) {
  Config c = loaded("NodeName=a\nNodeName=DEFAULT CPUs=2 RealMemory=2000 Gres=gpu:1\nNodeName=DEFAULT "
                    "Weight=5\nNodeName=b RealMemory=1G\nNodeName=d Gres=\"\"\n")
                 .config;
  EXPECT_EQ(c.nodes[0].line->cpus, 1u);
  EXPECT_EQ(c.nodes[1].line->cpus, 2u);
  EXPECT_EQ(c.nodes[1].line->weight, 5u);
  EXPECT_EQ(c.nodes[1].line->real_memory_mb, 1024u);
  EXPECT_EQ(c.nodes[1].line->gres.size(), 1u);
  EXPECT_TRUE(c.nodes[2].line->gres.empty());
}

TEST(Nodes, ShapeIsDerived) {
  auto shape = [](const std::string& keys) {
    Config c = loaded("NodeName=n " + keys + "\n").config;
    const NodeTemplate& t = *c.nodes.at(0).line;
    return std::to_string(t.cpus) + "/" + std::to_string(t.boards) + "/" + std::to_string(t.sockets) + "/" +
           std::to_string(t.cores_per_socket) + "/" + std::to_string(t.threads_per_core);
  };
  EXPECT_EQ(shape("CPUs=128"), "128/1/128/1/1");
  EXPECT_EQ(shape("Procs=16 CoresPerSocket=4 ThreadsPerCore=2"), "16/1/2/4/2");
  EXPECT_EQ(shape("Sockets=2 CoresPerSocket=8 ThreadsPerCore=2"), "32/1/2/8/2");
  EXPECT_EQ(shape("CPUs=16 Sockets=2 CoresPerSocket=8 ThreadsPerCore=2"), "16/1/2/8/2");  // cores only
  EXPECT_EQ(shape("Boards=2 SocketsPerBoard=2 CoresPerSocket=4"), "16/2/4/4/1");
  EXPECT_EQ(shape("Boards=2 Sockets=2 CoresPerSocket=4"), "16/2/4/4/1");
  LoadedConfig odd = loaded("NodeName=n CPUs=5 Sockets=2 CoresPerSocket=4\n");
  EXPECT_EQ(odd.config.nodes[0].line->cpus, 8u);
  EXPECT_NE(notices(odd).find("CPUs: 5 is neither"), std::string::npos) << notices(odd);
  EXPECT_NE(errors("NodeName=n Sockets=65000 CoresPerSocket=65000 ThreadsPerCore=65000\n").find("more than"), std::string::npos);
  EXPECT_NE(notices(loaded("NodeName=n Sockets=2 SocketsPerBoard=2\n")).find("SocketsPerBoard"), std::string::npos);
}

TEST(Nodes, DuplicatesAndSpecializedResources) {
  EXPECT_NE(errors("NodeName=a\nNodeName=[a-b]\n"), "loaded");
  EXPECT_NE(errors("NodeName=a1\nNodeName=a[1-2]\n").find("a1 is already defined at /etc/slurm/slurm.conf:4"), std::string::npos);
  EXPECT_NE(odd("NodeName=a RealMemory=100 MemSpecLimit=100\n").find("less than RealMemory"), std::string::npos);
  EXPECT_NE(odd("NodeName=a CPUs=4 CoreSpecCount=1 CpuSpecList=0\n").find("CpuSpecList"), std::string::npos);
  EXPECT_NE(odd("NodeName=a CPUs=4 CoreSpecCount=4\n").find("CoreSpecCount"), std::string::npos);
}

TEST(Gres, EnvironmentFlagsGoOnToLinesOfTheSameKind) {
  const std::string nodes = "GresTypes=gpu\nNodeName=n1 Gres=gpu:a:2,gpu:b:1\n";
  LoadedConfig l = loaded(nodes, "Name=gpu Type=a File=/dev/x0 Flags=amd_gpu_env,explicit\nName=gpu Type=a File=/dev/x1\n"
                                 "Name=gpu Type=b File=/dev/x2\n");
  std::vector<GresDevices> d = devices_of(l.gres, l.config, 0);
  ASSERT_EQ(d.size(), 3u);
  EXPECT_EQ(d[0].flags, kGresEnvAmd | kGresExplicit);
  EXPECT_EQ(d[1].flags, kGresEnvAmd | kGresExplicit);
  EXPECT_EQ(d[2].flags, kGresExplicit) << "explicit holds for the name";
  EXPECT_NE(odd(nodes, "Name=gpu File=/dev/x0 Flags=no_gpu_env,amd_gpu_env\n").find("no_gpu_env excludes"), std::string::npos);
}

TEST(Gres, ExplicitHoldsForAllOfTheNameOnAllNodes) {
  LoadedConfig l = loaded("GresTypes=r1,r2\nNodeName=n[1-2] Gres=r1:1,r2:2\n", "NodeName=n1 Name=r2 Flags=explicit\n");
  for (uint32_t node : {0u, 1u})
    for (const GresDevices& d : devices_of(l.gres, l.config, node)) EXPECT_EQ(d.flags & kGresExplicit, d.name == "r2" ? kGresExplicit : 0u);
  EXPECT_EQ(devices_of_all(l.gres, l.config)[1], devices_of(l.gres, l.config, 1));
}

TEST(Nodes, DownNodesOverride) {
  Config c = loaded("NodeName=n[1-4]\nDownNodes=n[2-3] State=drain Reason=\"bad fan\"\n").config;
  EXPECT_EQ(c.nodes[0].state(), "UNKNOWN");
  EXPECT_EQ(c.nodes[1].state(), "DRAIN");
  EXPECT_EQ(c.nodes[2].reason(), "bad fan");
  EXPECT_NE(odd("NodeName=n1\nDownNodes=n9\n").find("n9"), std::string::npos);
}

TEST(Partitions, SetsFeaturesAndDefaults) {
  Config c = loaded("PartitionName=DEFAULT MaxTime=30 State=UP\nPartitionName=a Nodes=fast,n4 "
                    "Default=YES\nPartitionName=b Nodes=feature{big} MaxTime=168:00:00 "
                    "OverSubscribe=FORCE:3 PriorityJobFactor=2 AllowGroups=g1,g2\nPartitionName=e "
                    "Nodes=\"\"\nNodeSet=fast Nodes=n[1-2] Feature=big\n"
                    "NodeName=n[1-2]\nNodeName=n[3-4]\nNodeName=n5 Features=big,x\n")
                 .config;
  ASSERT_EQ(c.partitions.size(), 3u);
  EXPECT_EQ(c.partitions[0].spec.nodes.to_ranges(), "0-1,3-4");
  EXPECT_EQ(c.partitions[0].spec.max_time_min, 30u);
  EXPECT_EQ(c.partitions[1].spec.nodes.to_ranges(), "4");
  EXPECT_EQ(c.partitions[1].spec.max_time_min, 10080u);
  EXPECT_EQ(c.partitions[1].spec.oversubscribe, OverSubscribe::kForce);
  EXPECT_EQ(c.partitions[1].spec.oversubscribe_count, 3u);
  EXPECT_EQ(c.partitions[1].spec.priority_job_factor, 2u);
  EXPECT_EQ(c.partitions[1].spec.allow_groups.size(), 2u);
  EXPECT_TRUE(c.partitions[2].spec.nodes.none());
}

TEST(Partitions, ExclusiveAndItsOlderSpellings) {
  auto p = [](const std::string& keys) {
    return loaded("NodeName=n\nPartitionName=p Nodes=n " + keys + "\n").config.partitions.at(0).spec;
  };
  EXPECT_EQ(p("Exclusive=NODE").oversubscribe, OverSubscribe::kExclusive);
  EXPECT_EQ(p("Shared=EXCLUSIVE").oversubscribe, OverSubscribe::kExclusive);
  EXPECT_TRUE(p("Exclusive=user").exclusive_user);
  EXPECT_TRUE(p("ExclusiveUser=YES").exclusive_user);
  EXPECT_FALSE(p("ExclusiveUser=YES ExclusiveTopo=YES").exclusive_user);
  EXPECT_TRUE(p("ExclusiveUser=YES ExclusiveTopo=YES").exclusive_topo);
}

TEST(Partitions, Errors) {
  EXPECT_NE(errors("NodeName=gpu-node[1-4]\nPartitionName=p Nodes=gpu-nod1\n").find("did you mean gpu-node1?"), std::string::npos);
  EXPECT_NE(odd("NodeName=n\nPartitionName=p Nodes=n Default=YES\nPartitionName=q Nodes=n Default=YES\n").find("both the default"),
            std::string::npos);
  EXPECT_NE(errors("NodeName=n\nPartitionName=p Nodes=n\nPartitionName=p Nodes=n\n").find("already defined"), std::string::npos);
  EXPECT_NE(odd("NodeName=n\nPartitionName=p Nodes=n MinNodes=3 MaxNodes=2\n").find("MinNodes"), std::string::npos);
  EXPECT_NE(errors("NodeName=n\nPartitionName=p Nodes=n MaxTim=3\n").find("did you mean MaxTime?"), std::string::npos);
  EXPECT_NE(errors("NodeName=n\nPartitionName=p Nodes=n KillWait=3\n").find("a key of a line of its own"), std::string::npos);
  EXPECT_NE(odd("NodeName=n\nPartitionName=p Nodes=n Alternate=zz\n").find("zz"), std::string::npos);
}

TEST(Partitions, MaxCpusPerUserIsTakenAndExplained) {
  LoadedConfig l = loaded("NodeName=gpu-node-001\nPartitionName=debug  Nodes=gpu-node-001 MaxTime=02:00:00 MaxCPUsPerUser=8 "
                          "State=UP\n");
  EXPECT_EQ(l.config.partitions[0].spec.max_cpus_per_user, 8u);
  EXPECT_NE(notices(l).find("MaxTRESPerUser=cpu=8"), std::string::npos) << notices(l);
}

// No plugin that sets a site's factor is loaded; the factor itself is set by scontrol update SiteFactor=.
TEST(Load, AnOwnPluginForPrioritiesIsSaidToHaveNoEffect) {
  const LoadedConfig l = loaded("PrioritySiteFactorPlugin=site_factor/ours\nPrioritySiteFactorParameters=a=1\n");
  EXPECT_NE(notices(l).find("PrioritySiteFactorPlugin: accepted without effect, this is not there yet: site priority plugins"),
            std::string::npos)
      << notices(l);
  EXPECT_NE(notices(l).find("PrioritySiteFactorParameters: accepted without effect"), std::string::npos) << notices(l);
}

TEST(Globals, UnknownRetiredAndNotYet) {
  EXPECT_NE(errors("NodeName=n\nKilWait=3\n").find("/etc/slurm/slurm.conf:5: KilWait: is not a key of slurm.conf (did you mean KillWait?)"),
            std::string::npos)
      << errors("NodeName=n\nKilWait=3\n");
  EXPECT_NE(odd("NodeName=n\nControlMachine=x\n").find("write SlurmctldHost"), std::string::npos);
  LoadedConfig l = loaded("NodeName=n\nFastSchedule=1\nBurstBufferType=burst_buffer/lua\nKillWait=3\nKillWait=4\n");
  EXPECT_NE(notices(l).find("config_overrides"), std::string::npos) << notices(l);
  EXPECT_NE(notices(l).find("BurstBufferType: accepted without effect, this is not there yet: burst buffers"), std::string::npos)
      << notices(l);
  EXPECT_NE(notices(l).find("KillWait: is given again"), std::string::npos) << notices(l);
  EXPECT_EQ(l.config.kill_wait, seconds(4));
}

TEST(Globals, AMisspeltRecordKeyIsRecognised) {
  EXPECT_NE(errors("NodeNam=n CPUs=2\n").find("NodeNam: is not a key of slurm.conf (did you mean NodeName?)"), std::string::npos)
      << errors("NodeNam=n CPUs=2\n");
}

TEST(Globals, TogetherRules) {
  MemoryFiles files{{"/s.conf", "NodeName=n\n"}};
  auto r = load_config(files, "/s.conf");
  ASSERT_FALSE(r.has_value());
  EXPECT_EQ(r.error().size(), 2u) << to_text(r.error());  // ClusterName and SlurmctldHost
  EXPECT_NE(errors("NodeName=n\nPreemptType=preempt/qos\n").find("PreemptMode"), std::string::npos);
  EXPECT_NE(odd("NodeName=n\nGpuFreqDef=fast\n").find("\"fast\" is no frequency"), std::string::npos);
  EXPECT_NE(errors("NodeName=n\nPreemptMode=SUSPEND\n").find("GANG"), std::string::npos);
  EXPECT_NE(errors("NodeName=n\nPriorityDecayHalfLife=0\n").find("PriorityUsageResetPeriod"), std::string::npos);
  EXPECT_NE(errors("NodeName=n\nTopologyPlugin=topology/tree\n").find("topology.conf"), std::string::npos);
  auto none = load_config(files, "/nowhere/slurm.conf");
  ASSERT_FALSE(none.has_value());
  EXPECT_NE(none.error()[0].hint.find("SLURM_CONF"), std::string::npos);
}

TEST(Globals, AppendToLists) {
  Config c = loaded("NodeName=n\nSchedulerParameters=a=1\nSchedulerParameters+=b\nPrivateData=jobs,"
                    "users\nPrivateData-=jobs\n")
                 .config;
  EXPECT_TRUE(c.scheduler_parameters.has("a") && c.scheduler_parameters.has("b"));
  EXPECT_EQ(c.private_data, std::vector<std::string>{"users"});
  EXPECT_NE(odd("NodeName=n\nKillWait+=3\n").find("not a list"), std::string::npos);
}

TEST(Gres, LinesPerNode) {
  LoadedConfig l = loaded("NodeName=tux[0-3] CPUs=4 Gres=gpu:4\n",
                          "AutoDetect=nvml\nNodeName=tux[0-2] Name=gpu Type=tesla File=/dev/nvidia[0-3] "
                          "Cores=[0-1]\nNodeName=tux3 AutoDetect=off Name=gpu File=/dev/nvidia[0,2-3] COREs=2,3\n");
  EXPECT_TRUE(l.gres.present);
  EXPECT_EQ(autodetect_of(l.gres, 0), AutoDetect::kNvml);
  EXPECT_EQ(autodetect_of(l.gres, 3), AutoDetect::kOff);
  std::vector<GresDevices> d = devices_of(l.gres, l.config, 1);
  ASSERT_EQ(d.size(), 1u);
  EXPECT_EQ(d[0].count, 4u);
  EXPECT_EQ(d[0].files[3], "/dev/nvidia3");
  EXPECT_EQ(d[0].cores.to_ranges(), "0-1");
  d = devices_of(l.gres, l.config, 3);
  ASSERT_EQ(d.size(), 2u);  // three with files, and one that only slurm.conf counts
  EXPECT_EQ(d[0].files[1], "/dev/nvidia2");
  EXPECT_EQ(d[1].count, 1u);
  EXPECT_EQ(d[1].first_index, 3u);
}

TEST(Gres, ErrorsAndTheMigExample) {
  std::string node = "NodeName=n CPUs=4\n";
  EXPECT_NE(odd(node, "Name=gpuu File=/dev/nvidia0\n").find("did you mean gpu?"), std::string::npos);
  EXPECT_NE(odd(node, "Name=gpu Count=3 File=/dev/nvidia[0-1]\n").find("names 2 devices"), std::string::npos);
  EXPECT_NE(odd(node, "Name=gpu File=nvidia0\n").find("absolute"), std::string::npos);
  EXPECT_NE(odd(node, "NodeName=x Name=gpu\n").find("\"x\""), std::string::npos);
  EXPECT_NE(odd(node, "Name=gpu Cores=a\n").find("Cores"), std::string::npos);
  EXPECT_NE(odd(node, "Name=gpu File=/dev/a MultipleFiles=/dev/b\n").find("MultipleFiles"), std::string::npos);
  EXPECT_EQ(errors(node, "Name=mps Count=100 File=/dev/nvidia0\nName=mps Count=100 File=/dev/nvidia1\n"), "loaded");
  LoadedConfig l = loaded(node, "Name=gpu Type=a100_3g.20gb File=/dev/nvidia[0-7] Cores=[0-1]\nName=gpu "
                                "Type=a100_1g.5gb File=/dev/nvidia[0-7] Cores=[2-3]\n");
  EXPECT_NE(notices(l).find("/dev/nvidia0 is already given at /etc/slurm/gres.conf:1, so it counts twice (MIG "
                            "instances are devices of their own: AutoDetect=nvml finds them, or "),
            std::string::npos)
      << notices(l);
  EXPECT_NE(notices(l).find("gres.conf:2: Cores: takes numbers without brackets; read as 2-3 (write Cores=2-3)"), std::string::npos)
      << notices(l);
  EXPECT_NE(odd("NodeName=n Gres=gpx:1\n").find("GresTypes"), std::string::npos);
}

TEST(Cgroup, Typed) {
  MemoryFiles files{{"/e/slurm.conf", std::string(kHead) + "NodeName=n\n"},
                    {"/e/cgroup.conf", "ConstrainCores=yes\nAllowedRAMSpace=101.5\nMinRAMSpace=20\n"}};
  auto r = load_config(files, "/e/slurm.conf");
  ASSERT_TRUE(r.has_value()) << to_text(r.error());
  EXPECT_TRUE(r->cgroup.constrain_cores);
  EXPECT_FALSE(r->cgroup.constrain_ram);
  EXPECT_DOUBLE_EQ(r->cgroup.allowed_ram_percent, 101.5);
  EXPECT_EQ(r->cgroup.min_ram_mb, 20u);
  files.put("/e/cgroup.conf", "ConstrainCore=yes\n");
  r = load_config(files, "/e/slurm.conf");
  ASSERT_FALSE(r.has_value());
  EXPECT_EQ(r.error()[0].text(), "/e/cgroup.conf:1: ConstrainCore: is not a key of cgroup.conf (did you mean ConstrainCores?)");
}

TEST(SideFiles, KeysAreCheckedThoughTheFeatureIsNotThere) {
  MemoryFiles files{{"/e/slurm.conf", std::string(kHead) + "NodeName=n\n"},
                    {"/e/job_container.conf", "NodeName=n AutoBasePath=true BasePath=/x Dirs=/tmp\nShered=true\n"},
                    {"/e/oci.conf", "RunTimeRun=\"crun run %n\"\n"}};
  auto r = load_config(files, "/e/slurm.conf");
  ASSERT_TRUE(r.has_value()) << to_text(r.error());
  EXPECT_EQ(r->notices.size(), 2u) << to_text(r->notices);
  files.put("/e/oci.conf", "RunTimeRum=x\n");
  r = load_config(files, "/e/slurm.conf");
  ASSERT_TRUE(r.has_value());  // nothing reads the file yet
  EXPECT_NE(to_text(r->notices).find("did you mean RunTimeRun?"), std::string::npos) << to_text(r->notices);
}

TEST(SideFiles, SlurmdbdConfAlone) {
  MemoryFiles files{{"/d.conf", "DbdHost=db\nStorageType=accounting_storage/mysql\nArchiveSuspend=yes\nStoragePass=x\n"},
                    {"/bad", "DbdPrt=1\n"}};
  auto r = load_simple(files, "/d.conf", ConfFile::kSlurmdbd);
  ASSERT_TRUE(r.has_value()) << to_text(r.error());
  EXPECT_EQ(r->conf.text("dbdhost"), "db");
  EXPECT_EQ(r->conf.number("DbdPort"), 6819);
  EXPECT_EQ(r->conf.text("StorageLoc"), "slurm_acct_db");
  ASSERT_EQ(r->notices.size(), 1u) << to_text(r->notices);
  EXPECT_NE(r->notices[0].text().find("ArchiveSuspend"), std::string::npos);
  EXPECT_FALSE(load_simple(files, "/bad", ConfFile::kSlurmdbd).has_value());
  EXPECT_FALSE(load_simple(files, "/none", ConfFile::kSlurmdbd).has_value());
}

TEST(Diff, TellsWhatChangedAndWhatNeedsARestart) {
  Config a = loaded("NodeName=n[1-3]\nPartitionName=p Nodes=ALL\nKillWait=5\n").config;
  Config same = loaded("KillWait=5\nPartitionName=p Nodes=ALL\nNodeName=n[1-3]\n").config;
  EXPECT_TRUE(diff(a, same).empty());
  Config b = loaded("NodeName=n[2-4] Weight=3\nPartitionName=p Nodes=ALL\nSlurmctldPort=9000\n").config;
  std::string text;
  for (const ConfigChange& c : diff(a, b)) text += c.key + (c.needs_restart ? "!" : "") + " ";
  EXPECT_EQ(text, "KillWait SlurmctldPort! NodeName=n1 NodeName=n2 NodeName=n3 NodeName=n4 PartitionName=p ");
}

TEST(Paths, CandidatesAndSubstitution) {
  EXPECT_EQ(conf_candidates("/x/s.conf", "/opt/m/bin"), std::vector<std::string>{"/x/s.conf"});
  EXPECT_EQ(conf_candidates("", "/opt/m/sbin/"),
            (std::vector<std::string>{"/opt/m/etc/slurm.conf", "/opt/m/etc/slurm/slurm.conf", "/etc/slurm/slurm.conf"}));
  EXPECT_EQ(conf_candidates("", "/home/me").back(), "/etc/slurm/slurm.conf");
  EXPECT_EQ(substitute_node("/var/%n/%h.log%%x%", "n1", "host.dom"), "/var/n1/host.log%%x%");
}

// Who looks at a configuration with a mistake in it is told of everything else as well.
TEST(Report, NoticesBesideErrors) {
  MemoryFiles files{{"/c/slurm.conf", "ClusterName=c\nSlurmctldHost=h\nNodeName=n CPUs=2\nPartitionName=p Nodes=n\n"
                                      "KillWiat=3\nCacheGroups=1\n"}};
  ConfigReport r = check_config(files, "/c/slurm.conf");
  ASSERT_EQ(r.errors.size(), 1u) << to_text(r.errors);
  EXPECT_EQ(r.errors[0].text(), "/c/slurm.conf:5: KillWiat: is not a key of slurm.conf (did you mean KillWait?)");
  ASSERT_EQ(r.loaded.notices.size(), 1u) << to_text(r.loaded.notices);
  EXPECT_EQ(r.loaded.notices[0].key, "CacheGroups");
}

// The files of the checklist's articles, as they stand there.
TEST(Checklist, ClusterOfTheArticles) {
  MemoryFiles files{
      {"/etc/slurm/slurm.conf", "ClusterName=gpu-cluster\nSlurmctldHost=controller-node\nGresTypes=gpu\n"
                                "NodeName=gpu-node-[001-004] \\\n    Gres=gpu:h100:8 \\\n    CPUs=128 \\\n    RealMemory=2048000 \\\n "
                                "   State=UNKNOWN\n"
                                "PartitionName=train Nodes=gpu-node-[001-004] Default=YES MaxTime=168:00:00 State=UP\n"
                                "PartitionName=debug  Nodes=gpu-node-001 MaxTime=02:00:00 MaxCPUsPerUser=8 State=UP\n"
                                "PartitionName=priority Nodes=gpu-node-[001-004] MaxTime=720:00:00 PriorityJobFactor=2 State=UP\n"
                                "TopologyPlugin=topology/tree\nAccountingStorageType=accounting_storage/"
                                "slurmdbd\nAccountingStorageHost=slurmdb01\n"
                                "JobAcctGatherType=jobacct_gather/linux\nPriorityType=priority/"
                                "multifactor\nPriorityWeightFairshare=50000\n"
                                "PriorityWeightAge=1000\nPriorityWeightJobSize=1000\nPreemptType=preempt/"
                                "partition_prio\nPreemptMode=REQUEUE\n"},
      {"/etc/slurm/gres.conf", "NodeName=gpu-node-001 Name=gpu Type=h100 File=/dev/nvidia[0-7]\nNodeName=gpu-node-002 Name=gpu "
                               "Type=h100 File=/dev/nvidia[0-7]\n"
                               "NodeName=gpu-node-003 Name=gpu Type=h100 File=/dev/nvidia[0-7]\nNodeName=gpu-node-004 Name=gpu "
                               "Type=h100 File=/dev/nvidia[0-7]\n"},
      {"/etc/slurm/topology.conf", "SwitchName=spine1 Switches=leaf1,leaf2\nSwitchName=leaf1  Nodes=gpu-node-[001-002]\nSwitchName=leaf2 "
                                   " Nodes=gpu-node-[003-004]\n"}};
  auto r = load_config(files, "/etc/slurm/slurm.conf");
  ASSERT_TRUE(r.has_value()) << to_text(r.error());
  ASSERT_EQ(r->notices.size(), 1u) << to_text(r->notices);
  EXPECT_EQ(r->notices.back().text(),
            "/etc/slurm/slurm.conf:10: MaxCPUsPerUser: is a key of a QOS (MaxTRESPerUser=cpu=8), not of a partition "
            "line, and Slurm refuses it here; Muster holds each user to it in the partition debug (for both: "
            "sacctmgr add qos debug MaxTRESPerUser=cpu=8, and QOS=debug on this line)");
  EXPECT_EQ(r->config.nodes[3].line->cpus, 128u);
  EXPECT_EQ(r->config.nodes[3].line->real_memory_mb, 2048000u);
  EXPECT_EQ(r->config.partitions[2].spec.max_time_min, 720u * 60);
  EXPECT_EQ(r->config.priority_weight_fairshare, 50000u);
  std::vector<std::vector<GresDevices>> devices = devices_of_all(r->gres, r->config);
  ASSERT_EQ(devices.size(), 4u);
  ASSERT_EQ(devices[3].size(), 1u);
  EXPECT_EQ(devices[3][0].count, 8u);
  EXPECT_EQ(devices[3], devices_of(r->gres, r->config, 3));
  EXPECT_EQ(nodes_below(r->topology.topologies.all.at(0), 0).size(), 4u);
}

// Damaged files never crash the loader, and the number of errors is bounded.
TEST(Load, AnyDamageIsSafe) {
  const std::string good = "ClusterName=c\nSlurmctldHost=h(1.2.3.4)\nGresTypes=gpu\nNodeName=DEFAULT CPUs=4\nNodeName=n[1-9] "
                           "Gres=gpu:a:2(S:0) Port=[1-9]\n"
                           "NodeSet=s Nodes=n[1-3]\nPartitionName=p Nodes=s,n[4-9] MaxTime=1-0 Default=YES "
                           "OverSubscribe=FORCE:2\nDownNodes=n1 Reason=\"x y\"\n"
                           "KillWait=30\nSchedulerParameters=a=1,b\nPriorityMaxAge=7-0\nPowerAction=z Program=\"/bin/x y\" "
                           "Location=slurmd\n";
  uint32_t x = 1;
  auto next = [&] { return (x = x * 1664525u + 1013904223u) >> 8; };
  int survived = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text = good;
    for (uint32_t n = next() % 4 + 1; n > 0; --n) {
      size_t at = next() % text.size();
      switch (next() % 3) {
        case 0: text[at] = "\0=[]-,:\"\\#\n9n\xff("[next() % 15]; break;
        case 1: text.erase(at, next() % 9); break;
        default: text.insert(at, text.substr(next() % text.size(), next() % 20));
      }
      if (text.empty()) text = "x";
    }
    MemoryFiles files{{"/s/slurm.conf", text}, {"/s/gres.conf", text}, {"/s/topology.conf", text}};
    auto r = load_config(files, "/s/slurm.conf");
    if (r) ++survived;
    else EXPECT_LE(r.error().size(), 800u);
  }
  EXPECT_LT(survived, 3000);
}

// Shares follow the GPUs: by gres.conf for the GPUs that it names, evenly otherwise. Guide gres, Sharding.
TEST(Gres, SharesOfGpus) {
  auto devices = [](const std::string& node, const std::string& gres) {
    LoadedConfig l = loaded(node, gres);
    return devices_of(l.gres, l.config, 0);
  };
  const std::string node = "NodeName=n1 CPUs=4 Gres=gpu:2,mps:200\n";
  auto even = devices(node, "Name=gpu Type=a File=/dev/nvidia[0-1]\n");
  ASSERT_EQ(even.size(), 3u);
  for (uint32_t i = 0; i < 2; ++i) {
    EXPECT_EQ(even[1 + i].name, "mps");
    EXPECT_EQ(even[1 + i].type, "a");
    EXPECT_EQ(even[1 + i].count, 100u);
    EXPECT_EQ(even[1 + i].first_index, i);
    EXPECT_TRUE(even[1 + i].shared);
  }
  auto named = devices(node, "Name=mps Count=70 File=/dev/nvidia1\nName=gpu File=/dev/nvidia[0-1]\n");
  ASSERT_EQ(named.size(), 2u);
  EXPECT_EQ(named[1].count, 70u);
  EXPECT_EQ(named[1].first_index, 1u);
}

TEST(Load, ALineForEachOfSixteenThousandNodes) {
  std::string conf, gres;
  for (int i = 0; i < 16384; ++i) {
    std::string name = "node" + std::to_string(i);
    conf += "NodeName=" + name + " CPUs=64 RealMemory=512000 Gres=gpu:h100:8 TRESWeights=CPU=1 State=UNKNOWN\n";
    gres += "NodeName=" + name + " Name=gpu Type=h100 File=/dev/nvidia[0-7]\n";
  }
  LoadedConfig l = loaded(conf, gres);
  std::vector<std::vector<GresDevices>> devices = devices_of_all(l.gres, l.config);
  ASSERT_EQ(devices.size(), 16384u);
  EXPECT_EQ(devices[16383].at(0).files.size(), 8u);
  EXPECT_EQ(l.notices.size(), 1u);  // one line for TRESWeights, not 16,384
}

TEST(Load, SixteenThousandNodesAreQuick) {
  std::string lines = "NodeName=DEFAULT CPUs=64 RealMemory=512000 Gres=gpu:h100:8 Features=a,b\n";
  for (int rack = 0; rack < 64; ++rack)
    lines += "NodeName=r" + std::to_string(rack) + "n[000-255] NodeAddr=10.1." + std::to_string(rack) + ".[0-255]\n";
  lines += "PartitionName=all Nodes=ALL\nPartitionName=some Nodes=r[0-31]n[000-255]\n";
  auto start = std::chrono::steady_clock::now();
  Config c = loaded(lines).config;
  auto took = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(c.nodes.size(), 16384u);
  EXPECT_EQ(c.partitions[1].spec.nodes.count(), 8192u);
  RecordProperty("milliseconds", static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(took).count()));
}

}  // namespace
}  // namespace muster::config

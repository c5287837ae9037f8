// What sites' files hold and Slurm's daemons start with: each slip is a notice that names the line and what follows.
// Beside it, what they refuse, and so do we.
#include <gtest/gtest.h>

#include "config/load.h"
#include "config/runtime.h"

namespace muster::config {
namespace {

constexpr char kHead[] = "ClusterName=c\nSlurmctldHost=ctl\nGresTypes=gpu\n";

struct Read {
  ConfigReport report;
  std::string notices, errors;
};

Read read(const std::string& conf, const std::vector<std::pair<std::string, std::string>>& beside = {}, const std::string& head = kHead) {
  MemoryFiles files{{"/e/slurm.conf", head + conf}};
  for (const auto& [name, text] : beside) files.put("/e/" + name, text);
  Read out{check_config(files, "/e/slurm.conf"), "", ""};
  out.notices = to_text(out.report.loaded.notices);
  out.errors = to_text(out.report.errors);
  return out;
}

// Loads with a notice that has these words in it.
Config odd(const std::string& conf, const std::string& words) {
  Read r = read("NodeName=n[1-4] CPUs=4 RealMemory=1000\n" + conf);
  EXPECT_EQ(r.errors, "") << conf;
  EXPECT_NE(r.notices.find(words), std::string::npos) << conf << r.notices;
  return std::move(r.report.loaded.config);
}

void refused(const std::string& conf) { EXPECT_NE(read("NodeName=n[1-4] CPUs=4 RealMemory=1000\n" + conf).errors, "") << conf; }

TEST(Lenient, WordsOfOlderReleases) {
  EXPECT_TRUE(
      odd("PriorityFlags=FAIR_TREE\n", "slurm.conf:5: PriorityFlags: \"FAIR_TREE\" belongs to older releases").priority_flags.empty());
  EXPECT_EQ(odd("PriorityFlags=FAIR_TREE,MAX_TRES\n", "FAIR_TREE").priority_flags, std::vector<std::string>{"MAX_TRES"});
  EXPECT_EQ(odd("SelectType=select/cons_res\n", "select/cons_tres is taken").select_type, "select/cons_tres");
  EXPECT_EQ(odd("TaskPlugin=affinity,cgroup\n", "write task/cgroup").task_plugins,
            (std::vector<std::string>{"task/affinity", "task/cgroup"}));
  EXPECT_EQ(odd("MpiDefault=openmpi\n", "none is taken").mpi_default, "");
  odd("SelectTypeParameters=CR_Core,OTHER_CONS_RES\n", "it was for select/cray");
}

TEST(Lenient, ControllersByOlderKeys) {
  const std::string head = "ClusterName=c\n", node = "NodeName=n\n";
  Read r = read(node + "ControlMachine=ctl\nControlAddr=10.0.0.1\nBackupController=b\n", {}, head);
  EXPECT_EQ(r.errors, "");
  EXPECT_EQ(r.report.loaded.config.slurmctld_hosts, (std::vector<ControllerHost>{{"ctl", "10.0.0.1"}, {"b", "b"}}));
  EXPECT_NE(r.notices.find("slurm.conf:3: ControlMachine: belongs to older releases; read as SlurmctldHost=ctl(10.0.0.1)"),
            std::string::npos)
      << r.notices;
  r = read(node + "ControlMachine=old\n");  // beside SlurmctldHost it says nothing
  EXPECT_EQ(r.report.loaded.config.slurmctld_hosts.size(), 1u);
}

TEST(Lenient, ASecondControllerIsToldToBeNoStandby) {
  EXPECT_EQ(read("NodeName=n\n").notices.find("standby"), std::string::npos);
  const Read r = read("NodeName=n\nSlurmctldHost=spare(10.0.0.2)\n");
  EXPECT_EQ(r.errors, "");
  EXPECT_NE(r.notices.find("slurm.conf:5: SlurmctldHost: spare is no standby for ctl, this is not there yet"), std::string::npos)
      << r.notices;
  EXPECT_EQ(r.report.loaded.config.slurmctld_hosts.size(), 2u);
}

TEST(Lenient, FairShareWithoutSlurmdbd) {
  const std::string weight = "NodeName=n\nPriorityWeightFairshare=50000\n", multifactor = "PriorityType=priority/multifactor\n";
  const std::string told = "slurm.conf:5: PriorityWeightFairshare: can only be used with slurmdbd, and is ignored";
  EXPECT_NE(read(weight + multifactor).notices.find(told), std::string::npos) << read(weight + multifactor).notices;
  EXPECT_EQ(read(weight + multifactor + "AccountingStorageType=accounting_storage/slurmdbd\n").notices.find(told), std::string::npos);
  EXPECT_EQ(read(weight + "PriorityType=priority/basic\n").notices.find(told), std::string::npos);
  EXPECT_EQ(read("NodeName=n\nPriorityWeightFairshare=0\n" + multifactor).notices.find(told), std::string::npos);
}

TEST(Lenient, WordsThatNobodyKnows) {
  EXPECT_EQ(odd("PrivateData=jobs,jbos\n", "it is left out (did you mean jobs?)").private_data, std::vector<std::string>{"jobs"});
  EXPECT_EQ(odd("LogTimeFormat=swatch\n", "iso8601_ms is taken").log_time_format, "iso8601_ms");
  EXPECT_EQ(odd("ProctrackType=proctrack/lua\n", "proctrack/cgroup is taken").proctrack_type, "proctrack/cgroup");
  odd("JobCompType=jobcomp/mongodb\n", "JobCompType");
  odd("DebugFlags=NodeFeatures,Foo\n", "\"Foo\"");
  odd("NodeName=x CpuBind=foo\n", "CpuBind");
  EXPECT_EQ(odd("HealthCheckNodeState=FOO\n", "\"FOO\" is not one of").health_check_node_state, std::vector<std::string>{"ANY"});
  EXPECT_EQ(odd("SuspendExcStates=DRAIN,BROKEN\n", "\"BROKEN\"").suspend_exc_states, std::vector<std::string>{"DRAIN"});
  odd("MCSPlugin=mcs/user\nMCSParameters=foo,enforced\n", "\"foo\" is no word of it; it is left out");
}

TEST(Lenient, EntriesOfListsWithoutACount) {
  EXPECT_EQ(odd("Licenses=matlab:x,ansys:2\n",
                "slurm.conf:5: Licenses: the count of \"matlab:x\" is no number from 0 to 4294967295; it is left out")
                .licenses,
            (LicenseCounts{{"ansys", 2}}));
  EXPECT_EQ(odd("PriorityWeightTRES=CPU=1,Mem=much\n",
                "slurm.conf:5: PriorityWeightTRES: the weight of \"Mem=much\" is no whole number; it is left out")
                .priority_weight_tres.size(),
            1u);
}

TEST(Lenient, NumbersBeyondTheirBounds) {
  EXPECT_EQ(odd("KillWait=65535\n", "must be a number from 0 to 65533, not 65535; 65533 is taken").kill_wait, seconds(65533));
  EXPECT_EQ(odd("ReturnToService=5\n", "2 is taken").return_to_service, 2u);
  EXPECT_EQ(odd("TreeWidth=0\n", "1 is taken").tree_width, 1u);
  EXPECT_EQ(odd("MaxJobId=99999999\n", "67108863 is taken").max_job_id, 67108863u);
  EXPECT_EQ(odd("SrunPortRange=6-4\n", "it is left out").srun_port_range, PortRange());
  EXPECT_EQ(odd("KillWait+=5\n", "the value is set").kill_wait, seconds(5));
  EXPECT_FALSE(odd("SchedulerParameters=bf_window=abc\n", "bf_window=abc: must be a number").scheduler_parameters.has("bf_window"));
}

TEST(Lenient, Nodes) {
  EXPECT_EQ(odd("NodeName=x Gres=gpu:2,gpu:2\n", "gpu:4 is taken").nodes[4].line->gres_text, "gpu:4");
  EXPECT_EQ(odd("NodeName=x Gres=gpu:2,gpu:a100:1\n", "gpu:a100:1 is taken").nodes[4].line->gres_text, "gpu:a100:1");
  EXPECT_TRUE(odd("NodeName=x Gres=nic:1\n", "no job can ask for it").nodes[4].line->gres.empty());
  EXPECT_EQ(odd("NodeName=x Boards=1 Sockets=2 SocketsPerBoard=4\n", "SocketsPerBoard counts").nodes[4].line->sockets, 4u);
  EXPECT_EQ(odd("NodeName=x CPUs=2 CoreSpecCount=4\n", "1 is taken").nodes[4].line->core_spec_count, 1u);
  EXPECT_EQ(odd("NodeName=x RealMemory=100 MemSpecLimit=200\n", "less than RealMemory").nodes[4].line->mem_spec_limit_mb, 0u);
  EXPECT_EQ(odd("NodeName=x CPUs=4 CoreSpecCount=1 CpuSpecList=0\n", "CpuSpecList counts").nodes[4].line->core_spec_count, 0u);
  EXPECT_EQ(odd("DownNodes=n1,gone1,gone2 Reason=fan\n", "\"gone1\" and 1 more are not in slurm.conf").nodes[0].reason(), "fan");
}

TEST(Lenient, Partitions) {
  Config c = odd("PartitionName=a Nodes=n1 Default=YES\nPartitionName=b Nodes=n2 Default=YES\n", "b is, the last one");
  EXPECT_EQ(c.default_partition()->spec.name, "b");
  EXPECT_FALSE(c.partitions[0].spec.is_default);
  EXPECT_FALSE(odd("PartitionName=a Nodes=n1 MaxTime=10 DefaultTime=60\n", "get MaxTime").partitions[0].spec.default_time_min);
  EXPECT_EQ(odd("PartitionName=a Nodes=n1 OverSubscribe=FORCE:0\n", "NO is taken").partitions[0].spec.oversubscribe, OverSubscribe::kNo);
  odd("PartitionName=a Nodes=n1 MinNodes=4 MaxNodes=2\n", "no job fits partition a");
  odd("PartitionName=a Nodes=n1 Alternate=zz\n", "nowhere to go");
  EXPECT_EQ(odd("NodeSet=s Nodes=n1,gone\nPartitionName=a Nodes=s\n", "\"gone\" is not in slurm.conf").partitions[0].spec.nodes.count(),
            1u);
}

TEST(Lenient, WeightsOfABill) {
  EXPECT_EQ(
      read("NodeName=n\nPartitionName=a Nodes=n TRESBillingWeights=\"CPU=1.0, Mem=0.25G,node=1\"\n").notices.find("AccountingStorageTRES"),
      std::string::npos);
  odd("PartitionName=a Nodes=n1 TRESBillingWeights=CPU=1,GRES/gpu=2\n", "GRES/gpu is not in AccountingStorageTRES");
  refused("PartitionName=a Nodes=n1 TRESBillingWeights=CPU=abc\n");
  refused("PartitionName=a Nodes=n1 TRESBillingWeights=Foo=1.0\n");
  refused("PartitionName=a Nodes=n1 TRESBillingWeights=CPU\n");
  refused("NodeName=x TRESWeights=CPU=1.0,Foo=2\n");
}

// What would put work in the wrong place, or makes no sense at all.
TEST(Lenient, WhatIsRefused) {
  for (const char* conf : {"KilWait=3\n",
                           "KillWait=abc\n",
                           "KillWait=-5\n",
                           "KillWait=\n",
                           "DisableRootJobs=maybe\n",
                           "SelectType=select/foo\n",
                           "SelectTypeParameters=CR_Coer\n",
                           "PreemptType=preempt/foo\n",
                           "PreemptMode=FOO\n",
                           "SchedulerType=sched/wiki\n",
                           "AccountingStorageEnforce=limit\n",
                           "PrologFlags=Aloc\n",
                           "EnforcePartLimits=FOO\n",
                           "SlurmctldPort=70000\n",
                           "PartitionName=a Nodes=n1 State=FOO\n",
                           "PartitionName=a Nodes=n1,n9\n",
                           "PartitionName=a Nodes=n1 MaxTime=abc\n",
                           "NodeName=x State=FOO\n",
                           "NodeName=n1\n",
                           "NodeName=x CPUs=abc\n",
                           "Include nosuch.conf\n",
                           "TopologyPlugin=topology/foo\n"})
    refused(conf);
}

// One gres.conf for several clusters, and lines that make no sense.
TEST(Lenient, GresConfOfSeveralClusters) {
  Read r =
      read("NodeName=n[1-2] Gres=gpu:2\n",
           {{"gres.conf", "NodeName=n[1-2] Name=gpu File=/dev/nvidia[0-1]\nNodeName=other[1-4] Name=gpu Type=a100 File=/dev/nvidia[0-7]\n"
                          "NodeName=other9 Name=hca Count=2\nName=nic Count=1\nName=gpu Fiel=/dev/x\nName=gpu Count=abc\n"}});
  EXPECT_EQ(r.errors, "");
  EXPECT_NE(r.notices.find("gres.conf:2: NodeName: \"other1\" and 4 more are not in slurm.conf"), std::string::npos) << r.notices;
  EXPECT_EQ(r.notices.find("hca"), std::string::npos) << r.notices;
  EXPECT_NE(r.notices.find("gres.conf:4: Name: \"nic\" is not in GresTypes of slurm.conf; the line is left out"), std::string::npos)
      << r.notices;
  EXPECT_NE(r.notices.find("gres.conf:5: Fiel: is not a key of Name lines; the line is left out (did you mean File?)"), std::string::npos)
      << r.notices;
  EXPECT_NE(r.notices.find("gres.conf:6: Count:"), std::string::npos) << r.notices;
  const auto devices = devices_of(r.report.loaded.gres, r.report.loaded.config, 0);
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_EQ(devices[0].count, 2u);
}

TEST(Lenient, OtherFiles) {
  Read r = read("NodeName=n\n", {{"topology.conf", "Garbage=1\n"},
                                 {"cgroup.conf", "CgroupAutomount=yes\nCgroupReleaseAgentDir=\"/etc/slurm/cgroup\"\nTaskAffinity=no\n"
                                                 "ConstrainKmemSpace=no\nAllowedDevicesFile=/etc/x\nConstrainCores=yes\n"},
                                 {"mpi.conf", "PMIxFoo=1\n"},
                                 {"acct_gather.conf", "Foo=1\n"},
                                 {"helpers.conf", "not even a key\n"},
                                 {"job_container.conf", "Foo=1\n"}});
  EXPECT_EQ(r.errors, "");
  EXPECT_TRUE(r.report.loaded.cgroup.constrain_cores);
  for (const char* words :
       {"topology.conf: is not read: TopologyPlugin is topology/flat", "cgroup.conf:1: CgroupAutomount: belongs to older",
        "cgroup.conf:3: TaskAffinity", "mpi.conf:1: PMIxFoo", "acct_gather.conf:1: Foo", "helpers.conf:1: ", "job_container.conf:1: Foo"})
    EXPECT_NE(r.notices.find(words), std::string::npos) << words << "\n" << r.notices;
}

TEST(Lenient, BlocksOfOtherClusters) {
  Read r = read("TopologyPlugin=topology/block\nNodeName=n[1-4]\n",
                {{"topology.conf", "BlockName=b1 Nodes=n[1-4]\nBlockName=b2 Nodes=other[1-4]\nBlockSizes=4\n"}});
  EXPECT_EQ(r.errors, "");
  ASSERT_EQ(r.report.loaded.topology.topologies.all.size(), 1u);
  EXPECT_EQ(r.report.loaded.topology.topologies.all[0].units.size(), 1u);
}

// scontrol's words are answered at once: a slip in them is refused.
TEST(Lenient, NotAtACommand) {
  Config c = read("NodeName=n\n").report.loaded.config;
  EXPECT_FALSE(set_value(c, "PrivateData", "=", "jbos"));
  EXPECT_FALSE(set_value(c, "KillWait", "=", "70000"));
  EXPECT_FALSE(parse_node_line(c, "NodeName=x CPUs=2 CoreSpecCount=4"));
  EXPECT_FALSE(parse_node_line(c, "NodeName=x Gres=nic:1"));
}

TEST(Lenient, AByteOrderMark) {
  EXPECT_EQ(read("", {},
                 "\xEF\xBB\xBF"
                 "ClusterName=c\nSlurmctldHost=h\nNodeName=n\n")
                .errors,
            "");
}

}  // namespace
}  // namespace muster::config

// scontrol show: the expected texts are those of Debian's Slurm 22.05, with the lines that 26.05 words
// differently.
#include <gtest/gtest.h>

#include <algorithm>

#include "fields/node_filter.h"
#include "fields/show_job.h"
#include "fields/show_license.h"
#include "fields/show_node.h"
#include "fields/show_partition.h"
#include "fields/show_step.h"
#include "fields/testing.h"

namespace muster::fields {
namespace {

struct Show : testing::Test {
  Environment env = test_environment();
  void SetUp() override {
    setenv("TZ", "UTC", 1);
    tzset();
  }
  std::string job(const TestJob& j, ShowOptions options = {}) {
    std::string out;
    show_job({j.row, j.request, env}, options, out);
    return out;
  }
};

TestJob running() {
  TestJob j(2, "c3job", "big");
  j.row.time_limit_min = 30;
  j.runs("n1").row.cpus = 3;
  j.row.tres.edit().requested = j.row.tres.edit().allocated = {.cpus = 3, .mem_mb = 300, .nodes = 1, .billing = 3};
  j.row.shares = {{"n1", "0-2", 300, "", 3}};
  j.request.cpus_per_task = 3;
  j.request.mem_per_cpu_mb = 100;
  j.request.exclusive = Exclusive::kOversubscribe;
  j.request.argv = {"/tmp/w/j.sh", "a", "b", "c"};
  return j;
}

TEST_F(Show, RunningJob) {
  EXPECT_EQ(job(running()), "JobId=2 JobName=c3job\n"
                            "   UserId=root(0) GroupId=root(0) MCS_label=N/A\n"
                            "   Priority=4294901758 Nice=0 Account=(null) QOS=(null)\n"
                            "   JobState=RUNNING Reason=None Dependency=(null)\n"
                            "   Requeue=1 Restarts=0 BatchFlag=1 Reboot=0 ExitCode=0:0\n"
                            "   RunTime=00:00:05 TimeLimit=00:30:00 TimeMin=N/A\n"
                            "   SubmitTime=2026-11-21T09:20:08 EligibleTime=2026-11-21T09:20:08\n"
                            "   AccrueTime=2026-11-21T09:20:08\n"
                            "   StartTime=2026-11-21T09:20:10 EndTime=2026-11-21T09:50:10 Deadline=N/A\n"
                            "   SuspendTime=None SecsPreSuspend=0 LastSchedEval=Unknown\n"
                            "   Partition=big AllocNode:Sid=localhost:26569\n"
                            "   ReqNodeList=(null) ExcNodeList=(null)\n"
                            "   NodeList=n1\n"
                            "   BatchHost=n1\n"
                            "   NumNodes=1 NumCPUs=3 NumTasks=1 CPUs/Task=3 ReqB:S:C:T=0:0:*:*\n"
                            "   ReqTRES=cpu=3,mem=300M,node=1,billing=3\n"
                            "   AllocTRES=cpu=3,mem=300M,node=1,billing=3\n"
                            "   Socks/Node=* NtasksPerN:B:S:C=0:0:*:* CoreSpec=*\n"
                            "   MinCPUsNode=3 MinMemoryCPU=100M MinTmpDiskNode=0\n"
                            "   Features=(null) DelayBoot=00:00:00\n"
                            "   OverSubscribe=YES Exclusive=NO Contiguous=0 Licenses=(null) LicensesAlloc=(null) Network=(null)\n"
                            "   Command=/tmp/w/j.sh\n"
                            "   WorkDir=/tmp/w\n"
                            "   StdErr=\n"
                            "   StdIn=/dev/null\n"
                            "   StdOut=/tmp/w/slurm-2.out\n"
                            "   TresPerTask=cpu=3\n\n");
}

TEST_F(Show, TheChannelOfEachSegment) {
  auto two = running();
  two.row.shares = {{"n1", "0-2", 300, "", 3, 7}, {"n2", "0-2", 300, "", 3, 7}, {"n3", "0-2", 300, "", 3, 8}};
  const std::string details = job(two, {.details = true});
  EXPECT_NE(details.find("     Nodes=n[1-2] CPU_IDs=0-2 Mem=300 GRES= Channel=7\n     Nodes=n3 CPU_IDs=0-2 Mem=300 GRES= Channel=8\n"),
            std::string::npos)
      << details;
}

TEST_F(Show, OneLineAndDetails) {
  std::string one = job(running(), {.oneliner = true});
  EXPECT_EQ(std::ranges::count(one, '\n'), 1);
  EXPECT_TRUE(one.starts_with("JobId=2 JobName=c3job UserId=root(0) GroupId=root(0) MCS_label=N/A Priority="));
  std::string details = job(running(), {.details = true});
  EXPECT_NE(details.find("   DerivedExitCode=0:0\n   RunTime="), std::string::npos);
  EXPECT_NE(details.find("   JOB_GRES=(null)\n     Nodes=n1 CPU_IDs=0-2 Mem=300 GRES=\n   MinCPUsNode=3"), std::string::npos) << details;
}

TEST_F(Show, AStepManagerWhereThereIsToBeOne) {
  TestJob j = running();
  EXPECT_EQ(job(j).find("StepMgrEnabled"), std::string::npos);
  j.request.stepmgr = true;
  EXPECT_NE(job(j).find("\n   StepMgrEnabled=Yes\n"), std::string::npos);  // swait(1)
}

TEST_F(Show, PendingArray) {
  TestJob j(3, "arr", "main");
  j.row.array_job_id = JobId(3);
  j.row.array_tasks = "2-15";
  j.row.array_max_running = 2;
  j.row.nodes = 4;
  j.row.max_nodes = 4;
  j.waits(Reason::kReqNodeNotAvail).row.reason_detail = "ReqNodeNotAvail, UnavailableNodes:n1";
  std::string text = job(j);
  EXPECT_TRUE(text.starts_with("JobId=3 ArrayJobId=3 ArrayTaskId=2-15%2 ArrayTaskThrottle=2 JobName=arr\n"));
  EXPECT_NE(text.find(" Reason=ReqNodeNotAvail,_UnavailableNodes:n1 Dep"), std::string::npos);
  EXPECT_NE(text.find("   NumNodes=4-4 NumCPUs=1"), std::string::npos);
  EXPECT_NE(text.find("   StartTime=Unknown EndTime=Unknown Deadline=N/A\n"), std::string::npos);
  EXPECT_NE(text.find("   NodeList=\n   NumNodes"), std::string::npos);
}

TEST_F(Show, WhatTheSystemSays) {
  TestJob j(4, "x", "main");
  j.waits(Reason::kResources).row.reason_detail = "needs 4 nodes, 2 are idle";
  std::string text = job(j);
  EXPECT_NE(text.find(" Reason=Resources Dependency="), std::string::npos);
  EXPECT_NE(text.find("   WorkDir=/tmp/w\n   SystemComment=needs 4 nodes, 2 are idle\n   StdErr="), std::string::npos);
}

TEST_F(Show, Node) {
  TestCluster cluster;
  NodeRow n = cluster.nodes[5];
  n.cpus_allocated = 1;
  n.mem_allocated_mb = 2000;
  n.cpu_load = 55;
  n.free_mem_mb = 23146;
  n.boot_time = from_unix(kNow - 5095);
  n.slurmd_start = from_unix(kNow - 11);
  n.last_busy = from_unix(kNow - 44);
  n.tres_configured = {.cpus = 4, .mem_mb = 2000, .billing = 4};
  n.tres_allocated = {.cpus = 1, .mem_mb = 2000};
  std::string out;
  show_node(n, env, {}, out);
  EXPECT_EQ(out, "NodeName=n6 Arch=x86_64 CoresPerSocket=1 \n"
                 "   CPUAlloc=1 CPUEfctv=4 CPUTot=4 CPULoad=0.55\n"
                 "   AvailableFeatures=(null)\n"
                 "   ActiveFeatures=(null)\n"
                 "   Gres=(null)\n"
                 "   NodeAddr=127.0.0.1 NodeHostName=localhost Port=27821 Version=22.05.8\n"
                 "   OS=Linux 6.18 \n"
                 "   RealMemory=2000 AllocMem=2000 FreeMem=23146 Sockets=4 Boards=1\n"
                 "   State=MIXED+DRAIN ThreadsPerCore=1 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A\n"
                 "   Partitions=main,adown,a_really_long_partition_name \n"
                 "   BootTime=2026-11-21T07:55:20 SlurmdStartTime=2026-11-21T09:20:04\n"
                 "   LastBusyTime=2026-11-21T09:19:31 ResumeAfterTime=None\n"
                 "   CfgTRES=cpu=4,mem=2000M,billing=4\n"
                 "   AllocTRES=cpu=1,mem=2000M\n"
                 "   CurrentWatts=0 AveWatts=0\n"
                 "   Reason=bad disk with a quite long reason text [root@2026-11-21T09:20:11]\n\n");
  n.energy = NodeEnergy{true, 310, 290, 5000, 4000, from_unix(kNow)};
  out.clear();
  show_node(n, env, {}, out);
  EXPECT_NE(out.find("   CurrentWatts=310 AveWatts=290\n"), std::string::npos);
  n.energy = NodeEnergy{};
  out.clear();
  show_node(n, env, {}, out);
  EXPECT_NE(out.find("   CurrentWatts=n/s AveWatts=n/s\n"), std::string::npos);
  out.clear();
  show_node(cluster.nodes[6], env, {.oneliner = true}, out);
  EXPECT_NE(out.find("CPULoad=N/A"), std::string::npos);
  EXPECT_NE(out.find(" BootTime=None SlurmdStartTime=None "), std::string::npos);
  EXPECT_EQ(std::ranges::count(out, '\n'), 1);
}

TEST_F(Show, Partition) {
  TestCluster cluster;
  PartitionRow p = cluster.partitions[1];
  p.node_list = "n[1-4,9]";
  p.total_cpus = 36;
  p.total_nodes = 5;
  p.tres = {.cpus = 36, .mem_mb = 18000, .nodes = 5, .billing = 36};
  p.partition.def_mem_per_cpu_mb = 100;
  std::string out;
  show_partition(p, env, {}, out);
  EXPECT_EQ(out, "PartitionName=big\n"
                 "   AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL\n"
                 "   AllocNodes=ALL Default=NO QoS=N/A\n"
                 "   DefaultTime=00:30:00 DisableRootJobs=NO Exclusive=NO GraceTime=0 Hidden=NO\n"
                 "   MaxNodes=UNLIMITED MaxTime=UNLIMITED MinNodes=0 LLN=NO MaxCPUsPerNode=UNLIMITED "
                 "MaxCPUsPerSocket=UNLIMITED\n"
                 "   Nodes=n[1-4,9]\n"
                 "   PriorityJobFactor=1 PriorityTier=5 RootOnly=NO ReqResv=NO OverSubscribe=FORCE:2\n"
                 "   OverTimeLimit=NONE PreemptMode=OFF\n"
                 "   State=UP TotalCPUs=36 TotalNodes=5 SelectTypeParameters=NONE\n"
                 "   JobDefaults=(null)\n"
                 "   DefMemPerCPU=100 MaxMemPerNode=UNLIMITED\n"
                 "   TRES=cpu=36,mem=18000M,node=5,billing=36\n\n");
}

TEST_F(Show, Step) {
  StepRow s;
  s.job = JobId(1);
  s.id = StepId(0);
  s.name = "sleep";
  s.partition = "main";
  s.start = from_unix(kNow - 5);
  s.nodes = s.tasks = 2;
  s.cpus = 4;
  s.node_list = "n[2-3]";
  s.tres = {.cpus = 4, .mem_mb = 3000, .nodes = 2};
  s.distribution = "Cyclic";
  s.srun_host = "vm";
  s.srun_pid = 32434;
  s.gres = "gres:gpu:1";
  std::string out;
  show_step({s, env}, {}, out);
  EXPECT_EQ(out, "StepId=1.0 UserId=0 StartTime=2026-11-21T09:20:10 TimeLimit=UNLIMITED\n"
                 "   State=RUNNING Partition=main NodeList=n[2-3]\n"
                 "   Nodes=2 CPUs=4 Tasks=2 Name=sleep Network=(null)\n"
                 "   TRES=cpu=4,mem=3000M,node=2\n"
                 "   ResvPorts=(null)\n"
                 "   CPUFreqReq=Default Dist=Cyclic\n"
                 "   SrunHost:Pid=vm:32434\n"
                 "   TresPerNode=gres:gpu:1\n\n");
}

std::string matching(std::vector<std::string> terms) {
  auto filter = NodeStateFilter::parse(terms);
  if (!filter) return std::string(filter.error().message());
  TestCluster cluster;
  cluster.nodes[4].state = NodeState::kIdle;
  cluster.nodes[4].has_jobs = false;
  cluster.nodes[4].flags = kNodeDrain | kNodeCloud;
  std::string out;
  for (const NodeRow& n : cluster.nodes)
    if (filter->matches(n)) out += n.name + " ";
  return out;
}

TEST(NodeStates, Filters) {
  EXPECT_EQ(matching({}), "n1 n2 n3 n4 n5 n6 n9 ");
  EXPECT_EQ(matching({"Idle"}), "n4 n5 ");
  EXPECT_EQ(matching({"alloc"}), "n1 n2 n3 n6 ");
  EXPECT_EQ(matching({"drain"}), "n5 n6 ");
  EXPECT_EQ(matching({"drained"}), "n5 ");
  EXPECT_EQ(matching({"draining", "unk"}), "n6 n9 ");
  EXPECT_EQ(matching({"idle&cloud"}), "n5 ");
  EXPECT_EQ(matching({"idle+~drain"}), "n4 ");
  EXPECT_EQ(matching({"~mix"}), "n4 n5 n9 ");
  EXPECT_EQ(matching({"!mix"}), "n4 n5 n9 ");
  EXPECT_EQ(matching({"bogus"}), "Bad state string: \"bogus\"");
  EXPECT_EQ(matching({"idle+"}), "Bad state string: \"idle+\"");
}

TEST(ShowLicense, ALayerOfAHierarchicalResource) {
  std::string out;
  show_license({"natural(n[1-4])", kUnlimited32, 3, 1, false}, {.oneliner = true}, out);
  EXPECT_EQ(out, "LicenseName=natural(n[1-4]) Total=INFINITE Used=3 Free=INFINITE Reserved=1 Remote=no\n");
}

TEST(ShowLicense, AsSlurmPrintsIt) {
  std::string out;
  show_license({"matlab", 10, 3, 1, false}, {}, out);
  EXPECT_EQ(out, "LicenseName=matlab\n    Total=10 Used=3 Free=6 Reserved=1 Remote=no\n");
  out.clear();
  show_license({"matlab", 10, 3, 1, false}, {.oneliner = true}, out);
  EXPECT_EQ(out, "LicenseName=matlab Total=10 Used=3 Free=6 Reserved=1 Remote=no\n");
}

TEST(ShowNode, TheRebootToComeAndTheInstance) {
  TestCluster cluster;
  NodeRow n = cluster.nodes.at(0);
  n.next_state = "DOWN";
  n.instance_id = "i-1";
  std::string out;
  show_node(n, test_environment(), {}, out);
  EXPECT_NE(out.find("\n   NextState=DOWN\n   Partitions="), std::string::npos) << out;
  EXPECT_NE(out.find("\n   InstanceId=i-1 InstanceType=(null)"), std::string::npos) << out;
}

}  // namespace
}  // namespace muster::fields

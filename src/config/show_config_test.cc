#include "config/show_config.h"

#include <gtest/gtest.h>

namespace muster::config {
namespace {

LoadedConfig load(const std::string& rest) {
  MemoryFiles files{
      {"/etc/slurm/slurm.conf", "ClusterName=obs\nSlurmctldHost=vm(127.0.0.1)\nNodeName=n[1-4]\nPartitionName=p Nodes=ALL\n" + rest},
      {"/etc/slurm/cgroup.conf", "ConstrainCores=yes\nAllowedRAMSpace=101.5\n"}};
  auto r = load_config(files, "/etc/slurm/slurm.conf");
  EXPECT_TRUE(r.has_value()) << (r ? "" : to_text(r.error()));
  return r ? std::move(*r) : LoadedConfig{};
}

ShowFacts facts() {
  ShowFacts f;
  f.now = from_unix(1'700'000'000);
  f.boot = from_unix(1'600'000'000);
  f.next_job_id = 17;
  f.version = "26.05.0";
  f.controllers = {{"vm", true}};
  return f;
}

bool has_line(const std::string& text, const std::string& line) { return ("\n" + text).find("\n" + line + "\n") != std::string::npos; }

// Lines as Debian's scontrol prints them for the same file.
TEST(ShowConfig, DefaultsInSlurmsLayout) {
  std::string out = show_config(load(""), facts());
  EXPECT_TRUE(out.starts_with("Configuration data as of 2023-11-1")) << out.substr(0, 80);
  for (const char* line : {"AccountingStorageBackupHost = (null)",
                           "AccountingStorageHost   = localhost",
                           "AllowSpecResourcesUsage = No",
                           "BatchStartTimeout       = 10 sec",
                           "ClusterName             = obs",
                           "DefMemPerNode           = UNLIMITED",
                           "EioTimeout              = 60",
                           "HASH_VAL                = Match",
                           "HealthCheckNodeState    = ANY",
                           "JobDefaults             = (null)",
                           "KillWait                = 30 sec",
                           "MaxMemPerNode           = UNLIMITED",
                           "MaxNodeCount            = 4",
                           "NEXT_JOB_ID             = 17",
                           "OverTimeLimit           = 0 min",
                           "PreemptMode             = OFF",
                           "PreemptExemptTime       = 00:00:00",
                           "PriorityDecayHalfLife   = 7-00:00:00",
                           "PriorityCalcPeriod      = 00:05:00",
                           "PriorityWeightFairShare = 0",
                           "PrivateData             = none",
                           "PrologEpilogTimeout     = 65534",
                           "PropagateResourceLimits = ALL",
                           "ResumeRate              = 300 nodes/min",
                           "ResvOverRun             = 0 min",
                           "SlurmUser               = root(0)",
                           "SlurmctldDebug          = info",
                           "SlurmctldHost[0]        = vm(127.0.0.1)",
                           "SlurmctldPort           = 6817",
                           "SlurmctldSyslogDebug    = (null)",
                           "SLURM_CONF              = /etc/slurm/slurm.conf",
                           "SLURM_VERSION           = 26.05.0",
                           "SrunPortRange           = 0-0",
                           "SuspendTime             = INFINITE",
                           "TrackWCKey              = No",
                           "UnkillableStepTimeout   = 60 sec",
                           "UsePam                  = No",
                           "VSizeFactor             = 0 percent",
                           "Cgroup Support Configuration:",
                           "AllowedRAMSpace         = 101.5%",
                           "AllowedSwapSpace        = 0.0%",
                           "ConstrainCores          = yes",
                           "ConstrainDevices        = no",
                           "MinRAMSpace             = 30 MB",
                           "MemorySwappiness        = (null)",
                           "MPI Plugins Configuration:",
                           "PMIxDirectConn          = yes",
                           "PMIxTimeout             = 300",
                           "Slurmctld(primary) at vm is UP"})
    EXPECT_TRUE(has_line(out, line)) << line << "\n" << out;
}

TEST(ShowConfig, GivenValues) {
  std::string out = show_config(load("DefMemPerCPU=100\nMaxMemPerCPU=200\nDefCpuPerGPU=4\nDefMemPerGPU=1000\nPreemptMode="
                                     "SUSPEND,GANG\nPreemptType=preempt/partition_prio\n"
                                     "PreemptExemptTime=1:30\nDebugFlags=gres,backfill\nPrivateData=jobs,"
                                     "users\nPrologFlags=alloc,contain\nPropagateResourceLimitsExcept=MEMLOCK\n"
                                     "SelectTypeParameters=CR_Core_Memory,CR_LLN\nSrunPortRange=60001-60010\nSuspendTime="
                                     "300\nResvOverRun=UNLIMITED\nUsePAM=1\nTrackWCKey=yes\n"
                                     "PriorityMaxAge=1-0\nAccountingStoragePass=secret\n"),
                                facts());
  for (const char* line :
       {"DefMemPerCPU            = 100", "MaxMemPerCPU            = 200", "JobDefaults             = DefCpuPerGPU=4,DefMemPerGPU=1000",
        "PreemptMode             = GANG,SUSPEND", "PreemptExemptTime       = 00:01:30", "DebugFlags              = Backfill,Gres",
        "PrivateData             = jobs,users", "PrologFlags             = Alloc,Contain", "PropagateResourceLimits = (null)",
        "PropagateResourceLimitsExcept = MEMLOCK", "SelectTypeParameters    = CR_CORE_MEMORY,CR_LLN",
        "SrunPortRange           = 60001-60010", "SuspendTime             = 300 sec", "ResvOverRun             = UNLIMITED",
        "UsePam                  = Yes", "TrackWCKey              = Yes", "PriorityMaxAge          = 1-00:00:00"})
    EXPECT_TRUE(has_line(out, line)) << line << "\n" << out;
  EXPECT_EQ(out.find("DefMemPerNode"), std::string::npos);
  EXPECT_EQ(out.find("secret"), std::string::npos);
}

TEST(ShowConfig, MultifactorKeysOnlyWithMultifactor) {
  std::string out = show_config(load("PriorityType=priority/basic\n"), facts());
  EXPECT_EQ(out.find("PriorityWeight"), std::string::npos);
  EXPECT_TRUE(has_line(out, "PriorityType            = priority/basic"));
}

}  // namespace
}  // namespace muster::config

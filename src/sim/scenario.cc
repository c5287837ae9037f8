#include "sim/scenario.h"

#include <sys/wait.h>

#include "base/check.h"
#include "base/hash.h"
#include "config/gres_conf.h"
#include "config/load.h"

namespace muster::sim {
namespace {

std::string number(uint64_t n) { return std::to_string(n); }

}  // namespace

std::string Scenario::globals(Random& r) const {
  std::string t = "ClusterName=sim\nSlurmctldHost=ctl\nGresTypes=gpu\nSelectType=select/cons_tres\nMaxArraySize=200\n";
  const char* select[] = {"CR_Core_Memory", "CR_CPU_Memory", "CR_Core", "CR_CPU"};
  t += std::string("SelectTypeParameters=") + select[r.uniform(0, 3)] + "\n";
  t += r.chance(0.9) ? "SchedulerType=sched/backfill\n" : "SchedulerType=sched/builtin\n";
  if (r.chance(0.3)) t += "PriorityType=priority/multifactor\nPriorityWeightAge=1000\nPriorityWeightJobSize=500\n";
  t += "ReturnToService=" + number(r.uniform(0, 2)) + "\n";
  t += "SlurmdTimeout=" + number(r.uniform(20, 300)) + "\n";
  t += "MinJobAge=" + number(r.uniform(20, 900)) + "\n";
  t += "KillWait=" + number(r.uniform(1, 30)) + "\n";
  t += "JobRequeue=" + number(r.uniform(0, 1)) + "\n";
  t += "OverTimeLimit=" + number(r.chance(0.3) ? r.uniform(1, 3) : 0) + "\n";
  t += "RequeueExit=7\nRequeueExitHold=9\n";
  if (r.chance(0.3)) t += "DependencyParameters=kill_invalid_depend\n";
  if (r.chance(0.2)) t += "EnforcePartLimits=NO\n";
  t += "SchedulerParameters=requeue_delay=" + number(r.chance(0.5) ? 0 : r.uniform(1, 150)) + "\n";
  return t;
}

void Scenario::add_group(Random& r, const char* prefix) {
  Group g;
  g.prefix = prefix;
  g.count = static_cast<uint32_t>(r.uniform(1, 5));
  g.sockets = static_cast<uint32_t>(r.uniform(1, 2));
  g.cores = static_cast<uint32_t>(r.uniform(1, 8));
  g.threads = static_cast<uint32_t>(r.uniform(1, 2));
  g.memory = 1024 * r.uniform(1, 16);
  if (r.chance(0.6)) {
    g.gpus = static_cast<uint32_t>(r.uniform(1, 8));
    g.gpu = r.chance(0.5) ? "a100" : "h100";
  }
  std::string range = g.prefix + "[0-" + number(g.count - 1) + "]";
  slurm_conf += "NodeName=" + range + " Sockets=" + number(g.sockets) + " CoresPerSocket=" + number(g.cores) +
                " ThreadsPerCore=" + number(g.threads) + " RealMemory=" + number(g.memory);
  if (g.gpus) {
    slurm_conf += " Gres=gpu:" + g.gpu + ":" + number(g.gpus);
    gres_conf += "NodeName=" + range + " Name=gpu Type=" + g.gpu + " File=/dev/nvidia[0-" + number(g.gpus - 1) + "]\n";
  }
  slurm_conf += "\n";
  groups_.push_back(std::move(g));
}

Scenario::Scenario(Random r, uint64_t seed) : seed_(seed) {
  slurm_conf = globals(r);
  if (seed % 2) {
    slurm_conf += "AccountingStorageType=accounting_storage/slurmdbd\n";
    const char* enforced[] = {"none", "associations", "limits", "limits,qos"};
    slurm_conf += std::string("AccountingStorageEnforce=") + enforced[r.uniform(0, 3)] + "\n";
  }
  add_group(r, "a");
  if (r.chance(0.6)) add_group(r, "b");
  auto all_of = [](const Group& g) { return g.prefix + "[0-" + number(g.count - 1) + "]"; };
  slurm_conf += "PartitionName=main Nodes=ALL Default=YES MaxTime=60 DefaultTime=" + number(r.uniform(1, 30)) + "\n";
  partitions.push_back("main");
  if (r.chance(0.5)) {
    slurm_conf += "PartitionName=small Nodes=" + all_of(groups_[0]) + " MaxTime=" + number(r.uniform(5, 60)) +
                  " MaxNodes=" + number(r.uniform(1, 2)) + " PriorityTier=" + number(r.uniform(1, 3)) + "\n";
    partitions.push_back("small");
  }
  if (r.chance(0.4)) {
    slurm_conf += "PartitionName=whole Nodes=" + all_of(groups_.back()) + " MaxTime=40 OverSubscribe=EXCLUSIVE\n";
    partitions.push_back("whole");
  }
  if (r.chance(0.3)) {
    slurm_conf += "PartitionName=shared Nodes=" + all_of(groups_[0]) + " MaxTime=30 OverSubscribe=FORCE:2\n";
    partitions.push_back("shared");
  }
  if (r.chance(0.3)) {
    slurm_conf += "PartitionName=capped Nodes=ALL MaxTime=30 MaxCPUsPerNode=" + number(r.uniform(1, 4)) + " QOS=fast\n";
    partitions.push_back("capped");
  }
  add_preemption();
  reservations = seed % 3 == 0;
  prolog = r.chance(0.3);
  epilog = r.chance(0.3);
  load();
}

// Draws of its own: the worlds of earlier seeds stay as they are.
void Scenario::add_preemption() {
  Random r(seed_ ^ 0x70726565);
  if (!r.chance(0.4)) return;
  const bool by_qos = seed_ % 2 == 1 && r.chance(0.3);
  const char* modes[] = {"REQUEUE", "CANCEL", "SUSPEND,GANG"};
  const std::string mode = modes[r.uniform(0, 2)];
  slurm_conf += std::string("PreemptType=preempt/") + (by_qos ? "qos" : "partition_prio") + "\nPreemptMode=" + mode + "\n";
  if (r.chance(0.3)) slurm_conf += "PreemptExemptTime=00:0" + number(r.uniform(1, 3)) + ":00\n";
  if (r.chance(0.3)) slurm_conf += "PreemptParameters=youngest_first\n";
  slurm_conf += "SchedulerTimeSlice=" + number(r.uniform(5, 60)) + "\n";
  const std::string share = mode == "SUSPEND,GANG" ? " OverSubscribe=FORCE:1" : "";
  slurm_conf += "PartitionName=spot Nodes=ALL MaxTime=60 GraceTime=" + number(r.chance(0.5) ? r.uniform(1, 90) : 0) + share + "\n";
  slurm_conf += "PartitionName=urgent Nodes=ALL MaxTime=20 PriorityTier=9" + share + "\n";
  for (const char* name : {"spot", "spot", "urgent"}) partitions.push_back(name);
}

void Scenario::load() {
  config::MemoryFiles files{{"/etc/slurm/slurm.conf", slurm_conf}};
  if (!gres_conf.empty()) files.put("/etc/slurm/gres.conf", gres_conf);
  auto loaded = config::load_config(files, "/etc/slurm/slurm.conf");
  if (!loaded) check_failed("scenario.cc", 0, config::to_text(loaded.error()).c_str());
  auto shared = std::make_shared<const config::LoadedConfig>(std::move(*loaded));
  settings = slurmctld::make_settings(shared, Uid{64030}, false);
  for (uint32_t i = 0; i < shared->config.nodes.size(); ++i) {
    NodeSpec spec = config::to_node_spec(shared->config.nodes[i]);
    NodeHardware hw;
    hw.cpus = spec.cpus;
    hw.sockets = spec.sockets;
    hw.cores_per_socket = spec.cores_per_socket;
    hw.threads_per_core = spec.threads_per_core;
    hw.real_memory_mb = spec.real_memory_mb;
    hw.tmp_disk_mb = spec.tmp_disk_mb;
    hw.gres = config::devices_of(shared->gres, shared->config, i);
    nodes.push_back(spec.name);
    hardware.push_back(std::move(hw));
  }
}

JobRequest Scenario::request(Random& r, const std::vector<JobId>& known, Time now) const {
  JobRequest q;
  q.uid = Uid(static_cast<uint32_t>(r.uniform(1001, 1003)));
  q.gid = Gid(100);
  q.user_name = "u" + number(q.uid.value);
  if (r.chance(0.3)) q.account = r.chance(0.5) ? "other" : "team";
  if (r.chance(0.2)) q.qos = "fast";
  q.name = "job" + number(r.uniform(0, 3));
  q.work_dir = "/tmp";
  q.kind = r.chance(0.15) ? JobKind::kAllocation : JobKind::kBatch;
  if (r.chance(0.5)) q.partitions.push_back(r.pick(partitions));
  bool enforced = settings.config().enforce_part_limits != config::EnforcePartitionLimits::kNo;  // see README, Not covered
  if (!q.partitions.empty() && r.chance(0.2) && enforced) {
    if (const std::string& second = r.pick(partitions); second != q.partitions[0]) q.partitions.push_back(second);
  }
  if (r.chance(0.6)) q.num_tasks = static_cast<uint32_t>(r.uniform(1, 8));
  if (r.chance(0.4)) q.cpus_per_task = static_cast<uint32_t>(r.uniform(1, 4));
  if (r.chance(0.4)) {
    q.min_nodes = static_cast<uint32_t>(r.uniform(1, 4));
    q.max_nodes = r.chance(0.7) ? q.min_nodes : q.min_nodes + static_cast<uint32_t>(r.uniform(0, 2));
    if (q.num_tasks && q.num_tasks < q.min_nodes) q.num_tasks = q.min_nodes;
  }
  if (r.chance(0.4)) q.mem_per_node_mb = r.uniform(100, 4000);
  else if (r.chance(0.2)) q.mem_per_cpu_mb = r.uniform(10, 500);
  if (r.chance(0.3)) q.tres_per_node = "gres/gpu:" + number(r.uniform(1, 4));
  else if (r.chance(0.1)) q.tres_per_node = std::string("gres/gpu:") + (r.chance(0.5) ? "a100" : "h100") + ":" + number(r.uniform(1, 2));
  else if (r.chance(0.1)) q.tres_per_job = "gres/gpu:" + number(r.uniform(1, 6));
  if (r.chance(0.8)) q.time_limit_min = static_cast<uint32_t>(r.uniform(1, 30));
  if (r.chance(0.1)) q.exclusive = r.chance(0.7) ? Exclusive::kNode : Exclusive::kUser;
  if (q.kind == JobKind::kBatch && r.chance(0.2)) {
    std::string tasks = "0-" + number(r.uniform(0, 9));
    if (r.chance(0.5)) tasks += "%" + number(r.uniform(1, 3));
    q.array = std::move(tasks);
  }
  if (!known.empty() && r.chance(0.2)) {
    const char* kinds[] = {"afterany", "afterok", "afternotok", "after", "aftercorr"};
    std::string kind = kinds[r.uniform(0, 4)];
    q.dependency = kind + ":" + number(r.pick(known).value);
    if (kind == "after" && r.chance(0.5)) q.dependency += "+" + number(r.uniform(1, 5));
    if (r.chance(0.3)) q.dependency += std::string(r.chance(0.5) ? "," : "?") + "afterany:" + number(r.pick(known).value);
  } else if (r.chance(0.04)) {
    q.dependency = "singleton";
  }
  if (r.chance(0.1)) q.begin = now + seconds(static_cast<int64_t>(r.uniform(1, 1200)));
  if (r.chance(0.02)) q.deadline = now + seconds(static_cast<int64_t>(r.uniform(600, 7200)));
  q.hold = r.chance(0.05);
  q.nice = static_cast<int32_t>(r.uniform(0, 20));
  if (r.chance(0.2)) q.no_kill = true;
  if (r.chance(0.5)) q.requeue = r.chance(0.6) ? TriState::kYes : TriState::kNo;
  if (r.chance(0.1)) q.warn.signal = 10;
  return q;
}

Duration Scenario::runtime(JobId job, uint32_t generation, bool calm) const {
  Random r(mix64(seed_ ^ (uint64_t{job.value} << 20) ^ generation));
  if (calm || r.chance(0.3)) return milliseconds(static_cast<int64_t>(r.uniform(1, 5000)));
  if (r.chance(0.1)) return minutes(static_cast<int64_t>(r.uniform(30, 200)));  // beyond most limits
  return seconds(static_cast<int64_t>(r.uniform(5, 900)));
}

int32_t Scenario::exit_status(JobId job, uint32_t generation, bool calm) const {
  Random r(mix64(seed_ ^ 0x5eed ^ (uint64_t{job.value} << 20) ^ generation));
  if (calm || r.chance(0.8)) return 0;
  const int32_t codes[] = {1 << 8, 7 << 8, 9 << 8, 9, 127 << 8};
  return codes[r.uniform(0, 4)];
}

}  // namespace muster::sim

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

std::string Scenario::globals(Random& rng) const {
  std::string text = "ClusterName=sim\nSlurmctldHost=ctl\nGresTypes=gpu\nSelectType=select/cons_tres\nMaxArraySize=200\n";
  const char* select[] = {"CR_Core_Memory", "CR_CPU_Memory", "CR_Core", "CR_CPU"};
  text += std::string("SelectTypeParameters=") + select[rng.uniform(0, 3)] + "\n";
  text += rng.chance(0.9) ? "SchedulerType=sched/backfill\n" : "SchedulerType=sched/builtin\n";
  if (rng.chance(0.3)) text += "PriorityType=priority/multifactor\nPriorityWeightAge=1000\nPriorityWeightJobSize=500\n";
  text += "ReturnToService=" + number(rng.uniform(0, 2)) + "\n";
  text += "SlurmdTimeout=" + number(rng.uniform(20, 300)) + "\n";
  text += "MinJobAge=" + number(rng.uniform(20, 900)) + "\n";
  text += "KillWait=" + number(rng.uniform(1, 30)) + "\n";
  text += "JobRequeue=" + number(rng.uniform(0, 1)) + "\n";
  text += "OverTimeLimit=" + number(rng.chance(0.3) ? rng.uniform(1, 3) : 0) + "\n";
  text += "RequeueExit=7\nRequeueExitHold=9\n";
  if (rng.chance(0.3)) text += "DependencyParameters=kill_invalid_depend\n";
  if (rng.chance(0.2)) text += "EnforcePartLimits=NO\n";
  text += "SchedulerParameters=requeue_delay=" + number(rng.chance(0.5) ? 0 : rng.uniform(1, 150)) + "\n";
  return text;
}

void Scenario::add_group(Random& rng, const char* prefix) {
  Group group;
  group.prefix = prefix;
  group.count = static_cast<uint32_t>(rng.uniform(1, 5));
  group.sockets = static_cast<uint32_t>(rng.uniform(1, 2));
  group.cores = static_cast<uint32_t>(rng.uniform(1, 8));
  group.threads = static_cast<uint32_t>(rng.uniform(1, 2));
  group.memory = 1024 * rng.uniform(1, 16);
  if (rng.chance(0.6)) {
    group.gpus = static_cast<uint32_t>(rng.uniform(1, 8));
    group.gpu = rng.chance(0.5) ? "a100" : "h100";
  }
  std::string range = group.prefix + "[0-" + number(group.count - 1) + "]";
  slurm_conf += "NodeName=" + range + " Sockets=" + number(group.sockets) + " CoresPerSocket=" + number(group.cores) +
                " ThreadsPerCore=" + number(group.threads) + " RealMemory=" + number(group.memory) + " Feature=of_" + prefix;
  if (group.gpus) {
    slurm_conf += " Gres=gpu:" + group.gpu + ":" + number(group.gpus);
    gres_conf += "NodeName=" + range + " Name=gpu Type=" + group.gpu + " File=/dev/nvidia[0-" + number(group.gpus - 1) + "]\n";
  }
  slurm_conf += "\n";
  groups_.push_back(std::move(group));
}

Scenario::Scenario(Random r, uint64_t seed) : seed_(seed) {
  slurm_conf = globals(r);
  if (seed % 4 == 1 || seed % 4 == 2) slurm_conf += "JobAcctGatherType=jobacct_gather/linux\n";
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
  add_layers();
  add_licenses();
  add_channels();
  reservations = seed % 3 == 0;
  prolog = r.chance(0.3);
  epilog = r.chance(0.3);
  in_job = seed % 10 == 3;
  if (seed % 5 == 3) slurm_conf += std::string("PrologFlags=") + (in_job ? "RunInJob" : "Contain") + "\n";
  quarantine = seed % 3 == 1;
  if (quarantine) slurm_conf += "SlurmctldParameters=quarantine=1\n";
  maintenance = seed % 7 == 2;
  if (maintenance) slurm_conf += "RebootProgram=/sbin/reboot\nResumeTimeout=" + number(60 + seed % 240) + "\n";
  load();
}

// Draws of its own: the worlds of earlier seeds stay as they are.
void Scenario::add_preemption() {
  Random rng(seed_ ^ 0x70726565);
  if (!rng.chance(0.4)) return;
  const bool by_qos = seed_ % 2 == 1 && rng.chance(0.3);
  const char* modes[] = {"REQUEUE", "CANCEL", "SUSPEND,GANG"};
  const std::string mode = modes[rng.uniform(0, 2)];
  slurm_conf += std::string("PreemptType=preempt/") + (by_qos ? "qos" : "partition_prio") + "\nPreemptMode=" + mode + "\n";
  if (rng.chance(0.3)) slurm_conf += "PreemptExemptTime=00:0" + number(rng.uniform(1, 3)) + ":00\n";
  if (rng.chance(0.3)) slurm_conf += "PreemptParameters=youngest_first\n";
  slurm_conf += "SchedulerTimeSlice=" + number(rng.uniform(5, 60)) + "\n";
  const std::string share = mode == "SUSPEND,GANG" ? " OverSubscribe=FORCE:1" : "";
  slurm_conf += "PartitionName=spot Nodes=ALL MaxTime=60 GraceTime=" + number(rng.chance(0.5) ? rng.uniform(1, 90) : 0) + share + "\n";
  slurm_conf += "PartitionName=urgent Nodes=ALL MaxTime=20 PriorityTier=9" + share + "\n";
  for (const char* name : {"spot", "spot", "urgent"}) partitions.push_back(name);
}

// Draws of its own, as above. A resource of each mode over each group of nodes, and over all of them.
void Scenario::add_layers() {
  Random rng(seed_ ^ 0x6c617965);
  if (!rng.chance(0.3)) return;
  for (const auto& [name, mode] : {std::pair{"one", "MODE_1"}, std::pair{"all", "MODE_2"}, std::pair{"sum", "MODE_3"}}) {
    resources_yaml +=
        std::string("- resource: ") + name + "\n  mode: " + mode + "\n  variables:\n    - {name: some, value: 2}\n  layers:\n";
    std::string nodes;
    auto layer = [&](const std::string& of) {
      resources_yaml += "    - nodes: [\"" + of + "\"]\n      count: " + (rng.chance(0.1) ? "-1" : number(rng.uniform(1, 9))) + "\n";
    };
    for (const Group& g : groups_) {
      const std::string range = g.prefix + "[0-" + number(g.count - 1) + "]";
      nodes += (nodes.empty() ? "" : ",") + range;
      layer(range);
    }
    layer(nodes);
  }
}

// Draws of its own, as above. Plain licences, which count as TRES, and weights of what a job is billed for.
void Scenario::add_licenses() {
  Random rng(seed_ ^ 0x6c696365);
  if (rng.chance(0.3)) {
    slurm_conf += "Licenses=tool:" + number(rng.uniform(2, 6)) + ",lib:" + number(rng.uniform(2, 3)) + "\n";
    if (seed_ % 2) slurm_conf += "AccountingStorageTRES=license/tool,license/lib\n";
    licenses_ = true;
  }
  if (rng.chance(0.3)) {
    slurm_conf += "PartitionName=billed Nodes=ALL MaxTime=40 TRESBillingWeights=CPU=" + number(rng.uniform(1, 3)) + ".0,GRES/gpu=2.5\n";
    partitions.push_back("billed");
  }
}

// Draws of its own, as above. So few IMEX channels that jobs wait for them.
void Scenario::add_channels() {
  Random rng(seed_ ^ 0x696d6578);
  if (!rng.chance(0.2)) return;
  slurm_conf += "SwitchType=switch/nvidia_imex\nSwitchParameters=imex_channel_count=" + number(rng.uniform(2, 8)) + "\n";
}

// Without a draw of the workload's: licences.
void Scenario::ask_for_more(JobRequest& request, Time now) const {
  Random rng(mix64(seed_ ^ 0x6d6f7265 ^ static_cast<uint64_t>(now.time_since_epoch().count())));
  if (licenses_ && rng.chance(0.4)) {
    std::string text = "tool:" + number(rng.uniform(1, 2));
    if (rng.chance(0.3)) text += (request.licenses.empty() && rng.chance(0.5) ? "|lib:" : ",lib:") + number(rng.uniform(1, 2));
    request.licenses = request.licenses.empty() ? text : request.licenses.text() + "," + text;
  }
}

// Without a draw of the workload's.
void Scenario::ask_for_layers(JobRequest& request, Time now) const {
  Random rng(mix64(seed_ ^ static_cast<uint64_t>(now.time_since_epoch().count())));
  if (resources_yaml.empty() || rng.chance(0.4)) return;
  std::string text;
  for (const char* name : {"one", "all", "sum"})
    if (rng.chance(0.5))
      text += (text.empty() ? "" : ",") + std::string(name) + (rng.chance(0.3) ? ":some" : ":" + number(rng.uniform(1, 3)));
  request.licenses = text;
}

void Scenario::load() {
  config::MemoryFiles files{{"/etc/slurm/slurm.conf", slurm_conf}};
  if (!resources_yaml.empty()) files.put("/etc/slurm/resources.yaml", resources_yaml);
  if (!gres_conf.empty()) files.put("/etc/slurm/gres.conf", gres_conf);
  auto loaded = config::load_config(files, "/etc/slurm/slurm.conf");
  if (!loaded) check_failed("scenario.cc", 0, config::to_text(loaded.error()).c_str());
  auto shared = std::make_shared<const config::LoadedConfig>(std::move(*loaded));
  settings = slurmctld::make_settings(shared, Uid{64030}, false);
  for (uint32_t index = 0; index < shared->config.nodes.size(); ++index) {
    NodeSpec spec = config::to_node_spec(shared->config.nodes[index]);
    NodeHardware hw;
    hw.cpus = spec.cpus;
    hw.sockets = spec.sockets;
    hw.cores_per_socket = spec.cores_per_socket;
    hw.threads_per_core = spec.threads_per_core;
    hw.real_memory_mb = spec.real_memory_mb;
    hw.tmp_disk_mb = spec.tmp_disk_mb;
    hw.gres = config::devices_of(shared->gres, shared->config, index);
    nodes.push_back(spec.name);
    hardware.push_back(std::move(hw));
  }
}

JobRequest Scenario::request(Random& rng, const std::vector<JobId>& known, Time now) const {
  JobRequest request;
  request.uid = Uid(static_cast<uint32_t>(rng.uniform(1001, 1003)));
  request.gid = Gid(100);
  request.user_name = "u" + number(request.uid.value);
  if (rng.chance(0.3)) request.account = rng.chance(0.5) ? "other" : "team";
  if (rng.chance(0.2)) request.qos = "fast";
  request.name = "job" + number(rng.uniform(0, 3));
  request.work_dir = "/tmp";
  request.kind = rng.chance(0.15) ? JobKind::kAllocation : JobKind::kBatch;
  if (rng.chance(0.5)) request.partitions.push_back(rng.pick(partitions));
  bool enforced = settings.config().enforce_part_limits != config::EnforcePartitionLimits::kNo;  // see README, Not covered
  if (!request.partitions.empty() && rng.chance(0.2) && enforced) {
    if (const std::string& second = rng.pick(partitions); second != request.partitions[0]) request.partitions.push_back(second);
  }
  if (rng.chance(0.6)) request.num_tasks = static_cast<uint32_t>(rng.uniform(1, 8));
  if (rng.chance(0.4)) request.cpus_per_task = static_cast<uint32_t>(rng.uniform(1, 4));
  if (rng.chance(0.4)) {
    request.min_nodes = static_cast<uint32_t>(rng.uniform(1, 4));
    request.max_nodes = rng.chance(0.7) ? request.min_nodes : request.min_nodes + static_cast<uint32_t>(rng.uniform(0, 2));
    if (request.num_tasks && request.num_tasks < request.min_nodes) request.num_tasks = request.min_nodes;
  }
  if (rng.chance(0.4)) request.mem_per_node_mb = rng.uniform(100, 4000);
  else if (rng.chance(0.2)) request.mem_per_cpu_mb = rng.uniform(10, 500);
  // Without a draw: the worlds of seeds that do not gather use stay as they are.
  if (settings.config().gathers_use() && request.mem_per_node_mb.value_or(1) % 2 == 0)
    request.mem_update = "20@0:" + number(*request.mem_per_node_mb % 50 + 10);
  if (rng.chance(0.3)) request.tres_per_node = "gres/gpu:" + number(rng.uniform(1, 4));
  else if (rng.chance(0.1))
    request.tres_per_node = std::string("gres/gpu:") + (rng.chance(0.5) ? "a100" : "h100") + ":" + number(rng.uniform(1, 2));
  else if (rng.chance(0.1)) request.tres_per_job = "gres/gpu:" + number(rng.uniform(1, 6));
  if (rng.chance(0.8)) request.time_limit_min = static_cast<uint32_t>(rng.uniform(1, 30));
  if (rng.chance(0.1)) request.exclusive = rng.chance(0.7) ? Exclusive::kNode : Exclusive::kUser;
  if (request.kind == JobKind::kBatch && rng.chance(0.2)) {
    std::string tasks = "0-" + number(rng.uniform(0, 9));
    if (rng.chance(0.5)) tasks += "%" + number(rng.uniform(1, 3));
    request.array = std::move(tasks);
  }
  if (!known.empty() && rng.chance(0.2)) {
    const char* kinds[] = {"afterany", "afterok", "afternotok", "after", "aftercorr"};
    std::string kind = kinds[rng.uniform(0, 4)];
    request.dependency = kind + ":" + number(rng.pick(known).value);
    if (kind == "after" && rng.chance(0.5)) request.dependency += "+" + number(rng.uniform(1, 5));
    if (rng.chance(0.3)) request.dependency += std::string(rng.chance(0.5) ? "," : "?") + "afterany:" + number(rng.pick(known).value);
  } else if (rng.chance(0.04)) {
    request.dependency = "singleton";
  }
  if (rng.chance(0.1)) request.begin = now + seconds(static_cast<int64_t>(rng.uniform(1, 1200)));
  if (rng.chance(0.02)) request.deadline = now + seconds(static_cast<int64_t>(rng.uniform(600, 7200)));
  request.hold = rng.chance(0.05);
  request.nice = static_cast<int32_t>(rng.uniform(0, 20));
  if (rng.chance(0.2)) request.no_kill = true;
  if (rng.chance(0.5)) request.requeue = rng.chance(0.6) ? TriState::kYes : TriState::kNo;
  if (rng.chance(0.1)) request.warn.signal = 10;
  ask_for_layers(request, now);
  ask_for_more(request, now);
  return request;
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

#include "steps/warrant.h"

#include <algorithm>

#include "hostlist/hostlist.h"
#include "steps/credential.h"

namespace muster::steps {
namespace {

constexpr Duration kClockDifference = minutes(5);  // of the hosts

std::unexpected<Error> refused(const std::string& why) { return fail(Errc::kInvalidCredential, "the step manager's credential " + why); }

// Compares the whole of the job's part. A new field of StepCredential has to be added here or to the part about the step.
bool same_job(const rpc::StepCredential& a, const rpc::StepCredential& b) {
  return a.job == b.job && a.generation == b.generation && a.sluid == b.sluid && a.uid == b.uid && a.gid == b.gid &&
         a.user_name == b.user_name && a.job_node_list == b.job_node_list && a.partition == b.partition && a.account == b.account &&
         a.job_name == b.job_name && a.array_job == b.array_job && a.array_task == b.array_task && a.qos == b.qos &&
         a.reservation == b.reservation && a.licenses == b.licenses && a.started == b.started && a.ends == b.ends &&
         a.spank_env == b.spank_env && a.cluster == b.cluster && a.exclusive == b.exclusive && a.oversubscribe == b.oversubscribe &&
         a.by_key_alone == b.by_key_alone;
}

bool same_address(const rpc::NodeAddress& a, const rpc::NodeAddress& b) { return a.name == b.name && a.host == b.host && a.port == b.port; }

bool cpus_within(const std::string& asked, const std::string& held) {
  Bitmap part, all;
  return Bitmap::parse_ranges(asked, part) && Bitmap::parse_ranges(held, all) && all.contains(part);
}

Result<> check_node(const rpc::StepNode& node, const rpc::StepWarrant& warrant, bool to_launch) {
  if (node.node_index >= warrant.job.nodes.size()) return refused("names a node that is none of the job's");
  const rpc::StepNode& held = warrant.job.nodes[node.node_index];
  const std::string on = " on node " + held.address.name;
  if (!same_address(node.address, held.address)) return refused("names a node that is none of the job's");
  if (!cpus_within(node.cpu_list, held.cpu_list)) return refused("names CPUs" + on + " that the job does not hold");
  if (node.mem_mb > held.mem_mb || (to_launch && node.mem_mb == 0 && held.mem_mb > 0))
    return refused("names more memory" + on + " than the job holds");
  if (!holds_gres(held.gres, node.gres)) return refused("names devices" + on + " that the job does not hold");
  if (node.channel != held.channel) return refused("names a channel" + on + " that is not the job's");
  if (node.job_cpus != held.job_cpus || node.topology_address != held.topology_address || node.topology_pattern != held.topology_pattern)
    return refused("says of node " + held.address.name + " what its warrant does not");
  return {};
}

// Compares what SPANK plugins are told of the job on each node.
bool same_shares(const rpc::StepCredential& c, const rpc::StepWarrant& w) {
  if (c.job_cpus.empty() && c.job_mem_mb.empty()) return true;
  if (c.job_cpus.size() != c.nodes.size() || c.job_mem_mb.size() != c.nodes.size()) return false;
  for (size_t i = 0; i < c.nodes.size(); ++i) {
    const rpc::StepNode& held = w.job.nodes[c.nodes[i].node_index];
    if (c.job_cpus[i] != held.cpu_list || c.job_mem_mb[i] != held.mem_mb) return false;
  }
  return true;
}

Time expiry(const Job& job, Time now) {
  const bool limited = job.ends != kTimeInfinite && job.ends != kTimeUnset;
  const Time longest = now + kWarrantLife;
  return limited && job.state == JobState::kRunning ? std::min(longest, std::max(job.ends, now) + kAfterJobEnds) : longest;
}

}  // namespace

rpc::StepWarrant make_warrant(const Cluster& cluster, const Job& job, const std::string& key, Time now) {
  rpc::StepWarrant warrant;
  warrant.job = credential_of_job(cluster, job);
  std::vector<std::string> names;
  for (uint32_t index = 0; index < job.allocation->nodes.size(); ++index) {
    const NodeShare& held = job.allocation->nodes[index];
    rpc::StepNode& here = warrant.job.nodes.emplace_back();
    here.node_index = index;
    here.cpu_list = held.cpus.to_ranges();
    here.mem_mb = held.mem_mb;
    here.gres = held.gres;
    here.job_cpus = held.counted_cpus();
    here.channel = held.channel;
    const Node* node = cluster.nodes.find(held.node.value);
    if (!node) continue;
    here.address.name = node->spec->name;
    here.address.host = node->spec->address;
    here.address.port = node->spec->port;
    names.push_back(node->spec->name);
    const Partition* p = cluster.partitions.find(job.partition);
    if (!p || !cluster.topologies) continue;
    TopologyAddress at = topology_address(cluster.topologies->of(*p), node->id.value, node->spec->name);
    here.topology_address = std::move(at.address);
    here.topology_pattern = std::move(at.pattern);
  }
  warrant.job.job_node_list = compress_hosts(names);
  if (!names.empty()) warrant.node = warrant.job.nodes.front().address.name;
  warrant.key = key;
  warrant.expires = expiry(job, now);
  return warrant;
}

Result<> check_warranted(const rpc::StepCredential& credential, const rpc::StepWarrant& warrant, const std::string& cluster, Time now) {
  if (warrant.job.cluster != cluster || credential.cluster != cluster) return refused("is of another cluster");
  if (now > warrant.expires)
    return fail(Errc::kCredentialExpired, "the warrant of the step manager on node " + warrant.node + " has expired");
  if (!same_job(credential, warrant.job)) return refused("is for another job, or another user, than its warrant");
  const bool watched = credential.purpose == rpc::CredentialPurpose::kWatch;
  const bool of_no_srun = credential.step == kBatchStep || credential.step == kExternStep;
  if (credential.step.value > kInteractiveStep.value && !(watched && of_no_srun)) return refused("is for what is no step of srun");
  if (credential.expires == kTimeUnset || credential.expires > now + kCredentialLife + kClockDifference) return refused("lasts too long");
  if (credential.nodes.empty()) return refused("names no node");
  if (credential.het_leader || credential.first_node || credential.own_nodes)
    return refused("is for a heterogeneous job, whose steps nobody manages but slurmctld");
  for (const rpc::StepNode& n : credential.nodes)
    MUSTER_TRY_VOID(check_node(n, warrant, credential.purpose == rpc::CredentialPurpose::kLaunch));
  if (!same_shares(credential, warrant)) return refused("says of the job's nodes what its warrant does not");
  return {};
}

}  // namespace muster::steps

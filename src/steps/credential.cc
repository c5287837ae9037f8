#include "steps/credential.h"

#include "model/sharing_words.h"

namespace muster::steps {

// Each field is named here on purpose: nodes trust what a credential says, so nothing of a request gets into one by itself.
rpc::StepCredential credential_of_job(const Cluster& cluster, const Job& job) {
  rpc::StepCredential credential;
  credential.cluster = cluster.name;
  credential.job = job.id;
  credential.het_leader = job.het.leader;
  credential.generation = job.restarts;
  credential.sluid = job.sluid();
  credential.uid = job.request->uid;
  credential.gid = job.request->gid;
  credential.user_name = job.request->user_name;
  const Partition* partition = cluster.partitions.find(job.partition);
  if (partition) credential.partition = partition->name;
  credential.exclusive = exclusive_word(job.request->exclusive, partition);
  credential.oversubscribe = oversubscribe_word(job.request->exclusive, partition);
  credential.account = job.request->account;
  credential.job_name = job.name();
  credential.array_job = job.array_job_id;
  credential.array_task = job.array_task;
  credential.qos = job.request->qos;
  credential.reservation = job.request->reservation.text();
  credential.licenses = job.request->licenses.text();
  credential.started = job.started;
  credential.ends = job.ends;
  credential.spank_env = job.request->spank_env;
  return credential;
}

void add_step(rpc::StepCredential& credential, const rpc::StepCreated& step, std::string resv_ports, Time now) {
  credential.job = step.job;
  credential.sluid = step.sluid;
  credential.step = step.step;
  credential.uid = step.uid;
  credential.gid = step.gid;
  credential.num_tasks = step.num_tasks;
  credential.cpus_per_task = step.cpus_per_task;
  credential.nodes = step.nodes;
  credential.job_node_list = step.job_node_list;
  credential.first_node = step.first_node;
  credential.own_nodes = step.own_nodes;
  credential.resv_ports = std::move(resv_ports);
  credential.expires = now + kCredentialLife;
}

void add_job_shares(rpc::StepCredential& credential, const Allocation& allocation) {
  credential.job_cpus.clear();
  credential.job_mem_mb.clear();
  for (size_t i = 0; i < credential.nodes.size(); ++i) {
    if (i < credential.first_node || i >= credential.nodes_end()) {  // another component's
      credential.job_cpus.emplace_back();
      credential.job_mem_mb.push_back(0);
      continue;
    }
    const NodeShare& held = allocation.nodes[credential.nodes[i].node_index];
    credential.job_cpus.push_back(held.cpus.to_ranges());
    credential.job_mem_mb.push_back(held.mem_mb);
  }
}

}  // namespace muster::steps

#include "steps/credential.h"

#include "model/sharing_words.h"

namespace muster::steps {

// Each field is named here on purpose: nodes trust what a credential says, so nothing of a request gets into one by itself.
rpc::StepCredential credential_of_job(const Cluster& cluster, const Job& job) {
  rpc::StepCredential c;
  c.cluster = cluster.name;
  c.job = job.id;
  c.het_leader = job.het.leader;
  c.generation = job.restarts;
  c.sluid = job.sluid();
  c.uid = job.request->uid;
  c.gid = job.request->gid;
  c.user_name = job.request->user_name;
  const Partition* p = cluster.partitions.find(job.partition);
  if (p) c.partition = p->name;
  c.exclusive = exclusive_word(job.request->exclusive, p);
  c.oversubscribe = oversubscribe_word(job.request->exclusive, p);
  c.account = job.request->account;
  c.job_name = job.name();
  c.array_job = job.array_job_id;
  c.array_task = job.array_task;
  c.qos = job.request->qos;
  c.reservation = job.request->reservation.text();
  c.licenses = job.request->licenses.text();
  c.started = job.started;
  c.ends = job.ends;
  c.spank_env = job.request->spank_env;
  return c;
}

void add_step(rpc::StepCredential& c, const rpc::StepCreated& step, std::string resv_ports, Time now) {
  c.job = step.job;
  c.sluid = step.sluid;
  c.step = step.step;
  c.uid = step.uid;
  c.gid = step.gid;
  c.num_tasks = step.num_tasks;
  c.cpus_per_task = step.cpus_per_task;
  c.nodes = step.nodes;
  c.job_node_list = step.job_node_list;
  c.first_node = step.first_node;
  c.own_nodes = step.own_nodes;
  c.resv_ports = std::move(resv_ports);
  c.expires = now + kCredentialLife;
}

void add_job_shares(rpc::StepCredential& c, const Allocation& allocation) {
  c.job_cpus.clear();
  c.job_mem_mb.clear();
  for (size_t i = 0; i < c.nodes.size(); ++i) {
    if (i < c.first_node || i >= c.nodes_end()) {  // another component's
      c.job_cpus.emplace_back();
      c.job_mem_mb.push_back(0);
      continue;
    }
    const NodeShare& held = allocation.nodes[c.nodes[i].node_index];
    c.job_cpus.push_back(held.cpus.to_ranges());
    c.job_mem_mb.push_back(held.mem_mb);
  }
}

}  // namespace muster::steps

#include "slurmd/core/step_manager.h"

#include <signal.h>

#include <algorithm>
#include <utility>

#include "slurmd/core/kept_bytes.h"
#include "steps/warrant.h"

namespace muster::slurmd {
namespace {

constexpr uint32_t kOtherNodes = 1u << 30;  // from here on: numbers of nodes that are known by name only

ManagerRecord record_of(node_rpc::StepNews news) {
  ManagerRecord r;
  r.news.push_back(std::move(news));
  return r;
}

// A warrant that is bounded by the job's limit is as long as it can be, and is not renewed.
bool wants_renewal(Time expires, Time ends, Time now) {
  const bool limited = ends != kTimeInfinite && ends != kTimeUnset;
  return !(limited && expires >= ends + steps::kAfterJobEnds) && expires - now < steps::kWarrantLife - steps::kWarrantRenewal;
}

node_rpc::StepNews ending(StepId step, int32_t exit_status, bool out_of_memory, Time now) {
  node_rpc::StepNews n;
  n.ended = node_rpc::StepEnd{step, exit_status, out_of_memory, now, nullptr, {}};
  return n;
}

// With what the nodes that are done, and the one that tells it now, have used.
node_rpc::StepNews with_use(node_rpc::StepNews news, const Job& job, const Step& step, const StepUsagePtr& last = nullptr,
                            std::optional<NodeId> teller = {}) {
  news.ended->usage = merged(step.usage, last);
  for (const StepShare& s : step.shares)
    if (s.done) news.ended->told.push_back(job.allocation->nodes[s.node_index].node);
  if (teller) news.ended->told.push_back(*teller);
  return news;
}

}  // namespace

const Job& StepManager::Managed::job() const { return cluster.jobs.at(order.job.id.value); }
Job& StepManager::Managed::edit() { return *cluster.jobs.edit(order.job.id.value); }

void StepManager::Managed::count(const Step& step) {
  uncount(step.id);
  live_bytes += live[step.id] = kept_bytes(step);
}
void StepManager::Managed::uncount(StepId step) {
  if (auto at = live.extract(step)) live_bytes -= at.mapped();
}

const StepManager::Managed* StepManager::find(JobId job) const {
  auto at = jobs_.find(job);
  return at == jobs_.end() ? nullptr : &at->second;
}
const StepManager::Managed* StepManager::find(JobId job, uint32_t generation) const {
  const Managed* m = find(job);
  return m && !m->over && m->job().restarts == generation ? m : nullptr;
}
bool StepManager::manages(JobId job) const {
  const Managed* m = find(job);
  return m && !m->over;
}

bool StepManager::may_ask_for(Uid caller, JobId job) const { return may_ask(caller, job).has_value(); }

Result<const StepManager::Managed*> StepManager::may_ask(Uid caller, JobId job) const {
  const Managed* m = find(job);
  if (!m || m->over) return fail(Errc::kInvalidJobId);
  if (caller.value != 0 && caller != slurm_user_ && caller != m->job().request->uid) return fail(Errc::kAccessDenied);
  return m;
}

steps::JobSteps StepManager::steps_of(const Managed& m, Time now) const {
  return {m.cluster, m.job(), now, m.order.bounds, {m.job().run->first_port, m.job().run->last_port, m.order.ports_named}, [&m](size_t i) {
            const node_rpc::ManagedNode& n = m.order.nodes[i];
            return TopologyAddress{n.topology_address, n.topology_pattern};
          }};
}

// A credential that is signed without the right would be taken by no node.
Result<> StepManager::has_right(const Managed& m, Time now) {
  if (now <= m.order.warrant.expires) return {};
  return fail(Errc::kNodesBusy, {}, "the right to manage the job's steps has to be renewed by slurmctld, which does not answer");
}

// ---- users
Result<rpc::Allocated> StepManager::attach(Uid caller, const rpc::AttachAllocation& c) const {
  MUSTER_TRY(m, may_ask(caller, c.job));
  return m->order.allocated;
}

Result<StepManager::Decision<rpc::StepCreated>> StepManager::create(Uid caller, const rpc::CreateStep& c, Time now) const {
  MUSTER_TRY(m, may_ask(caller, c.job));
  MUSTER_TRY_VOID(has_right(*m, now));
  const steps::JobSteps s = steps_of(*m, now);
  if (c.request.required_nodes.empty() && c.request.excluded_nodes.empty()) return decided(*m, steps::create_step(s, c));
  const Cluster all = with_all_names(*m);
  return decided(*m, steps::create_step({all, s.job, s.now, s.bounds, s.ports, s.address}, c));
}

Result<StepManager::Decision<rpc::StepCreated>> StepManager::decided(const Managed& managed, Result<steps::Made> result) const {
  MUSTER_TRY(made, std::move(result));
  Decision<rpc::StepCreated> out;
  out.reply = std::move(made.answer);
  if (!made.record) return out;
  node_rpc::StepNews news;
  news.made = std::move(*made.record);
  if (managed.news.size() >= kStepsUntold)
    return fail(Errc::kNodesBusy, {}, "slurmctld has been away for so many steps that no more of them can be kept for it");
  // Counted twice: as a step that is there, and as news that slurmctld has to be told.
  if (bytes_of(managed.job().request->uid) + 2 * kept_bytes(news) > kBytesOfUser)
    return fail(Errc::kNodesBusy, {},
                "no more steps of this user can be kept on this node until others have ended, or slurmctld knows of them");
  out.record = record_of(std::move(news));
  return out;
}

size_t StepManager::bytes_of(Uid user) const {
  size_t n = 0;
  for (const auto& [job, m] : jobs_)
    if (m.job().request->uid == user) n += m.bytes + m.live_bytes;
  return n;
}

Result<rpc::StepCreated> StepManager::ask(Uid caller, const rpc::AskCredential& c, Time now) const {
  if (c.purpose == rpc::CredentialPurpose::kLaunch)
    return fail(Errc::kAccessDenied, {}, "purpose: tasks are launched with the credential of a step that was created for them");
  MUSTER_TRY(m, may_ask(caller, c.job));
  MUSTER_TRY_VOID(has_right(*m, now));
  return steps::step_or_nodes(steps_of(*m, now), c);
}

Result<StepManager::Decision<rpc::Empty>> StepManager::finish(Uid caller, const rpc::FinishStep& c, Time now) const {
  MUSTER_TRY(m, may_ask(caller, c.job));
  Decision<rpc::Empty> d;
  for (const Step& s : m->job().steps)
    if (s.id == c.step)
      d.record =
          record_of(with_use(ending(s.id, std::max(s.exit_status, c.exit_status), s.out_of_memory || c.out_of_memory, now), m->job(), s));
  return d;  // a step that its nodes reported as ended has ended already: nothing to add
}

// ---- slurmctld and nodes
std::optional<ManagerRecord> StepManager::manage(const node_rpc::ManageSteps& order) const {
  const bool complete = order.job.allocation && !order.job.allocation->nodes.empty() && order.request &&
                        order.nodes.size() == order.job.allocation->nodes.size() &&
                        std::ranges::all_of(order.nodes, [](const node_rpc::ManagedNode& n) { return n.spec != nullptr; });
  if (!complete) return std::nullopt;
  const Managed* known = find(order.job.id);
  if (known && known->job().restarts > order.job.restarts) return std::nullopt;
  ManagerRecord r;
  r.manage = order;
  return r;
}

std::optional<ManagerRecord> StepManager::part_ended(const rpc::PartEnded& part, Time now) const {
  const Managed* managed = find(part.job, part.generation);
  if (!managed) return std::nullopt;
  const auto index = managed->index_of.find(part.node);
  if (index == managed->index_of.end()) return std::nullopt;
  const NodeId node = managed->job().allocation->nodes[index->second].node;
  auto step = std::ranges::find(managed->job().steps, part.step, &Step::id);
  if (step == managed->job().steps.end()) return used_late(*managed, part, node);
  const auto is_there = [&](const StepShare& s) { return s.node_index == index->second; };
  const auto here = std::ranges::find_if(step->shares, is_there);
  if (here == step->shares.end() || here->done) return std::nullopt;
  ManagerRecord r;
  const bool last = std::ranges::all_of(step->shares, [&](const StepShare& s) { return s.done || is_there(s); });
  if (last)
    r.news.push_back(
        with_use(ending(part.step, std::max(step->exit_status, part.exit_status), step->out_of_memory || part.out_of_memory, now),
                 managed->job(), *step, part.usage, node));
  else r.part = part;
  return r;
}

// The step was over before this node's part of it. Whether that node has told it already, slurmctld knows.
std::optional<ManagerRecord> StepManager::used_late(const Managed& m, const rpc::PartEnded& part, NodeId node) {
  if (!part.usage || m.news.size() >= kStepsUntold) return std::nullopt;
  node_rpc::StepNews news;
  news.used = StepUse{part.step, {node}, part.usage};
  return record_of(std::move(news));
}

std::vector<std::string> StepManager::others_with(JobId job, StepId id, const std::string& node) const {
  std::vector<std::string> out;
  const Managed* m = find(job);
  if (!m) return out;
  auto step = std::ranges::find(m->job().steps, id, &Step::id);
  if (step == m->job().steps.end()) return out;
  for (const StepShare& s : step->shares)
    if (const std::string& name = m->order.nodes[s.node_index].spec->name; !s.done && name != node) out.push_back(name);
  return out;
}

// As slurmctld does with the steps that it manages: a signal that ends a process ends a step that waits; other signals have no receiver.
std::optional<ManagerRecord> StepManager::cancel_waiting(const node_rpc::SignalJob& o, Time now) const {
  const Managed* m = o.has_step && (o.signal == 0 || o.signal == SIGTERM || o.signal == SIGKILL) ? find(o.job, o.generation) : nullptr;
  if (!m) return std::nullopt;
  auto step = std::ranges::find(m->job().steps, o.step, &Step::id);
  if (step == m->job().steps.end() || step->state != StepState::kPending) return std::nullopt;
  return record_of(ending(o.step, SIGTERM, false, now));
}

// No steps are made while the job is suspended, even where slurmctld cannot repeat that it is.
std::optional<ManagerRecord> StepManager::suspend(const node_rpc::SuspendJob& o) const {
  const Managed* m = find(o.job, o.generation);
  const JobState state = o.suspend ? JobState::kSuspended : JobState::kRunning;
  if (!m || m->job().state == state) return std::nullopt;
  ManagerRecord r;
  r.manage = m->order;
  r.manage->job = m->job();
  r.manage->job.state = state;
  return r;
}

std::optional<ManagerRecord> StepManager::end(JobId job, uint32_t generation) const {
  const Managed* m = find(job);
  if (!m || m->over || m->job().restarts > generation) return std::nullopt;
  ManagerRecord r;
  r.over = true;
  return r;
}

std::optional<ManagerRecord> StepManager::taken(const node_rpc::StepsTaken& o) const {
  const Managed* m = find(o.job);
  if (!m || m->job().restarts != o.generation || o.news < m->first_news || o.news >= m->first_news + m->news.size()) return std::nullopt;
  ManagerRecord r;
  r.taken = o.news;
  return r;
}

// ---- what is durable
void StepManager::set_node_names(const std::vector<std::string>& names) {
  others_ = Cluster();
  auto numbers = std::make_shared<std::unordered_map<std::string, uint32_t>>();
  uint32_t number = kOtherNodes;
  for (const std::string& name : names) {
    Node n;
    n.id = NodeId(number);
    auto spec = std::make_shared<NodeSpec>();
    spec->name = name;
    n.spec = std::move(spec);
    numbers->emplace(name, number);
    others_.nodes.set(number++, std::move(n));
  }
  others_.node_names = std::move(numbers);
}

// The cluster for requests that name nodes, which need not be of the job. O(nodes of the cluster)
Cluster StepManager::with_all_names(const Managed& m) const {
  Cluster c = m.cluster;
  c.nodes = others_.nodes;
  auto numbers = others_.node_names ? std::make_shared<std::unordered_map<std::string, uint32_t>>(*others_.node_names)
                                    : std::make_shared<std::unordered_map<std::string, uint32_t>>();
  m.cluster.nodes.for_each([&](uint32_t id, const Node& n) {
    c.nodes.set(id, n);
    (*numbers)[n.spec->name] = id;
  });
  c.node_names = std::move(numbers);
  return c;
}

Cluster StepManager::cluster_of(const node_rpc::ManageSteps& order, Job job) {
  Cluster cluster;
  auto node_names = std::make_shared<std::unordered_map<std::string, uint32_t>>();
  for (const node_rpc::ManagedNode& managed : order.nodes) {
    Node n;
    n.id = managed.id;
    n.spec = managed.spec;
    n.hardware = managed.hardware;
    n.features_active = managed.features;
    node_names->emplace(n.spec->name, n.id.value);
    cluster.nodes.set(n.id.value, std::move(n));
  }
  cluster.node_names = std::move(node_names);
  cluster.name = order.warrant.job.cluster;
  Partition partition;
  partition.index = job.partition;
  partition.name = order.warrant.job.partition;
  cluster.partitions.set(partition.index, std::move(partition));
  if (!order.blocks.empty()) {
    Topology blocks;
    blocks.kind = TopologyKind::kBlock;
    blocks.units = order.blocks;
    auto all = std::make_shared<Topologies>();
    all->all.push_back(std::move(blocks));
    cluster.topologies = std::move(all);
  }
  job.ask(*order.request);
  const uint32_t id = job.id.value;
  cluster.jobs.set(id, std::move(job));
  return cluster;
}

// The job as slurmctld has it now, with its steps as they are known here, less their parts on nodes that the job has lost.
Job StepManager::job_after(const Job& known, const node_rpc::ManageSteps& order) {
  Job job = order.job;
  job.next_step = std::max(known.next_step, job.next_step);
  job.steps = known.steps;
  const auto& before = known.allocation->nodes;
  const auto& now = job.allocation->nodes;
  for (Step& s : job.steps) {
    std::vector<StepShare> left;
    for (StepShare& x : s.shares) {
      auto at = std::ranges::find(now, before[x.node_index].node, &NodeShare::node);
      if (at == now.end()) continue;
      x.node_index = static_cast<uint32_t>(at - now.begin());
      left.push_back(std::move(x));
    }
    s.shares = std::move(left);
  }
  std::erase_if(job.steps, [](const Step& s) { return s.shares.empty() && s.state != StepState::kPending; });
  return job;
}

void StepManager::apply(JobId id, const ManagerRecord& record) {
  auto at = jobs_.find(id);
  if (record.manage) {
    const bool same_run = at != jobs_.end() && at->second.job().restarts == record.manage->job.restarts && record.first_news == 0;
    if (!same_run) {
      Managed fresh;
      fresh.first_news = record.first_news ? record.first_news : record.manage->job.run->step_news + 1;
      at = jobs_.insert_or_assign(id, std::move(fresh)).first;
    }
    Managed& m = at->second;
    Job job = same_run ? job_after(m.job(), *record.manage) : record.manage->job;
    m.order = *record.manage;
    m.order.job = Job();
    m.order.job.id = id;
    m.cluster = cluster_of(*record.manage, std::move(job));
    m.index_of.clear();
    for (const node_rpc::ManagedNode& n : m.order.nodes) m.index_of.emplace(n.spec->name, static_cast<uint32_t>(m.index_of.size()));
    m.live.clear();
    m.live_bytes = 0;
    for (const Step& step : m.job().steps) m.count(step);
  }
  if (at == jobs_.end()) return;
  Managed& managed = at->second;
  for (const node_rpc::StepNews& n : record.news) {
    // A record of a whole state has the effect of its news in the job already; they are only to be told.
    if (record.first_news == 0) apply(managed, n);
    managed.bytes += kept_bytes(n);
    managed.news.push_back(n);
  }
  if (record.part) apply(managed, *record.part);
  while (record.taken >= managed.first_news && !managed.news.empty()) {
    managed.bytes -= kept_bytes(managed.news.front());
    managed.news.pop_front();
    ++managed.first_news;
  }
  managed.over = managed.over || record.over;
  if (managed.over && managed.news.empty()) jobs_.erase(at);
}

void StepManager::apply(Managed& managed, const node_rpc::StepNews& news) {
  Job& job = managed.edit();
  if (news.ended) {
    std::erase_if(job.steps, [&](const Step& s) { return s.id == news.ended->step; });
    managed.uncount(news.ended->step);
  }
  if (!news.made) return;
  managed.count(*news.made);
  auto known = std::ranges::find(job.steps, news.made->id, &Step::id);
  if (known == job.steps.end()) job.steps.push_back(*news.made);
  else *known = *news.made;
  if (news.made->id.value < kInteractiveStep.value) job.next_step = std::max(job.next_step, news.made->id.value + 1);
}

void StepManager::apply(Managed& m, const rpc::PartEnded& part) {
  for (Step& s : m.edit().steps) {
    if (s.id != part.step) continue;
    s.exit_status = std::max(s.exit_status, part.exit_status);
    s.out_of_memory = s.out_of_memory || part.out_of_memory;
    s.usage = merged(s.usage, part.usage);
    const auto index = m.index_of.find(part.node);
    for (StepShare& x : s.shares)
      if (index != m.index_of.end() && x.node_index == index->second) x.done = true;
  }
}

ManagerRecord StepManager::state_of(JobId id) const {
  ManagerRecord r;
  const Managed* m = find(id);
  if (!m) return r;
  r.manage = m->order;
  r.manage->job = m->job();
  r.news.assign(m->news.begin(), m->news.end());
  r.first_news = m->first_news;
  r.over = m->over;
  return r;
}

bool StepManager::forgotten(JobId job) const { return !jobs_.contains(job); }

// ---- news
std::optional<node_rpc::StepsOfJob> StepManager::news(JobId job, uint64_t after, Time now) const {
  const Managed* managed = find(job);
  if (!managed) return std::nullopt;
  node_rpc::StepsOfJob out;
  out.job = job;
  out.generation = managed->job().restarts;
  out.first = std::max(after + 1, managed->first_news);
  out.renew = !managed->over && wants_renewal(managed->order.warrant.expires, managed->job().ends, now);
  size_t bytes = 0;
  for (size_t i = out.first - managed->first_news; i < managed->news.size() && out.news.size() < kNewsAtOnce; ++i) {
    bytes += kept_bytes(managed->news[i]);
    if (bytes > kBytesAtOnce && !out.news.empty()) break;  // one alone is no larger than the request that made it
    out.news.push_back(managed->news[i]);
  }
  if (out.news.empty() && !(out.renew && now + steps::kAfterJobEnds > managed->order.warrant.expires)) return std::nullopt;
  return out;
}

uint64_t StepManager::last_news(JobId job) const {
  const Managed* m = find(job);
  return m ? m->first_news + m->news.size() - 1 : 0;
}

uint64_t StepManager::taken_news(JobId job) const {
  const Managed* m = find(job);
  return m ? m->first_news - 1 : 0;
}

std::vector<JobId> StepManager::jobs() const {
  std::vector<JobId> out;
  for (const auto& [job, m] : jobs_) out.push_back(job);
  return out;
}

std::vector<node_rpc::ManagedJob> StepManager::registration() const {
  std::vector<node_rpc::ManagedJob> out;
  for (const auto& [job, m] : jobs_)
    if (!m.over) out.push_back({job, m.job().restarts});
  return out;
}

const node_rpc::ManageSteps* StepManager::order_of(JobId job) const {
  const Managed* m = find(job);
  return m ? &m->order : nullptr;
}

std::string StepManager::resv_ports_of(JobId job, StepId id) const {
  const Managed* m = find(job);
  if (!m) return {};
  auto step = std::ranges::find(m->job().steps, id, &Step::id);
  return step == m->job().steps.end() ? std::string() : steps::port_ranges(step->resv_ports);
}

}  // namespace muster::slurmd

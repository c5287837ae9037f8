#include "slurmctld/daemon/service.h"

#include <unistd.h>

#include <algorithm>

#include "model/step_rpc.h"
#include "net/credential.h"
#include "slurmctld/core/explain.h"
#include "slurmctld/core/license_rows.h"
#include "slurmctld/core/row_query.h"
#include "slurmctld/core/rows.h"
#include "slurmctld/core/step_ports.h"
#include "wire/instances.h"

namespace muster::slurmctld {
namespace {

uint64_t time_of_1000_clock_reads() {
  Duration began = net::Loop::monotonic();
  for (int i = 0; i < 1000; ++i) (void)net::Loop::now();
  return static_cast<uint64_t>((net::Loop::monotonic() - began).count());
}

// The parts of a query's answer, encoded as they are asked for.
template <class Query>
class RowSource final : public net::PartSource {
 public:
  explicit RowSource(Query query) : query_(std::move(query)) {}
  bool next(std::string& part) override {
    if (!query_.next(rows_)) return false;
    wire::encode(rows_, part);
    return true;
  }

 private:
  Query query_;
  typename Query::Rows rows_;
};

// An answer that is there already: one part (or none) and the final frame.
class ReadySource final : public net::PartSource {
 public:
  ReadySource(std::string part, std::string last) : part_(std::move(part)), last_(std::move(last)) {}
  bool next(std::string& part) override {
    part = std::exchange(part_, {});
    return !part.empty();
  }
  Result<std::string> last() override { return std::move(last_); }

 private:
  std::string part_, last_;
};

// A launch that takes longer than this after its step was created is refused by the nodes.
constexpr Duration kCredentialLife = minutes(2);

}  // namespace

Service::Service(net::Loop& loop, os::Log& logger, Statistics& stats, CoreThread& core, PlannerThread& planner, NodeLinks& nodes, Ports ports)
    : loop_(loop), logger_(logger), stats_(stats), core_(core), planner_(planner), nodes_(nodes), ports_(std::move(ports)),
      streams_(loop, queries_, [this](const net::Channel* slow) { channels_.drop(slow); }),
      watches_(loop, queries_, [this] { return core_.snapshot(); }), channels_(loop, channel_events()), started_(net::Loop::now()),
      clock_us_(time_of_1000_clock_reads()) {}

net::ChannelSet::Events Service::channel_events() {
  net::ChannelSet::Events e;
  e.frame = [this](const net::ChannelPtr& channel, const net::Frame& frame) { return dispatch(channel, frame); };
  e.ended = [this](const net::Channel* channel) {
    nodes_.on_closed(channel);
    streams_.forget(channel);
    watches_.forget(channel);
  };
  e.refused = [this](const net::Peer& peer, const net::Frame& frame, const Error& error) {
    logger_.debug("message {} from {}: {}", frame.message, peer.address, error.message());
  };
  e.dropped = [this](const net::Peer& peer) { logger_.verbose("connection of uid {} from {} is closed here", peer.uid.value, peer.address); };
  return e;
}

Caller Service::caller_of(Uid uid, Gid gid) {
  auto settings = ports_.settings();
  Caller who;
  who.uid = uid;
  who.gid = gid;
  const auto labels = settings->config().mcs.plugin;
  if (labels == config::McsRules::Plugin::kUser)
    if (auto user = users_.user(uid)) who.name = user->name;
  bool groups_asked = labels == config::McsRules::Plugin::kGroup;
  for (const auto& p : settings->config().partitions) groups_asked = groups_asked || !p.spec.allow_groups.empty();
  if (groups_asked) who.groups = groups_of(uid);
  return who;
}

// Names, the login group first.
std::vector<std::string> Service::groups_of(Uid uid) {
  auto user = users_.user(uid);
  if (!user) return {};
  auto names = os::group_names(user->name, user->gid);
  return names ? std::move(*names) : std::vector<std::string>{};
}

// May report for nodes and speak for users.
bool Service::is_daemon(const net::Peer& peer) const {
  return peer.trust == net::Trust::kClusterKey || peer.uid.value == 0 || peer.uid == ports_.settings()->slurm_user ||
         peer.uid.value == ::geteuid();
}

Result<> Service::dispatch(const net::ChannelPtr& channel, const net::Frame& frame) {
  const net::Peer& peer = channel->peer();
  if (frame.message == wire::kNodeReport) {
    if (!is_daemon(peer)) return fail(Errc::kAccessDenied, "only daemons may report for nodes");
    return nodes_.on_report(channel, frame.payload);
  }
  if (frame.kind != net::FrameKind::kRequest) return fail(Errc::kUnexpectedMessage);
  if (frame.message == wire::number_of<rpc::Relay>) return dispatch_relayed(channel, frame);
  return dispatch_request(channel, frame, caller_of(peer.user(ports_.settings()->slurm_user), peer.gid));
}

// A node daemon passes on what a user asked at its agent socket: judged as that user.
Result<> Service::dispatch_relayed(const net::ChannelPtr& channel, const net::Frame& frame) {
  if (!is_daemon(channel->peer())) return fail(Errc::kAccessDenied, "only daemons may speak for users");
  rpc::Relay relay;
  MUSTER_TRY_VOID(wire::decode(frame.payload, relay));
  if (relay.message == frame.message) return fail(Errc::kUnexpectedMessage);
  // Its notices would go to the node daemon: the asker needs a connection of its own, and tries until there is one.
  if (relay.message == wire::number_of<rpc::WatchJobs>)
    return fail(Errc::kConnectFailed, {}, "squeue --watch needs a connection to slurmctld itself; this node only passes on requests");
  Caller who = caller_of(relay.uid, relay.gid);
  who.host = relay.host;
  net::Frame inner = frame;
  inner.message = relay.message;
  inner.payload = std::move(relay.payload);
  return dispatch_request(channel, inner, std::move(who));
}

Result<> Service::dispatch_request(const net::ChannelPtr& channel, const net::Frame& frame, Caller who) {
  Call call{channel, frame.id, frame.message, std::move(who), net::Loop::monotonic(), ""};
  switch (frame.message) {
#define MUSTER_MESSAGE(number, request, answer, part) \
  case number: call.name = #request + 5; break;
#include "wire/messages.def"
#undef MUSTER_MESSAGE
    default: return fail(Errc::kUnexpectedMessage);
  }
  using namespace rpc;
  switch (frame.message) {
    case wire::number_of<SubmitJob>: return submit(call, frame.payload);
    case wire::number_of<Allocate>: return allocate(call, frame.payload);
    case wire::number_of<WaitJob>: return wait_job(call, frame.payload);
    case wire::number_of<AttachAllocation>: return attach(call, frame.payload);
    case wire::number_of<WillRun>: return will_run(call, frame.payload);
    case wire::number_of<QueryJobs>: return query<QueryJobs>(call, frame.payload);
    case wire::number_of<QueryNodes>: return query<QueryNodes>(call, frame.payload);
    case wire::number_of<QueryPartitions>: return query<QueryPartitions>(call, frame.payload);
    case wire::number_of<WatchJobs>: return watch(call, frame.payload);
    case wire::number_of<QueryText>: return query<QueryText>(call, frame.payload);
    case wire::number_of<QueryLicenses>: return query<QueryLicenses>(call, frame.payload);
    case wire::number_of<QueryTopology>: return query<QueryTopology>(call, frame.payload);
    case wire::number_of<ExplainNode>: return query<ExplainNode>(call, frame.payload);
    case wire::number_of<ExplainJob>: return explain(call, frame.payload);
    default: return control(call, frame);
  }
}

template <class Req>
void Service::finish(const Call& call, const wire_answer<Req>& answer) {
  stats_.call(call.message, call.who.uid, net::Loop::monotonic() - call.began);
  if (auto c = call.channel.lock()) c->answer(call.id, call.message, wire::encoded(answer));
}

void Service::refuse(const Call& call, const Error& error) {
  stats_.call(call.message, call.who.uid, net::Loop::monotonic() - call.began);
  if (auto c = call.channel.lock()) c->answer_error(call.id, error);
}

template <class Req>
Result<> Service::command(Call call, std::string_view payload,
                          std::function<Result<wire_answer<Req>>(Core&, store::EventLog&, const Caller&, Req&)> run) {
  auto request = std::make_shared<Req>();
  MUSTER_TRY_VOID(wire::decode(payload, *request));
  core_.post({[this, call, request, run = std::move(run)](Core& core, store::EventLog& log) -> Reply {
                auto answer = run(core, log, call.who, *request);
                if (!answer) return [this, call, e = answer.error()] { refuse(call, e); };
                return [this, call, a = std::move(*answer)] { finish<Req>(call, a); };
              },
              [this, call](const Error& e) { refuse(call, e); }});
  return {};
}

// What the controller fills in and a user cannot choose: the name behind the uid.
Result<> Service::complete(JobRequest& r, Caller& who) {
  bool trusted = who.uid.value == 0 || who.uid == ports_.settings()->slurm_user;
  if (!trusted && r.uid != who.uid) return fail(Errc::kUserIdMissing, {}, "only root and SlurmUser may submit for another user");
  auto user = users_.user(r.uid);
  if (!user) return fail(Errc::kUserIdMissing, {}, "the controller's host knows no user with the number " + std::to_string(r.uid.value));
  r.user_name = user->name;
  // A label is one of the groups of whoever the job will be.
  if (r.uid != who.uid && ports_.settings()->config().mcs.plugin == config::McsRules::Plugin::kGroup) who.groups = groups_of(r.uid);
  if (!trusted) r.gid = user->gid == r.gid || who.gid == r.gid ? r.gid : user->gid;
  return {};
}

Result<> Service::submit(Call call, std::string_view payload) {
  auto request = std::make_shared<rpc::SubmitJob>();
  MUSTER_TRY_VOID(wire::decode(payload, *request));
  MUSTER_TRY_VOID(complete(request->request, call.who));
  core_.post({[this, call, request](Core& core, store::EventLog& log) -> Reply {
                auto keep = [&](std::string& bytes, std::string& hash) -> Result<> {
                  MUSTER_TRY(h, log.put_blob(bytes));
                  hash = h;
                  return {};
                };
                Result<rpc::JobSubmitted> answer;
                Result<> stored = keep(request->script, request->request.script_hash);
                if (stored) stored = keep(request->environment, request->request.environment_hash);
                if (stored) answer = core.submit(call.who, request->request);
                else answer = std::unexpected(stored.error());
                if (!answer)   // nothing of what was refused stays
                  for (const std::string& hash : {request->request.script_hash, request->request.environment_hash})
                    if (!hash.empty() && !core.indexes().blob_used(hash)) (void)log.drop_blob(hash);
                if (!answer) return [this, call, e = answer.error()] { refuse(call, e); };
                return [this, call, a = std::move(*answer)] { finish<rpc::SubmitJob>(call, a); };
              },
              [this, call](const Error& e) { refuse(call, e); }});
  return {};
}

Result<> Service::allocate(Call call, std::string_view payload) {
  auto request = std::make_shared<rpc::Allocate>();
  MUSTER_TRY_VOID(wire::decode(payload, *request));
  request->request.kind = JobKind::kAllocation;
  MUSTER_TRY_VOID(complete(request->request, call.who));
  auto tell = [call](JobId job, std::string nodes) {
    return [call, pending = rpc::AllocationPending{job, std::move(nodes)}] {
      if (auto c = call.channel.lock()) c->answer_part(call.id, call.message, wire::encoded(pending));
    };
  };
  auto answer_if_ready = [this, call, tell, told = false](const Cluster& cluster, const Job* job, std::vector<Reply>& replies) mutable {
    if (job && job->pending()) return false;
    if (job && !job->finished() && (job->flags & kJobConfiguring)) {
      if (!std::exchange(told, true)) replies.push_back(tell(job->id, node_list_of(cluster, *job->allocation)));
      return false;
    }
    if (!job || job->finished()) {
      bool too_late = job && job->request->immediate_seconds && job->state == JobState::kFailed && !job->allocation;
      Error e = too_late ? Error(Errc::kNodesBusy) : Error(Errc::kAllocationRevoked, "Job allocation " + std::to_string(job ? job->id.value : 0) + " has been revoked");
      replies.push_back([this, call, e] { refuse(call, e); });
    } else {
      replies.push_back([this, call, a = make_allocated(cluster, *job)] { finish<rpc::Allocate>(call, a); });
    }
    return true;
  };
  core_.post({[this, call, request, answer_if_ready, tell](Core& core, store::EventLog&) -> Reply {
                auto id = core.submit(call.who, request->request);
                if (!id) return [this, call, e = id.error()] { refuse(call, e); };
                core_.wait_for(id->job, answer_if_ready);
                return tell(id->job, "");
              },
              [this, call](const Error& e) { refuse(call, e); }});
  return {};
}

Result<> Service::wait_job(Call call, std::string_view payload) {
  auto request = std::make_shared<rpc::WaitJob>();
  MUSTER_TRY_VOID(wire::decode(payload, *request));
  auto done = [this, call, id = request->job, ready = request->ready](const Cluster& cluster, const Job* job, std::vector<Reply>& replies) {
    rpc::JobResult result;
    if (ready && job && !job->pending() && !job->finished() && !(job->flags & kJobConfiguring)) {
      result.state = job->state;
    } else if (const ArrayGroup* g = cluster.arrays.find(id.value); g && !(ready && job && job->finished())) {
      if (g->ended_ok + g->ended_bad < g->total) return false;
      result.state = g->ended_bad ? JobState::kFailed : JobState::kCompleted;
      cluster.jobs.for_each(
          [&](uint32_t, const Job& j) {
            if (j.array_job_id == id) result.exit_status = std::max(result.exit_status, j.exit_status);
          },
          id.value);
    } else if (job) {
      if (!job->finished() || (job->flags & (kJobRequeued | kJobRequeueHold))) return false;
      result.state = job->state;
      result.exit_status = job->exit_status;
    } else {
      replies.push_back([this, call] { refuse(call, Error(Errc::kInvalidJobId)); });
      return true;
    }
    replies.push_back([this, call, result] { finish<rpc::WaitJob>(call, result); });
    return true;
  };
  core_.post({[this, id = request->job, done](Core& core, store::EventLog&) -> Reply {
                std::vector<Reply> replies;
                if (done(core.cluster(), core.cluster().jobs.find(id.value), replies)) return replies.empty() ? Reply{} : replies[0];
                core_.wait_for(id, done);
                return {};
              },
              [this, call](const Error& e) { refuse(call, e); }});
  return {};
}

Result<> Service::attach(Call call, std::string_view payload) {
  rpc::AttachAllocation request;
  MUSTER_TRY_VOID(wire::decode(payload, request));
  auto cluster = core_.snapshot();
  const Job* job = cluster->jobs.find(request.job.value);
  bool operator_ = call.who.uid.value == 0 || call.who.uid == ports_.settings()->slurm_user;
  if (!job) return fail(Errc::kInvalidJobId);
  if (!operator_ && call.who.uid != job->request->uid) return fail(Errc::kAccessDenied);
  if (job->finished()) return fail(Errc::kAlreadyDone);
  if (job->pending()) return fail(Errc::kJobPending);
  finish<rpc::AttachAllocation>(call, make_allocated(*cluster, *job));
  return {};
}

Result<> Service::will_run(Call call, std::string_view payload) {
  auto request = std::make_shared<rpc::WillRun>();
  MUSTER_TRY_VOID(wire::decode(payload, *request));
  MUSTER_TRY_VOID(complete(request->request, call.who));
  core_.post({[this, call, request](Core& core, store::EventLog&) -> Reply {
                auto checked = core.check(call.who, request->request);
                if (!checked) return [this, call, e = checked.error()] { refuse(call, e); };
                forecasts_.post([this, call, request] {
                  auto forecast = planner_.will_run(request->request);
                  auto cluster = core_.snapshot();
                  loop_.post([this, call, forecast, cluster] {
                    if (!forecast) return refuse(call, forecast.error());
                    rpc::WillRunAnswer a;
                    a.start = forecast->start;
                    a.job = JobId(cluster->last_job_id.value + 1);
                    if (forecast->allocation) {
                      a.cpus = forecast->allocation->total_cpus();
                      a.node_list = node_list_of(*cluster, *forecast->allocation);
                    }
                    if (const Partition* p = cluster->partitions.find(forecast->partition)) a.partition = p->name;
                    finish<rpc::WillRun>(call, a);
                  });
                });
                return {};
              },
              [this, call](const Error& e) { refuse(call, e); }});
  return {};
}

rpc::TopologyAnswer topology_of(const Cluster& cluster) {
  rpc::TopologyAnswer out;
  if (cluster.topologies) out.topologies = *cluster.topologies;
  cluster.nodes.for_each([&](uint32_t id, const Node& n) {
    out.nodes.resize(id + 1);
    out.nodes[id] = n.spec->name;
  });
  return out;
}

// The texts of QueryText: what the controller says about itself, and a job's script for those who may see it.
Result<rpc::Text> Service::text_of(const Call& call, const rpc::QueryText& q, const Cluster& cluster) {
  rpc::Text out;
  if (q.subject == "config") {
    out.text = ports_.show_config();
  } else if (q.subject == "slurm.conf") {
    out.text = ports_.write_config();
  } else if (q.subject == "script" || q.subject == "environment") {
    const Job* j = cluster.jobs.find(q.job.value);
    if (!j) return fail(Errc::kInvalidJobId);
    bool operator_ = call.who.uid.value == 0 || call.who.uid == ports_.settings()->slurm_user;
    if (!operator_ && call.who.uid != j->request->uid) return fail(Errc::kUserIdMissing);
    const std::string hash(j->own.get(q.subject == "script" ? &RequestOwn::script_hash : &RequestOwn::environment_hash));
    if (hash.empty()) return fail(Errc::kNotFound, "job " + std::to_string(j->id.value) + " has no batch script");
    MUSTER_TRY(bytes, ports_.read_blob(hash));
    out.text = std::move(bytes);
  } else {
    return fail(Errc::kInvalidArgument, "no such text: " + q.subject);
  }
  return out;
}

template <class Query>
Result<> Service::query(Call call, std::string_view payload) {
  auto request = std::make_shared<Query>();
  MUSTER_TRY_VOID(wire::decode(payload, *request));
  auto channel = call.channel.lock();
  if (!channel) return {};
  auto open = [this, call, request]() -> Result<std::unique_ptr<net::PartSource>> {
    std::shared_ptr<const Snapshot> cluster = core_.snapshot();
    if constexpr (std::is_same_v<Query, rpc::QueryJobs>) {
      MUSTER_TRY_VOID(check_job_query(*cluster, *request));
      uint32_t most = cluster->counts.meant_by(request->filter);
      return std::make_unique<RowSource<JobQuery>>(
          JobQuery(cluster, std::move(*request), ports_.settings()->priority, net::Loop::now(), most, privacy_of(call)));
    } else if constexpr (std::is_same_v<Query, rpc::QueryNodes>) {
      MUSTER_TRY(rows, NodeQuery::make(cluster, *request, privacy_of(call)));
      return std::make_unique<RowSource<NodeQuery>>(std::move(rows));
    } else if constexpr (std::is_same_v<Query, rpc::QueryPartitions>) {
      MUSTER_TRY(rows, query_partitions(*cluster, *request, privacy_of(call)));
      return std::make_unique<ReadySource>(wire::encoded(rows), std::string());
    } else if constexpr (std::is_same_v<Query, rpc::QueryLicenses>) {
      return std::make_unique<ReadySource>(wire::encoded(query_licenses(*cluster, ports_.settings()->config(), *request)), std::string());
    } else if constexpr (std::is_same_v<Query, rpc::QueryTopology>) {
      return std::make_unique<ReadySource>(std::string(), wire::encoded(topology_of(*cluster)));
    } else if constexpr (std::is_same_v<Query, rpc::ExplainNode>) {
      MUSTER_TRY(explanation, explain_node(*cluster, *ports_.settings(), net::Loop::now(), *request, privacy_of(call)));
      return std::make_unique<ReadySource>(std::string(), wire::encoded(explanation));
    } else {
      MUSTER_TRY(text, text_of(call, *request, *cluster));
      return std::make_unique<ReadySource>(std::string(), wire::encoded(text));
    }
  };
  streams_.begin(channel, call.id, call.message, open,
                 [this, call] { stats_.call(call.message, call.who.uid, net::Loop::monotonic() - call.began); });
  return {};
}

// Takes a planning pass, so squeue does not wait behind it.
Result<> Service::explain(Call call, std::string_view payload) {
  rpc::ExplainJob request;
  MUSTER_TRY_VOID(wire::decode(payload, request));
  forecasts_.post([this, call, request] {
    auto answer = explain_job(*core_.snapshot(), *ports_.settings(), net::Loop::now(), request, privacy_of(call));
    loop_.post([this, call, answer] {
      if (answer) finish<rpc::ExplainJob>(call, *answer);
      else refuse(call, answer.error());
    });
  });
  return {};
}

Result<> Service::watch(Call call, std::string_view payload) {
  rpc::WatchJobs request;
  MUSTER_TRY_VOID(wire::decode(payload, request));
  auto channel = call.channel.lock();
  if (!channel) return {};
  MUSTER_TRY_VOID(watches_.add(channel, std::move(request), privacy_of(call)));
  finish<rpc::WatchJobs>(call, {});
  return {};
}

namespace {

// What SPANK plugins on the step's nodes may ask about the whole job there.
void add_job_shares(const Job& job, rpc::StepCredential& c) {
  for (const rpc::StepNode& n : c.nodes) {
    const NodeShare& held = job.allocation->nodes[n.node_index];
    c.job_cpus.push_back(held.cpus.to_ranges());
    c.job_mem_mb.push_back(held.mem_mb);
  }
}

}  // namespace

// A step's nodes are decided by the core; what they may trust about it is signed here.
template <class Req>
Result<> Service::with_credential(Call call, std::string_view payload, Result<rpc::StepCreated> (Core::*decide)(const Caller&, const Req&)) {
  return command<Req>(call, payload, [this, decide](Core& core, store::EventLog&, const Caller& who, Req& r) -> Result<rpc::StepCreated> {
    MUSTER_TRY(step, (core.*decide)(who, r));
    const Job& job = core.cluster().jobs.at(step.job.value);
    rpc::StepCredential c;
    c.cluster = ports_.settings()->config().cluster_name;
    c.job = step.job;
    c.generation = job.restarts;
    c.step = step.step;
    c.uid = step.uid;
    c.gid = step.gid;
    c.user_name = job.request->user_name;
    c.num_tasks = step.num_tasks;
    c.cpus_per_task = step.cpus_per_task;
    c.nodes = step.nodes;
    c.job_node_list = step.job_node_list;
    if (const Partition* p = core.cluster().partitions.find(job.partition)) c.partition = p->name;
    c.account = job.request->account;
    c.job_name = job.name();
    c.array_job = job.array_job_id;
    c.array_task = job.array_task;
    c.qos = job.request->qos;
    c.reservation = job.request->reservation;
    c.licenses = job.request->licenses;
    c.started = job.started;
    c.ends = job.ends;
    if (auto at = std::ranges::find(job.steps, step.step, &Step::id); at != job.steps.end()) c.resv_ports = port_ranges(at->resv_ports);
    c.spank_env = job.request->spank_env;
    if constexpr (requires { r.request.spank; })
      if (r.request.spank) add_job_shares(job, c);
    c.expires = net::Loop::now() + kCredentialLife;
    if constexpr (requires { r.purpose; }) c.purpose = r.purpose;
    MUSTER_TRY(text, net::sign_credential(ports_.security, wire::encoded(c)));
    step.credential = std::move(text);
    return step;
  });
}

Result<> Service::update_config(Call call, std::string_view payload) {
  return command<rpc::UpdateConfig>(call, payload, [this](Core& core, store::EventLog&, const Caller& who, rpc::UpdateConfig& r) -> Result<rpc::Messages> {
    MUSTER_TRY(decision, core.update_config(who, r));
    if (decision.loaded) ports_.configuration_changed(decision.loaded);
    return std::move(decision.reply);
  });
}

rpc::Statistics Service::statistics() {
  rpc::Statistics s = stats_.counts(net::Loop::now());
  s.threads = 4;   // core, I/O, planner, queries
  s.commands_waiting = static_cast<uint32_t>(core_.queue_length());
  s.nodes_connected = static_cast<uint32_t>(nodes_.connected());
  core_.snapshot()->jobs.for_each([&](uint32_t, const Job& j) {
    s.pending += !j.pending() ? 0 : j.array_tasks ? j.array_tasks->pending.count() : 1;
    s.running += j.state == JobState::kRunning;
  });
  s.clock_us = clock_us_;
  return s;
}

Result<> Service::control(Call call, const net::Frame& frame) {
  using namespace rpc;
  std::string_view payload = frame.payload;
  auto plain = [&]<class Req>(auto member) {
    return command<Req>(call, payload, [member](Core& core, store::EventLog&, const Caller& who, Req& r) { return (core.*member)(who, r); });
  };
  bool operator_ = call.who.uid.value == 0 || call.who.uid == ports_.settings()->slurm_user;
  switch (frame.message) {
    case wire::number_of<FinishAllocation>: return plain.template operator()<FinishAllocation>(&Core::finish_allocation);
    case wire::number_of<CreateStep>: return with_credential<CreateStep>(call, payload, &Core::create_step);
    case wire::number_of<AskCredential>: return with_credential<AskCredential>(call, payload, &Core::step_or_nodes);
    case wire::number_of<FinishStep>: return plain.template operator()<FinishStep>(&Core::finish_step);
    case wire::number_of<SignalJobs>: return plain.template operator()<SignalJobs>(&Core::signal);
    case wire::number_of<ControlJobs>: return plain.template operator()<ControlJobs>(&Core::control);
    case wire::number_of<UpdateJob>:
      if (UpdateJob r; wire::decode(payload, r) && r.as_uid) call.who.groups = caller_of(Uid(*r.as_uid), {}).groups;   // whom an operator acts for
      return plain.template operator()<UpdateJob>(&Core::update_job);
    case wire::number_of<UpdateStep>: return plain.template operator()<UpdateStep>(&Core::update_step);
    case wire::number_of<ControlNodes>: return plain.template operator()<ControlNodes>(&Core::control_nodes);
    case wire::number_of<NotifyJob>: return plain.template operator()<NotifyJob>(&Core::notify);
    case wire::number_of<UpdateConfig>: return update_config(call, payload);
    case wire::number_of<UpdateNode>: return plain.template operator()<UpdateNode>(&Core::update_node);
    case wire::number_of<UpdatePartition>: return plain.template operator()<UpdatePartition>(&Core::update_partition);
    case wire::number_of<QueryStatistics>: {
      QueryStatistics q;
      MUSTER_TRY_VOID(wire::decode(payload, q));
      if (q.reset && !operator_) return fail(Errc::kAccessDenied);
      if (q.reset) stats_.reset(net::Loop::now());
      finish<QueryStatistics>(call, statistics());
      return {};
    }
    case wire::number_of<Ping>: {
      Pong pong;
      char host[256] = {};
      ::gethostname(host, sizeof host - 1);
      pong.host = host;
      pong.pid = ::getpid();
      pong.started = started_;
      finish<Ping>(call, pong);
      return {};
    }
    case wire::number_of<rpc::Reconfigure>: {
      if (!operator_) return fail(Errc::kAccessDenied);
      auto done = ports_.reconfigure();
      if (!done) return std::unexpected(done.error());
      finish<rpc::Reconfigure>(call, *done);
      return {};
    }
    case wire::number_of<Shutdown>: {
      if (!operator_) return fail(Errc::kAccessDenied);
      Shutdown s;
      MUSTER_TRY_VOID(wire::decode(payload, s));
      finish<Shutdown>(call, {});
      ports_.shutdown(s.controller_only);
      return {};
    }
    default: return fail(Errc::kUnexpectedMessage);
  }
}

}  // namespace muster::slurmctld

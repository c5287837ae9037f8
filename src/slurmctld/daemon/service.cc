#include "slurmctld/daemon/service.h"

#include <unistd.h>

#include <algorithm>

#include "model/step_rpc.h"
#include "net/credential.h"
#include "slurmctld/core/rows.h"
#include "wire/instances.h"

namespace muster::slurmctld {
namespace {

template <class T>
std::string encoded(const T& value) {
  std::string out;
  wire::encode(value, out);
  return out;
}


// A launch that takes longer than this after its step was created is refused by the nodes.
constexpr Duration kCredentialLife = minutes(2);

}  // namespace

Service::Service(net::Loop& loop, os::Log& logger, Statistics& stats, CoreThread& core, PlannerThread& planner, NodeLinks& nodes, Ports ports)
    : loop_(loop), logger_(logger), stats_(stats), core_(core), planner_(planner), nodes_(nodes), ports_(std::move(ports)),
      started_(net::Loop::now()) {}

void Service::accept(net::ChannelPtr channel) {
  net::Channel* raw = channel.get();
  ChannelRef ref = channel;
  channel->on_request = [this, ref](net::Frame frame) {
    if (auto c = ref.lock()) on_frame(c, std::move(frame));
  };
  channel->on_closed = [this, raw](const Error&) {
    nodes_.on_closed(raw);
    channels_.erase(raw);
  };
  channels_.emplace(raw, std::move(channel));
}

void Service::close_all() {
  for (auto& [raw, channel] : channels_) channel->close();
  channels_.clear();
}

void Service::on_frame(const net::ChannelPtr& channel, net::Frame frame) {
  auto done = dispatch(channel, frame);
  if (done) return;
  logger_.debug("message {} from {}: {}", frame.message, channel->peer().address, done.error().message());
  if (frame.kind == net::FrameKind::kRequest) channel->answer_error(frame.id, done.error());
  else channel->close();
}

Caller Service::caller_of(const net::Peer& peer) {
  auto settings = ports_.settings();
  Caller who;
  // Whoever holds the cluster key is root or SlurmUser, who alone may read it.
  who.uid = peer.trust == net::Trust::kClusterKey ? settings->slurm_user : peer.uid;
  who.gid = peer.gid;
  bool groups_asked = false;
  for (const auto& p : settings->config().partitions) groups_asked = groups_asked || !p.spec.allow_groups.empty();
  if (!groups_asked) return who;
  if (auto user = users_.user(who.uid))
    if (auto names = os::group_names(user->name, user->gid)) who.groups = std::move(*names);
  return who;
}

Result<> Service::dispatch(const net::ChannelPtr& channel, const net::Frame& frame) {
  if (frame.message == wire::kNodeReport) {
    bool trusted = channel->peer().trust == net::Trust::kClusterKey || channel->peer().uid.value == 0 ||
                   channel->peer().uid == ports_.settings()->slurm_user || channel->peer().uid.value == ::geteuid();
    if (!trusted) return fail(Errc::kAccessDenied, "only daemons may report for nodes");
    return nodes_.on_report(channel, frame.payload);
  }
  if (frame.kind != net::FrameKind::kRequest) return fail(Errc::kUnexpectedMessage);
  Call call{channel, frame.id, frame.message, caller_of(channel->peer()), net::Loop::monotonic(), ""};
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
    case wire::number_of<QueryJobs>:
    case wire::number_of<QueryNodes>:
    case wire::number_of<QueryPartitions>:
    case wire::number_of<QueryText>: return query(call, frame);
    default: return control(call, frame);
  }
}

template <class Req>
void Service::finish(const Call& call, const wire_answer<Req>& answer) {
  stats_.call(call.name, call.who.uid, net::Loop::monotonic() - call.began);
  if (auto c = call.channel.lock()) c->answer(call.id, call.message, encoded(answer));
}

void Service::refuse(const Call& call, const Error& error) {
  stats_.call(call.name, call.who.uid, net::Loop::monotonic() - call.began);
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
Result<> Service::complete(JobRequest& r, const Caller& who) {
  bool trusted = who.uid.value == 0 || who.uid == ports_.settings()->slurm_user;
  if (!trusted && r.uid != who.uid) return fail(Errc::kUserIdMissing, {}, "only root and SlurmUser may submit for another user");
  auto user = users_.user(r.uid);
  if (!user) return fail(Errc::kUserIdMissing, {}, "the controller's host knows no user with the number " + std::to_string(r.uid.value));
  r.user_name = user->name;
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
  auto answer_if_ready = [this, call](const Cluster& cluster, const Job* job, std::vector<Reply>& replies) {
    if (job && (job->pending() || (!job->finished() && (job->flags & kJobConfiguring)))) return false;
    if (!job || job->finished()) {
      Error e(Errc::kAllocationRevoked, "Job allocation " + std::to_string(job ? job->id.value : 0) + " has been revoked");
      replies.push_back([this, call, e] { refuse(call, e); });
    } else {
      replies.push_back([this, call, a = make_allocated(cluster, *job)] { finish<rpc::Allocate>(call, a); });
    }
    return true;
  };
  core_.post({[this, call, request, answer_if_ready](Core& core, store::EventLog&) -> Reply {
                auto id = core.submit(call.who, request->request);
                if (!id) return [this, call, e = id.error()] { refuse(call, e); };
                core_.wait_for(id->job, answer_if_ready);
                return [this, call, id = id->job] {
                  rpc::AllocationPending pending;
                  pending.job = id;
                  if (auto c = call.channel.lock()) c->answer_part(call.id, call.message, encoded(pending));
                };
              },
              [this, call](const Error& e) { refuse(call, e); }});
  return {};
}

Result<> Service::wait_job(Call call, std::string_view payload) {
  auto request = std::make_shared<rpc::WaitJob>();
  MUSTER_TRY_VOID(wire::decode(payload, *request));
  auto done = [this, call, id = request->job](const Cluster& cluster, const Job* job, std::vector<Reply>& replies) {
    rpc::JobResult result;
    if (const ArrayGroup* g = cluster.arrays.find(id.value)) {
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
                queries_.post([this, call, request] {
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

// The texts of QueryText: what the controller says about itself, and a job's script for those who may see it.
Result<rpc::Text> Service::text_of(const Call& call, const rpc::QueryText& q, const Cluster& cluster) {
  rpc::Text out;
  if (q.subject == "config") {
    out.text = ports_.show_config();
  } else if (q.subject == "diag") {
    uint64_t pending = 0, running = 0;
    cluster.jobs.for_each([&](uint32_t, const Job& j) {
      pending += j.pending();
      running += j.state == JobState::kRunning;
    });
    stats_.pending = pending;
    stats_.running = running;
    out.text = stats_.text(net::Loop::now(), 4);
  } else if (q.subject == "script" || q.subject == "environment") {
    const Job* j = cluster.jobs.find(q.job.value);
    if (!j) return fail(Errc::kInvalidJobId);
    bool operator_ = call.who.uid.value == 0 || call.who.uid == ports_.settings()->slurm_user;
    if (!operator_ && call.who.uid != j->request->uid) return fail(Errc::kUserIdMissing);
    const std::string& hash = q.subject == "script" ? j->request->script_hash : j->request->environment_hash;
    if (hash.empty()) return fail(Errc::kNotFound, "job " + std::to_string(j->id.value) + " has no batch script");
    MUSTER_TRY(bytes, ports_.read_blob(hash));
    out.text = std::move(bytes);
  } else {
    return fail(Errc::kInvalidArgument, "no such text: " + q.subject);
  }
  return out;
}

Result<> Service::query(Call call, const net::Frame& frame) {
  queries_.post([this, call, payload = frame.payload, message = frame.message] {
    auto cluster = core_.snapshot();
    std::vector<std::string> parts;
    size_t queued = 0;
    auto flush = [&] {
      loop_.post([call, parts = std::move(parts)] {
        auto c = call.channel.lock();
        if (!c) return;
        for (const std::string& p : parts) c->answer_part(call.id, call.message, p);
      });
      parts.clear();
      queued = 0;
    };
    auto add = [&](const auto& part) {
      parts.push_back(encoded(part));
      queued += parts.back().size();
      if (queued >= (256u << 10)) flush();
      return !call.channel.expired();
    };
    Result<> ok;
    std::string last;
    using namespace rpc;
    if (message == wire::number_of<QueryJobs>) {
      QueryJobs q;
      ok = wire::decode(payload, q);
      if (ok) query_jobs(*cluster, q, add);
    } else if (message == wire::number_of<QueryNodes>) {
      QueryNodes q;
      ok = wire::decode(payload, q);
      if (ok) ok = query_nodes(*cluster, q, add);
    } else if (message == wire::number_of<QueryPartitions>) {
      QueryPartitions q;
      ok = wire::decode(payload, q);
      if (ok) {
        auto rows = query_partitions(*cluster, q);
        if (rows) add(*rows);
        else ok = std::unexpected(rows.error());
      }
    } else {
      QueryText q;
      ok = wire::decode(payload, q);
      if (ok) {
        auto text = text_of(call, q, *cluster);
        if (text) last = encoded(*text);
        else ok = std::unexpected(text.error());
      }
    }
    flush();
    loop_.post([this, call, ok, last] {
      stats_.call(call.name, call.who.uid, net::Loop::monotonic() - call.began);
      auto c = call.channel.lock();
      if (!c) return;
      if (!ok) c->answer_error(call.id, ok.error());
      else c->answer(call.id, call.message, last);
    });
  });
  return {};
}

// The step is decided by the core; what its nodes may trust about it is signed here.
Result<> Service::create_step(Call call, std::string_view payload) {
  return command<rpc::CreateStep>(call, payload, [this](Core& core, store::EventLog&, const Caller& who, rpc::CreateStep& r) -> Result<rpc::StepCreated> {
    MUSTER_TRY(step, core.create_step(who, r));
    const Job& job = core.cluster().jobs.at(step.job.value);
    rpc::StepCredential c;
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
    c.job_name = job.request->name;
    c.expires = net::Loop::now() + kCredentialLife;
    MUSTER_TRY(text, net::sign_credential(ports_.security, encoded(c)));
    step.credential = std::move(text);
    return step;
  });
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
    case wire::number_of<CreateStep>: return create_step(call, payload);
    case wire::number_of<FinishStep>: return plain.template operator()<FinishStep>(&Core::finish_step);
    case wire::number_of<SignalJobs>: return plain.template operator()<SignalJobs>(&Core::signal);
    case wire::number_of<ControlJobs>: return plain.template operator()<ControlJobs>(&Core::control);
    case wire::number_of<UpdateJob>: return plain.template operator()<UpdateJob>(&Core::update_job);
    case wire::number_of<UpdateNode>: return plain.template operator()<UpdateNode>(&Core::update_node);
    case wire::number_of<UpdatePartition>: return plain.template operator()<UpdatePartition>(&Core::update_partition);
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

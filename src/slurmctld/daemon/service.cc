#include "slurmctld/daemon/service.h"

#include <unistd.h>

#include <algorithm>

#include "model/request_texts.h"
#include "net/credential.h"
#include "slurmctld/core/job_ids.h"
#include "slurmctld/core/on_behalf.h"
#include "slurmctld/core/passed_on.h"
#include "slurmctld/core/peers.h"
#include "slurmctld/core/rows.h"
#include "slurmctld/core/waits.h"
#include "slurmctld/daemon/encoded_answer.h"
#include "slurmctld/daemon/service_handlers.h"
#include "steps/credential.h"
#include "steps/step_ports.h"

namespace muster::slurmctld {
namespace {

uint64_t time_of_1000_clock_reads() {
  Duration began = net::Loop::monotonic();
  for (int i = 0; i < 1000; ++i) (void)net::Loop::now();
  return static_cast<uint64_t>((net::Loop::monotonic() - began).count());
}

// Keeps the contents of the entries, and says in their requests under which names.
Result<> keep_contents(const Core& core, store::EventLog& log, const rpc::InstallCrontab& asked, CrontabChange& change) {
  for (size_t i = 0; i < change.entries.size(); ++i) {
    const rpc::CronEntry& entry = asked.entries[i];
    JobRequest& r = change.entries[i].request;
    MUSTER_TRY_VOID(check_content(core.settings().config().most_script_bytes(), entry.script.size(), entry.environment.size()));
    MUSTER_TRY(script, log.put_blob(entry.script));
    r.script_hash = script;
    MUSTER_TRY(environment, log.put_blob(entry.environment));
    r.environment_hash = environment;
  }
  return {};
}

void drop_unused(const Core& core, store::EventLog& log, const CrontabChange& change) {
  for (const CrontabChange::Entry& entry : change.entries)
    for (const std::string& hash : {entry.request.script_hash, entry.request.environment_hash})
      if (!hash.empty() && !core.indexes().blob_used(hash)) (void)log.drop_blob(hash);
}

Result<rpc::CrontabInstalled> install(Core& core, store::EventLog& log, const Caller& who, const rpc::InstallCrontab& asked,
                                      CrontabChange& change) {
  MUSTER_TRY_VOID(keep_contents(core, log, asked, change));
  MUSTER_TRY(outcome, core.run(who, change));
  if (outcome.refused) return std::unexpected(*outcome.refused);
  return outcome;
}

}  // namespace

Service::Service(net::Loop& loop, os::Log& logger, Statistics& stats, CoreThread& core, PlannerThread& planner, NodeLinks& nodes,
                 Ports ports)
    : loop_(loop),
      logger_(logger),
      stats_(stats),
      core_(core),
      planner_(planner),
      nodes_(nodes),
      ports_(std::move(ports)),
      callers_(loop, ports_.settings, ports_.ask_user),
      streams_(loop, queries_, [this](const net::Channel* slow) { channels_.drop(slow); }),
      plan_streams_(loop, forecasts_, [this](const net::Channel* slow) { channels_.drop(slow); }),
      watches_(loop, queries_, [this] { return core_.snapshot(); }),
      channels_(loop, channel_events()),
      started_(net::Loop::now()),
      clock_us_(time_of_1000_clock_reads()) {
  reset_statistics_at_midnight();
}

net::ChannelSet::Events Service::channel_events() {
  net::ChannelSet::Events events;
  events.frame = [this](const net::ChannelPtr& channel, const net::Frame& frame) { return dispatch(channel, frame); };
  events.ended = [this](const net::Channel* channel) {
    members_.gone(channel);
    nodes_.on_closed(channel);
    streams_.forget(channel);
    plan_streams_.forget(channel);
    watches_.forget(channel);
    forget_waiters(channel);
  };
  events.refused = [this](const net::Peer& peer, const net::Frame& frame, const Error& error) {
    logger_.debug("message {} from {}: {}", frame.message, peer.address, error.message());
  };
  events.dropped = [this](const net::Peer& peer) {
    logger_.verbose("connection of uid {} from {} is closed here", peer.uid.value, peer.address);
  };
  return events;
}

Result<> Service::dispatch(const net::ChannelPtr& channel, const net::Frame& frame) {
  const net::Peer& peer = channel->peer();
  const Subject who = callers_.subject(peer);
  if (peer.trust == net::Trust::kCertificate)
    if (auto alive = members_.check_life(channel.get(), net::Loop::now()); !alive) {
      if (frame.kind == net::FrameKind::kRequest) channel->answer_error(frame.id, alive.error());
      channels_.drop(channel.get());
      return {};
    }
  if (frame.message == wire::kNodeReport) {
    if (!may(PeerRight::kReport, who.kind)) return fail(Errc::kAccessDenied, "only daemons may report for nodes");
    return nodes_.on_report(channel, frame.payload);
  }
  const CommandRow* row = command_row(frame.message);
  if (!row) return fail(Errc::kUnexpectedMessage);
  MUSTER_TRY_VOID(may_say(*row, who));
  if (frame.kind != net::FrameKind::kRequest && frame.message != number_of<rpc::AskerGone>) return fail(Errc::kUnexpectedMessage);
  Call call{channel, frame.id, frame.message, {}, net::Loop::monotonic(), {}};
  if (row->kind == CommandKind::kDaemon) return serve(call, frame.payload);
  call.who = callers_.of(peer, *core_.snapshot());
  if (peer.trust != net::Trust::kCertificate) return admit(call, frame.payload);
  MUSTER_TRY(itself, members_.as_itself(*channel, frame.message, frame.payload, who, *core_.snapshot(), std::move(call.who)));
  call.who = std::move(itself);
  return serve(call, frame.payload);
}

// Where names, groups or rights by accounting matter, the caller is looked up first. What a host with a certificate passes on counts so far as that
// host is believed.
Result<> Service::admit(const Call& call, std::string_view payload) {
  const CommandRow* row = command_row(call.message);
  if (!row || row->kind == CommandKind::kDaemon) return fail(Errc::kUnexpectedMessage);
  auto named = [this, row](Call c, std::string_view kept) -> Result<> {
    if (callers_.names_needed(c.who)) MUSTER_TRY_VOID(callers_.name(c.who));
    if (c.who.through.kind != SubjectKind::kUser) {
      MUSTER_TRY(who, passed_on(*ports_.settings(), core_.snapshot()->directory, *row, std::move(c.who), c.passed_on.place.has_job));
      c.who = std::move(who);
    }
    return serve(c, kept);
  };
  const Uid uid = call.who.uid;
  if (!callers_.names_needed(call.who) || callers_.prepared(uid)) return named(call, payload);
  return when_known(uid, call, [named, kept = std::string(payload)](const Call& c) { return named(c, kept); });
}

// For changes and queries the core itself asks for the right, by the state that it looks at.
Result<> Service::serve(const Call& call, std::string_view payload) {
  const CommandRow& row = *command_row(call.message);
  if (row.kind != CommandKind::kChange && row.kind != CommandKind::kQuery) MUSTER_TRY_VOID(may_ask(row, rights_of(call)));
  switch (call.message) {
#define MUSTER_COMMAND(request, first, of_job, kind, handler) \
  case number_of<rpc::request>: {                             \
    rpc::request r;                                           \
    MUSTER_TRY_VOID(read(payload, r));                        \
    return handler(call, std::move(r));                       \
  }
#include "slurmctld/core/commands.def"
#undef MUSTER_COMMAND
    default: return fail(Errc::kUnexpectedMessage);
  }
}

// A node daemon passes on what a user asked at its agent socket; it is judged as that user's request, as far as that host is believed.
Result<> Service::relay(const Call& from, const rpc::Relay& relay) {
  // Its notices would go to the node daemon: the asker needs a connection of its own, and tries until there is one.
  if (relay.message == number_of<rpc::WatchJobs>)
    return fail(Errc::kConnectFailed, {}, "squeue --watch needs a connection to slurmctld itself; this node only passes on requests");
  Call call = from;
  const auto channel = from.channel.lock();
  if (!channel) return {};
  call.message = relay.message;
  call.who.uid = relay.uid;
  call.who.gid = relay.gid;
  call.who.host = relay.host;
  call.who.session = relay.session;
  call.passed_on.asker = relay.asker;
  Members::set_through(call.who, channel->peer(), *core_.snapshot());
  if (call.who.through.kind == SubjectKind::kNode) return relay_of_node(std::move(call), relay);
  MUSTER_TRY(place, places_.take(call.who, relay.payload.size()));
  call.passed_on.place = std::move(place);
  return admit(call, relay.payload);
}

// Who has only copied a node's certificate speaks for nobody there.
Result<> Service::relay_of_node(Call call, const rpc::Relay& relay) {
  const auto channel = call.channel.lock();
  call.who.through_node = nodes_.node_of(channel.get());
  if (!call.who.through_node)
    return fail(Errc::kAccessDenied, {}, call.who.through.text() + " passes on what users ask on the connection on which it is registered");
  const Line line{channel.get(), call.passed_on.asker};
  MUSTER_TRY_VOID(places_.take_by_node(call.who, relay.payload.size(), [this, call, line, payload = relay.payload](auto place) mutable {
    if ((line.asker && !asks_still(line)) || call.channel.expired()) return;
    if (!place) return refuse(call, place.error());
    call.passed_on.place = std::move(*place);
    if (Result<> done = admit(call, payload); !done) refuse(call, done.error());
  }));
  if (line.asker) looked_up_.insert(line);
  return {};
}

// Takes the asker out of those who are looked up. False: he is gone.
bool Service::asks_still(const Line& line) {
  const auto here = looked_up_.find(line);
  return here != looked_up_.end() && (looked_up_.erase(here), true);
}

Result<> Service::when_known(Uid uid, const Call& call, std::function<Result<>(Call)> work) {
  if (callers_.prepared(uid)) return work(call);
  const Line line{call.channel.lock().get(), call.passed_on.asker};
  if (line.asker) looked_up_.insert(line);
  callers_.prepare(uid, [this, line, call, work = std::move(work)] {
    if ((line.asker && !asks_still(line)) || call.channel.expired()) return;
    if (Result<> done = work(call); !done) refuse(call, done.error());
  });
  return {};
}

Result<> Service::when_complete(AskedRequest asked, JobKind kind, const Call& call, std::function<void(const Call&, JobRequest)> work) {
  const Uid uid = user_to_look_up(*ports_.settings(), call.who, asked);
  auto request = std::make_shared<AskedRequest>(std::move(asked));
  return when_known(uid, call, [this, request, kind, work = std::move(work)](Call c) -> Result<> {
    MUSTER_TRY(completed, callers_.complete(std::move(*request), kind, c.who));
    work(c, std::move(completed));
    return {};
  });
}

void Service::count(const Call& call) { stats_.call(call.message, call.who.uid, net::Loop::monotonic() - call.began); }

void Service::answer(const Call& call, std::string payload) {
  count(call);
  if (auto c = call.channel.lock()) c->answer(call.id, call.message, std::move(payload));
}

void Service::refuse(const Call& call, const Error& error) {
  count(call);
  if (auto c = call.channel.lock()) c->answer_error(call.id, error);
}

Result<> Service::submit(const Call& call, rpc::SubmitJob request) {
  auto submission = std::make_shared<rpc::SubmitJob>(std::move(request));
  return when_complete(std::move(submission->request), JobKind::kBatch, call,
                       [this, submission](const Call& c, JobRequest completed) { submit_completed(c, submission, std::move(completed)); });
}

void Service::submit_completed(const Call& call, const std::shared_ptr<rpc::SubmitJob>& submission, JobRequest completed) {
  auto request = std::make_shared<JobRequest>(std::move(completed));
  core_.post({[this, call, submission, request](Core& core, store::EventLog& log) -> Reply {
                auto keep = [&](std::string& bytes, std::string& hash) -> Result<> {
                  MUSTER_TRY(h, log.put_blob(bytes));
                  hash = h;
                  return {};
                };
                Result<rpc::JobSubmitted> answer;
                Result<> stored =
                    check_content(core.settings().config().most_script_bytes(), submission->script.size(), submission->environment.size());
                if (stored) stored = keep(submission->script, request->script_hash);
                if (stored) stored = keep(submission->environment, request->environment_hash);
                if (stored) answer = core.run(call.who, *request);
                else answer = std::unexpected(stored.error());
                if (!answer)  // nothing of what was refused stays
                  for (const std::string& hash : {request->script_hash, request->environment_hash})
                    if (!hash.empty() && !core.indexes().blob_used(hash)) (void)log.drop_blob(hash);
                if (!answer) return [this, call, e = answer.error()] { refuse(call, e); };
                return [this, call, a = std::move(*answer)] { finish<rpc::SubmitJob>(call, a); };
              },
              [this, call](const Error& e) { refuse(call, e); }});
}

// The jobs of a crontab are completed as submissions are, and their scripts kept, before the core takes them all or none.
Result<> Service::install_crontab(const Call& call, rpc::InstallCrontab request) {
  MUSTER_TRY_VOID(may_submit_for(*ports_.settings(), call.who, request.user));
  if (request.entries.size() > Crontab::kMostEntries)
    return fail(Errc::kInvalidArgument, "the crontab has more than " + std::to_string(Crontab::kMostEntries) + " entries");
  auto asked = std::make_shared<rpc::InstallCrontab>(std::move(request));
  return when_known(asked->user, call, [this, asked](Call known) -> Result<> {
    auto change = std::make_shared<CrontabChange>(CrontabChange{asked->user, asked->crontab, {}, {}});
    for (rpc::CronEntry& entry : asked->entries) {
      if (entry.request.uid != asked->user) return fail(Errc::kUserIdMissing, {}, "the job is another user's than the crontab");
      MUSTER_TRY(completed, callers_.complete(std::move(entry.request), JobKind::kBatch, known.who));
      change->entries.push_back({entry.times, entry.first_line, entry.last_line, std::move(completed)});
    }
    change->who = known.who;
    core_.post({[this, known, asked, change](Core& core, store::EventLog& log) -> Reply {
                  auto answer = install(core, log, known.who, *asked, *change);
                  if (answer) return [this, known, a = std::move(*answer)] { finish<rpc::InstallCrontab>(known, a); };
                  drop_unused(core, log, *change);  // nothing of what was refused stays
                  return [this, known, e = answer.error()] { refuse(known, e); };
                },
                [this, known](const Error& e) { refuse(known, e); }});
    return {};
  });
}

Result<> Service::allocate(const Call& call, rpc::Allocate request) {
  return when_complete(
      std::move(request.request), JobKind::kAllocation, call,
      [this, attends = request.attends](const Call& c, JobRequest completed) { allocate_completed(c, std::move(completed), attends); });
}

void Service::allocate_completed(const Call& call, JobRequest completed, bool attends) {
  auto request = std::make_shared<const JobRequest>(std::move(completed));
  auto tell = [call](JobId job, std::string nodes) {
    return [call, pending = rpc::AllocationPending{job, std::move(nodes)}] {
      if (auto c = call.channel.lock()) c->answer_part(call.id, call.message, wire::encoded(pending));
    };
  };
  auto answer_if_ready = [this, call, tell, wait = AllocationWait()](const Cluster& cluster, const Job* job,
                                                                     std::vector<Reply>& replies) mutable {
    std::optional<std::string> nodes;
    auto answer = wait.look(cluster, job, nodes);
    if (nodes) replies.push_back(tell(job->id, std::move(*nodes)));
    if (!answer) return false;
    if (*answer) replies.push_back([this, call, a = std::move(**answer)] { finish<rpc::Allocate>(call, a); });
    else replies.push_back([this, call, e = answer->error()] { refuse(call, e); });
    return true;
  };
  core_.post(
      {[this, call, request, attends, answer_if_ready, tell, line = waits<rpc::Allocate>(call)](Core& core, store::EventLog&) -> Reply {
         Result<rpc::JobSubmitted> id;
         if (Result<> may = core_.waiters().may_add(call.who.uid); !may) id = std::unexpected(may.error());
         else id = core.run(call.who, *request);
         if (!id) return [this, call, e = id.error()] { refuse(call, e); };
         (void)core_.waiters().add(id->job, line, call.who.uid, answer_if_ready);  // there is room: may_add() said so
         if (attends) attend(core, line, id->job);
         return tell(id->job, "");
       },
       [this, call](const Error& e) { refuse(call, e); }});
}

// ---- heterogeneous jobs: several components in one command of the core, and steps over several of them

// Each component is completed as a request of its own.
Result<HetRequest> Service::complete_together(std::vector<AskedRequest> asked, JobKind kind, Caller& who) const {
  HetRequest out;
  for (AskedRequest& one : asked) {
    if (one.uid != asked.front().uid) return fail(Errc::kInvalidReq, {}, "all components belong to one user");
    MUSTER_TRY(completed, callers_.complete(std::move(one), kind, who));
    out.components.push_back(std::move(completed));
  }
  return out;
}

Result<> Service::submit_together(const Call& call, rpc::SubmitHetJob request) {
  if (request.components.empty()) return fail(Errc::kInvalidReq, {}, "the job has no component");
  const Uid uid = user_to_look_up(*ports_.settings(), call.who, request.components.front());
  auto asked = std::make_shared<rpc::SubmitHetJob>(std::move(request));
  return when_known(uid, call, [this, asked](Call known) -> Result<> {
    MUSTER_TRY(completed, complete_together(std::move(asked->components), JobKind::kBatch, known.who));
    auto job = std::make_shared<HetRequest>(std::move(completed));
    core_.post({[this, known, asked, job](Core& core, store::EventLog& log) -> Reply {
                  JobRequest& first = job->components.front();
                  auto keep = [&](std::string& bytes, std::string& hash) -> Result<> {
                    MUSTER_TRY(h, log.put_blob(bytes));
                    hash = h;
                    return {};
                  };
                  Result<rpc::JobSubmitted> answer;
                  Result<> stored =
                      check_content(core.settings().config().most_script_bytes(), asked->script.size(), asked->environment.size());
                  if (stored) stored = keep(asked->script, first.script_hash);
                  if (stored) stored = keep(asked->environment, first.environment_hash);
                  if (stored) answer = core.run(known.who, *job);
                  else answer = std::unexpected(stored.error());
                  if (answer) return [this, known, a = std::move(*answer)] { finish<rpc::SubmitHetJob>(known, a); };
                  for (const std::string& hash : {first.script_hash, first.environment_hash})  // nothing of what was refused stays
                    if (!hash.empty() && !core.indexes().blob_used(hash)) (void)log.drop_blob(hash);
                  return [this, known, e = answer.error()] { refuse(known, e); };
                },
                [this, known](const Error& e) { refuse(known, e); }});
    return {};
  });
}

// The first component tells how all are: they start, and begin, together.
Result<> Service::allocate_together(const Call& call, rpc::AllocateHetJob request) {
  if (request.components.empty()) return fail(Errc::kInvalidReq, {}, "the job has no component");
  const Uid uid = user_to_look_up(*ports_.settings(), call.who, request.components.front());
  auto asked = std::make_shared<rpc::AllocateHetJob>(std::move(request));
  return when_known(uid, call, [this, asked](Call known) -> Result<> {
    MUSTER_TRY(completed, complete_together(std::move(asked->components), JobKind::kAllocation, known.who));
    auto job = std::make_shared<const HetRequest>(std::move(completed));
    auto tell = [known](JobId id, std::string nodes) {
      return [known, pending = rpc::AllocationPending{id, std::move(nodes)}] {
        if (auto channel = known.channel.lock()) channel->answer_part(known.id, known.message, wire::encoded(pending));
      };
    };
    auto answer_if_ready = [this, known, tell, wait = AllocationWait()](const Cluster& cluster, const Job* leader,
                                                                        std::vector<Reply>& replies) mutable {
      std::optional<std::string> nodes;
      auto answer = wait.look(cluster, leader, nodes);
      if (nodes) replies.push_back(tell(leader->id, std::move(*nodes)));
      if (!answer) return false;
      if (!*answer) {
        replies.push_back([this, known, e = answer->error()] { refuse(known, e); });
        return true;
      }
      rpc::HetAllocated all;
      for (const Job* j : components_of(cluster, leader->het)) all.components.push_back(make_allocated(cluster, *j));
      if (!leader->het) all.components.push_back(std::move(**answer));
      replies.push_back([this, known, a = std::move(all)] { finish<rpc::AllocateHetJob>(known, a); });
      return true;
    };
    core_.post(
        {[this, known, asked, job, answer_if_ready, tell, line = waits<rpc::AllocateHetJob>(known)](Core& core, store::EventLog&) -> Reply {
           Result<rpc::JobSubmitted> id;
           if (Result<> may = core_.waiters().may_add(known.who.uid); !may) id = std::unexpected(may.error());
           else id = core.run(known.who, *job);
           if (!id) return [this, known, e = id.error()] { refuse(known, e); };
           (void)core_.waiters().add(id->job, line, known.who.uid, answer_if_ready);  // there is room: may_add() said so
           if (asked->attends) attend(core, line, id->job);
           return tell(id->job, "");
         },
         [this, known](const Error& e) { refuse(known, e); }});
    return {};
  });
}

// A credential for each component: of its own job, for the nodes of all.
Result<> Service::complete(const Core& core, const Call& call, const rpc::CreateHetStep& request, rpc::HetStepCreated& steps) {
  for (size_t i = 0; i < steps.components.size(); ++i) MUSTER_TRY_VOID(complete(core, call, request.components[i], steps.components[i]));
  return {};
}

Result<> Service::forecast(const Call& call, rpc::WillRun request) {
  const JobKind kind = request.kind == JobKind::kBatch ? JobKind::kBatch : JobKind::kAllocation;
  return when_complete(std::move(request.request), kind, call,
                       [this](const Call& c, JobRequest completed) { forecast_completed(c, std::move(completed)); });
}

void Service::forecast_completed(const Call& call, JobRequest completed) {
  // What the check below makes of a text for itself; it refuses a wrong one.
  if (ports_.settings()->sched.extra_constraints) completed.extra_constraint = completed.extra;
  auto request = std::make_shared<const TestOnly>(TestOnly{std::move(completed)});
  core_.post({[this, call, request](Core& core, store::EventLog&) -> Reply {
                auto checked = core.run(call.who, *request);
                if (!checked) return [this, call, e = checked.error()] { refuse(call, e); };
                forecasts_.post(
                    [this, call, request] {
                      auto forecast = planner_.will_run(request->request);
                      auto cluster = core_.snapshot();
                      loop_.post([this, call, forecast, cluster] {
                        if (!forecast) return refuse(call, forecast.error());
                        rpc::WillRunAnswer a;
                        a.start = forecast->start;
                        a.job = expected_job_id(*cluster, ports_.settings()->config());
                        if (forecast->allocation) {
                          a.cpus = forecast->allocation->total_cpus();
                          a.node_list = node_list_of(*cluster, *forecast->allocation);
                        }
                        if (const Partition* p = cluster->partitions.find(forecast->partition)) a.partition = p->name;
                        finish<rpc::WillRun>(call, a);
                      });
                    },
                    call.who.uid.value);
                return {};
              },
              [this, call](const Error& e) { refuse(call, e); }});
}

// ---- queries: most are answered on the query thread; those that take a planning pass have a thread on which squeue does not wait behind
// them

QueryContext Service::context_of(const Call& call) const {
  return {core_.snapshot(), ports_.settings(), net::Loop::now(), call.who, ports_.texts};
}

void Service::begin_answer(net::AnswerStreams& streams, const Call& call, Query query) {
  auto channel = call.channel.lock();
  if (!channel) return;
  auto open = [this, call, kept = std::make_shared<Query>(std::move(query))] { return encoded_answer(context_of(call), std::move(*kept)); };
  streams.begin(
      channel, call.id, call.message, open, [this, call] { count(call); }, call.who.uid);
}

Result<> Service::query(const Call& call, Query query) {
  begin_answer(streams_, call, std::move(query));
  return {};
}

Result<> Service::query_with_plan(const Call& call, Query query) {
  begin_answer(plan_streams_, call, std::move(query));
  return {};
}

Result<> Service::query_at_once(const Call& call, Query query) {
  MUSTER_TRY(answer, encoded_answer(context_of(call), std::move(query)));
  MUSTER_TRY(last, answer->last());
  this->answer(call, std::move(last));
  return {};
}

Result<> Service::watch(const Call& call, rpc::WatchJobs request) {
  auto channel = call.channel.lock();
  if (!channel) return {};
  MUSTER_TRY_VOID(watches_.add(channel, std::move(request), privacy_of(call)));
  finish<rpc::WatchJobs>(call, {});
  return {};
}

// Root may act for another user: then that user's groups decide what is allowed.
Result<> Service::change_as(const Call& call, rpc::UpdateJob request) {
  const Uid as = updating_user(*ports_.settings(), call.who, request);
  if (as == call.who.uid) return change(call, std::move(request));
  return when_known(as, call, [this, as, kept = std::move(request)](Call c) {
    c.who.groups = callers_.groups_of(as);
    return change(c, kept);
  });
}

Result<> Service::change_named(const Call& call, rpc::RunWithoutJob request) {
  const Uid uid = call.who.uid;
  return when_known(uid, call, [this, kept = std::move(request)](Call c) {
    c.who.name = callers_.user_name(c.who.uid);
    return change(c, kept);
  });
}

// Who may delete a reservation because it is theirs is a matter of names.
Result<> Service::change_named(const Call& call, rpc::UpdateReservation request) {
  const Uid uid = call.who.uid;
  return when_known(uid, call, [this, kept = std::move(request)](Call c) {
    c.who.name = callers_.user_name(c.who.uid);
    return change(c, kept);
  });
}

// srun --no-allocate: the core has judged the caller, and keeps nothing of it.
Result<> Service::complete(const Core&, const Call& call, const rpc::RunWithoutJob& request, rpc::StepCreated& step) {
  rpc::StepCredential c;
  c.cluster = ports_.settings()->config().cluster_name;
  steps::add_step(c, step, {}, net::Loop::now());
  c.by_key_alone = true;  // only root asks for it
  c.user_name = call.who.name;
  c.job_name = request.request.name;
  return sign(c, step);
}

Result<> Service::complete(const Core& core, const Call&, const rpc::UpdateConfig& request, rpc::Messages&) {
  if (request.nodes.empty()) ports_.configuration_changed(core.settings().loaded);
  return {};
}

Result<> Service::sign(const rpc::StepCredential& credential, rpc::StepCreated& step) const {
  MUSTER_TRY(text, net::sign_credential(ports_.security, wire::encoded(credential)));
  step.credential = std::move(text);
  return {};
}

rpc::Statistics Service::statistics_for(const Privacy& privacy) {
  rpc::Statistics s = stats_.counts(net::Loop::now());
  s.threads = 4;  // core, I/O, planner, queries
  s.commands_waiting = static_cast<uint32_t>(core_.queue_length());
  s.nodes_connected = static_cast<uint32_t>(nodes_.connected());
  nodes_.add_pending(s);
  const StateCounts counts = core_.snapshot()->counts;
  s.pending += counts.pending_tasks;
  s.running += counts.of(JobState::kRunning);
  s.clock_us = clock_us_;
  std::erase_if(s.by_user, [&](const rpc::CallCount& c) { return !privacy.shows_user(Uid(c.id)); });
  return s;
}

// sdiag(1): "Values are reset at midnight UTC time by default."
void Service::reset_statistics_at_midnight() {
  constexpr int64_t kDay = 24 * 3600;
  const Time now = net::Loop::now(), midnight = from_unix((unix_seconds(now) / kDay + 1) * kDay);
  midnight_ = loop_.after(midnight - now, [this] {
    stats_.reset(net::Loop::now(), false);
    reset_statistics_at_midnight();
  });
}

Result<> Service::statistics(const Call& call, rpc::QueryStatistics request) {
  MUSTER_TRY_VOID(may_query(rights_of(call), request));
  if (request.reset) stats_.reset(net::Loop::now());
  finish<rpc::QueryStatistics>(call, statistics_for(privacy_of(call)));
  return {};
}

Result<> Service::ping(const Call& call, rpc::Ping) {
  rpc::Pong pong;
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  pong.host = host;
  pong.pid = ::getpid();
  pong.started = started_;
  finish<rpc::Ping>(call, pong);
  return {};
}

Result<> Service::reconfigure(const Call& call, rpc::Reconfigure) {
  MUSTER_TRY(done, ports_.reconfigure());
  finish<rpc::Reconfigure>(call, done);
  return {};
}

Result<> Service::shutdown(const Call& call, rpc::Shutdown request) {
  finish<rpc::Shutdown>(call, {});
  ports_.shutdown(request.controller_only);
  return {};
}

}  // namespace muster::slurmctld

// Service: what slurmctld does with a frame. Lives on the I/O thread: a request is served by the handler that its row in
// slurmctld/core/commands.def names. Requests that change something are posted to the core thread, queries are answered by the query thread
// from the newest snapshot, node reports go to NodeLinks. Every caller is who the connection proved, never who the message says;
// slurmctld/core judges what a caller may do.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_set>

#include "net/answer_streams.h"
#include "net/channel_set.h"
#include "net/query_thread.h"
#include "slurmctld/core/query.h"
#include "slurmctld/daemon/blob_cache.h"
#include "slurmctld/daemon/callers.h"
#include "slurmctld/daemon/config_files.h"
#include "slurmctld/daemon/core_thread.h"
#include "slurmctld/daemon/database_questions.h"
#include "slurmctld/daemon/members.h"
#include "slurmctld/daemon/node_links.h"
#include "slurmctld/daemon/planner_thread.h"
#include "slurmctld/daemon/relay_places.h"
#include "slurmctld/daemon/statistics.h"
#include "slurmctld/daemon/watches.h"
#include "wire/messages.h"

namespace muster::slurmctld {

struct PassedOn {  // of a request that a node passed on
  RelayPlace place;
  uint64_t asker = 0;  // who asked, by the number the node gave
};

class Service {
 public:
  struct Ports {
    std::function<std::shared_ptr<const Settings>()> settings;                               // newest
    std::function<Result<rpc::Messages>()> reconfigure;                                      // reads the files again and applies them
    std::function<void(std::shared_ptr<const config::LoadedConfig>)> configuration_changed;  // scontrol changed it; core thread
    std::function<void(bool controller_only)> shutdown;
    net::Security security;                                                       // signs step credentials
    Certificates* certificates = nullptr;                                         // null: there are none, with auth/munge
    std::function<Result<std::shared_ptr<void>>(Uid uid, size_t bytes)> pass_on;  // a place for a request that a node passes on
    std::function<Result<std::shared_ptr<void>>(const Subject& host, size_t bytes)> pass_on_by;  // the same, at the cost of that host
    QueryTexts texts;                                                                            // query threads only
    std::function<std::shared_ptr<const ConfigFiles>()> config_files = [] { return nullptr; };   // null: enable_configless is not set
    site::KnownUsers::Ask ask_user = site::ask_user_database;
  };
  Service(net::Loop& loop, os::Log& logger, Statistics& stats, CoreThread& core, PlannerThread& planner, NodeLinks& nodes, Ports ports);

  void accept(net::ChannelPtr channel) {
    members_.add(channel);
    channels_.accept(std::move(channel));
  }
  void close_all() { channels_.close_all(); }
  size_t connections() const { return channels_.size(); }
  void drop(const net::ChannelPtr& channel) {
    channels_.drop(channel.get());
    channel->close();  // one that nobody serves yet
  }
  std::string address_of(const net::Peer& peer) const { return callers_.address_of(peer); }
  void users_changed() { callers_.users_changed(); }  // I/O thread; the site says that its users or groups did
  void config_changed(const std::string& version);    // I/O thread; the files for hosts without slurm.conf are others
  void state_changed() { watches_.state_changed(); }  // I/O thread; a new snapshot is out

 private:
  using ChannelRef = std::weak_ptr<net::Channel>;
  struct Call {  // one request on its way
    ChannelRef channel;
    uint64_t id = 0;
    uint16_t message = 0;
    Caller who;
    Duration began{};
    PassedOn passed_on;
  };

  net::ChannelSet::Events channel_events();
  Result<> dispatch(const net::ChannelPtr& channel, const net::Frame& frame);
  Result<> admit(const Call& call, std::string_view payload);
  Result<> serve(const Call& call, std::string_view payload);
  // Runs `work` once the user database has said who `uid` is: at once, where that is known.
  Result<> when_known(Uid uid, const Call& call, std::function<Result<>(Call)> work);
  // Runs `work` with the job that the request will be, as callers_.complete() makes it.
  Result<> when_complete(AskedRequest asked, JobKind kind, const Call& call, std::function<void(const Call&, JobRequest)> work);
  Privacy privacy_of(const Call& call) const { return {*ports_.settings(), core_.snapshot()->directory, call.who}; }
  Rights rights_of(const Call& call) const { return {*ports_.settings(), core_.snapshot()->directory, call.who}; }
  void count(const Call& call);  // for sdiag: it is answered
  void answer(const Call& call, std::string payload);
  template <class Request>
  void finish(const Call& call, const AnswerTo<Request>& value);
  void refuse(const Call& call, const Error& error);

  // ---- handlers of commands.def. The plain ones: the core decides in its thread; the query thread answers
  template <class Request>
  Result<> change(const Call& call, Request request);
  Result<> query(const Call& call, Query query);
  Result<> query_with_plan(const Call& call, Query query);  // one that takes a planning pass
  Result<> query_at_once(const Call& call, Query query);    // one that is answered quickly and in one piece
  // complete() adds what an answer of the core is not whole without; it runs on the core thread.
  template <class Request, class Answer>
  Result<> complete(const Core&, const Call&, const Request&, Answer&) {
    return {};
  }
  template <class Request>
  Result<> complete(const Core& core, const Call& call, const Request& request, rpc::StepCreated& step);
  Result<> complete(const Core& core, const Call& call, const rpc::RunWithoutJob& request, rpc::StepCreated& step);
  Result<> complete(const Core& core, const Call& call, const rpc::UpdateConfig& request, rpc::Messages& answer);
  Result<> sign(const rpc::StepCredential& credential, rpc::StepCreated& step) const;
  // Requests for a job, of which the controller knows more than is asked for.
  Result<> submit(const Call& call, rpc::SubmitJob request);
  void submit_completed(const Call& call, const std::shared_ptr<rpc::SubmitJob>& submission, JobRequest completed);
  Result<> install_crontab(const Call& call, rpc::InstallCrontab request);
  Result<> allocate(const Call& call, rpc::Allocate request);
  void allocate_completed(const Call& call, JobRequest completed, bool attends);
  // Those for heterogeneous jobs.
  Result<> submit_together(const Call& call, rpc::SubmitHetJob request);
  Result<> allocate_together(const Call& call, rpc::AllocateHetJob request);
  Result<HetRequest> complete_together(std::vector<AskedRequest> asked, JobKind kind, Caller& who) const;
  Result<> complete(const Core& core, const Call& call, const rpc::CreateHetStep& request, rpc::HetStepCreated& steps);
  Result<> forecast(const Call& call, rpc::WillRun request);
  void forecast_completed(const Call& call, JobRequest completed);
  // Requests for which a user has to be known first: the one by whose rights it is judged, or in whose name the step runs.
  Result<> change_as(const Call& call, rpc::UpdateJob request);
  Result<> change_named(const Call& call, rpc::RunWithoutJob request);
  Result<> change_named(const Call& call, rpc::UpdateReservation request);
  Result<> join(Call call, rpc::JoinNode request);
  // service_managed.cc: the manager of the job's steps decides, or is asked for its news first
  template <class Request>
  Result<> change_by_manager(const Call& call, Request request);
  template <class Request>
  Result<> change_told(const Call& call, Request request);
  // A message as the one who asks for it passes it on: to a manager of steps, or to slurmdbd.
  static rpc::Relay relay_of(const Call& call, uint16_t message, std::string payload);
  Result<> ask_manager(NodeId manager, const Call& call, std::string payload);
  void when_told(const Call& call, Right right, std::vector<JobId> jobs, const std::function<void()>& then);
  void begin_answer(net::AnswerStreams& streams, const Call& call, Query query);
  QueryContext context_of(const Call& call) const;
  // service_waits.cc
  Result<> wait_job(const Call& call, rpc::WaitJob request);
  Result<> wait_steps(const Call& call, rpc::WaitSteps request);
  Result<> wait_records(const Call& call, rpc::WaitRecords request);
  template <class Request, class Wait>
  void wait_for(const Call& call, JobId id, Wait wait);
  template <class Request>
  Line waits(const Call& call) {
    static_assert(wire::kWaits<Request>, "a node daemon would not say when who asked is gone");
    return line_of(call);
  }
  Line line_of(const Call& call);
  void attend(const Call& call, JobId job);
  void attend(Core& core, Line line, JobId job);  // core thread
  void forget_waiters(const net::Channel* channel);
  Result<> watch(const Call& call, rpc::WatchJobs request);
  Result<> ask_database(const Call& call, rpc::AskDatabase request);
  DatabaseQuestions::Way way_to_database() const;
  // About this daemon.
  Result<> ping(const Call& call, rpc::Ping request);
  Result<> statistics(const Call& call, rpc::QueryStatistics request);
  rpc::Statistics statistics_for(const Privacy& privacy);
  void reset_statistics_at_midnight();
  Result<> reconfigure(const Call& call, rpc::Reconfigure request);
  Result<> shutdown(const Call& call, rpc::Shutdown request);
  Result<> fetch_config(const Call& call, rpc::FetchConfig request);
  Result<> fetch_config_file(const Call& call, rpc::FetchConfigFile request);
  // Tokens, certificates: what members.h answers.
  template <class Request>
  Result<> of_members(const Call& call, Request request);
  // Requests of node daemons.
  Result<> relay(const Call& call, const rpc::Relay& request);
  Result<> relay_of_node(Call call, const rpc::Relay& request);
  bool asks_still(const Line& line);
  Result<> asker_gone(const Call& call, rpc::AskerGone request);
  Result<> fetch_content(const Call& call, rpc::FetchContent request);

  net::Loop& loop_;
  os::Log& logger_;
  Statistics& stats_;
  CoreThread& core_;
  PlannerThread& planner_;
  NodeLinks& nodes_;
  Ports ports_;
  Callers callers_;
  net::QueryThread queries_{net::TimeShares{}};
  net::QueryThread forecasts_{
      net::TimeShares{}};  // questions that take a planning pass: --test-only, muster explain; squeue does not wait for them
  net::AnswerStreams streams_, plan_streams_;  // of either thread
  Watches watches_;
  DatabaseQuestions database_{loop_, [this] { return way_to_database(); }};
  BlobCache contents_;  // query thread only
  net::ChannelSet channels_;
  RelayPlaces places_{core_, {ports_.settings, ports_.pass_on, ports_.pass_on_by}};
  Members members_{loop_,
                   logger_,
                   nodes_,
                   ports_.certificates,
                   [this](const net::Channel* channel) { channels_.drop(channel); },
                   [this](const rpc::JoinNode& machine, const FutureNames& names) {
                     return choose_future(*core_.snapshot(), ports_.settings()->config(), machine, names);
                   }};
  std::unordered_set<const net::Channel*> waiting_;  // connections on which something waits, or has waited, for a job
  std::multiset<Line> looked_up_;                    // askers of nodes whose user is not known yet; one that is gone leaves it
  std::multimap<Line, JobId> attendants_;            // core thread only: who is there for which allocation
  std::vector<ChannelRef> followers_;                // of the configuration's files
  std::unique_ptr<net::Loop::Timer> midnight_;
  Time started_;
  uint64_t clock_us_;
};

}  // namespace muster::slurmctld

// Service: what slurmctld does with a frame. Lives on the I/O thread: commands are decoded and posted to the core thread, queries
// are answered by the query thread from the newest snapshot, node reports go to NodeLinks. Every caller is who the connection
// proved, never who the message says.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "net/answer_streams.h"
#include "net/channel_set.h"
#include "net/query_thread.h"
#include "os/users.h"
#include "slurmctld/daemon/core_thread.h"
#include "slurmctld/daemon/node_links.h"
#include "slurmctld/daemon/planner_thread.h"
#include "slurmctld/daemon/statistics.h"
#include "slurmctld/daemon/watches.h"
#include "wire/messages.h"

namespace muster::slurmctld {

template <class Req>
using wire_answer = wire::AnswerTo<Req>;

class Service {
 public:
  struct Ports {
    std::function<std::shared_ptr<const Settings>()> settings;   // newest
    std::function<Result<rpc::Messages>()> reconfigure;          // reads the files again and applies them
    std::function<void(std::shared_ptr<const config::LoadedConfig>)> configuration_changed;   // by scontrol; core thread
    std::function<void(bool controller_only)> shutdown;
    net::Security security;                                      // signs step credentials
    std::function<std::string()> show_config;
    std::function<std::string()> write_config;
    std::function<Result<std::string>(const std::string& hash)> read_blob;   // query thread only
  };
  Service(net::Loop& loop, os::Log& logger, Statistics& stats, CoreThread& core, PlannerThread& planner, NodeLinks& nodes, Ports ports);

  void accept(net::ChannelPtr channel) { channels_.accept(std::move(channel)); }
  void close_all() { channels_.close_all(); }
  void state_changed() { watches_.state_changed(); }   // I/O thread; a new snapshot is out

 private:
  using ChannelRef = std::weak_ptr<net::Channel>;
  struct Call {               // one request on its way
    ChannelRef channel;
    uint64_t id = 0;
    uint16_t message = 0;
    Caller who;
    Duration began{};
    const char* name = "";
  };

  net::ChannelSet::Events channel_events();
  Result<> dispatch(const net::ChannelPtr& channel, const net::Frame& frame);
  Result<> dispatch_relayed(const net::ChannelPtr& channel, const net::Frame& frame);
  Result<> dispatch_request(const net::ChannelPtr& channel, const net::Frame& frame, Caller who);
  bool is_daemon(const net::Peer& peer) const;
  Caller caller_of(Uid uid, Gid gid);
  std::vector<std::string> groups_of(Uid uid);
  Privacy privacy_of(const Call& call) const { return {*ports_.settings(), call.who}; }
  template <class Req>
  void finish(const Call& call, const wire_answer<Req>& answer);
  void refuse(const Call& call, const Error& error);

  template <class Req>
  Result<> command(Call call, std::string_view payload,
                   std::function<Result<wire_answer<Req>>(Core&, store::EventLog&, const Caller&, Req&)> run);
  Result<> allocate(Call call, std::string_view payload);
  Result<> wait_job(Call call, std::string_view payload);
  Result<> attach(Call call, std::string_view payload);
  Result<> will_run(Call call, std::string_view payload);
  Result<> submit(Call call, std::string_view payload);
  template <class Query>
  Result<> query(Call call, std::string_view payload);
  Result<> watch(Call call, std::string_view payload);
  Result<rpc::Text> text_of(const Call& call, const rpc::QueryText& q, const Cluster& cluster);
  Result<> control(Call call, const net::Frame& frame);
  rpc::Statistics statistics();
  Result<> explain(Call call, std::string_view payload);
  Result<> update_config(Call call, std::string_view payload);
  template <class Req>
  Result<> with_credential(Call call, std::string_view payload, Result<rpc::StepCreated> (Core::*decide)(const Caller&, const Req&));
  Result<> complete(JobRequest& request, Caller& who);

  net::Loop& loop_;
  os::Log& logger_;
  Statistics& stats_;
  CoreThread& core_;
  PlannerThread& planner_;
  NodeLinks& nodes_;
  Ports ports_;
  os::UserDirectory users_;
  net::QueryThread queries_;
  net::QueryThread forecasts_;   // questions that take a planning pass: --test-only, muster explain; squeue does not wait for them
  net::AnswerStreams streams_;
  Watches watches_;
  net::ChannelSet channels_;
  Time started_;
  uint64_t clock_us_;
};

}  // namespace muster::slurmctld

// Requests about steps that the first node of their job decides about (docs/adr/0011). They are passed on to its slurmd, which judges the
// caller as we do. Where an answer is to be about all steps, the node's news of such steps is waited for first.
#include <algorithm>

#include "model/step_rpc.h"
#include "slurmctld/daemon/service_handlers.h"

namespace muster::slurmctld {
namespace {

constexpr Duration kManagerTimeout = seconds(30), kNewsTimeout = seconds(5);

bool is_of_the_connection(Errc code) {
  return code == Errc::kConnectFailed || code == Errc::kSendFailed || code == Errc::kReceiveFailed || code == Errc::kCommunicationFailed ||
         code == Errc::kTimedOut || code == Errc::kUnexpectedMessage;
}

}  // namespace

rpc::Relay Service::relay_of(const Call& call, uint16_t message, std::string payload) {
  rpc::Relay relay;
  relay.uid = call.who.uid;
  relay.gid = call.who.gid;
  relay.host = call.who.host;
  relay.session = call.who.session;
  relay.message = message;
  relay.payload = std::move(payload);
  return relay;
}

Result<> Service::ask_manager(NodeId manager, const Call& call, std::string payload) {
  MUSTER_TRY(place, ports_.pass_on(call.who.uid, payload.size()));  // of each user's share of what is on its way
  const rpc::Relay relay = relay_of(call, call.message, std::move(payload));
  const auto cluster = core_.snapshot();
  const Node* node = cluster->nodes.find(manager.value);
  nodes_.ask(manager, wire::number_of<rpc::Relay>, wire::encoded(relay), kManagerTimeout,
             [this, call, place, name = node ? node->spec->name : std::string()](Result<net::Frame> answer) {
               if (!answer && is_of_the_connection(answer.error().code))
                 return refuse(
                     call, Error(Errc::kNodesBusy, {}, "the slurmd of node " + name + ", which manages the job's steps, does not answer"));
               if (!answer) return refuse(call, answer.error());
               this->answer(call, std::move(answer->payload));
             });
  return {};
}

// `then` is called once, whatever becomes of it: a manager that does not answer in time may have no news.
void Service::when_told(const Call& call, Right right, std::vector<JobId> jobs, const std::function<void()>& then) {
  const auto cluster = core_.snapshot();
  std::vector<std::pair<JobId, NodeId>> managers;
  std::ranges::sort(jobs);
  jobs.erase(std::ranges::unique(jobs).begin(), jobs.end());
  for (JobId id : jobs)
    if (auto manager = manager_to_ask(*cluster, *ports_.settings(), call.who, right, id)) managers.emplace_back(id, *manager);
  auto place = ports_.pass_on(call.who.uid, managers.size() * sizeof(rpc::TellSteps));
  if (managers.empty() || !place) return then();
  auto open = std::make_shared<size_t>(managers.size());
  for (const auto& [job, node] : managers)
    nodes_.ask(node, wire::number_of<rpc::TellSteps>, wire::encoded(rpc::TellSteps{job}), kNewsTimeout,
               [open, then, place = *place](const Result<net::Frame>&) {
                 if (--*open == 0) then();
               });
}

}  // namespace muster::slurmctld

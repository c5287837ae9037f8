// What commands ask of a slurmd: srun asks for a step's launch, for signals and for the relay to other nodes; all of them ask for the relay
// to the controller.
#include <signal.h>

#include <algorithm>

#include "model/without_job.h"
#include "net/credential.h"
#include "net/notify.h"
#include "slurmd/daemon/slurmd.h"
#include "steps/warrant.h"
#include "wire/instances.h"
#include "wire/messages.h"

namespace muster::slurmd {
namespace {

// True for root's own srun or sattach on this host, whose socket only root may be able to reach. Root on the network may be a slurmd that
// passes on what an ordinary user asked.
bool is_root_here(const net::Peer& peer) { return peer.trust == net::Trust::kLocalUser && peer.uid.value == 0; }

template <class M>
Result<M> read_message(const net::Frame& f) {
  M m;
  MUSTER_TRY_VOID(wire::decode(f.payload, m));
  return m;
}

}  // namespace

void Slurmd::accepted(net::ChannelPtr channel) {
  net::Channel* raw = channel.get();
  channel->on_request = [this, weak = std::weak_ptr(channel)](net::Frame f) {
    net::ChannelPtr c = weak.lock();
    if (!c) return;
    auto ok = on_request(c, f);
    if (!ok && f.kind == net::FrameKind::kRequest) c->answer_error(f.id, ok.error());
  };
  channel->on_closed = [this, raw](const Error&) {
    relay_.closed(raw);
    clients_.erase(raw);
  };
  clients_[raw] = std::move(channel);
}

void Slurmd::drop_clients(const std::string& why, const std::function<bool(const net::Peer&)>& which) {
  std::vector<net::ChannelPtr> out;
  for (const auto& [raw, channel] : clients_)
    if (which(channel->peer())) out.push_back(channel);
  for (const net::ChannelPtr& channel : out) {
    log_.info("the certificate of {} {}: its connection from {} ends", channel->peer().certified.text(), why, channel->peer().address);
    relay_.closed(channel.get());
    clients_.erase(channel.get());
    channel->close();
  }
  loop_.defer([out = std::move(out)] {});
}

Result<> Slurmd::on_request(const net::ChannelPtr& channel, const net::Frame& frame) {
  if (frame.kind != net::FrameKind::kRequest) return fail(Errc::kUnexpectedMessage);
  // No answer: who has a newer certificate connects with that, and asks again.
  if (certificate_.has_expired(channel->peer())) return certificate_.drop_expired(), Result<>();
  if (!may_ask(PeerRight::kLook, channel->peer()) && !may_ask(PeerRight::kBearCredential, channel->peer()))
    return fail(Errc::kAccessDenied);
  switch (frame.message) {
    case wire::number_of<rpc::LaunchStep>: return on_launch_step(channel, frame);
    case wire::number_of<rpc::SignalStepTasks>: return on_signal_step(channel, frame);
    case wire::number_of<rpc::AttachTasks>: return on_attach(channel, frame);
    case wire::number_of<rpc::QueryStepUse>: return on_query_use(channel, frame);
    case wire::number_of<rpc::SendFile>: return on_send_file(channel, frame);
    case wire::number_of<rpc::RelayToNode>: return on_relay(channel, frame);
    case wire::number_of<rpc::QueryLocalSteps>:
    case wire::number_of<rpc::QueryLocalDaemon>: return on_local_query(channel, frame);
    case wire::number_of<rpc::AdoptProcess>: return on_adopt(channel, frame);
    case wire::number_of<rpc::PartEnded>: return on_part_ended(channel, frame);
    default:
      if (answer_for_managed(channel, frame)) return {};
      return relay_.pass_on(channel, frame);
  }
}

// Accepts credentials of slurmctld, and of the manager of the job's steps by the right that slurmctld has given it.
Result<Slurmd::TrustedCredential> Slurmd::verified(const std::string& text) const {
  auto decoded = [](std::string_view content, auto& out) -> Result<> {
    if (auto ok = wire::decode(content, out); !ok) return fail(Errc::kInvalidCredential, std::string(ok.error().message()));
    return {};
  };
  TrustedCredential credential;
  auto by_warrant = net::by_warrant(text);
  if (!by_warrant) {
    MUSTER_TRY(content, net::verify_credential(setup_.security, text));
    MUSTER_TRY_VOID(decoded(content, static_cast<rpc::StepCredential&>(credential)));
    return credential;
  }
  MUSTER_TRY(right, net::verify_warrant(setup_.security, by_warrant->warrant));
  rpc::StepWarrant warrant;
  MUSTER_TRY_VOID(decoded(right, warrant));
  MUSTER_TRY_VOID(net::check_signature(*by_warrant, warrant.key));
  MUSTER_TRY_VOID(decoded(by_warrant->content, static_cast<rpc::StepCredential&>(credential)));
  MUSTER_TRY_VOID(steps::check_warranted(credential, warrant, setup_.config().cluster_name, net::Loop::now()));
  credential.manager = warrant.node;
  return credential;
}

// The credential is the controller's word on who may start what. A user at a socket must be the one it names.
Result<Slurmd::TrustedCredential> Slurmd::check_credential(const net::Peer& peer, const std::string& text,
                                                           rpc::CredentialPurpose purpose) const {
  MUSTER_TRY(said, verified(text));
  if (said.cluster != setup_.config().cluster_name)
    return fail(Errc::kInvalidCredential,
                "the credential is of cluster '" + said.cluster + "', this node of cluster '" + setup_.config().cluster_name + "'");
  if (!may_ask(PeerRight::kBearCredential, peer)) return fail(Errc::kAccessDenied);
  if (!may_ask(PeerRight::kBearOfOthers, peer) && peer.uid != said.uid)
    return fail(Errc::kAccessDenied,
                "the credential is for uid " + std::to_string(said.uid.value) + ", the caller is uid " + std::to_string(peer.uid.value));
  // A node that was shown the credential may be broken into; slurmd of a host with the key, or root here, brings it to each node itself.
  if (said.by_key_alone && peer.trust == net::Trust::kCertificate && !peer.has_key)
    return fail(Errc::kAccessDenied, peer.certified.text() +
                                         " has no cluster key: credentials of root, SlurmUser, operators and administrators are "
                                         "taken from hosts that have it");
  if (said.purpose != purpose) return fail(Errc::kInvalidCredential, "the credential is for something else");
  if (said.nodes_end() > said.nodes.size()) return fail(Errc::kInvalidCredential, "the credential's own nodes are none of its nodes");
  if (said.expires != kTimeUnset && net::Loop::now() > said.expires) return fail(Errc::kCredentialExpired);
  return said;
}

Result<> Slurmd::on_launch_step(const net::ChannelPtr& channel, const net::Frame& frame) {
  MUSTER_TRY(launch, read_message<rpc::LaunchStep>(frame));
  if (launch.node != setup_.node) return fail(Errc::kInvalidNodeName, "this is node " + setup_.node + ", not " + launch.node);
  MUSTER_TRY(credential, check_credential(channel->peer(), launch.credential, rpc::CredentialPurpose::kLaunch));
  places_.learn(credential);
  if (is_without_job(credential.job) && credential.uid.value != 0 && credential.uid != setup_.slurm_user)
    return fail(Errc::kInvalidCredential, "only root and SlurmUser may run without an allocation");
  AskedStep asked{{channel, frame.id, frame.message}, std::move(credential), std::move(launch), is_root_here(channel->peer())};
  StepKey key{asked.credential.job, asked.credential.step};
  uint32_t generation = asked.credential.generation;
  // The step of the job's last run may have been told to go, and not be gone yet.
  const step_rpc::StepdReport* here = stepds_.find(key.first, key.second);
  if (asked_.contains(key) || (here && here->generation >= generation)) return fail(Errc::kAlreadyDone, "Step is already here");
  contexts_.try_emplace(key.first, [&] {
    ProgramContext c;
    c.job = asked.credential.job;
    c.uid = asked.credential.uid;
    c.gid = asked.credential.gid;
    c.user_name = asked.credential.user_name;
    c.partition = asked.credential.partition;
    c.account = asked.credential.account;
    c.job_name = asked.credential.job_name;
    c.node_list = asked.credential.job_node_list.text();
    c.spank_env = asked.credential.spank_env;
    return c;
  }());
  ends_.managed_by(key, asked.credential.manager);
  asked_[key] = std::move(asked);
  look_for_programs();
  core_.on_event(StepAsked{key.first, generation, key.second});
  settle();
  return {};
}

Result<> Slurmd::on_signal_step(const net::ChannelPtr& channel, const net::Frame& frame) {
  MUSTER_TRY(m, read_message<rpc::SignalStepTasks>(frame));
  const step_rpc::StepdReport* step = stepds_.find(m.job, m.step);
  if (!step) return fail(Errc::kInvalidJobId);
  // A user signals his own step, a node the steps that it manages, and who has the cluster key any.
  const net::Peer& peer = channel->peer();
  const bool own = may_ask(PeerRight::kSignalOwn, peer) && peer.uid == step->uid;
  const bool managed = may_ask(PeerRight::kManageSteps, peer) && peer.certified.is_node(ends_.manager_of({m.job, m.step}));
  if (!own && !managed && !may_ask(PeerRight::kAnyStep, peer)) return fail(Errc::kAccessDenied);
  stepds_.signal(m.job, m.step, {m.signal, false});
  net::answer(*channel, frame, rpc::Empty{});
  return {};
}

// slurmstepd connects to the new reader by itself; it refuses nobody whom we let through.
Result<> Slurmd::on_attach(const net::ChannelPtr& channel, const net::Frame& f) {
  MUSTER_TRY(m, read_message<rpc::AttachTasks>(f));
  MUSTER_TRY(credential, check_credential(channel->peer(), m.credential, rpc::CredentialPurpose::kAttach));
  const step_rpc::StepdReport* step = stepds_.find(credential.job, credential.step);
  if (!step) return fail(Errc::kInvalidJobId, "the step has no tasks on node " + setup_.node);
  stepds_.attach(credential.job, credential.step, {std::move(m.io)}, is_root_here(channel->peer()));
  net::answer(*channel, f, rpc::Empty{});
  return {};
}

// sstat. The credential is for the caller, whom the controller has found to be the job's user or an operator.
Result<> Slurmd::on_query_use(const net::ChannelPtr& channel, const net::Frame& f) {
  MUSTER_TRY(m, read_message<rpc::QueryStepUse>(f));
  MUSTER_TRY(credential, check_credential(channel->peer(), m.credential, rpc::CredentialPurpose::kWatch));
  stepds_.ask_use(credential.job, credential.step,
                  [weak = std::weak_ptr(channel), id = f.id, number = f.message](Result<rpc::StepUseNow> use) {
                    net::ChannelPtr c = weak.lock();
                    if (c && use) c->answer(id, number, wire::encoded(*use));
                    else if (c) c->answer_error(id, use.error());
                  });
  return {};
}

// Passes a request on to another node of the configuration, with our key. That node takes a daemon's word for who asks, so here the
// credential in the request has to be the caller's.
Result<> Slurmd::on_relay(const net::ChannelPtr& channel, const net::Frame& frame) {
  if (!may_ask(PeerRight::kPassOn, channel->peer())) return fail(Errc::kAccessDenied);
  MUSTER_TRY(relay, read_message<rpc::RelayToNode>(frame));
  MUSTER_TRY(request, agent::relayed_request(relay));
  MUSTER_TRY(credential, check_credential(channel->peer(), request.credential, request.purpose));
  places_.learn(credential);
  const auto node = places_.find(relay.node);
  if (!node) return fail(Errc::kInvalidNodeName, "node '" + relay.node + "' is not in slurm.conf");
  to_nodes_.pass_on(channel, frame, std::move(relay), *node, credential.uid);
  return {};
}

// ---- steps that the slurmd of their job's first node manages (docs/adr/0011): users ask at the agent socket or by way of slurmctld, and nodes
// tell the manager when their part of a step is over
// Answers requests about managed steps at the agent socket, where the kernel says who asks.
bool Slurmd::answer_for_managed(const net::ChannelPtr& channel, const net::Frame& f) {
  if (channel->peer().trust != net::Trust::kLocalUser) return false;
  Result<std::string> answer;
  if (!managed_.takes(f.message, f.payload, channel->peer().uid, answer)) return false;
  if (answer) channel->answer(f.id, f.message, std::move(*answer));
  else channel->answer_error(f.id, answer.error());
  return true;
}

// Slurmctld passes on what it was asked, with the caller that was proved to it.
void Slurmd::asked_by_controller(const net::ChannelPtr& channel, const net::Frame& frame) {
  if (!channel) return;
  if (frame.message == wire::number_of<rpc::TellSteps>) {
    rpc::TellSteps m;
    if (auto ok = wire::decode(frame.payload, m); !ok) return channel->answer_error(frame.id, ok.error());
    return managed_.tell(m.job, [weak = std::weak_ptr(channel), id = frame.id] {
      if (auto c = weak.lock()) c->answer(id, wire::number_of<rpc::TellSteps>, {});
    });
  }
  rpc::Relay m;
  if (frame.message != wire::number_of<rpc::Relay>) return channel->answer_error(frame.id, Error(Errc::kUnexpectedMessage));
  if (auto ok = wire::decode(frame.payload, m); !ok) return channel->answer_error(frame.id, ok.error());
  Result<std::string> answer;
  if (!managed_.takes(m.message, m.payload, m.uid, answer))
    return channel->answer_error(frame.id, Error(Errc::kNodesBusy, {}, "node " + setup_.node + " does not manage the job's steps yet"));
  if (answer) channel->answer(frame.id, frame.message, std::move(*answer));
  else channel->answer_error(frame.id, answer.error());
}

// Taken from daemons only: a user cannot know what has become of a step's tasks.
Result<> Slurmd::on_part_ended(const net::ChannelPtr& channel, const net::Frame& frame) {
  const net::Peer& peer = channel->peer();
  if (!may_ask(PeerRight::kManageSteps, peer)) return fail(Errc::kAccessDenied);
  rpc::PartEnded m;
  MUSTER_TRY_VOID(wire::decode(frame.payload, m));
  if (peer.trust == net::Trust::kCertificate && !peer.certified.is_node(m.node))
    return fail(Errc::kAccessDenied, {}, peer.certified.text() + " tells of its own part and of no other node's");
  managed_.part_ended(m, [weak = std::weak_ptr(channel), id = frame.id, number = frame.message](const Result<>& done) {
    net::ChannelPtr c = weak.lock();
    if (c && done) c->answer(id, number, wire::encoded(rpc::Empty{}));
    else if (c) c->answer_error(id, done.error());
  });
  return {};
}

// Sends a report to slurmctld, unless it concerns a step's manager alone.
void Slurmd::report(NodeReport r) {
  if (auto* gone = std::get_if<node_rpc::StepGone>(&r); gone && ends_.tell(setup_.node, *gone)) return;
  if (managed_.before(r)) return link_.send(std::move(r));
  held_reports_.push_back(std::move(r));
  if (held_timer_) return;
  held_timer_ = loop_.after(ManagedSteps::kNewsDelay, [this] {
    held_timer_.reset();
    for (NodeReport& held : std::exchange(held_reports_, {})) report(std::move(held));
  });
}

void Slurmd::kill_part(const std::string& node, JobId job, StepId step) {
  if (node == setup_.node) return stepds_.signal(job, step, {SIGKILL, false});
  neighbours_.tell(node, job, wire::number_of<rpc::SignalStepTasks>, wire::encoded(rpc::SignalStepTasks{job, step, SIGKILL}), {});
}

}  // namespace muster::slurmd

// Steps that the slurmd of their job's first node manages (docs/adr/0011), as the other parts of slurmd meet them: users ask at the
// agent socket or by way of slurmctld, and nodes tell the manager when their part of a step is over.
#include <signal.h>

#include "net/notify.h"
#include "slurmd/daemon/slurmd.h"
#include "wire/instances.h"
#include "wire/messages.h"

namespace muster::slurmd {

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

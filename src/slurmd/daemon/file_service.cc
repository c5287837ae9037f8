// What sbcast asks for: to write a block of a file here and to pass it on to the nodes of a job, as branches of a tree.
#include <algorithm>

#include "hostlist/hostlist.h"
#include "slurmd/daemon/slurmd.h"
#include "wire/instances.h"
#include "wire/lz4_block.h"
#include "wire/messages.h"

namespace muster::slurmd {
namespace {

constexpr uint32_t kWidestTree = 64;
constexpr Duration kBranchTimeout = minutes(5);

// One block's way down the tree: it is answered when the last of its branches is done.
struct Branches {
  std::weak_ptr<net::Channel> channel;
  uint64_t id = 0;
  uint16_t message = 0;
  size_t open = 1;  // one for the time of setting out
  rpc::FileSent result;

  void over() {
    if (--open > 0) return;
    if (net::ChannelPtr c = channel.lock()) c->answer(id, message, wire::encoded(result));
  }
};

std::vector<std::vector<std::string>> split_evenly(const std::vector<std::string>& nodes, size_t parts) {
  parts = std::min(std::max<size_t>(parts, 1), nodes.size());
  std::vector<std::vector<std::string>> out(parts);
  for (size_t i = 0; i < nodes.size(); ++i) out[i * parts / nodes.size()].push_back(nodes[i]);
  return out;
}

// The block as it is written here; to other nodes it is passed on as it came.
Result<rpc::SendFile> unpacked(const rpc::SendFile& m) {
  if (!m.lz4) return m;
  MUSTER_TRY(data, wire::lz4_unpacked(m.data, m.plain_size));
  rpc::SendFile out = m;
  out.data = std::move(data);
  return out;
}

}  // namespace

// As whom a file is written: the job's owner, or with --no-allocation slurmd itself, which only root and SlurmUser may ask for. What nodes with a
// mere certificate may not pass on goes from here to each node.
Result<Slurmd::FileOwner> Slurmd::file_owner(const net::Peer& peer, const rpc::SendFile& message) {
  if (message.as_caller) {
    if (!may_ask(PeerRight::kAnyStep, peer))
      return fail(Errc::kAccessDenied, "only root and SlurmUser may send files without an allocation");
    return FileOwner{{}, true};
  }
  MUSTER_TRY(credential, check_credential(peer, message.credential, rpc::CredentialPurpose::kSendFile));
  places_.learn(credential);
  // The credential outlives its run by minutes: the node may be another's by then.
  if (core_.has_ended(credential.job, credential.generation)) return fail(Errc::kInvalidJobId, "the job has ended");
  for (const std::string& name : message.nodes)
    if (std::ranges::none_of(credential.nodes, [&](const rpc::StepNode& n) { return n.address.name == name; }))
      return fail(Errc::kInvalidNodeName, "node " + name + " is not one of job " + std::to_string(credential.job.value));
  if (::geteuid() != 0) return FileOwner{{}, credential.by_key_alone};
  MUSTER_TRY(users, users_.with(credential.uid, credential.gid));
  MUSTER_TRY(who, users->credentials(credential.uid));
  who.gid = credential.gid;
  return FileOwner{{std::move(who), namespaces_.file_of(credential.job)}, credential.by_key_alone};
}

Result<> Slurmd::on_send_file(const net::ChannelPtr& channel, const net::Frame& frame) {
  rpc::SendFile message;
  MUSTER_TRY_VOID(wire::decode(frame.payload, message));
  if (message.path.empty() || message.path[0] != '/')
    return fail(Errc::kInvalidArgument, "the path of a file must be absolute: " + message.path);
  if (message.transfer.size() < 16 || message.transfer.size() > 64 || message.transfer.find('/') != std::string::npos)
    return fail(Errc::kInvalidArgument, "a transfer's id has 16 to 64 characters");
  MUSTER_TRY(owner, file_owner(channel->peer(), message));
  auto all = std::make_shared<Branches>();
  all->channel = channel;
  all->id = frame.id;
  all->message = frame.message;
  std::vector<std::string> others = message.nodes;
  bool here = std::erase(others, setup_.node) > 0;
  if (here) {
    ++all->open;
    auto written = [all, node = setup_.node](std::string fault) {
      if (!fault.empty()) all->result.faults.push_back({node, std::move(fault)});
      all->over();
    };
    if (Result<rpc::SendFile> plain = unpacked(message)) files_.take(*plain, owner.as, written);
    else written(std::string(plain.error().message()));
  }
  const uint32_t width = owner.to_each ? kWidestTree : std::clamp(message.fanout, 1u, kWidestTree);
  if (!others.empty())
    for (std::vector<std::string>& branch : split_evenly(others, width)) {
      ++all->open;
      message.nodes = std::move(branch);
      pass_on(message, [all](rpc::FileSent sent) {
        std::ranges::move(sent.faults, std::back_inserter(all->result.faults));
        all->over();
      });
    }
  all->over();
  return {};
}

// Sends it to the first of the nodes, which takes care of the others. If that one cannot be reached, all of them get its error.
void Slurmd::pass_on(const rpc::SendFile& part, std::function<void(rpc::FileSent)> done) {
  std::vector<std::string> nodes = part.nodes;
  auto failed = [nodes, done](const Error& e) {
    rpc::FileSent sent;
    for (const std::string& n : nodes) sent.faults.push_back({n, std::string(e.message())});
    done(std::move(sent));
  };
  const auto node = places_.find(nodes.front());
  if (!node) return failed(Error(Errc::kInvalidNodeName, "not in slurm.conf"));
  net::connect_tcp(loop_, node->host, node->port, setup_.security.expecting("node:" + nodes.front()), setup_.config().message_timeout,
                   [bytes = wire::encoded(part), failed, done](Result<net::ChannelPtr> c) mutable {
                     if (!c) return failed(c.error());
                     net::ChannelPtr to = *c;
                     to->request(wire::number_of<rpc::SendFile>, std::move(bytes), kBranchTimeout,
                                 [to, failed, done](Result<net::Frame> r) {
                                   rpc::FileSent sent;
                                   if (!r) return failed(r.error());
                                   if (auto ok = wire::decode(r->payload, sent); !ok) return failed(ok.error());
                                   done(std::move(sent));
                                 });
                   });
}

}  // namespace muster::slurmd

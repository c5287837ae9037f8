// Hosts that have a token or a certificate, and slurmd -F: the name that a machine gets, and the node that it then joins as.
#include "slurmctld/daemon/members.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>

#include "net/authority.h"
#include "net/credential.h"
#include "wire/codec.h"
#include "wire/instances.h"
#include "wire/messages.h"

namespace muster::slurmctld {
namespace {

const Subject kToken{SubjectKind::kToken, "t"};

struct Gate {
  Gate() {
    char name[] = "/tmp/muster-gate-XXXXXX";
    folder = ::mkdtemp(name);
    certificates = *Certificates::open(folder, Uid(::geteuid()), net::Loop::now());
    add(1, "f1", NodeState::kFuture);
    add(2, "f2", NodeState::kFuture);
    add(3, "n3", NodeState::kIdle);
    NodeLinks::Ports ports;
    ports.snapshot = [this] { return std::make_shared<const Cluster>(cluster); };
    nodes.emplace(*log, std::move(ports));
    members.emplace(
        loop, *log, *nodes, certificates.get(), [](const net::Channel*) {},
        [this](const rpc::JoinNode& machine, const FutureNames& names) -> Result<std::string> {
          asked_for = machine.name;
          for (const char* node : {"f1", "f2"})
            if (names.may_have(node) && names.is_free(node)) return std::string(node);
          return fail(Errc::kInvalidNodeName, "none is left");
        });
  }
  ~Gate() {
    for (int fd : fds) ::close(fd);
    std::filesystem::remove_all(folder);
  }
  void add(uint32_t id, const std::string& name, NodeState state) {
    auto spec = std::make_shared<NodeSpec>();
    spec->name = name;
    Node node;
    node.id = NodeId(id);
    node.spec = spec;
    node.admin = state;
    cluster.nodes.set(id, node);
    names[name] = id;
    cluster.node_names = std::make_shared<const std::unordered_map<std::string, uint32_t>>(names);
  }
  const net::Channel& channel(net::Trust trust = net::Trust::kToken) {
    int pair[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair), 0);
    fds.push_back(pair[1]);
    net::Peer peer;
    peer.trust = trust;
    peer.address = "10.0.0.1:4000";
    return *channels.emplace_back(net::adopt_channel(loop, pair[0], peer));
  }
  // The name under which the new token is known.
  Subject token(const std::string& hosts, uint32_t uses) {
    rpc::CreateToken asked;
    asked.hosts = NodeList(hosts);
    asked.seconds = 600;
    asked.uses = uses;
    EXPECT_TRUE(certificates->create(asked, net::Loop::now()));
    return {SubjectKind::kToken, certificates->book().state().tokens.back().name};
  }
  // Whose certificate it gets; "": none.
  std::string gets(const Subject& who, rpc::AskCertificate asked) {
    asked.public_key = net::public_key(net::new_private_key().value_or("")).value_or("");
    const auto issued = members->answer(channel(), who, Caller{}, asked);
    if (!issued) return "";
    const auto facts = net::read_certificate(issued->certificate);  // after a revocation it begins in the next second
    return facts ? facts->subject.text() : "?";
  }
  Result<Caller> joins(const Subject& who, rpc::JoinAs as, const std::string& name) {
    rpc::JoinNode request;
    request.as = as;
    request.name = name;
    return members->as_itself(channel(), wire::number_of<rpc::JoinNode>, wire::encoded(request), who, cluster, Caller{});
  }

  std::string folder, asked_for;
  net::Loop loop;
  std::unique_ptr<os::Log> log = *os::Log::open({.program = "test"});
  std::unique_ptr<Certificates> certificates;
  Cluster cluster;
  std::unordered_map<std::string, uint32_t> names;
  std::vector<int> fds;
  std::vector<net::ChannelPtr> channels;
  std::optional<NodeLinks> nodes;
  std::optional<Members> members;
};

rpc::AskCertificate as_future(const std::string& host) {
  rpc::AskCertificate out;
  out.future.emplace();
  out.future->as = rpc::JoinAs::kFuture;
  out.future->name = host;
  return out;
}

TEST(MembersByToken, AFutureNodeIsChosenAndGivenOnce) {
  Gate gate;
  const Subject token = gate.token("f[1-2],n3", 9);
  EXPECT_EQ(gate.gets(token, as_future("a")), "node:f1");
  EXPECT_EQ(gate.asked_for, "a");
  EXPECT_EQ(gate.gets(token, as_future("b")), "node:f2");
  EXPECT_EQ(gate.gets(token, as_future("c")), "") << "none is left";
  EXPECT_EQ(gate.certificates->book().rows()[0].used.size(), 2u) << "what is refused is no use";
  rpc::RevokeToken revoke;
  revoke.node = "f1";
  ASSERT_TRUE(gate.certificates->revoke(revoke, net::Loop::now()));
  EXPECT_EQ(gate.gets(token, as_future("a")), "") << "it is barred from this token";
  EXPECT_EQ(gate.gets(gate.token("f[1-2]", 1), as_future("d")), "node:f1") << "a new one lets another machine be f1";
}

TEST(MembersByToken, AUsedUpOrUnknownTokenChoosesNothing) {
  Gate gate;
  const Subject token = gate.token("f[1-2]", 1);
  EXPECT_EQ(gate.gets(token, as_future("a")), "node:f1");
  gate.asked_for.clear();
  for (const Subject& who : {token, kToken}) EXPECT_EQ(gate.gets(who, as_future("b")), "");
  EXPECT_EQ(gate.asked_for, "");
}

TEST(MembersByToken, NobodyElseHasANodeChosen) {
  Gate gate;
  for (const Subject& who : {Subject{SubjectKind::kNode, "n3"}, Subject{SubjectKind::kLogin, "l1"}, Subject{SubjectKind::kClusterKey, ""}})
    EXPECT_EQ(gate.gets(who, as_future("a")), "") << who.text();
  rpc::AskCertificate both = as_future("a");
  both.name = "f2";
  const Subject token = gate.token("f[1-2]", 9);
  EXPECT_EQ(gate.gets(token, both), "");
  rpc::AskCertificate login = as_future("a");
  login.role = rpc::TokenRole::kLogin;
  EXPECT_EQ(gate.gets(token, login), "");
  EXPECT_EQ(gate.asked_for, "");
}

// Who has the cluster key, or is root on slurmctld's host, says no name of a token.
TEST(MembersByToken, ItsNamesAreKeptFromWhoHasNone) {
  Gate gate;
  const auto kept = [&](net::Trust trust) { return gate.members->names_kept_from(gate.channel(trust)); };
  EXPECT_FALSE(kept(net::Trust::kCertificate));
  for (net::Trust trust : {net::Trust::kLocalUser, net::Trust::kClusterKey}) EXPECT_FALSE(kept(trust)->is_open("f1"));
  const Subject token = gate.token("f[1-2]", 2);
  for (net::Trust trust : {net::Trust::kLocalUser, net::Trust::kClusterKey}) EXPECT_TRUE(kept(trust)->is_open("f1"));
  EXPECT_EQ(gate.gets(token, as_future("a")), "node:f1");
  EXPECT_TRUE(kept(net::Trust::kClusterKey)->is_given("f1"));
}

TEST(MembersByToken, ANodeJoinsAsTheOneOfItsCertificate) {
  Gate gate;
  const Subject f2{SubjectKind::kNode, "f2"}, n3{SubjectKind::kNode, "n3"}, d4{SubjectKind::kNode, "d4"};
  const auto future = gate.joins(f2, rpc::JoinAs::kFuture, "f1");  // there the hostname
  ASSERT_TRUE(future);
  EXPECT_EQ(future->through_node, NodeId(2));
  EXPECT_EQ(future->uid, Uid(0));
  EXPECT_FALSE(gate.joins(n3, rpc::JoinAs::kFuture, "n3")) << "it is no FUTURE node";
  EXPECT_FALSE(gate.joins(d4, rpc::JoinAs::kFuture, "d4")) << "it is none at all";
  EXPECT_FALSE(gate.joins({SubjectKind::kLogin, "f1"}, rpc::JoinAs::kFuture, "f1"));
  EXPECT_TRUE(gate.joins(d4, rpc::JoinAs::kNormal, "d4"));
  EXPECT_FALSE(gate.joins(d4, rpc::JoinAs::kNormal, "f2"));
  gate.cluster.nodes.edit(2)->admin = NodeState::kIdle;
  EXPECT_FALSE(gate.joins(f2, rpc::JoinAs::kFuture, "f2"));
  gate.cluster.nodes.edit(2)->flags |= kNodeDynamicFuture;
  EXPECT_TRUE(gate.joins(f2, rpc::JoinAs::kFuture, "f2")) << "again, when its slurmd is started again";
}

}  // namespace
}  // namespace muster::slurmctld

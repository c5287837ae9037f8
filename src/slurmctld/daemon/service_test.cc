// What slurmctld does with frames: real turns over a log in memory, and connections of users, of nodes and of root over socket pairs.
#include "slurmctld/daemon/service.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <list>
#include <thread>

#include "net/credential.h"
#include "net/system_clock.h"
#include "slurmctld/core/core_testing.h"
#include "store/memory_log.h"
#include "wire/instances.h"
#include "wire/messages.h"

namespace muster::slurmctld {
namespace {

constexpr Uid kAlice{4242}, kBob{4243};

struct Row {
  const char* name;
  uint16_t number;
  Right first;
  CommandKind kind;
  std::string empty;  // the request with nothing in it
};

std::vector<Row> rows() {
  return {
#define MUSTER_COMMAND(request, first, of_job, kind, handler) \
  {#request, wire::number_of<rpc::request>, Right::first, CommandKind::kind, wire::encoded(rpc::request{})},
#include "slurmctld/core/commands.def"
#undef MUSTER_COMMAND
  };
}

// The other end of a connection.
class Peer {
 public:
  Peer(net::Loop& loop, Service& service, net::Peer who) : loop_(loop) {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
    service.accept(net::adopt_channel(loop, ends[0], std::move(who)));
    channel = net::adopt_channel(loop, ends[1], net::Peer{});
    channel->on_closed = [this](const Error&) { closed = true; };
    channel->on_request = [this](net::Frame) { ++notices; };
  }
  // An answer, once it has come.
  struct Asked {
    std::optional<Result<net::Frame>> answer;
    int parts = 0;
    bool refused() const { return answer && !*answer; }
    Errc code() const { return refused() ? answer->error().code : Errc::kOk; }
    std::string text() const { return refused() ? std::string(answer->error().message()) : ""; }
    std::string hint() const { return refused() ? answer->error().hint : ""; }
  };
  Asked& ask(uint16_t message, std::string payload) {
    Asked& asked = asked_.emplace_back();
    channel->request_stream(
        message, std::move(payload), net::kNoTimeout, [&asked](net::Frame) { ++asked.parts; },
        [&asked](Result<net::Frame> r) { asked.answer = std::move(r); });
    return asked;
  }
  template <class M>
  Asked& ask(const M& m) {
    return ask(wire::number_of<M>, wire::encoded(m));
  }
  // As a node daemon passes on what one of its users asked.
  template <class M>
  Asked& relay(Uid uid, const M& m, uint64_t asker = 1) {
    rpc::Relay r;
    r.uid = uid;
    r.gid = Gid(uid.value);
    r.message = wire::number_of<M>;
    wire::encode(m, r.payload);
    r.asker = asker;
    return ask(r);
  }
  template <class M>
  void notify(const M& m) {
    channel->notify(wire::number_of<M>, wire::encoded(m));
  }
  void leave() { channel = nullptr; }

  net::ChannelPtr channel;
  bool closed = false;
  int notices = 0;

 private:
  net::Loop& loop_;
  std::list<Asked> asked_;
};

class ServiceTest : public testing::Test {
 protected:
  void SetUp() override {
    auto memory = std::make_unique<store::MemoryLog>(disk, [this] { return fault.load(); });
    TurnDriver driver(Core(settings), std::move(memory), clock);
    ASSERT_TRUE(driver.recover("log", false));
    ASSERT_TRUE(driver.open(settings));
    CoreThread::Ports to;
    to.to_io = [post = loop.poster()](std::vector<Reply> replies) {
      post([replies = std::move(replies)] {
        for (const Reply& r : replies) r();
      });
    };
    to.carry_out = [](std::vector<Effect>) {};
    to.state_changed = [] {};
    core.emplace(std::move(driver), clock, *log, stats, std::move(to));
    planner.emplace(*log, stats, PlannerThread::Ports{[this] { return core->snapshot(); }, [this] { return settings.sched; }, {}});
    NodeLinks::Ports links;
    links.snapshot = [this] { return core->snapshot(); };
    links.report = [this](NodeId node, NodeReport r) { in_core([=](Core& c) { c.report(node, r); }); };
    links.connected = [this](NodeId node) { in_core([=](Core& c) { c.node_connected(node); }); };
    links.disconnected = links.behind = [](NodeId) {};
    links.later = [this](std::function<void()> f) { loop.defer(std::move(f)); };
    nodes.emplace(*log, std::move(links));
    if (!folder.empty()) certificates = *Certificates::open(folder, Uid(::geteuid()), net::Loop::now());
    service.emplace(loop, *log, stats, *core, *planner, *nodes, ports());
    core->start();
  }
  void TearDown() override {
    service->close_all();
    core->stop();
    service.reset();
  }
  Service::Ports ports() {
    Service::Ports p;
    p.settings = [shared = std::make_shared<const Settings>(settings)] { return shared; };
    p.reconfigure = [this]() -> Result<rpc::Messages> {
      ++reconfigured;
      return rpc::Messages{};
    };
    p.configuration_changed = [](const std::shared_ptr<const config::LoadedConfig>&) {};
    p.shutdown = [this](bool) { ++shut_down; };
    p.security.key = std::string(32, 'k');
    p.certificates = certificates.get();
    p.pass_on = [this](Uid, size_t) -> Result<std::shared_ptr<void>> {
      if (no_place) return fail(Errc::kTryAgainLater, "no place");
      return std::make_shared<int>();
    };
    p.pass_on_by = [this](const Subject& host, size_t) -> Result<std::shared_ptr<void>> {
      charged.push_back(host.text());
      return std::make_shared<int>();
    };
    p.texts.show_config = [] { return std::string("config"); };
    p.texts.write_config = [](bool) { return std::string("config"); };
    p.texts.read_blob = [this](const std::string&) -> Result<std::string> { return blob; };
    p.ask_user = [this](Uid uid) -> Result<site::KnownUser> {
      while (held) std::this_thread::yield();
      site::KnownUser known;
      known.user.name = "u" + std::to_string(uid.value);
      known.user.uid = uid;
      known.user.gid = Gid(uid.value);
      known.groups = {uid.value};
      known.group_names = {known.user.name};
      return known;
    };
    return p;
  }
  Peer& peer(Uid uid, net::Trust trust = net::Trust::kLocalUser) {
    net::Peer who;
    who.trust = trust;
    who.uid = uid;
    who.gid = Gid(uid.value);
    who.address = "test";
    return peers.emplace_back(loop, *service, who);
  }
  Peer& daemon() { return peer(Uid(0xffffffff), net::Trust::kClusterKey); }
  // A host with a certificate.
  Peer& certified(SubjectKind kind, const std::string& name, Duration life = minutes(60), const std::string& address = "10.0.0.1:4000") {
    net::Peer who;
    who.trust = net::Trust::kCertificate;
    who.certified = {kind, name};
    who.address = address;
    who.expires = net::Loop::now() + life;
    return peers.emplace_back(loop, *service, who);
  }
  Peer& node(const std::string& name) { return registered(daemon(), name); }
  Peer& registered(Peer& p, const std::string& name) {
    Numbered<NodeReport> m;
    m.session = 5;
    m.sequence = 1;
    node_rpc::Register r;
    r.node = name;
    r.hardware.cpus = r.hardware.sockets = 4;
    r.hardware.cores_per_socket = r.hardware.threads_per_core = 1;
    r.hardware.real_memory_mb = 4000;
    m.message = r;
    const size_t before = nodes->connected();
    p.channel->notify(wire::kNodeReport, wire::encoded(m));
    until([&] { return nodes->connected() == before + 1; });
    return p;
  }
  void until(const std::function<bool()>& holds) {
    const Duration end = net::Loop::monotonic() + seconds(60);
    while (!holds()) {
      ASSERT_LT(net::Loop::monotonic(), end) << "it never came to be";
      auto timer = loop.after(milliseconds(1), [this] { loop.stop(); });
      loop.run();
    }
  }
  Peer::Asked& answered(Peer::Asked& asked) {
    until([&] { return asked.answer.has_value(); });
    return asked;
  }
  // What has been asked before has been looked at by the core.
  void settle() {
    for (int i = 0; i < 2; ++i) answered(peer(Uid(0)).ask(rpc::Ping{}));
    std::atomic<bool> done = false;
    in_core([&](Core&) { done = true; });
    until([&] { return done.load(); });
  }
  template <class F>
  void in_core(F f) {
    core->post({[f](Core& c, store::EventLog&) -> Reply {
                  f(c);
                  return {};
                },
                {}});
  }
  size_t waiters() {
    std::atomic<size_t> count = ~size_t{0};
    in_core([&](Core&) { count = core->waiters().size(); });
    until([&] { return count != ~size_t{0}; });
    return count;
  }
  static rpc::SubmitJob job_of(Uid uid) {
    rpc::SubmitJob m;
    m.request.uid = uid;
    m.request.gid = Gid(uid.value);
    m.request.name = "j";
    m.request.work_dir = "/tmp";
    m.script = "#!/bin/sh\n";
    return m;
  }
  static rpc::Allocate allocation_of(Uid uid) {
    rpc::Allocate m;
    m.request = job_of(uid).request;
    return m;
  }
  template <class M>
  static M read(const Peer::Asked& asked) {
    M m;
    EXPECT_TRUE(asked.answer && *asked.answer) << asked.text();
    if (asked.answer && *asked.answer) EXPECT_TRUE(wire::decode((*asked.answer)->payload, m));
    return m;
  }

  std::string folder;  // of certificates; "": there are none
  std::unique_ptr<Certificates> certificates;
  net::Loop loop;
  std::shared_ptr<store::MemoryDisk> disk = std::make_shared<store::MemoryDisk>();
  std::atomic<store::AppendFault> fault{store::AppendFault::kNone};
  net::SystemClock clock;
  Settings settings = settings_of();
  std::unique_ptr<os::Log> log = *os::Log::open({.program = "test"});
  Statistics stats;
  std::optional<CoreThread> core;
  std::optional<PlannerThread> planner;
  std::optional<NodeLinks> nodes;
  std::optional<Service> service;
  std::list<Peer> peers;
  std::string blob = "the script";
  std::vector<std::string> charged;  // hosts, for what they passed on
  int reconfigured = 0, shut_down = 0;
  bool no_place = false;
  std::atomic<bool> held{false};  // the user database says nothing
};

// ---- every row of the table
TEST_F(ServiceTest, BytesThatAreNoRequestAreRefusedByEachRow) {
  Peer &root = peer(Uid(0)), &from_node = daemon();
  for (const Row& row : rows()) {
    Peer& by = row.kind == CommandKind::kDaemon ? from_node : root;
    EXPECT_TRUE(answered(by.ask(row.number, "\xff\xff\xff\xff\xff")).refused()) << row.name;
  }
  EXPECT_FALSE(root.closed || from_node.closed);
  EXPECT_EQ(reconfigured + shut_down, 0);
}

// Sessions may wait; a request that nothing stands in is answered by all others, whatever it is: root's for an allocation in part.
TEST_F(ServiceTest, AnEmptyRequestIsAnsweredByEachRow) {
  for (Uid who : {kAlice, Uid(0)})
    for (const Row& row : rows()) {
      if (row.kind == CommandKind::kDaemon || row.kind == CommandKind::kSession) continue;
      SCOPED_TRACE(row.name);
      Peer::Asked& asked = peer(who).ask(row.number, row.empty);
      until([&] { return asked.answer || asked.parts > 0; });
      if (who == kAlice && row.first != Right::kAsk) EXPECT_TRUE(asked.refused()) << row.name;
    }
  EXPECT_EQ(reconfigured, 1) << "root's";
  EXPECT_EQ(shut_down, 1);
}

TEST_F(ServiceTest, OnlyDaemonsSayWhatDaemonsSay) {
  Peer& alice = peer(kAlice);
  for (const Row& row : rows())
    if (row.kind == CommandKind::kDaemon) EXPECT_EQ(answered(alice.ask(row.number, row.empty)).code(), Errc::kAccessDenied) << row.name;
  EXPECT_EQ(answered(alice.ask(wire::kNodeReport, "")).code(), Errc::kAccessDenied);
  EXPECT_FALSE(alice.closed);
  alice.channel->notify(wire::kNodeReport, "");
  until([&] { return alice.closed; });
}

TEST_F(ServiceTest, WhatIsInNoRowIsRefused) {
  Peer& root = peer(Uid(0));
  for (uint16_t number : {0, 1, 3999, 0xffff})
    if (!command_row(number)) EXPECT_EQ(answered(root.ask(number, "")).code(), Errc::kUnexpectedMessage) << number;
  EXPECT_FALSE(root.closed);
}

// A notice cannot be answered, so who sends a request as one is let go.
TEST_F(ServiceTest, ARequestSentAsANoticeEndsTheConnection) {
  Peer& root = peer(Uid(0));
  root.notify(rpc::Shutdown{});
  until([&] { return root.closed; });
  EXPECT_EQ(shut_down, 0);
}

// ---- what daemons of nodes pass on
TEST_F(ServiceTest, APassedOnRequestIsJudgedAsItsUsers) {
  Peer& n = daemon();
  EXPECT_TRUE(answered(n.relay(kAlice, rpc::Reconfigure{})).refused());
  EXPECT_EQ(reconfigured, 0);
  EXPECT_FALSE(answered(n.relay(Uid(0), rpc::Reconfigure{})).refused());
  EXPECT_EQ(reconfigured, 1);
  const JobId job = read<rpc::JobSubmitted>(answered(n.relay(kAlice, job_of(kAlice)))).job;
  EXPECT_TRUE(answered(n.relay(kBob, job_of(kAlice))).refused()) << "for another user";
  EXPECT_EQ(core->snapshot()->jobs.at(job.value).request->uid, kAlice);
}

TEST_F(ServiceTest, WhatOnlyDaemonsSayIsNotPassedOn) {
  Peer& n = daemon();
  for (const Row& row : rows()) {
    if (row.kind != CommandKind::kDaemon) continue;
    rpc::Relay m;
    m.message = row.number;
    m.payload = row.empty;
    EXPECT_EQ(answered(n.ask(m)).code(), Errc::kUnexpectedMessage) << row.name;
  }
  rpc::Relay m;
  m.message = wire::kNodeReport;
  EXPECT_EQ(answered(n.ask(m)).code(), Errc::kUnexpectedMessage);
  EXPECT_EQ(answered(n.relay(Uid(0), rpc::WatchJobs{})).code(), Errc::kConnectFailed) << "its notices would go to the node";
}

TEST_F(ServiceTest, AUserWithoutAPlaceIsToldSo) {
  no_place = true;
  EXPECT_EQ(answered(daemon().relay(kAlice, rpc::Ping{})).code(), Errc::kTryAgainLater);
}

// ---- hosts with a certificate of their own
struct MembersTest : ServiceTest {
  MembersTest() {
    char name[] = "/tmp/muster-members-XXXXXX";
    folder = ::mkdtemp(name);
  }
  ~MembersTest() override { std::filesystem::remove_all(folder); }
  // Alice has a job on n0.
  JobId begun_job() {
    const JobId job = read<rpc::JobSubmitted>(answered(peer(kAlice).ask(job_of(kAlice)))).job;
    in_core([=](Core& c) {
      sched::Planner p;
      c.carry_out(p.plan(*c.snapshot(), c.settings().sched, net::Loop::now(), sched::Pass::kFull));
    });
    until([&] { return core->snapshot()->jobs.at(job.value).allocation != nullptr; });
    return job;
  }
};

TEST_F(MembersTest, ANodeNamesNoGroup) {
  Peer& n = registered(certified(SubjectKind::kNode, "n0"), "n0");
  begun_job();
  rpc::SubmitJob m = job_of(kAlice);
  m.request.gid = Gid(0);
  rpc::Relay relay;
  relay.uid = kAlice;
  relay.gid = Gid(0);
  relay.message = wire::number_of<rpc::SubmitJob>;
  relay.payload = wire::encoded(m);
  EXPECT_NE(answered(n.ask(relay)).text().find("group"), std::string::npos);
  EXPECT_NE(answered(certified(SubjectKind::kLogin, "l1").ask(relay)).text().find("group"), std::string::npos);
  EXPECT_FALSE(answered(n.relay(kAlice, job_of(kAlice))).refused()) << "her own";
  EXPECT_FALSE(answered(daemon().ask(relay)).refused()) << "a host with the key is believed";
}

TEST_F(MembersTest, WhoIsNotRegisteredSpeaksForNobody) {
  Peer& n = registered(certified(SubjectKind::kNode, "n0"), "n0");
  const JobId job = begun_job();
  rpc::SignalJobs cancel;
  cancel.filter.jobs.emplace_back().job = job;
  Peer& copy = certified(SubjectKind::kNode, "n0");
  EXPECT_NE(answered(copy.relay(kAlice, cancel)).hint().find("on which it is registered"), std::string::npos);
  EXPECT_FALSE(core->snapshot()->jobs.at(job.value).finished());
  EXPECT_FALSE(answered(n.relay(kAlice, cancel)).refused());
}

TEST_F(MembersTest, AUserPaysForWhatANodeSaysWhereHeHasAJob) {
  Peer& n = registered(certified(SubjectKind::kNode, "n0"), "n0");
  no_place = true;  // of users
  EXPECT_FALSE(answered(n.relay(kAlice, rpc::Ping{})).refused()) << "the node pays";
  EXPECT_EQ(charged, std::vector<std::string>{"node:n0"});
  no_place = false;
  begun_job();
  no_place = true;
  EXPECT_EQ(answered(n.relay(kAlice, rpc::Ping{})).code(), Errc::kTryAgainLater);
  EXPECT_FALSE(answered(n.relay(kBob, rpc::Ping{})).refused());
  EXPECT_EQ(answered(certified(SubjectKind::kLogin, "l1").relay(kAlice, rpc::Ping{})).code(), Errc::kTryAgainLater);
  charged.clear();
  EXPECT_FALSE(answered(certified(SubjectKind::kLogin, "l1").relay(Uid(0), rpc::Ping{})).refused());
  EXPECT_EQ(charged, std::vector<std::string>{"login:l1"});
}

TEST_F(MembersTest, AConnectionLastsNoLongerThanItsCertificate) {
  Peer &short_lived = registered(certified(SubjectKind::kNode, "n0", milliseconds(300)), "n0"),
       &renewed = registered(certified(SubjectKind::kNode, "n1", milliseconds(300)), "n1"),
       &login = certified(SubjectKind::kLogin, "l1", milliseconds(300));
  EXPECT_FALSE(answered(login.ask(rpc::Ping{})).refused());
  const rpc::AskCertificate own{rpc::TokenRole::kNode, "n1", net::public_key(*net::new_private_key()).value_or("")};
  ASSERT_FALSE(answered(renewed.ask(own)).refused());
  const Time over = net::Loop::now() + milliseconds(400);
  until([&] { return net::Loop::now() > over; });
  EXPECT_NE(answered(login.ask(rpc::Ping{})).text().find("the certificate of login:l1 has expired"), std::string::npos);
  EXPECT_TRUE(answered(short_lived.ask(rpc::Ping{})).refused());
  until([&] { return short_lived.closed && login.closed; });
  EXPECT_FALSE(answered(renewed.ask(rpc::Ping{})).refused());
  EXPECT_EQ(nodes->connected(), 1u);
}

TEST_F(MembersTest, AHostHasFewConnectionsAndKeepsTheRegisteredOne) {
  Peer& n = registered(certified(SubjectKind::kNode, "n0"), "n0");
  std::vector<Peer*> others;
  for (size_t i = 0; i < 3 * Members::kMostOfHost; ++i) others.push_back(&certified(SubjectKind::kNode, "n0"));
  until([&] { return std::ranges::count_if(others, &Peer::closed) == static_cast<long>(2 * Members::kMostOfHost + 1); });
  EXPECT_TRUE(others.front()->closed) << "the oldest";
  EXPECT_FALSE(others.back()->closed);
  EXPECT_FALSE(answered(n.ask(rpc::Ping{})).refused());
  EXPECT_FALSE(answered(certified(SubjectKind::kNode, "n1").ask(rpc::Ping{})).refused());
}

// Who has copied a certificate pushes out its own connections, not that of the node, which is about to register.
TEST_F(MembersTest, ACopyElsewhereDoesNotPushOutTheHostItself) {
  Peer& itself = certified(SubjectKind::kNode, "n0");
  std::vector<Peer*> copies;
  for (size_t i = 0; i < 2 * Members::kMostOfHost; ++i)
    copies.push_back(&certified(SubjectKind::kNode, "n0", minutes(60), "10.0.0.66:" + std::to_string(4000 + i)));
  until([&] { return std::ranges::count_if(copies, &Peer::closed) == static_cast<long>(Members::kMostOfHost + 1); });
  EXPECT_FALSE(itself.closed);
  registered(itself, "n0");
  EXPECT_FALSE(answered(itself.ask(rpc::Ping{})).refused());
}

// -Z: as for a registration.
TEST_F(MembersTest, ANameIsNotTakenFromANodeThatIsThere) {
  Peer& n = registered(certified(SubjectKind::kNode, "n0"), "n0");
  net::Peer elsewhere;
  elsewhere.trust = net::Trust::kCertificate;
  elsewhere.certified = {SubjectKind::kNode, "n0"};
  elsewhere.address = "10.0.0.66:4000";
  elsewhere.expires = net::Loop::now() + minutes(60);
  rpc::JoinNode join;
  join.name = "n0";
  EXPECT_NE(answered(peers.emplace_back(loop, *service, elsewhere).ask(join)).hint().find("is another machine"), std::string::npos);
  EXPECT_FALSE(n.closed);
}

// ---- contents
TEST_F(ServiceTest, ANodeFetchesOnlyWhatItsJobsNeed) {
  EXPECT_EQ(answered(daemon().ask(rpc::FetchContent{})).code(), Errc::kUnexpectedMessage) << "before it registered";
  Peer& n = node("n0");
  const JobId job = read<rpc::JobSubmitted>(answered(peer(kAlice).ask(job_of(kAlice)))).job;
  const std::string hash = core->snapshot()->jobs.at(job.value).own.content_hashes().script_hash;
  ASSERT_NE(hash, "");
  EXPECT_TRUE(answered(n.ask(rpc::FetchContent{job, hash, 0})).refused()) << "it has no part in the job";
  EXPECT_TRUE(answered(n.ask(rpc::FetchContent{JobId(77), hash, 0})).refused());
  in_core([=](Core& c) {
    sched::Planner p;
    c.carry_out(p.plan(*c.snapshot(), c.settings().sched, net::Loop::now(), sched::Pass::kFull));
  });
  until([&] { return core->snapshot()->jobs.at(job.value).allocation != nullptr; });
  const auto piece = read<rpc::ContentPiece>(answered(n.ask(rpc::FetchContent{job, hash, 4})));
  EXPECT_EQ(piece.size, blob.size());
  EXPECT_EQ(piece.bytes, blob.substr(4));
  EXPECT_EQ(answered(n.ask(rpc::FetchContent{job, hash, blob.size() + 1})).code(), Errc::kInvalidArgument);
  EXPECT_EQ(answered(n.ask(rpc::FetchContent{job, hash, ~uint64_t{0}})).code(), Errc::kInvalidArgument);
  EXPECT_TRUE(answered(n.ask(rpc::FetchContent{job, "another", 0})).refused());
}

// ---- who waits, and goes
TEST_F(ServiceTest, WhoWaitsForAJobIsAnsweredWhenItEnds) {
  Peer& alice = peer(kAlice);
  const JobId job = read<rpc::JobSubmitted>(answered(alice.ask(job_of(kAlice)))).job;
  Peer::Asked& wait = alice.ask(rpc::WaitJob{job, false, false});
  settle();
  EXPECT_FALSE(wait.answer);
  EXPECT_EQ(waiters(), 1u);
  rpc::SignalJobs cancel;
  cancel.filter.jobs.emplace_back().job = job;
  answered(alice.ask(cancel));
  EXPECT_EQ(read<rpc::JobResult>(answered(wait)).state, JobState::kCancelled);
  EXPECT_EQ(waiters(), 0u);
}

TEST_F(ServiceTest, AConnectionThatGoesTakesItsWaitsWithIt) {
  Peer &one = peer(kAlice), &two = peer(kAlice);
  const JobId job = read<rpc::JobSubmitted>(answered(one.ask(job_of(kAlice)))).job;
  for (Peer* p : {&one, &one, &two}) p->ask(rpc::WaitJob{job, false, true});
  settle();
  EXPECT_EQ(waiters(), 3u);
  one.leave();
  until([&] { return waiters() == 1; });
}

TEST_F(ServiceTest, AnAskerThatGoesTakesOnlyItsOwnWaits) {
  Peer& n = daemon();
  const JobId job = read<rpc::JobSubmitted>(answered(n.relay(kAlice, job_of(kAlice), 7))).job;
  for (uint64_t asker : {7, 7, 8}) n.relay(kAlice, rpc::WaitJob{job, false, false}, asker);
  settle();
  EXPECT_EQ(waiters(), 3u);
  n.notify(rpc::AskerGone{7});
  until([&] { return waiters() == 1; });
  EXPECT_FALSE(n.closed) << "this one is a notice";
}

// The lookup of its user is under way when it goes: nothing is submitted for nobody.
TEST_F(ServiceTest, ACallerThatGoesBeforeItIsKnownSubmitsNothing) {
  Peer& alice = peer(kAlice);
  held = true;
  alice.ask(job_of(kAlice));
  settle();
  alice.leave();
  settle();
  held = false;
  const JobId job = read<rpc::JobSubmitted>(answered(peer(kAlice).ask(job_of(kAlice)))).job;  // in the order of asking
  EXPECT_EQ(core->snapshot()->jobs.size(), 1u);
  EXPECT_EQ(job, JobId(1));
}

// ... nor for an asker of a node that is gone meanwhile.
TEST_F(ServiceTest, AnAskerThatGoesBeforeItIsKnownGetsNothing) {
  Peer& n = daemon();
  held = true;
  n.relay(kAlice, allocation_of(kAlice), 7);
  n.notify(rpc::AskerGone{7});
  settle();
  held = false;
  answered(n.relay(kAlice, job_of(kAlice), 8));
  settle();
  EXPECT_EQ(waiters(), 0u);
  EXPECT_EQ(core->snapshot()->jobs.size(), 1u);
}

// ---- a full disk
TEST_F(ServiceTest, ARefusedTurnLeavesNobodyWaiting) {
  Peer &alice = peer(kAlice), &bob = peer(kBob);
  fault = store::AppendFault::kDiskFull;
  Peer::Asked& asked = answered(alice.ask(allocation_of(kAlice)));
  EXPECT_EQ(asked.code(), Errc::kDiskFull);
  EXPECT_EQ(waiters(), 0u) << "another job gets the number, and its nodes are nobody else's affair";
  fault = store::AppendFault::kNone;
  EXPECT_EQ(read<rpc::JobSubmitted>(answered(bob.ask(job_of(kBob)))).job, JobId(1));
}

TEST_F(ServiceTest, WhatIsRefusedLeavesNoContentBehind) {
  rpc::SubmitJob m = job_of(kAlice);
  m.request.partitions = {"nowhere"};
  EXPECT_TRUE(answered(peer(kAlice).ask(m)).refused());
  m = job_of(kAlice);
  m.script.assign(settings.config().most_script_bytes() + 1, 'x');
  EXPECT_TRUE(answered(peer(kAlice).ask(m)).refused());
  std::atomic<size_t> kept = ~size_t{0};
  core->post({[&](Core&, store::EventLog& events) -> Reply {
                kept = events.list_blobs()->size();
                return {};
              },
              {}});
  until([&] { return kept != ~size_t{0}; });
  EXPECT_EQ(kept, 0u);
}

// ---- bounds
TEST_F(ServiceTest, ATextLongerThanItsBoundIsRefusedBeforeAnythingLooksAtIt) {
  rpc::SubmitJob m = job_of(kAlice);
  m.request.name.assign(8u << 20, 'n');
  EXPECT_TRUE(answered(peer(kAlice).ask(m)).refused());
  rpc::InstallCrontab crontab;
  crontab.user = kAlice;
  crontab.entries.resize(Crontab::kMostEntries + 1);
  EXPECT_TRUE(answered(peer(kAlice).ask(crontab)).refused());
  EXPECT_EQ(core->snapshot()->jobs.size(), 0u);
}

}  // namespace
}  // namespace muster::slurmctld

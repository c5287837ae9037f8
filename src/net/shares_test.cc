// Shares: what one user may hold of a daemon, and that others find room beside it.
#include "net/shares.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include "net/backoff.h"
#include "net/connection.h"
#include "net/socket.h"
#include "net/test_support.h"
#include "net/turns.h"

namespace muster::net {
namespace {

using test::Echo;
using test::Fixture;
using test::TempDir;

Peer user(uint32_t uid) {
  Peer p;
  p.uid = Uid(uid);
  return p;
}

ShareFigures small() {
  ShareFigures f = ShareFigures::fit(64);
  f.connections = 10;
  f.bytes = 1000;
  f.frames_in_turn = 4;
  f.busy = 3;
  f.busy_bytes = 300;
  f.parked = 6;
  f.parked_after = minutes(10);
  return f;
}

// Where requests are parked at once and turns do not count.
ShareFigures parking() {
  ShareFigures f = small();
  f.parked_after = Duration{};
  f.frames_in_turn = 1000;
  return f;
}

TEST(Shares, OneUserGetsHalfAndTheNextFindsRoom) {
  Fixture f;
  auto shares = Shares::make(f.loop, {0}, small());
  std::vector<std::unique_ptr<Share>> a, b, c;
  auto fill = [&](std::vector<std::unique_ptr<Share>>& of, uint32_t uid) {
    for (;;) {
      auto s = shares->open(user(uid));
      if (!s) return s.error();
      of.push_back(std::move(*s));
    }
  };
  Error full = fill(a, 1001);
  EXPECT_EQ(a.size(), 5u);
  EXPECT_EQ(full.code, Errc::kTryAgainLater);
  EXPECT_NE(full.message().find("5 connections of this user"), std::string_view::npos) << full.message();
  fill(b, 1002);
  EXPECT_EQ(b.size(), 2u);
  EXPECT_TRUE(shares->open(user(1003)));
  a.clear();
  fill(b, 1002);
  EXPECT_EQ(b.size(), 5u);
}

TEST(Shares, TheReserveIsBoundedByDescriptorsAlone) {
  Fixture f;
  auto shares = Shares::make(f.loop, {0, 64030}, small());
  std::vector<std::unique_ptr<Share>> all;
  for (int i = 0; i < 5; ++i) all.push_back(*shares->open(user(1001)));
  Peer node;
  node.trust = Trust::kClusterKey;
  for (const Peer& p : {user(0), user(64030), node})
    for (int i = 0; i < 9; ++i) {
      auto s = shares->open(p);
      ASSERT_TRUE(s) << s.error().message();
      EXPECT_FALSE((*s)->counted());
      all.push_back(std::move(*s));
    }
  EXPECT_FALSE(shares->open(user(0))) << "32 of 64 descriptors stay for files";
}

TEST(Shares, BytesAreSharedLikeConnections) {
  Fixture f;
  auto shares = Shares::make(f.loop, {}, small());
  auto a = *shares->open(user(1001)), second = *shares->open(user(1001)), b = *shares->open(user(1002));
  EXPECT_TRUE(a->hold(300));
  EXPECT_TRUE(second->hold(200));
  EXPECT_FALSE(second->hold(201));
  EXPECT_EQ(shares->bytes_of(Uid(1001)), 500u);
  EXPECT_TRUE(b->hold(250));
  EXPECT_TRUE(a->hold(10)) << "less is always good";
  a.reset();
  second.reset();
  EXPECT_EQ(shares->bytes_of(Uid(1001)), 0u);
}

TEST(Shares, WhatIsUnderWayIsBoundedAndWaitsForAnswers) {
  Fixture f;
  auto shares = Shares::make(f.loop, {}, small());
  auto a = *shares->open(user(1001)), b = *shares->open(user(1002));
  using enum Share::Verdict;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(a->take(10), kTake);
  EXPECT_EQ(a->take(10), kWait);
  EXPECT_TRUE(a->must_wait());
  EXPECT_EQ(b->take(10), kTake) << "not by connection, not by all";
  int called = 0;
  a->wait([&] {
    ++called;
    f.loop.stop();
  });
  a->answered();
  a->answered();
  f.run();
  EXPECT_EQ(called, 1);
  EXPECT_EQ(a->take(500), kWait) << "by bytes";
  a->answered();
  EXPECT_EQ(a->take(500), kTake) << "one frame always may";
}

TEST(Shares, ATurnEndsWithTheLoopsTurn) {
  Fixture f;
  ShareFigures figures = small();
  figures.busy = 100;
  auto shares = Shares::make(f.loop, {}, figures);
  auto a = *shares->open(user(1001));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(a->take(1), Share::Verdict::kTake);
  EXPECT_EQ(a->take(1), Share::Verdict::kWait);
  a->wait([&] { f.loop.stop(); });
  f.run();
  EXPECT_EQ(a->take(1), Share::Verdict::kTake);
}

// sbatch --wait does not keep others of the same user from asking; but there is an end to how many may wait.
TEST(Shares, WhatWaitsLongIsParked) {
  Fixture f;
  ShareFigures figures = small();
  figures.parked_after = Duration{};
  figures.frames_in_turn = 100;
  auto shares = Shares::make(f.loop, {}, figures);
  auto a = *shares->open(user(1001));
  using enum Share::Verdict;
  for (int i = 0; i < 6; ++i) EXPECT_EQ(a->take(1), kTake) << i;
  EXPECT_EQ(a->take(1), kRefuse);
  EXPECT_EQ(a->too_many_requests().code, Errc::kTryAgainLater);
  a->answered();
  EXPECT_EQ(a->take(1), kTake);
}

TEST(Shares, PassedOnRequestsCountUntilTheirLastCopyGoes) {
  Fixture f;
  auto shares = Shares::make(f.loop, {0}, small());
  std::vector<std::shared_ptr<void>> held;
  for (int i = 0; i < 6; ++i) held.push_back(*shares->pass_on(Uid(1001), 1));
  EXPECT_FALSE(shares->pass_on(Uid(1001), 1));
  EXPECT_TRUE(shares->pass_on(Uid(1002), 1));
  EXPECT_TRUE(shares->pass_on(Uid(0), 1));
  auto copy = held.back();
  held.pop_back();
  EXPECT_FALSE(shares->pass_on(Uid(1001), 1));
  copy.reset();
  f.loop.post([&] { f.loop.stop(); });
  f.run();
  EXPECT_TRUE(shares->pass_on(Uid(1001), 1));
}

Peer host(const std::string& name) {
  Peer p;
  p.trust = Trust::kCertificate;
  p.certified = {SubjectKind::kNode, name};
  return p;
}

// A host that is known by a certificate asks for several users, but not without end; and users keep what is theirs.
TEST(Shares, AHostWithACertificateIsCountedByItsName) {
  Fixture f;
  ShareFigures figures = parking();
  figures.host_bytes = 100;
  figures.host_bytes_each = 10;
  auto shares = Shares::make(f.loop, {}, figures);
  std::vector<std::unique_ptr<Share>> n1;
  for (int i = 0; i < 20; ++i) n1.push_back(*shares->open(host("n1")));
  auto n2 = *shares->open(host("n2"));
  auto alice = *shares->open(user(1001));
  using enum Share::Verdict;
  EXPECT_TRUE(n1[0]->of_host());
  EXPECT_FALSE(alice->of_host());
  const size_t most = figures.parked * ShareFigures::kHostTimes;
  for (size_t i = 0; i < 2 * most; ++i) EXPECT_EQ(n1[i % 20]->take(1), kTake) << i;
  EXPECT_EQ(n1[0]->take(1), kRefuse) << "over all its connections";
  EXPECT_NE(n1[0]->too_many_requests().message().find("of this host"), std::string_view::npos);
  EXPECT_EQ(n2->take(1), kTake);
  EXPECT_EQ(alice->take(1), kTake);
  EXPECT_TRUE(n1[0]->hold(60));
  EXPECT_FALSE(n1[1]->hold(60));
  EXPECT_TRUE(n1[1]->hold(40));
  EXPECT_FALSE(n1[2]->hold(1)) << "so many connections have nothing of their own";
  EXPECT_TRUE(n2->hold(60));
  EXPECT_EQ(shares->bytes_of(Uid(1001)), 0u);
  std::vector<std::shared_ptr<void>> held;
  for (size_t i = 0; i < most; ++i) held.push_back(*shares->pass_on(Subject{SubjectKind::kNode, "n1"}, 1));
  EXPECT_FALSE(shares->pass_on(Subject{SubjectKind::kNode, "n1"}, 1));
  EXPECT_TRUE(shares->pass_on(Subject{SubjectKind::kNode, "n2"}, 1));
  EXPECT_TRUE(shares->pass_on(Uid(1001), 1));
}

// Who has copied a node's certificate fills what its other connections may hold, and nothing of the one that has registered.
TEST(Shares, TheRegisteredConnectionOfAHostIsCountedApart) {
  Fixture f;
  ShareFigures figures = parking();
  figures.host_bytes = 100;
  figures.host_bytes_each = 10;
  auto shares = Shares::make(f.loop, {}, figures);
  auto registered = *shares->open(host("n1")), copy = *shares->open(host("n1"));
  using enum Share::Verdict;
  EXPECT_TRUE(registered->hold(30));
  EXPECT_EQ(registered->take(1), kTake);
  registered->count_apart();
  registered->count_apart();
  EXPECT_TRUE(copy->hold(100));
  auto anew = *shares->open(host("n1"));
  EXPECT_TRUE(anew->hold(10)) << "a few have some of their own";
  EXPECT_FALSE(anew->hold(11));
  anew.reset();
  EXPECT_TRUE(registered->hold(100));
  EXPECT_FALSE(registered->hold(101));
  const size_t most = 2 * figures.parked * ShareFigures::kHostTimes;
  for (size_t i = 0; i < most; ++i) EXPECT_EQ(copy->take(1), kTake) << i;
  EXPECT_EQ(copy->take(1), kRefuse);
  EXPECT_EQ(registered->take(1), kTake);
  auto alice = *shares->open(user(1001));
  alice->count_apart();
  EXPECT_EQ(shares->connections_of(Uid(1001)), 1u) << "of a host alone";
}

// What a node passes on for users who wait leaves room for what it asks itself.
TEST(Shares, WhatAHostPassesOnLeavesRoomForItsOwnRequests) {
  Fixture f;
  ShareFigures figures = parking();
  auto shares = Shares::make(f.loop, {}, figures);
  auto n1 = *shares->open(host("n1"));
  std::vector<std::shared_ptr<void>> waits;
  size_t passed_on = 0;
  while (true) {
    ASSERT_EQ(n1->take(1), Share::Verdict::kTake);
    auto one = shares->pass_on(Subject{SubjectKind::kNode, "n1"}, 1);
    if (!one) break;
    waits.push_back(std::move(*one));
    ++passed_on;
  }
  n1->answered();  // the one that was refused
  EXPECT_EQ(passed_on, figures.parked * ShareFigures::kHostTimes);
  for (size_t i = 0; i < passed_on; ++i) EXPECT_EQ(n1->take(1), Share::Verdict::kTake) << i;
}

TEST(Shares, ConnectionsOfAHostHaveABound) {
  Fixture f;
  ShareFigures figures = ShareFigures::fit(1024);
  auto shares = Shares::make(f.loop, {}, figures);
  std::vector<std::unique_ptr<Share>> n1;
  for (size_t i = 0; i < figures.host_connections; ++i) n1.push_back(*shares->open(host("n1")));
  EXPECT_FALSE(shares->open(host("n1")));
  EXPECT_TRUE(shares->open(host("n2")));
  n1.pop_back();
  EXPECT_TRUE(shares->open(host("n1")));
}

TEST(Shares, TheLogHearsOnceOfAUser) {
  Fixture f;
  auto shares = Shares::make(f.loop, {}, small());
  std::vector<std::string> lines;
  shares->on_refused = [&](const std::string& text) { lines.push_back(text); };
  std::vector<std::unique_ptr<Share>> held;
  for (int i = 0; i < 100; ++i)
    if (auto s = shares->open(user(1001))) held.push_back(std::move(*s));
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(lines[0].starts_with("uid 1001 is turned away: 5 connections")) << lines[0];
}

TEST(Shares, FitTheProcessesDescriptors) {
  ShareFigures f = ShareFigures::fit(1024);
  EXPECT_EQ(f.connections, 256u);
  EXPECT_EQ(f.unproved(), 128u);
  f = ShareFigures::fit(1u << 20);
  EXPECT_EQ(f.connections, 16384u);
  EXPECT_GE(ShareFigures::fit(20000).descriptors - f.fit(20000).connections - f.fit(20000).unproved() - f.fit(20000).kept_back(), 10000u)
      << "10,000 nodes";
}

TEST(Pace, TellsOnceInAPeriodWithWhatWasLeftOut) {
  Pace p(minutes(1), 2);
  EXPECT_EQ(p.tell("a", seconds(0)), 0u);
  EXPECT_EQ(p.tell("a", seconds(1)), std::nullopt);
  EXPECT_EQ(p.tell("a", seconds(59)), std::nullopt);
  EXPECT_EQ(p.tell("b", seconds(59)), 0u);
  EXPECT_EQ(p.tell("a", seconds(60)), 2u);
  EXPECT_EQ(p.tell("c", seconds(60)), 0u) << "of too many keys the others share one";
  EXPECT_EQ(p.tell("d", seconds(61)), std::nullopt);
}

TEST(Backoff, DoublesToItsBoundAndBeginsAnew) {
  Backoff b(milliseconds(10), seconds(1), 7), other(milliseconds(10), seconds(1), 8);
  bool differs = false;
  for (Duration most : {milliseconds(10), milliseconds(20), milliseconds(40), milliseconds(80), milliseconds(160), milliseconds(320),
                        milliseconds(640), milliseconds(1000), milliseconds(1000)}) {
    const Duration d = b.next();
    EXPECT_LE(d, most);
    EXPECT_GE(d, most / 2);
    differs = differs || d != other.next();
  }
  EXPECT_TRUE(differs) << "two do not come back in step";
  b.reset();
  EXPECT_LE(b.next(), milliseconds(10));
}

TEST(Turns, SoManyAtATimeAndEachWhoWaitsInTurn) {
  Fixture f;
  Turns turns(f.loop, 2);
  std::string begun;
  std::vector<std::shared_ptr<void>> held;
  auto work = [&](char name) {
    return [&, name](std::shared_ptr<void> place) {
      begun += name;
      held.push_back(std::move(place));
    };
  };
  for (int i = 0; i < 5; ++i) turns.begin(1, work('a'));
  turns.begin(2, work('b'));
  EXPECT_EQ(begun, "aa");
  EXPECT_EQ(turns.waiting(), 4u);
  while (turns.running() > 0) {
    held.erase(held.begin());
    f.loop.post([&] { f.loop.stop(); });
    f.run();
    f.loop.post([&] { f.loop.stop(); });
    f.run();
  }
  EXPECT_EQ(begun, "aaabaa");
}

// ---- over sockets
struct Crowd {
  explicit Crowd(ShareFigures figures, Limits l = {}, std::vector<uint32_t> reserve = {}) {
    limits = l;
    limits.shares = Shares::make(f.loop, std::move(reserve), figures);
    auto l2 = listen_unix(
        f.loop, path(),
        [this](ChannelPtr c) {
          Channel* raw = c.get();
          c->on_request = [this, raw](Frame q) {
            ++asked;
            if (q.payload == "quit") f.loop.stop();
            if (q.payload == "wait") waiting.push_back(q.id);
            else if (q.kind == FrameKind::kRequest) raw->answer(q.id, q.message, std::move(q.payload));
          };
          c->on_closed = [this, raw](const Error& e) {
            last = e;
            ++closed;
            std::erase_if(channels, [&](const ChannelPtr& p) { return p.get() == raw; });
            if (on_closed) on_closed();
          };
          channels.push_back(std::move(c));
        },
        limits);
    EXPECT_TRUE(l2);
    listener = std::move(*l2);
  }
  std::string path() const { return dir.path() + "/s"; }
  int raw() {
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    Result<Address> a = unix_address(path());
    EXPECT_EQ(::connect(fd, a->get(), a->size), 0);
    return fd;
  }
  void turn() {  // what is on the sockets is taken
    for (int i = 0; i < 3; ++i) {
      auto t = f.loop.after(milliseconds(1), [this] { f.loop.stop(); });
      f.run();
    }
  }
  Fixture f;
  TempDir dir;
  Limits limits;
  std::unique_ptr<Listener> listener;
  std::vector<ChannelPtr> channels;
  std::vector<uint64_t> waiting;
  std::function<void()> on_closed;
  Error last{Errc::kOk};
  int closed = 0, asked = 0;
};

Error refusal_on(int fd) {
  std::string in(4096, '\0');
  ssize_t n = recv(fd, in.data(), in.size(), 0);
  Parsed p = parse_frame(std::string_view(in).substr(0, n > 0 ? static_cast<size_t>(n) : 0));
  if (p.verdict != Parsed::Verdict::kFrame || p.frame.kind != FrameKind::kError || p.frame.id != 0) return Error(Errc::kOk);
  return decode_error(p.frame.payload);
}

TEST(SharedSocket, OneTooManyIsToldWhyAndTheReserveGetsIn) {
  ShareFigures few = small();
  few.connections = 6;
  std::vector<int> fds;
  {
    Crowd c(few);
    for (int i = 0; i < 4; ++i) fds.push_back(c.raw());
    c.turn();
    EXPECT_EQ(c.channels.size(), 3u);
    Error e = refusal_on(fds.back());
    EXPECT_EQ(e.code, Errc::kTryAgainLater);
    EXPECT_NE(e.message().find("3 connections of this user"), std::string_view::npos) << e.message();
  }
  Crowd mine(few, {}, {getuid()});
  for (int i = 0; i < 4; ++i) fds.push_back(mine.raw());
  mine.turn();
  EXPECT_EQ(mine.channels.size(), 4u);
  for (int fd : fds) close(fd);
}

// A frame of which only the beginning comes holds what has come, and there is an end to that.
TEST(SharedSocket, HalfSentFramesHaveABound) {
  ShareFigures figures = ShareFigures::fit(1024);
  figures.bytes = 4u << 20;
  Crowd c(figures);
  std::string half;
  append_frame_header(half, FrameKind::kRequest, 1, 1, 30u << 20);
  half.resize(100'000, 'x');
  std::vector<int> fds;
  for (int i = 0; i < 40; ++i) {
    fds.push_back(c.raw());
    ASSERT_EQ(send(fds.back(), half.data(), half.size(), MSG_NOSIGNAL), static_cast<ssize_t>(half.size()));
    c.turn();
  }
  EXPECT_GT(c.closed, 0);
  EXPECT_EQ(c.last.code, Errc::kTryAgainLater) << c.last.message();
  EXPECT_LE(c.limits.shares->bytes_of(Uid(getuid())), 2u << 20);
  for (int fd : fds) close(fd);
}

// A request that is with the daemon must not be sent again: its user hears that the answer is lost, and not that nothing was taken.
TEST(SharedSocket, WhoeverIsTurnedAwayWithARequestThatWasTakenIsToldSo) {
  ShareFigures figures = ShareFigures::fit(1024);
  figures.bytes = 1u << 20;
  std::string wait, half;
  append_frame_header(wait, FrameKind::kRequest, 1, 1, 4);
  wait += "wait";
  append_frame_header(half, FrameKind::kRequest, 2, 1, 30u << 20);
  half.resize(100'000, 'x');
  for (const bool taken : {false, true}) {
    Crowd c(figures);
    const int fd = c.raw();
    if (taken) {
      ASSERT_EQ(send(fd, wait.data(), wait.size(), MSG_NOSIGNAL), static_cast<ssize_t>(wait.size()));
      c.turn();
      ASSERT_EQ(c.waiting.size(), 1u);
    }
    for (int i = 0; i < 40 && c.closed == 0; ++i) {
      ASSERT_GT(send(fd, half.data(), half.size(), MSG_NOSIGNAL | MSG_DONTWAIT), 0);
      c.turn();
    }
    ASSERT_EQ(c.closed, 1);
    EXPECT_EQ(refusal_on(fd).code, taken ? Errc::kReceiveFailed : Errc::kTryAgainLater);
    close(fd);
  }
}

// The header says enough: what is too large for its kind of message is not waited for, and nothing of it is kept.
TEST(SharedSocket, ARequestTooLargeForItsKindIsRefusedAtItsHeader) {
  Limits limits;
  limits.largest = [](uint16_t message) { return message == 1 ? size_t{30} << 20 : size_t{1000}; };
  Crowd c(ShareFigures::fit(1024), limits);
  auto says = [&](uint16_t message, uint32_t payload) {
    std::string header;
    append_frame_header(header, FrameKind::kRequest, 1, message, payload);
    const int fd = c.raw();
    EXPECT_EQ(send(fd, header.data(), 7, MSG_NOSIGNAL), 7);
    c.turn();
    EXPECT_EQ(send(fd, header.data() + 7, header.size() - 7, MSG_NOSIGNAL), static_cast<ssize_t>(header.size()) - 7);
    c.turn();
    return fd;
  };
  const int job = says(1, 30u << 20), text = says(2, 1001), fits = says(2, 1000);
  EXPECT_EQ(c.closed, 1);
  const Error e = refusal_on(text);
  EXPECT_EQ(e.code, Errc::kFrameTooLong);
  EXPECT_NE(e.message().find("1001 bytes is longer than the limit of 1000"), std::string_view::npos) << e.message();
  for (int fd : {job, text, fits}) close(fd);
}

TEST(SharedSocket, AnIdleConnectionEndsAndOneThatWaitsDoesNot) {
  Limits limits;
  limits.idle = milliseconds(30);
  Crowd c(ShareFigures::fit(1024), limits);
  std::string frame;
  append_frame_header(frame, FrameKind::kRequest, 1, 1, 4);
  frame += "wait";
  int waits = -1;
  while (c.waiting.empty()) {  // on a host that is busy the time may be over before the request is read
    if (waits >= 0) close(waits);
    waits = c.raw();
    ASSERT_GT(send(waits, frame.data(), frame.size(), MSG_NOSIGNAL), 0);
    c.turn();
  }
  c.closed = 0;
  int idle = c.raw();
  c.on_closed = [&] { c.f.loop.stop(); };
  c.f.run();
  EXPECT_EQ(c.closed, 1);
  EXPECT_EQ(refusal_on(idle).code, Errc::kTryAgainLater);
  ASSERT_EQ(c.channels.size(), 1u);
  ASSERT_EQ(c.waiting.size(), 1u);
  c.channels.front()->answer(1, 1, "now");
  c.f.run();
  EXPECT_EQ(c.closed, 2) << "when it is answered nothing is under way";
  close(idle);
  close(waits);
}

// Many requests at once on many connections: all are answered, a few in a turn.
TEST(SharedSocket, EveryRequestIsAnsweredInTheEnd) {
  ShareFigures figures = ShareFigures::fit(1024);
  figures.frames_in_turn = 3;
  figures.busy = 2;
  Crowd c(figures);
  constexpr int kConnections = 20, kEach = 50;
  std::vector<ChannelPtr> clients;
  int answered = 0;
  for (int i = 0; i < kConnections; ++i)
    connect_unix(c.f.loop, c.path(), [&](Result<ChannelPtr> r) {
      ASSERT_TRUE(r);
      clients.push_back(*r);
      for (int k = 0; k < kEach; ++k)
        (*r)->request(1, std::string(300, 'x'), seconds(20), [&](Result<Frame> a) {
          EXPECT_TRUE(a) << a.error().message();
          if (++answered == kConnections * kEach) c.f.loop.stop();
        });
    });
  c.f.run();
  EXPECT_EQ(answered, kConnections * kEach);
  EXPECT_EQ(c.limits.shares->bytes_of(Uid(getuid())), 0u);
}

TEST(SharedSocket, WhoeverLeavesGivesItsShareBack) {
  Crowd c(ShareFigures::fit(1024));
  int fd = c.raw();
  std::string frame;
  append_frame_header(frame, FrameKind::kRequest, 1, 1, 4);
  frame += "wait";
  ASSERT_GT(send(fd, (frame + frame).data(), 2 * frame.size(), MSG_NOSIGNAL), 0);
  c.turn();
  EXPECT_EQ(c.waiting.size(), 2u);
  EXPECT_EQ(c.limits.shares->connections_of(Uid(getuid())), 1u);
  c.on_closed = [&] { c.f.loop.stop(); };
  close(fd);
  c.f.run();
  EXPECT_EQ(c.limits.shares->connections_of(Uid(getuid())), 0u);
}

TEST(SharedSocket, OfTheOwnerAloneHasItsMode) {
  Fixture f;
  TempDir dir;
  Limits limits;
  limits.owner_only = true;
  auto l = listen_unix(
      f.loop, dir.path() + "/s", [](const ChannelPtr&) {}, limits);
  ASSERT_TRUE(l);
  EXPECT_EQ(std::filesystem::status(dir.path() + "/s").permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

}  // namespace
}  // namespace muster::net

// Channel over unix sockets and socketpairs: requests, answers, streams, notices, bounds, ends.
#include "net/channel.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "net/socket.h"
#include "net/test_support.h"

namespace muster::net {
namespace {

using test::Echo;
using test::Fixture;
using test::TempDir;

TEST(Channel, RequestGetsItsAnswer) {
  Fixture f;
  Echo echo(f);
  ChannelPtr c = echo.connect();
  std::string got;
  c->request(7, "hello", seconds(5), [&](Result<Frame> r) {
    ASSERT_TRUE(r) << r.error().message();
    EXPECT_EQ(r->message, 7);
    EXPECT_EQ(r->kind, FrameKind::kAnswer);
    got = r->payload;
    f.loop.stop();
  });
  f.run();
  EXPECT_EQ(got, "hello");
  EXPECT_EQ(c->peer().uid.value, getuid());
  EXPECT_EQ(c->peer().pid, getpid());
  EXPECT_EQ(c->peer().trust, Trust::kLocalUser);
}

TEST(Channel, ThousandsInFlightEachGetTheirOwnAnswer) {
  Fixture f;
  Echo echo(f);
  ChannelPtr c = echo.connect();
  constexpr int kCount = 20000;
  int right = 0;
  for (int i = 0; i < kCount; ++i)
    c->request(static_cast<uint16_t>(i), std::to_string(i), seconds(20), [&, i](Result<Frame> r) {
      if (r && r->payload == std::to_string(i) && r->message == static_cast<uint16_t>(i)) ++right;
      if (i == kCount - 1) f.loop.stop();
    });
  f.run();
  EXPECT_EQ(right, kCount);
}

TEST(Channel, LargePayloadsCrossBothWays) {
  Fixture f;
  Echo echo(f);
  ChannelPtr c = echo.connect();
  std::string big(20u << 20, 'x');
  for (size_t i = 0; i < big.size(); i += 4097) big[i] = static_cast<char>(i);
  int done = 0;
  for (int i = 0; i < 3; ++i)
    c->request(1, big, seconds(20), [&](Result<Frame> r) {
      ASSERT_TRUE(r);
      EXPECT_TRUE(r->payload == big);
      if (++done == 3) f.loop.stop();
    });
  f.run();
  EXPECT_EQ(done, 3);
}

TEST(Channel, StreamPartsComeInOrderBeforeTheAnswer) {
  Fixture f;
  Echo echo(f, [](Channel& c, Frame q) {
    for (int i = 0; i < 100; ++i) c.answer_part(q.id, q.message, std::to_string(i));
    c.answer(q.id, q.message, "end");
  });
  ChannelPtr c = echo.connect();
  int parts = 0;
  c->request_stream(
      3, "", seconds(5), [&](Frame p) { EXPECT_EQ(p.payload, std::to_string(parts++)); },
      [&](Result<Frame> r) {
        EXPECT_TRUE(r && r->payload == "end");
        f.loop.stop();
      });
  f.run();
  EXPECT_EQ(parts, 100);
}

TEST(Channel, NoticesReachTheHandlerAndNeedNoAnswer) {
  Fixture f;
  std::string seen;
  Echo echo(f, [&](Channel&, Frame q) {
    EXPECT_EQ(q.kind, FrameKind::kNotice);
    seen = q.payload;
    f.loop.stop();
  });
  ChannelPtr c = echo.connect();
  c->notify(9, "by the way");
  f.run();
  EXPECT_EQ(seen, "by the way");
}

TEST(Channel, PeersErrorArrivesWithCodeTextAndHint) {
  Fixture f;
  Echo echo(f, [](Channel& c, Frame q) { c.answer_error(q.id, Error(Errc::kInvalidPartition, "", "gpu is near")); });
  ChannelPtr c = echo.connect();
  Error e;
  c->request(1, "", seconds(5), [&](Result<Frame> r) {
    ASSERT_FALSE(r);
    e = r.error();
    f.loop.stop();
  });
  f.run();
  EXPECT_EQ(e, Error(Errc::kInvalidPartition, "", "gpu is near"));
}

TEST(Channel, EitherSideMayAsk) {
  Fixture f;
  std::string got;
  Echo echo(f, [&](Channel& c, Frame q) {
    c.request(2, "who are you?", seconds(5), [&, id = q.id, &c = c](Result<Frame> r) {
      ASSERT_TRUE(r);
      c.answer(id, 1, "hello " + r->payload);
    });
  });
  ChannelPtr c = echo.connect();
  c->on_request = [raw = c.get()](Frame q) { raw->answer(q.id, q.message, "me"); };
  c->request(1, "", seconds(5), [&](Result<Frame> r) {
    ASSERT_TRUE(r);
    got = r->payload;
    f.loop.stop();
  });
  f.run();
  EXPECT_EQ(got, "hello me");
}

TEST(Channel, UnservedRequestsGetAnError) {
  Fixture f;
  int fds[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
  ChannelPtr a = adopt_channel(f.loop, fds[0], Peer{});
  ChannelPtr b = adopt_channel(f.loop, fds[1], Peer{});
  Errc code = Errc::kOk;
  a->request(1, "", seconds(5), [&](Result<Frame> r) {
    code = r ? Errc::kOk : r.error().code;
    f.loop.stop();
  });
  f.run();
  EXPECT_EQ(code, Errc::kUnsupported);
}

TEST(Channel, TimeoutsFireInOrderAndLateAnswersAreIgnored) {
  Fixture f;
  std::vector<uint64_t> ids;
  Channel* server = nullptr;
  Echo echo(f, [&](Channel& c, Frame q) {
    server = &c;
    ids.push_back(q.id);
  });
  ChannelPtr c = echo.connect();
  std::vector<int> order;
  auto expect_timeout = [&](int which) {
    return [&, which](Result<Frame> r) {
      ASSERT_FALSE(r);
      EXPECT_EQ(r.error().code, Errc::kTimedOut);
      order.push_back(which);
      if (order.size() == 3) {
        for (uint64_t id : ids) server->answer(id, 1, "late");
        c->request(2, "", milliseconds(30), [&](Result<Frame>) { f.loop.stop(); });
      }
    };
  };
  c->request(1, "", milliseconds(30), expect_timeout(3));
  c->request(1, "", milliseconds(10), expect_timeout(1));
  c->request(1, "", milliseconds(20), expect_timeout(2));
  bool unlimited_answered = false;
  c->request(1, "", kNoTimeout, [&](Result<Frame> r) { unlimited_answered = r.has_value(); });
  f.run();
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
  EXPECT_TRUE(unlimited_answered);
}

TEST(Channel, EachPartOfAStreamRenewsItsTimeout) {
  Fixture f;
  Channel* server = nullptr;
  uint64_t id = 0;
  int sent = 0;
  std::unique_ptr<Loop::Timer> timer;
  std::function<void()> more = [&] {
    if (++sent == 6) return server->answer(id, 1, "end");
    server->answer_part(id, 1, "part");
    timer = f.loop.after(milliseconds(60), more);
  };
  Echo echo(f, [&](Channel& c, Frame q) {
    server = &c;
    id = q.id;
    more();
  });
  ChannelPtr c = echo.connect();
  bool ok = false;
  c->request_stream(
      1, "", milliseconds(250), [](Frame) {},
      [&](Result<Frame> r) {
        ok = r.has_value();
        f.loop.stop();
      });
  f.run();
  EXPECT_TRUE(ok);
}

TEST(Channel, PeersEndGivesEachPendingRequestOneError) {
  Fixture f;
  int asked = 0;
  Echo echo(f, [&](Channel& c, Frame q) {
    if (++asked == 1) c.answer(q.id, 1, "only this one");
    if (asked == 100) c.close();
  });
  ChannelPtr c = echo.connect();
  std::vector<int> calls(100);
  int good = 0;
  for (int i = 0; i < 100; ++i)
    c->request(1, "", seconds(5), [&, i](Result<Frame> r) {
      ++calls[static_cast<size_t>(i)];
      if (r) {
        ++good;
      } else {
        EXPECT_EQ(r.error().code, Errc::kReceiveFailed);
      }
    });
  int closed = 0;
  c->on_closed = [&](const Error& e) {
    ++closed;
    EXPECT_EQ(e.code, Errc::kReceiveFailed);
    f.loop.stop();
  };
  f.run();
  EXPECT_EQ(calls, std::vector<int>(100, 1));
  EXPECT_EQ(good, 1);
  EXPECT_EQ(closed, 1);
  EXPECT_TRUE(c->closed());
  bool refused = false;
  c->request(1, "", seconds(1), [&](Result<Frame> r) {
    refused = !r && r.error().code == Errc::kSendFailed;
    f.loop.stop();
  });
  EXPECT_FALSE(refused) << "called from inside request()";
  f.run();
  EXPECT_TRUE(refused);
}

// What is answered in part was taken, and may not be sent again.
TEST(Channel, WhoeverIsTurnedAwayHearsWhichRequestsWereNotTaken) {
  Fixture f;
  Echo echo(f, [&](Channel& c, Frame q) {
    if (q.message == 1) return c.answer_part(q.id, 1, "taken");
    c.answer_error(0, Error(Errc::kTryAgainLater, "no more room"));
  });
  ChannelPtr c = echo.connect();
  std::vector<Errc> ends;
  const auto ended = [&](Result<Frame> r) {
    ends.push_back(r ? Errc::kOk : r.error().code);
    if (ends.size() == 2) f.loop.stop();
  };
  c->request_stream(
      1, "", seconds(5), [](Frame) {}, ended);
  c->request(2, "", seconds(5), ended);
  f.run();
  EXPECT_EQ(ends, (std::vector{Errc::kReceiveFailed, Errc::kTryAgainLater}));
}

TEST(Channel, OwnCloseFailsPendingButDoesNotCallOnClosed) {
  Fixture f;
  Echo echo(f, [](Channel&, Frame) {});
  ChannelPtr c = echo.connect();
  int failed = 0;
  c->on_closed = [](const Error&) { ADD_FAILURE(); };
  c->request(1, "", seconds(5), [&](Result<Frame> r) { failed += !r; });
  c->close();
  EXPECT_EQ(failed, 0);
  f.loop.post([&] { f.loop.post([&] { f.loop.stop(); }); });
  f.run();
  EXPECT_EQ(failed, 1);
}

TEST(Channel, AnswerBeforeCloseIsDelivered) {
  Fixture f;
  Echo echo(f, [](Channel& c, Frame q) {
    c.answer(q.id, 1, "last words");
    c.close();
  });
  ChannelPtr c = echo.connect();
  std::string got;
  c->request(1, "", seconds(5), [&](Result<Frame> r) {
    if (r) got = r->payload;
    f.loop.stop();
  });
  f.run();
  EXPECT_EQ(got, "last words");
}

TEST(Channel, DroppingTheLastOwnerCloses) {
  Fixture f;
  Echo echo(f);
  int closed = 0;
  echo.on_closed = [&](const Error&) {
    ++closed;
    f.loop.stop();
  };
  echo.connect().reset();
  f.run();
  EXPECT_EQ(closed, 1);
}

TEST(Channel, SlowReaderIsClosedAtTheBoundAndItsMemoryFreed) {
  Fixture f;
  int fds[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
  ChannelPtr c = adopt_channel(f.loop, fds[0], Peer{});
  Error why;
  c->on_closed = [&](const Error& e) {
    why = e;
    f.loop.stop();
  };
  std::string part(16u << 20, 'p');
  size_t sent = 0;
  while (!c->closed() && sent <= 2 * kMaxQueued) {
    c->answer_part(1, 1, part);
    sent += part.size();
  }
  EXPECT_LE(sent, kMaxQueued + 2 * part.size());
  f.run();
  EXPECT_EQ(why.code, Errc::kSendFailed);
  EXPECT_EQ(c->queued_bytes(), 0u);
  close(fds[1]);
}

TEST(Channel, WhenWritableBoundsTheProducerOfALongStream) {
  Fixture f;
  size_t highest = 0;
  int left = 2000;
  std::function<void(Channel&, uint64_t)> produce = [&](Channel& c, uint64_t id) {
    while (left > 0 && c.queued_bytes() < kLowMark) {
      c.answer_part(id, 1, std::string(50000, 'r'));
      --left;
      highest = std::max(highest, c.queued_bytes());
    }
    if (left == 0) return c.answer(id, 1, "");
    c.when_writable([&, id, &c = c] { produce(c, id); });
  };
  Echo echo(f, [&](Channel& c, Frame q) { produce(c, q.id); });
  ChannelPtr c = echo.connect();
  size_t bytes = 0;
  c->request_stream(
      1, "", seconds(10), [&](Frame p) { bytes += p.payload.size(); },
      [&](Result<Frame> r) {
        EXPECT_TRUE(r);
        f.loop.stop();
      });
  f.run();
  EXPECT_EQ(bytes, 2000u * 50000u);
  EXPECT_LE(highest, kLowMark + 60000);
}

// A user who asks and never reads must not fill the daemon: its requests stop being taken.
TEST(Channel, AcceptedUserThatDoesNotReadIsNoLongerRead) {
  Fixture f;
  int asked = 0;
  size_t highest = 0;
  Echo echo(f, [&](Channel& c, Frame q) {
    ++asked;
    c.answer(q.id, 1, std::string(1u << 20, 'a'));
    highest = std::max(highest, c.queued_bytes());
  });
  int fd = echo.raw_connection();
  std::string ask, one;
  append_frame_header(one, FrameKind::kRequest, 1, 1, 0);
  for (int i = 0; i < 400; ++i) ask += one;
  ASSERT_EQ(send(fd, ask.data(), ask.size(), MSG_NOSIGNAL), static_cast<ssize_t>(ask.size()));
  auto stop = f.loop.after(milliseconds(100), [&] { f.loop.stop(); });
  f.run();
  EXPECT_LT(asked, 20);
  EXPECT_LE(highest, kHighMark + (2u << 20));
  // Reading at last brings every answer.
  size_t want = 400 * (kFrameHeader + (1u << 20)), got = 0;
  std::string buffer(1u << 20, '\0');
  auto reader = f.loop.watch(fd, [&] {
    ssize_t n = recv(fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (n > 0) got += static_cast<size_t>(n);
    if (got == want) f.loop.stop();
  });
  f.run();
  EXPECT_EQ(asked, 400);
  EXPECT_EQ(got, want);
  reader.reset();
  close(fd);
}

TEST(Channel, RequestsBeyondTheBoundAreRefused) {
  Fixture f;
  Echo echo(f, [](Channel&, Frame) {});
  ChannelPtr c = echo.connect();
  for (uint32_t i = 0; i < kMaxPending; ++i) c->request(1, "", kNoTimeout, [](Result<Frame>) {});
  Errc code = Errc::kOk;
  c->request(1, "", kNoTimeout, [&](Result<Frame> r) {
    code = r ? Errc::kOk : r.error().code;
    f.loop.stop();
  });
  f.run();
  EXPECT_EQ(code, Errc::kSendFailed);
}

TEST(UnixListener, HasModeForEveryoneReplacesStaleFilesAndRemovesItsOwn) {
  Fixture f;
  TempDir dir;
  std::string path = dir.path() + "/s";
  auto accept = [](ChannelPtr) {};
  {
    const mode_t before = umask(077);
    auto l = listen_unix(f.loop, path, accept);
    EXPECT_EQ(umask(before), 077u) << "as it was";
    ASSERT_TRUE(l) << l.error().message();
    struct stat st {};
    ASSERT_EQ(stat(path.c_str(), &st), 0);
    EXPECT_EQ(st.st_mode & 07777, 0666u);
    auto second = listen_unix(f.loop, path, accept);
    ASSERT_FALSE(second);
    EXPECT_NE(second.error().text.find("another process listens"), std::string::npos);
  }
  EXPECT_NE(access(path.c_str(), F_OK), 0);
  // What a killed daemon leaves behind: a bound file that nobody listens on.
  int dead = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  Result<Address> a = unix_address(path);
  ASSERT_EQ(bind(dead, a->get(), a->size), 0);
  close(dead);
  EXPECT_TRUE(listen_unix(f.loop, path, accept));
}

TEST(UnixListener, RefusesLongPathsAndOtherFiles) {
  Fixture f;
  TempDir dir;
  auto accept = [](ChannelPtr) {};
  auto l = listen_unix(f.loop, "/tmp/" + std::string(120, 'x'), accept);
  ASSERT_FALSE(l);
  EXPECT_EQ(l.error().code, Errc::kPathnameTooLong);
  EXPECT_NE(l.error().text.find("107"), std::string::npos);
  std::string file = dir.path() + "/file";
  fclose(fopen(file.c_str(), "w"));
  EXPECT_FALSE(listen_unix(f.loop, file, accept));
  EXPECT_EQ(access(file.c_str(), F_OK), 0);
}

TEST(UnixListener, LeavesASuccessorsFileAlone) {
  Fixture f;
  TempDir dir;
  std::string path = dir.path() + "/s";
  auto first = listen_unix(f.loop, path, [](ChannelPtr) {});
  ASSERT_TRUE(first);
  ASSERT_EQ(unlink(path.c_str()), 0);
  auto second = listen_unix(f.loop, path, [](ChannelPtr) {});
  ASSERT_TRUE(second);
  first->reset();
  EXPECT_EQ(access(path.c_str(), F_OK), 0);
}

TEST(ConnectUnix, NobodyThereIsAConnectFailure) {
  Fixture f;
  TempDir dir;
  Error e;
  connect_unix(f.loop, dir.path() + "/none", [&](Result<ChannelPtr> r) {
    ASSERT_FALSE(r);
    e = r.error();
    f.loop.stop();
  });
  f.run();
  EXPECT_EQ(e.code, Errc::kConnectFailed);
  EXPECT_EQ(e.message(), "Unable to contact slurm controller (connect failure)");
  EXPECT_NE(e.hint.find("No such file"), std::string::npos);
}

// Killed, a daemon leaves its socket, which refuses; stopped, it takes it along. The next one is waited for either way.
TEST(ConnectUnix, ADaemonThatIsBeingStartedAgainIsWaitedFor) {
  for (const bool killed : {true, false}) {
    Fixture f;
    TempDir dir;
    const std::string path = dir.path() + "/socket";
    if (killed) ASSERT_TRUE(bind_unix(path, 0600));  // nobody has it open any more
    std::unique_ptr<Listener> next;
    auto start = f.loop.after(milliseconds(50), [&] {
      auto l = listen_unix(f.loop, path, [](ChannelPtr) {});
      ASSERT_TRUE(l) << l.error().hint;
      next = std::move(*l);
    });
    bool connected = false;
    connect_unix(
        f.loop, path,
        [&](Result<ChannelPtr> r) {
          connected = r.has_value();
          f.loop.stop();
        },
        seconds(20));
    f.run();
    EXPECT_TRUE(connected) << killed;
  }
}

TEST(ConnectUnix, PatienceEnds) {
  Fixture f;
  TempDir dir;
  Error e;
  const Duration began = Loop::monotonic();
  connect_unix(
      f.loop, dir.path() + "/none",
      [&](Result<ChannelPtr> r) {
        ASSERT_FALSE(r);
        e = r.error();
        f.loop.stop();
      },
      milliseconds(60));
  f.run();
  EXPECT_EQ(e.code, Errc::kConnectFailed);
  EXPECT_GE(Loop::monotonic() - began, milliseconds(60));
}

}  // namespace
}  // namespace muster::net

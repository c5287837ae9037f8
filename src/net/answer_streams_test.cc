#include "net/answer_streams.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <atomic>
#include <latch>

#include "net/test_support.h"

namespace muster::net {
namespace {

struct Counts {
  std::atomic<size_t> made{0};
  std::atomic<int> alive{0}, most_alive{0};
};

class Parts final : public PartSource {
 public:
  Parts(Counts& counts, int parts, size_t bytes) : counts_(counts), left_(parts), bytes_(bytes) {
    counts_.most_alive = std::max<int>(counts_.most_alive, ++counts_.alive);
  }
  ~Parts() override { --counts_.alive; }
  bool next(std::string& part) override {
    if (left_-- == 0) return false;
    part.assign(bytes_, 'r');
    counts_.made += bytes_;
    return true;
  }
  Result<std::string> last() override { return "end"; }

 private:
  Counts& counts_;
  int left_;
  size_t bytes_;
};

struct AnswerStreamsTest : testing::Test {
  Counts counts;
  test::Fixture f;
  QueryThread queries;
  const Channel* slow = nullptr;
  ChannelPtr server, client;
  AnswerStreams streams{f.loop, queries,
                        [this](const Channel* c) {
                          slow = c;
                          f.loop.stop();
                        },
                        milliseconds(20)};

  void connect(bool with_client) {
    int fds[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
    server = adopt_channel(f.loop, fds[0], Peer{});
    if (with_client) client = adopt_channel(f.loop, fds[1], Peer{});
    else unread = UniqueFd(fds[1]);
  }
  AnswerStreams::Open parts(int n, size_t bytes) {
    return [this, n, bytes]() -> Result<std::unique_ptr<PartSource>> { return std::make_unique<Parts>(counts, n, bytes); };
  }
  UniqueFd unread;
};

TEST_F(AnswerStreamsTest, NoMoreIsMadeThanTheReaderTakes) {
  connect(true);
  server->on_request = [&](Frame q) { streams.begin(server, q.id, q.message, parts(400, 100'000), {}); };
  size_t read = 0, most_ahead = 0;
  client->request_stream(
      1, "", seconds(10),
      [&](Frame p) {
        read += p.payload.size();
        most_ahead = std::max(most_ahead, counts.made - read);
      },
      [&](Result<Frame> r) {
        ASSERT_TRUE(r);
        EXPECT_EQ(r->payload, "end");
        f.loop.stop();
      });
  f.run();
  EXPECT_EQ(read, 400u * 100'000u);
  EXPECT_LT(most_ahead, 2u << 20);
  EXPECT_EQ(streams.size(), 0u);
}

TEST_F(AnswerStreamsTest, AReaderThatTakesNothingIsNamedAndItsAnswerForgotten) {
  connect(false);
  f.loop.post([&] { streams.begin(server, 1, 1, parts(4000, 100'000), {}); });
  f.run();
  EXPECT_EQ(slow, server.get());
  EXPECT_LT(counts.made, 4u << 20);
  streams.forget(slow);
  EXPECT_EQ(streams.size(), 0u);
  server->close();
}

// Many short answers add up like one long one.
TEST_F(AnswerStreamsTest, AnswersThatNobodyTakesAreNotMadeInAdvance) {
  connect(false);
  f.loop.post([&] {
    for (uint64_t id = 1; id <= 400; ++id) streams.begin(server, id, 1, parts(1, 100'000), {});
  });
  f.run();
  EXPECT_EQ(slow, server.get());
  EXPECT_LT(counts.made, 4u << 20);
  streams.forget(slow);
  server->close();
}

TEST_F(AnswerStreamsTest, AnswersOfOneConnectionAreMadeOneAfterTheOther) {
  connect(true);
  server->on_request = [&](Frame q) { streams.begin(server, q.id, q.message, parts(3, 10), {}); };
  int answered = 0;
  for (int i = 0; i < 5; ++i)
    client->request(1, "", seconds(10), [&](Result<Frame> r) {
      EXPECT_TRUE(r);
      if (++answered == 5) f.loop.stop();
    });
  f.run();
  EXPECT_EQ(counts.most_alive, 1);
  EXPECT_EQ(counts.made, 5u * 30u);
}

// It waited behind a long answer, and its client has gone meanwhile.
TEST_F(AnswerStreamsTest, AnAnswerThatNobodyWaitsForIsNotBegun) {
  connect(true);
  std::latch gone(1);
  queries.post([&] { gone.wait(); });
  bool opened = false;
  f.loop.post([&] {
    streams.begin(server, 1, 1,
                  [&]() -> Result<std::unique_ptr<PartSource>> {
                    opened = true;
                    return std::make_unique<Parts>(counts, 1, 1);
                  },
                  {});
    streams.forget(server.get());
    server->close();
    server.reset();
    gone.count_down();
    queries.post([&] { f.loop.post([&] { f.loop.stop(); }); });
  });
  f.run();
  EXPECT_FALSE(opened);
}

TEST_F(AnswerStreamsTest, ASourceThatCannotBeOpenedAnswersWithItsError) {
  connect(true);
  server->on_request = [&](Frame q) {
    streams.begin(server, q.id, q.message, [] { return fail(Errc::kInvalidNodeName, "Node x not found"); }, {});
  };
  client->request(1, "", seconds(10), [&](Result<Frame> r) {
    ASSERT_FALSE(r);
    EXPECT_EQ(r.error().code, Errc::kInvalidNodeName);
    f.loop.stop();
  });
  f.run();
}

// One user's thousand questions are one place in the line of users.
TEST(QueryThread, UsersTakeTurns) {
  QueryThread queries;
  std::latch begin(1), end(1);
  std::string order;
  queries.post([&] { begin.wait(); });
  for (int i = 0; i < 5; ++i) queries.post([&] { order += 'a'; }, 1001);
  queries.post([&] { order += 'b'; }, 1002);
  queries.post([&] { order += 'c'; }, 1002);
  for (int i = 0; i < 8; ++i)
    queries.post(
        [&, i] {
          if (i == 7) end.count_down();
        },
        1003);
  begin.count_down();
  end.wait();
  EXPECT_EQ(order, "abacaaa");
}

// After its burst a user's work leaves room between its pieces, and whoever asks little goes before it.
TEST(QueryThread, WhoAsksWithoutEndGetsAPartOfTheTime) {
  QueryThread queries(TimeShares{milliseconds(1), 4});
  std::latch begin(1), end(2);
  std::string order;
  queries.post([&] { begin.wait(); });
  for (int i = 0; i < 3; ++i)
    queries.post(
        [&, i] {
          order += 'a';
          const Duration until = Loop::monotonic() + milliseconds(30);
          while (Loop::monotonic() < until) continue;
          if (i == 0)  // its turn comes while the second of the first user waits
            for (int n = 0; n < 3; ++n)
              queries.post(
                  [&, n] {
                    order += 'b';
                    if (n == 2) end.count_down();
                  },
                  1002);
          if (i == 2) end.count_down();
        },
        1001);
  begin.count_down();
  end.wait();
  EXPECT_EQ(order, "abbbaa");
}

}  // namespace
}  // namespace muster::net

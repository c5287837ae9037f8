// The frame parser against every kind of bytes, and channels against peers that send them.
#include "net/frame.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <random>

#include "net/out_queue.h"
#include "net/test_support.h"

namespace muster::net {
namespace {

using test::Echo;
using test::Fixture;
using Verdict = Parsed::Verdict;

std::string frame(FrameKind kind, uint64_t id, uint16_t message, std::string_view payload) {
  std::string out;
  append_frame_header(out, kind, id, message, payload.size());
  return out.append(payload);
}

TEST(Frame, LayoutIsFixed) {
  EXPECT_EQ(frame(FrameKind::kNotice, 0x0102030405060708u, 0xa0b0, "xy"),
            std::string("\x0d\0\0\0\x04\x08\x07\x06\x05\x04\x03\x02\x01\xb0\xa0xy", 17));
}

TEST(Frame, ParseInvertsPrintAndNeedsEveryByte) {
  std::string payload("a\0b", 3);
  std::string bytes = frame(FrameKind::kAnswer, 42, 7, payload);
  for (size_t n = 0; n < bytes.size(); ++n) {
    Parsed p = parse_frame(std::string_view(bytes).substr(0, n));
    EXPECT_EQ(p.verdict, Verdict::kNeedMore) << n;
    EXPECT_GT(p.size, n);
    EXPECT_LE(p.size, bytes.size());
  }
  std::string longer = bytes + "next";
  Parsed p = parse_frame(longer);
  ASSERT_EQ(p.verdict, Verdict::kFrame);
  EXPECT_EQ(p.size, bytes.size());
  EXPECT_EQ(p.frame.kind, FrameKind::kAnswer);
  EXPECT_EQ(p.frame.id, 42u);
  EXPECT_EQ(p.frame.message, 7);
  EXPECT_EQ(p.frame.payload, payload);
}

TEST(Frame, BadLengthsAndKindsAreMalformedAtOnce) {
  EXPECT_EQ(parse_frame(std::string("\x0a\0\0\0", 4)).verdict, Verdict::kMalformed);
  EXPECT_EQ(parse_frame(std::string("\x01\0\0\x04", 4)).verdict, Verdict::kMalformed);
  EXPECT_EQ(parse_frame(std::string("\0\0\0\x04", 4)).verdict, Verdict::kNeedMore);
  EXPECT_EQ(parse_frame("\xff\xff\xff\xff").verdict, Verdict::kMalformed);
  for (int kind = 0; kind < 256; ++kind) {
    std::string head("\x0b\0\0\0", 4);
    head += static_cast<char>(kind);
    EXPECT_EQ(parse_frame(head).verdict, kind >= 1 && kind <= 5 ? Verdict::kNeedMore : Verdict::kMalformed);
  }
}

TEST(Frame, ErrorsCrossTheWire) {
  for (const Error& e : {Error(Errc::kInvalidPartition), Error(Errc::kAtMaxJobs, "own text", "hint"), Error(Errc::kInvalidJobName),
                         Error(Errc::kError, "x", "")})
    EXPECT_EQ(decode_error(encode_error(e)), e);
  // A code from a newer version keeps its text.
  std::string unknown = encode_error(Error(Errc::kIo, "a new kind of failure"));
  unknown[0] = '\xee';
  unknown[1] = '\xee';
  EXPECT_EQ(decode_error(unknown), Error(Errc::kError, "a new kind of failure"));
  std::string good = encode_error(Error(Errc::kIo, "text", "hint"));
  for (size_t n = 0; n < good.size(); ++n) EXPECT_EQ(decode_error(std::string_view(good).substr(0, n)).code, Errc::kFrameMalformed) << n;
  EXPECT_EQ(decode_error(good + "x").code, Errc::kFrameMalformed);
}

TEST(Frame, RandomErrorsNeverHurt) {
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) {
    std::string bytes(random() % 40, '\0');
    for (char& c : bytes) c = static_cast<char>(random() % 4 ? 0 : random());
    Error e = decode_error(bytes);
    EXPECT_NE(e.code, Errc::kOk);
  }
}

// Whatever is pushed comes out in order, whatever the sizes and however it is consumed.
TEST(OutQueue, KeepsEveryByteInOrder) {
  std::mt19937 random(11);
  OutQueue q;
  std::string expected, got;
  uint64_t id = 0;
  for (int step = 0; step < 3000 || !q.empty(); ++step) {
    if (step < 3000 && random() % 2) {
      std::string payload(random() % 10 ? random() % 200 : random() % 200000, static_cast<char>('a' + id % 26));
      expected += frame(FrameKind::kAnswer, ++id, 1, payload);
      q.push(FrameKind::kAnswer, id, 1, std::move(payload));
    } else if (!q.empty()) {
      iovec v[5];
      size_t n = q.gather(v);
      size_t want = random() % 100000 + 1, take = 0;
      for (size_t i = 0; i < n && take < want; ++i) {
        size_t part = std::min(want - take, v[i].iov_len);
        got.append(static_cast<char*>(v[i].iov_base), part);
        take += part;
      }
      ASSERT_GT(take, 0u);
      q.consume(take);
    }
    ASSERT_EQ(q.bytes(), expected.size() - got.size());
  }
  EXPECT_TRUE(got == expected);
}

// ---- hostile peers of a channel
// ---------------------------------------------------------------------------------------

// Sends `bytes`, then an ordinary request, then ends. True when the server closed with kFrameMalformed.
bool server_closes_on(Fixture& f, Echo& echo, const std::string& bytes) {
  bool malformed = false;
  echo.on_closed = [&](const Error& e) {
    malformed = e.code == Errc::kFrameMalformed;
    f.loop.stop();
  };
  int fd = echo.raw_connection();
  EXPECT_EQ(send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  shutdown(fd, SHUT_WR);
  f.run();
  close(fd);
  return malformed;
}

TEST(HostilePeer, EveryByteOfASampleFlipped) {
  Fixture f;
  Echo echo(f);
  std::string sample = frame(FrameKind::kRequest, 1, 2, "first") + frame(FrameKind::kStreamPart, 9, 2, "nobody asked") +
                       frame(FrameKind::kError, 9, 0, encode_error(Error(Errc::kIo, "t"))) + frame(FrameKind::kNotice, 0, 5, "");
  EXPECT_FALSE(server_closes_on(f, echo, sample));
  int malformed = 0;
  for (size_t i = 0; i < sample.size(); ++i)
    for (int mask : {0x01, 0x80, 0xff}) {
      std::string bad = sample;
      bad[i] = static_cast<char>(bad[i] ^ mask);
      malformed += server_closes_on(f, echo, bad);
    }
  // Lengths and kinds are caught, ids and payloads cannot be.
  EXPECT_GE(malformed, 20);
}

TEST(HostilePeer, RandomGarbage) {
  Fixture f;
  Echo echo(f);
  std::mt19937 random(3);
  int malformed = 0;
  for (int i = 0; i < 300; ++i) {
    std::string bytes(random() % 3000 + 5, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    malformed += server_closes_on(f, echo, bytes);
  }
  EXPECT_GT(malformed, 280);  // about 1 in 64 claims a length within the limit and waits for it
}

TEST(HostilePeer, AnOversizeLengthClosesBeforeAnyPayload) {
  Fixture f;
  Echo echo(f);
  EXPECT_TRUE(server_closes_on(f, echo, std::string("\x01\0\0\x04\x01", 5)));
}

TEST(HostilePeer, AFrameThatDripsIsGivenUp) {
  Fixture f;
  int fds[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
  Limits limits;
  limits.frame = milliseconds(60);
  ChannelPtr c = adopt_channel(f.loop, fds[0], Peer{}, limits);
  Error why;
  c->on_closed = [&](const Error& e) {
    why = e;
    f.loop.stop();
  };
  std::string bytes = frame(FrameKind::kRequest, 1, 1, std::string(1000, 'd'));
  size_t next = 0;
  std::unique_ptr<Loop::Timer> drip;
  std::function<void()> drop = [&] {
    [[maybe_unused]] ssize_t n = send(fds[1], &bytes[next++], 1, MSG_NOSIGNAL);
    drip = f.loop.after(milliseconds(5), drop);
  };
  drop();
  f.run();
  EXPECT_EQ(why.code, Errc::kTimedOut);
  EXPECT_LT(next, 200u);
  close(fds[1]);
}

TEST(HostilePeer, DrippedBytesOfGoodFramesAreUnderstood) {
  Fixture f;
  std::vector<std::string> seen;
  Echo echo(f, [&](Channel&, Frame q) {
    seen.push_back(q.payload);
    if (seen.size() == 3) f.loop.stop();
  });
  int fd = echo.raw_connection();
  std::string bytes =
      frame(FrameKind::kNotice, 0, 1, "one") + frame(FrameKind::kNotice, 0, 1, "") + frame(FrameKind::kNotice, 0, 1, "three");
  std::unique_ptr<Loop::Timer> drip;
  size_t next = 0;
  std::function<void()> drop = [&] {
    if (next < bytes.size()) send(fd, &bytes[next++], 1, MSG_NOSIGNAL);
    f.loop.post(drop);
  };
  drop();
  f.run();
  EXPECT_EQ(seen, (std::vector<std::string>{"one", "", "three"}));
  close(fd);
}

TEST(HostilePeer, AQueueThatNobodyTakesIsGivenUp) {
  Fixture f;
  int fds[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
  Limits limits;
  limits.stall = milliseconds(50);
  ChannelPtr c = adopt_channel(f.loop, fds[0], Peer{}, limits);
  Error why;
  c->on_closed = [&](const Error& e) {
    why = e;
    f.loop.stop();
  };
  c->notify(1, std::string(kHighMark + (4u << 20), 's'));
  f.run();
  EXPECT_EQ(why.code, Errc::kTimedOut);
  EXPECT_NE(why.text.find("does not read"), std::string::npos);
  close(fds[1]);
}

}  // namespace
}  // namespace muster::net

// Who gets in over TCP: the cluster key, and everybody who should not. With munge: munge_test.cc.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <random>

#include "net/client.h"
#include "net/handshake.h"
#include "net/test_support.h"

namespace muster::net {
namespace {

using test::ask;
using test::Child;
using test::connect_and_wait;
using test::Echo;
using test::Fixture;
using test::slurm_key;
using test::TempDir;

int raw_tcp(uint16_t port) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  Address a = numeric_addresses("127.0.0.1", port).front();
  EXPECT_EQ(connect(fd, a.get(), a.size), 0);
  return fd;
}

// ---- cluster key
// --------------------------------------------------------------------------------------------------------

TEST(Tls, TheClusterKeyOpensAChannelThatMaySpeakForOthers) {
  Fixture f;
  Echo echo(f);
  uint16_t port = echo.listen(slurm_key());
  auto c = connect_and_wait(f, port, slurm_key());
  ASSERT_TRUE(c) << c.error().message() << c.error().hint;
  EXPECT_EQ((*c)->peer().trust, Trust::kClusterKey);
  EXPECT_EQ((*c)->peer().subject(Uid(4700)).kind, SubjectKind::kClusterKey);
  EXPECT_EQ((*c)->peer().address, "127.0.0.1:" + std::to_string(port));
  // A TLS 1.3 client is ready half a round trip before its server: only the answer shows that the server has
  // it.
  EXPECT_EQ(ask(f, **c, "hello"), "hello");
  ASSERT_EQ(echo.channels.size(), 1u);
  EXPECT_EQ((*echo.channels.begin())->peer().subject(Uid(4700)).kind, SubjectKind::kClusterKey);
  std::string big(30u << 20, 'x');
  EXPECT_TRUE(ask(f, **c, big) == big);
  EXPECT_EQ(ask(f, **c, ""), "");
}

TEST(Tls, NothingReadableCrossesTheWire) {
  auto prover = make_prover(slurm_key());
  ASSERT_TRUE(prover) << prover.error().message();
  auto client = (*prover)->client(), server = (*prover)->server();
  std::string to_server, to_client, in;
  bool client_done = false, server_done = false;
  for (int i = 0; i < 10 && !(client_done && server_done); ++i) {
    in = std::exchange(to_client, {});
    if (!client_done) client_done = client->advance(in, to_server).value();
    in = std::exchange(to_server, {});
    if (!server_done) server_done = server->advance(in, to_client).value();
  }
  ASSERT_TRUE(client_done && server_done);
  Established a, b;
  client->complete(a);
  server->complete(b);
  ASSERT_TRUE(a.tls->write("the secret sentence"));
  std::string wire(a.tls->pending());
  EXPECT_EQ(wire.find("secret"), std::string::npos);
  // A changed byte is found.
  std::string damaged = wire;
  damaged.back() = static_cast<char>(damaged.back() ^ 1);
  b.tls->receive(damaged);
  char plain[100];
  EXPECT_FALSE(b.tls->read(plain));
}

TEST(Tls, AnotherKeyIsRefusedOnBothSidesWithAClearText) {
  Fixture f;
  Echo echo(f);
  uint16_t port = echo.listen(slurm_key());
  std::string refused;
  echo.tcp->on_refused([&](const std::string& address, const Error& e) {
    EXPECT_EQ(address.substr(0, 10), "127.0.0.1:");
    EXPECT_EQ(e.code, Errc::kAuthFailed);
    refused = e.message();
  });
  auto c = connect_and_wait(f, port, slurm_key(std::string(32, 'K')));
  ASSERT_FALSE(c);
  EXPECT_EQ(c.error().code, Errc::kAuthFailed);
  EXPECT_EQ(c.error().message(), "the peer has another cluster key, or none");
  EXPECT_EQ(refused, "the peer has another cluster key, or none");
  EXPECT_TRUE(echo.channels.empty());
}

TEST(Tls, AnEarlierKeyIsAcceptedWhileItIsListed) {
  Fixture f;
  Echo echo(f);
  Security both = slurm_key(std::string(32, 'n'));
  both.other_keys = {std::string(32, 'o')};
  uint16_t port = echo.listen(both);
  EXPECT_TRUE(connect_and_wait(f, port, slurm_key(std::string(32, 'n'))));
  EXPECT_TRUE(connect_and_wait(f, port, slurm_key(std::string(32, 'o'))));
  EXPECT_FALSE(connect_and_wait(f, port, slurm_key(std::string(32, 'p'))));
}

TEST(Tls, ShortOrMissingKeysAreRefusedBeforeAnythingIsSent) {
  Fixture f;
  for (const std::string& key : {std::string(), std::string(15, 'k')}) {
    auto l = listen_tcp(f.loop, "127.0.0.1", 0, slurm_key(key), [](ChannelPtr) {});
    ASSERT_FALSE(l);
    EXPECT_EQ(l.error().code, Errc::kInvalidArgument);
    EXPECT_NE(l.error().text.find("at least 16"), std::string::npos);
    auto c = connect_and_wait(f, 1, slurm_key(key));
    ASSERT_FALSE(c);
    EXPECT_EQ(c.error().code, Errc::kInvalidArgument);
  }
}

// True when both sides believed each other although bit `bit` of the first flight of one side was changed on
// the way.
bool survives_flip(Prover& prover, bool of_client, size_t bit, size_t* flight_size, size_t* first_record) {
  auto client = prover.client(), server = prover.server();
  std::string to_server, to_client;
  EXPECT_TRUE(client->advance({}, to_server));
  if (of_client) to_server[bit / 8] ^= static_cast<char>(1 << bit % 8);
  auto s = server->advance(to_server, to_client);
  if (!s || to_client.empty()) return false;
  *flight_size = of_client ? to_server.size() : to_client.size();
  *first_record = 5u + (static_cast<uint8_t>(to_client[3]) << 8 | static_cast<uint8_t>(to_client[4]));
  if (!of_client) to_client[bit / 8] ^= static_cast<char>(1 << bit % 8);
  to_server.clear();
  auto c = client->advance(to_client, to_server);
  if (!c || !*c) return false;
  s = server->advance(to_server, to_client);
  return s && *s;
}

TEST(Tls, AHandshakeDoesNotSurviveAChangedBit) {
  auto prover = make_prover(slurm_key());
  ASSERT_TRUE(prover);
  size_t size = 0, hello = 0, ignored = 0;
  // The lowest bit of a record's minor version means nothing (RFC 8446, 5.1): the handshake is as good
  // without it.
  ASSERT_TRUE(survives_flip(**prover, true, 16, &size, &hello));
  for (size_t byte = 5; byte < size; ++byte)
    EXPECT_FALSE(survives_flip(**prover, true, byte * 8 + byte % 8, &ignored, &ignored)) << "client byte " << byte;
  ASSERT_TRUE(survives_flip(**prover, false, 16, &size, &hello));
  for (size_t byte = 5; byte < size; ++byte) {
    if (byte >= hello && byte < hello + 6) continue;  // change-cipher-spec, sent for old middle boxes only
    EXPECT_FALSE(survives_flip(**prover, false, byte * 8 + byte % 8, &ignored, &ignored)) << "server byte " << byte;
  }
}

TEST(Tls, NobodyIsListeningIsAConnectFailure) {
  Fixture f;
  auto c = connect_and_wait(f, 1, slurm_key());
  ASSERT_FALSE(c);
  EXPECT_EQ(c.error().code, Errc::kConnectFailed);
  EXPECT_EQ(c.error().hint, "127.0.0.1:1: Connection refused");
}

TEST(Tls, NamesAreLookedUpWithoutBlockingTheLoop) {
  Fixture f;
  Echo echo(f);
  uint16_t port = echo.listen(slurm_key(), "localhost");
  EXPECT_TRUE(connect_and_wait(f, port, slurm_key(), "localhost"));
  auto c = connect_and_wait(f, port, slurm_key(), "no-such-host.invalid");
  ASSERT_FALSE(c);
  EXPECT_EQ(c.error().code, Errc::kConnectFailed);
}

TEST(Tls, AServerThatSaysNothingIsATimeout) {
  Fixture f;
  auto fd = bind_tcp("127.0.0.1", 0);
  ASSERT_TRUE(fd);
  sockaddr_storage a{};
  socklen_t n = sizeof a;
  getsockname(fd->get(), reinterpret_cast<sockaddr*>(&a), &n);
  uint16_t port = static_cast<uint16_t>(std::stoi(address_text(a).substr(10)));
  auto c = connect_and_wait(f, port, slurm_key(), "127.0.0.1", milliseconds(50));
  ASSERT_FALSE(c);
  EXPECT_EQ(c.error().code, Errc::kTimedOut);
  ClientOptions o;
  o.controllers = {{"127.0.0.1", port}};
  o.security = slurm_key();
  o.timeout = milliseconds(50);
  auto blocking = connect_client(o);
  ASSERT_FALSE(blocking);
  EXPECT_EQ(blocking.error().code, Errc::kTimedOut);
}

// A process with its output on a pipe, ended with the object.
class Spawned {
 public:
  explicit Spawned(std::vector<std::string> args) {
    int in[2], out[2];
    EXPECT_EQ(pipe2(in, O_CLOEXEC), 0);
    EXPECT_EQ(pipe2(out, O_CLOEXEC), 0);
    std::vector<char*> argv;
    for (std::string& a : args) argv.push_back(a.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0],
                                     0);  // stays open and silent: its end would end s_server
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    posix_spawn_file_actions_adddup2(&actions, out[1], 2);
    pid_t pid = 0;
    int rc = posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ);
    EXPECT_EQ(rc, 0);
    if (rc == 0) child_ = Child(pid);
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    in_ = UniqueFd(in[1]);
    out_ = UniqueFd(out[0]);
  }
  int wait() { return child_.wait(); }
  // Reads until `word` and the end of its line; all of it at the end of the output.
  std::string read_until(const std::string& word) {
    char c;
    size_t at;
    while ((at = text_.find(word)) == std::string::npos || text_.find('\n', at) == std::string::npos) {
      pollfd p{out_.get(), POLLIN, 0};
      if (poll(&p, 1, 10000) != 1 || read(out_.get(), &c, 1) != 1) break;
      text_ += c;
    }
    return text_;
  }

 private:
  Child child_;
  UniqueFd in_, out_;
  std::string text_;
};

TEST(Tls, ACertificateInsteadOfTheKeyIsRefused) {
  if (access("/usr/bin/openssl", X_OK) != 0) GTEST_SKIP() << "the openssl command is not installed";
  TempDir dir;
  std::string pem = dir.path() + "/pem";
  Spawned request({"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=localhost",
                   "-keyout", pem, "-out", pem + ".crt"});
  request.read_until("no such text");
  ASSERT_EQ(request.wait(), 0);
  Spawned server({"openssl", "s_server", "-tls1_3", "-accept", "127.0.0.1:0", "-key", pem, "-cert", pem + ".crt"});
  std::string said = server.read_until("ACCEPT");
  size_t at = said.find("ACCEPT 127.0.0.1:");
  ASSERT_NE(at, std::string::npos) << said;
  uint16_t port = static_cast<uint16_t>(std::stoi(said.substr(at + 17)));
  Fixture f;
  auto c = connect_and_wait(f, port, slurm_key());
  ASSERT_FALSE(c);
  EXPECT_EQ(c.error().code, Errc::kAuthFailed);
  EXPECT_EQ(c.error().text, "the peer has another cluster key, or none");
}

TEST(Tls, AClientWithoutAnyKeyIsRefused) {
  if (access("/usr/bin/openssl", X_OK) != 0) GTEST_SKIP() << "the openssl command is not installed";
  Fixture f;
  auto l = listen_tcp(f.loop, "127.0.0.1", 0, slurm_key(), [](ChannelPtr) { ADD_FAILURE() << "got in"; });
  ASSERT_TRUE(l);
  Error why;
  (*l)->on_refused([&](const std::string&, const Error& e) {
    why = e;
    f.loop.stop();
  });
  Spawned client({"openssl", "s_client", "-tls1_3", "-connect", "127.0.0.1:" + std::to_string((*l)->port())});
  f.run();
  EXPECT_EQ(why.code, Errc::kAuthFailed);
  EXPECT_EQ(why.text, "the peer has another cluster key, or none");
  EXPECT_NE(client.wait(), 0);
}

// ---- strangers
// ------------------------------------------------------------------------------------------------------------

struct StrangerServer {
  explicit StrangerServer(Fixture& f, Limits limits = {}) {
    limits.told_again = {};
    auto l = listen_tcp(
        f.loop, "127.0.0.1", 0, slurm_key(), [](ChannelPtr) { ADD_FAILURE() << "a stranger got in"; }, limits);
    EXPECT_TRUE(l);
    listener = std::move(*l);
    listener->on_refused([this, &f](const std::string&, const Error& e) {
      last = e;
      if (++refused == expected) f.loop.stop();
    });
  }
  std::unique_ptr<Listener> listener;
  Error last;
  int refused = 0, expected = 1;
};

TEST(Stranger, AnythingElseThanAKnownOpeningIsClosedAtOnce) {
  Fixture f;
  StrangerServer s(f);
  for (const std::string& bytes : {std::string("SSH-2.0-OpenSSH\r\n"), std::string(100, '\0'), std::string("GEX /"), std::string("MUSTEX"),
                                   std::string("GET / HTTP/1.1\r\n\r\n")}) {
    s.refused = 0;
    int fd = raw_tcp(s.listener->port());
    ASSERT_GT(send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL), 0);
    f.run();
    EXPECT_EQ(s.last.code, Errc::kFrameMalformed) << bytes;
    char c;
    EXPECT_LE(recv(fd, &c, 1, 0), 0);
    close(fd);
  }
}

TEST(Stranger, GarbageAfterATlsOpeningIsRefused) {
  Fixture f;
  StrangerServer s(f);
  std::mt19937 random(9);
  for (int i = 0; i < 100; ++i) {
    std::string bytes("\x16\x03\x01\x01\x90", 5);
    for (int j = 0; j < 400; ++j) bytes += static_cast<char>(random());
    s.refused = 0;
    int fd = raw_tcp(s.listener->port());
    ASSERT_GT(send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL), 0);
    shutdown(fd, SHUT_WR);
    f.run();
    EXPECT_EQ(s.last.code, Errc::kAuthFailed);
    close(fd);
  }
}

TEST(Stranger, SilentAndDrippingPeersAreDroppedInTime) {
  Fixture f;
  Limits limits;
  limits.handshake = milliseconds(80);
  StrangerServer s(f, limits);
  s.expected = 3;
  int silent = raw_tcp(s.listener->port()), http = raw_tcp(s.listener->port()), drip = raw_tcp(s.listener->port());
  send(http, "GE", 2, MSG_NOSIGNAL);
  std::string hello("\x16\x03\x01\x02\0\x01", 6);
  size_t next = 0;
  std::unique_ptr<Loop::Timer> timer;
  std::function<void()> drop = [&] {
    char byte = next < hello.size() ? hello[next] : '\x01';
    ++next;
    send(drip, &byte, 1, MSG_NOSIGNAL);
    timer = f.loop.after(milliseconds(5), drop);
  };
  drop();
  Duration begin = Loop::monotonic();
  f.run();
  EXPECT_LT(Loop::monotonic() - begin, seconds(2));
  EXPECT_EQ(s.last.code, Errc::kTimedOut);
  for (int fd : {silent, http, drip}) close(fd);
}

// They would keep their places for a minute: whoever comes next gets one nevertheless, and the log one line.
TEST(Stranger, AFloodOfThemLeavesRoomForThoseWhoProveThemselves) {
  Fixture f;
  Limits limits;
  limits.unauthenticated = 8;
  limits.handshake = minutes(1);
  ChannelPtr in;
  auto l = listen_tcp(
      f.loop, "127.0.0.1", 0, slurm_key(), [&](ChannelPtr c) { in = std::move(c); }, limits);
  ASSERT_TRUE(l);
  int told = 0;
  (*l)->on_refused([&](const std::string&, const Error&) { ++told; });
  std::vector<int> flood;
  for (int i = 0; i < 30; ++i) flood.push_back(raw_tcp((*l)->port()));
  auto c = connect_and_wait(f, (*l)->port(), slurm_key());
  EXPECT_TRUE(c);
  EXPECT_EQ(told, 1);
  for (int fd : flood) close(fd);
}

int tcp_from(const char* source, uint16_t port) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in a{};
  a.sin_family = AF_INET;
  inet_pton(AF_INET, source, &a.sin_addr);
  EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&a), sizeof a), 0);
  inet_pton(AF_INET, "127.0.0.1", &a.sin_addr);
  a.sin_port = htons(port);
  EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&a), sizeof a), 0);
  return fd;
}

// Also where the others came before it.
TEST(Stranger, AHostWithManyTakesThePlacesOfItsOwn) {
  Fixture f;
  Limits limits;
  limits.unauthenticated = 8;
  limits.handshake = minutes(1);
  auto l = listen_tcp(
      f.loop, "127.0.0.1", 0, slurm_key(), [](const ChannelPtr&) {}, limits);
  ASSERT_TRUE(l);
  std::vector<int> few, many;
  for (int i = 0; i < 3; ++i) few.push_back(tcp_from("127.0.0.2", (*l)->port()));
  for (int i = 0; i < 40; ++i) many.push_back(tcp_from("127.0.0.3", (*l)->port()));
  int ended = 0;
  std::vector<std::unique_ptr<Loop::Watch>> watches;
  for (int fd : many)
    watches.push_back(f.loop.watch(fd, [&, fd] {
      watches[static_cast<size_t>(std::ranges::find(many, fd) - many.begin())]->pause_read(true);
      if (++ended == 35) f.loop.stop();
    }));
  for (int fd : few) watches.push_back(f.loop.watch(fd, [] { ADD_FAILURE() << "one of the few was dropped"; }));
  f.run();
  watches.clear();
  for (int fd : few) close(fd);
  for (int fd : many) close(fd);
}

TEST(Stranger, HttpGoesToItsHandlerWithTheBytesRead) {
  Fixture f;
  Echo echo(f);
  uint16_t port = echo.listen(slurm_key());
  std::string seen;
  echo.tcp->on_http([&](int fd, std::string first, std::string address) {
    EXPECT_EQ(address.substr(0, 10), "127.0.0.1:");
    seen = first;
    send(fd, "HTTP/1.1 200 OK\r\n\r\n", 19, MSG_NOSIGNAL);
    close(fd);
    f.loop.stop();
  });
  int fd = raw_tcp(port);
  std::string request = "GET /healthz HTTP/1.1\r\n\r\n";
  ASSERT_GT(send(fd, request.data(), request.size(), MSG_NOSIGNAL), 0);
  f.run();
  EXPECT_EQ(seen, request);
  char buffer[100];
  EXPECT_EQ(recv(fd, buffer, sizeof buffer, MSG_WAITALL), 19);
  close(fd);
  EXPECT_TRUE(connect_and_wait(f, port, slurm_key()));
}

// ---- many
// -----------------------------------------------------------------------------------------------------------------

TEST(Many, TwoThousandConnectionsAtOnce) {
  Fixture f;
  Echo echo(f);
  uint16_t port = echo.listen(slurm_key());
  constexpr int kCount = 2000;
  std::vector<ChannelPtr> clients;
  int answered = 0, failed = 0;
  for (int i = 0; i < kCount; ++i)
    connect_tcp(f.loop, "127.0.0.1", port, slurm_key(), seconds(60), [&](Result<ChannelPtr> r) {
      if (!r) {
        ++failed;
        ADD_FAILURE() << r.error().message() << r.error().hint;
        return f.loop.stop();
      }
      clients.push_back(*r);
      (*r)->request(1, "here", seconds(60), [&](Result<Frame> a) {
        EXPECT_TRUE(a && a->payload == "here");
        if (++answered == kCount) f.loop.stop();
      });
    });
  f.run(seconds(60));
  EXPECT_EQ(answered, kCount);
  EXPECT_EQ(echo.channels.size(), static_cast<size_t>(kCount));
}

}  // namespace
}  // namespace muster::net

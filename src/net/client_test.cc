// The blocking client of the commands: where it connects, how it retries, what it says when it cannot.
#include "net/client.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "net/test_support.h"

namespace muster::net {
namespace {

using test::Background;
using test::Echo;
using test::Fixture;
using test::TempDir;

// Answers by message number: 1 echoes, 2 streams, 3 sends notices first, 4 never, 5 an error, 6 closes.
void serve(Channel& c, Frame q) {
  switch (q.message) {
    case 1: return c.answer(q.id, 1, std::move(q.payload));
    case 2:
      for (int i = 0; i < 1000; ++i) c.answer_part(q.id, 2, std::string(1000, static_cast<char>('a' + i % 26)));
      return c.answer(q.id, 2, "end");
    case 3:
      for (int i = 0; i < 3; ++i) c.notify(30, std::to_string(i));
      return c.answer(q.id, 3, "");
    case 5: return c.answer_error(q.id, Error(Errc::kInvalidJobId, "job 7 is unknown", "look in sacct"));
    case 6: return c.close();
    case 7: c.answer_part(q.id, 7, "taken"); [[fallthrough]];
    case 8: return c.answer_error(0, Error(Errc::kTryAgainLater, "no more room", "try again later"));
    default: return;
  }
}

struct Server {
  explicit Server(Security security = test::slurm_key(), Echo::Handler handler = serve)
      : background([&](Fixture& f) {
          auto echo = std::make_shared<Echo>(f, handler);
          path = echo->path();
          port = echo->listen(security);
          return echo;
        }) {}
  std::string path;
  uint16_t port = 0;
  Background background;
};

ClientOptions over_unix(const Server& s) {
  ClientOptions o;
  o.agent_sockets = {s.path};
  o.trusted_uids = {getuid()};
  return o;
}

ClientOptions over_tcp(const Server& s) {
  ClientOptions o;
  o.controllers = {{"127.0.0.1", s.port}};
  o.security = test::slurm_key();
  return o;
}

void check_everything(Client& c) {
  auto a = c.request(1, "hello", seconds(5));
  ASSERT_TRUE(a) << a.error().message() << a.error().hint;
  EXPECT_EQ(a->payload, "hello");
  std::string big(5u << 20, 'b');
  a = c.request(1, big, seconds(10));
  ASSERT_TRUE(a);
  EXPECT_TRUE(a->payload == big);

  size_t bytes = 0;
  a = c.request_stream(2, "", seconds(5), [&](std::string_view part) {
    bytes += part.size();
    return Result<>();
  });
  ASSERT_TRUE(a);
  EXPECT_EQ(a->payload, "end");
  EXPECT_EQ(bytes, 1000000u);

  ASSERT_TRUE(c.request(3, "", seconds(5)));
  for (int i = 0; i < 3; ++i) {
    auto n = c.next_notice(seconds(5));
    ASSERT_TRUE(n && *n);
    EXPECT_EQ((*n)->payload, std::to_string(i));
  }
  auto none = c.next_notice(Duration{});
  EXPECT_TRUE(none && !*none);

  a = c.request(5, "", seconds(5));
  ASSERT_FALSE(a);
  EXPECT_EQ(a.error(), Error(Errc::kInvalidJobId, "job 7 is unknown", "look in sacct"));
}

TEST(Client, OverAnAgentSocket) {
  Server s;
  auto c = connect_client(over_unix(s));
  ASSERT_TRUE(c) << c.error().hint;
  EXPECT_EQ((*c)->peer().uid.value, getuid());
  check_everything(**c);
}

TEST(Client, OverTcpWithTheClusterKey) {
  Server s;
  auto c = connect_client(over_tcp(s));
  ASSERT_TRUE(c) << c.error().message() << c.error().hint;
  EXPECT_EQ((*c)->peer().trust, Trust::kClusterKey);
  check_everything(**c);
}

TEST(Client, GoesOnToTheNextPlaceWhenNobodyListens) {
  Server s;
  ClientOptions o = over_tcp(s);
  o.agent_sockets = {"/nonexistent/socket"};
  uint16_t closed_port;
  {
    Result<UniqueFd> fd = bind_tcp("127.0.0.1", 0);
    ASSERT_TRUE(fd);
    sockaddr_storage a{};
    socklen_t n = sizeof a;
    getsockname(fd->get(), reinterpret_cast<sockaddr*>(&a), &n);
    std::string text = address_text(a);
    closed_port = static_cast<uint16_t>(std::stoi(text.substr(text.find(':') + 1)));
  }
  o.controllers.insert(o.controllers.begin(), {"127.0.0.1", closed_port});
  o.controllers.insert(o.controllers.begin(), {"no-such-host.invalid", 1});
  auto c = connect_client(o);
  ASSERT_TRUE(c) << c.error().hint;
  EXPECT_TRUE((*c)->request(1, "", seconds(5)));
}

// As a daemon after SIGSTOP: its socket listens, and nobody takes what comes.
TEST(Client, TurnsFromADaemonThatHangsToTheNextPlace) {
  Server s(test::slurm_key(), [](Channel& c, Frame q) { c.answer(q.id, q.message, ""); });
  test::TempDir dir;
  const std::string hung = dir.path() + "/hung.sock";
  Result<UniqueFd> listener = bind_agent_socket(hung);
  ASSERT_TRUE(listener);
  ClientOptions o = over_unix(s);
  o.agent_sockets.insert(o.agent_sockets.begin(), hung);
  o.agent_answers_in = milliseconds(50);
  auto c = connect_client(o);
  ASSERT_TRUE(c) << c.error().hint;
  EXPECT_TRUE((*c)->request(1, "", seconds(5)));
  o.agent_sockets = {hung};
  c = connect_client(o);
  ASSERT_FALSE(c);
  EXPECT_EQ(c.error().code, Errc::kConnectFailed) << "as if nobody listened: the next place is tried";
  EXPECT_NE(c.error().hint.find("answers nothing"), std::string::npos) << c.error().hint;
}

TEST(Client, NobodyAnywhereIsTheConnectFailureThatToolsKnow) {
  ClientOptions o;
  o.agent_sockets = {"/nonexistent/socket"};
  o.controllers = {{"127.0.0.1", 1}};
  o.security = test::slurm_key();
  auto c = connect_client(o);
  ASSERT_FALSE(c);
  EXPECT_EQ(c.error().code, Errc::kConnectFailed);
  EXPECT_EQ(c.error().message(), "Unable to contact slurm controller (connect failure)");
  EXPECT_EQ(c.error().hint, "/nonexistent/socket: No such file or directory; 127.0.0.1:1: Connection refused");
  c = connect_client({});
  ASSERT_FALSE(c);
  EXPECT_EQ(c.error().code, Errc::kConnectFailed);
  o.security = {};
  c = connect_client(o);
  ASSERT_FALSE(c);
  EXPECT_NE(c.error().hint.find("no cluster key"), std::string::npos);
}

TEST(Client, RetriesUntilTheListenerAppears) {
  TempDir dir;
  std::string path = dir.path() + "/later";
  // Appears after 30 ms of the other loop's time.
  Background server([&](Fixture& f) {
    struct State {
      std::unique_ptr<Loop::Timer> timer;
      std::unique_ptr<Listener> listener;
      std::set<ChannelPtr> channels;
    };
    auto state = std::make_shared<State>();
    state->timer = f.loop.after(milliseconds(30), [&f, path, s = state.get()] {
      auto l = listen_unix(f.loop, path, [s](ChannelPtr c) {
        c->on_request = [raw = c.get()](Frame q) { serve(*raw, std::move(q)); };
        s->channels.insert(std::move(c));
      });
      ASSERT_TRUE(l);
      s->listener = std::move(*l);
    });
    return state;
  });
  ClientOptions o;
  o.agent_sockets = {path};
  o.trusted_uids = {getuid()};
  o.patience = seconds(10);
  Duration begin = Loop::monotonic();
  auto c = connect_client(o);
  Duration took = Loop::monotonic() - begin;
  ASSERT_TRUE(c);
  EXPECT_TRUE((*c)->request(1, "", seconds(5)));
  EXPECT_LT(took, o.patience);
}

TEST(Client, PatienceEnds) {
  ClientOptions o;
  o.agent_sockets = {"/nonexistent/socket"};
  o.patience = milliseconds(60);
  Duration begin = Loop::monotonic();
  auto c = connect_client(o);
  ASSERT_FALSE(c);
  EXPECT_GE(Loop::monotonic() - begin, milliseconds(60));
  EXPECT_LT(Loop::monotonic() - begin, seconds(5));
}

TEST(Client, AnotherKeyIsRefusedClearlyAndAtOnce) {
  Server s;
  ClientOptions o = over_tcp(s);
  o.security = test::slurm_key(std::string(32, 'x'));
  o.patience = seconds(20);
  Duration begin = Loop::monotonic();
  auto c = connect_client(o);
  ASSERT_FALSE(c);
  EXPECT_EQ(c.error().code, Errc::kAuthFailed);
  EXPECT_EQ(c.error().message(), "the peer has another cluster key, or none");
  EXPECT_LT(Loop::monotonic() - begin, seconds(5));
}

// Listeners whose queues are full let everybody wait: several together take no longer than one may.
TEST(Client, AllAttemptsTogetherTakeNoLongerThanWasSaid) {
  TempDir dir;
  ClientOptions o;
  std::vector<UniqueFd> kept;
  for (const char* name : {"/a", "/b", "/c"}) {
    const std::string path = dir.path() + name;
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::copy(path.begin(), path.end(), address.sun_path);
    kept.emplace_back(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(bind(kept.back().get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    ASSERT_EQ(listen(kept.back().get(), 0), 0);
    for (int i = 0; i < 2; ++i) {
      UniqueFd fill(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
      (void)connect(fill.get(), reinterpret_cast<sockaddr*>(&address), sizeof address);
      kept.push_back(std::move(fill));
    }
    o.agent_sockets.push_back(path);
  }
  o.timeout = milliseconds(300);
  o.in_all = milliseconds(300);
  const Duration began = Loop::monotonic();
  EXPECT_FALSE(connect_client(o));
  EXPECT_LT(Loop::monotonic() - began, milliseconds(650));
}

TEST(Client, AnAgentSocketOfAStrangerIsNotBelieved) {
  if (getuid() != 0) GTEST_SKIP() << "needs root to own a socket as another user";
  Server s;
  TempDir dir;
  ASSERT_EQ(chmod(dir.path().c_str(), 0777), 0);
  std::string path = dir.path() + "/s";
  int ready[2], done[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(done), 0);
  pid_t child = fork();
  if (child == 0) {  // only system calls: other threads may hold locks
    if (setgid(65534) != 0 || setuid(65534) != 0) _exit(1);
    Result<UniqueFd> fd = bind_unix(path);
    char byte = fd ? 'y' : 'n';
    if (write(ready[1], &byte, 1) != 1 || read(done[0], &byte, 1) < 0) _exit(1);
    _exit(0);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  ASSERT_EQ(byte, 'y');
  ClientOptions o;
  o.agent_sockets = {path};
  auto c = connect_client(o);
  ASSERT_FALSE(c);
  EXPECT_EQ(c.error().code, Errc::kAuthFailed);
  EXPECT_NE(c.error().hint.find("uid 65534"), std::string::npos);
  o.trusted_uids = {65534};
  EXPECT_TRUE(connect_client(o));
  ASSERT_EQ(write(done[1], "x", 1), 1);
  int status = 0;
  waitpid(child, &status, 0);
  for (int fd : {ready[0], ready[1], done[0], done[1]}) close(fd);
}

TEST(Client, SilenceIsATimeoutAndTheConnectionLivesOn) {
  Server s;
  auto c = connect_client(over_unix(s));
  ASSERT_TRUE(c);
  auto a = (*c)->request(4, "", milliseconds(20));
  ASSERT_FALSE(a);
  EXPECT_EQ(a.error().code, Errc::kTimedOut);
  a = (*c)->request(1, "still here", seconds(5));
  ASSERT_TRUE(a);
  EXPECT_EQ(a->payload, "still here");
}

TEST(Client, TheEndOfThePeerIsAReceiveFailureAndEverythingAfterFails) {
  Server s;
  for (const ClientOptions& o : {over_unix(s), over_tcp(s)}) {
    auto c = connect_client(o);
    ASSERT_TRUE(c);
    auto a = (*c)->request(6, "", seconds(5));
    ASSERT_FALSE(a);
    EXPECT_EQ(a.error().code, Errc::kReceiveFailed);
    EXPECT_EQ(a.error().message(), "Unable to contact slurm controller (receive failure)");
    a = (*c)->request(1, "", seconds(5));
    ASSERT_FALSE(a);
    EXPECT_EQ(a.error().code, Errc::kSendFailed);
  }
}

// A killed daemon leaves requests that it never read: those may be sent again without harm, and the command has to know.
TEST(Client, ARequestThatALostDaemonHadNotReadIsASendFailure) {
  TempDir dir;
  for (const size_t read_before : {0, 1, 40}) {
    const std::string path = dir.path() + "/" + std::to_string(read_before);
    UniqueFd listener = bind_unix(path).value();
    ClientOptions o;
    o.agent_sockets = {path};
    o.trusted_uids = {getuid()};
    auto c = connect_client(o);
    ASSERT_TRUE(c);
    std::thread daemon([&] {
      pollfd p{listener.get(), POLLIN, 0};
      poll(&p, 1, 5000);
      if (read_before == 0) return listener.reset();  // it goes before it has accepted
      UniqueFd accepted(accept(listener.get(), nullptr, nullptr));
      std::vector<char> bytes(read_before);
      recv(accepted.get(), bytes.data(), bytes.size(), MSG_WAITALL);
    });
    auto a = (*c)->request(1, std::string(100, 'x'), seconds(5));
    daemon.join();
    ASSERT_FALSE(a);
    EXPECT_EQ(a.error().code, Errc::kSendFailed) << read_before;
  }
}

// What is answered in part was taken: a job that was made is not to be made twice, no row printed twice.
TEST(Client, IsTurnedAwayOnlyWithNothingOfItsAnswer) {
  Server s;
  for (const ClientOptions& o : {over_unix(s), over_tcp(s)}) {
    auto c = connect_client(o);
    ASSERT_TRUE(c);
    auto a = (*c)->request(8, "", seconds(5));
    ASSERT_FALSE(a);
    EXPECT_EQ(a.error().code, Errc::kTryAgainLater);
    EXPECT_TRUE((*c)->turned_away());
    c = connect_client(o);
    ASSERT_TRUE(c);
    a = (*c)->request(7, "", seconds(5));
    ASSERT_FALSE(a);
    EXPECT_EQ(a.error(), Error(Errc::kReceiveFailed, "no more room", "try again later"));
    EXPECT_FALSE((*c)->turned_away());
  }
}

TEST(Client, APartsErrorEndsTheStream) {
  Server s;
  auto c = connect_client(over_unix(s));
  ASSERT_TRUE(c);
  int parts = 0;
  auto a = (*c)->request_stream(2, "", seconds(5), [&](std::string_view) -> Result<> {
    if (++parts == 3) return fail(Errc::kIo, "stdout is closed");
    return {};
  });
  ASSERT_FALSE(a);
  EXPECT_EQ(a.error().text, "stdout is closed");
  EXPECT_TRUE((*c)->request(1, "", seconds(5)));
}

}  // namespace
}  // namespace muster::net

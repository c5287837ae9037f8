// AuthType=auth/munge, with a munged of the test's own: who gets in over TCP, and credentials.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "net/bounded_calls.h"
#include "net/client.h"
#include "net/credential.h"
#include "net/handshake.h"
#include "net/test_support.h"

namespace muster::net {
namespace {

using test::ask;
using test::Background;
using test::Child;
using test::connect_and_wait;
using test::Echo;
using test::Fixture;
using test::slurm_key;
using test::TempDir;

// A munged of our own: key, socket and everything else in a temporary directory.
class Munge : public ::testing::Test {
 protected:
  void SetUp() override {
    if (access("/usr/sbin/munged", X_OK) != 0) GTEST_SKIP() << "munged is not installed";
    ASSERT_EQ(chmod(dir_.path().c_str(), 0755), 0);
    std::string key = dir_.path() + "/key";
    int fd = open(key.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    std::string bytes(1024, 'm');
    ASSERT_EQ(write(fd, bytes.data(), bytes.size()), 1024);
    close(fd);
    std::vector<std::string> args = {"munged",
                                     "--foreground",
                                     "--force",
                                     "--key-file=" + key,
                                     "--socket=" + socket(),
                                     "--pid-file=" + dir_.path() + "/pid",
                                     "--log-file=" + dir_.path() + "/log",
                                     "--seed-file=" + dir_.path() + "/seed"};
    std::vector<char*> argv;
    for (std::string& a : args) argv.push_back(a.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    pid_t pid = 0;
    ASSERT_EQ(posix_spawn(&pid, "/usr/sbin/munged", &actions, nullptr, argv.data(), environ), 0);
    munged_ = Child(pid);
    posix_spawn_file_actions_destroy(&actions);
    wait_until_it_answers();
  }
  void wait_until_it_answers() {
    Result<Address> a = unix_address(socket());
    ASSERT_TRUE(a);
    for (Duration end = Loop::monotonic() + seconds(10); Loop::monotonic() < end;) {
      UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
      if (connect(fd.get(), a->get(), a->size) == 0) return;
      ASSERT_TRUE(munged_.running()) << "munged did not start";
      poll(nullptr, 0, 5);
    }
    FAIL() << "munged does not answer";
  }
  std::string socket() const { return dir_.path() + "/socket"; }
  Security security() const {
    Security s;
    s.kind = Security::Kind::kMunge;
    s.munge_socket = socket();
    s.trusted_uids = {getuid()};
    return s;
  }

  TempDir dir_;  // goes after its munged
  Child munged_;
};

TEST_F(Munge, TellsBothSidesWhoTheOtherIs) {
  Fixture f;
  Echo echo(f);
  uint16_t port = echo.listen(security());
  auto c = connect_and_wait(f, port, security());
  ASSERT_TRUE(c) << c.error().message() << c.error().hint;
  EXPECT_EQ((*c)->peer().trust, Trust::kMungeUser);
  EXPECT_EQ((*c)->peer().uid.value, getuid());
  EXPECT_EQ(ask(f, **c, "hello"), "hello");
  ASSERT_EQ(echo.channels.size(), 1u);
  EXPECT_EQ((*echo.channels.begin())->peer().uid.value, getuid());
  EXPECT_EQ((*echo.channels.begin())->peer().gid.value, getgid());
}

TEST_F(Munge, ServesTheBlockingClient) {
  uint16_t port = 0;
  Background server([&](Fixture& f) {
    auto echo = std::make_shared<Echo>(f);
    port = echo->listen(security());
    return echo;
  });
  ClientOptions o;
  o.controllers = {{"127.0.0.1", port}};
  o.security = security();
  auto c = connect_client(o);
  ASSERT_TRUE(c) << c.error().message() << c.error().hint;
  auto a = (*c)->request(1, "hello", seconds(5));
  ASSERT_TRUE(a);
  EXPECT_EQ(a->payload, "hello");
}

TEST_F(Munge, ACapturedClaimIsWorthNothingOnAnotherConnection) {
  auto prover = make_prover(security());
  ASSERT_TRUE(prover);
  std::string hello, proof, claim, out;
  auto client = (*prover)->client(), first = (*prover)->server(), second = (*prover)->server();
  ASSERT_TRUE(client->advance({}, hello));
  ASSERT_TRUE(first->advance(hello, proof));
  ASSERT_TRUE(client->advance(proof, claim));
  ASSERT_FALSE(claim.empty());
  // The thief opens a connection with the same hello and presents the claim before its owner does.
  ASSERT_TRUE(second->advance(hello, out));
  out.clear();
  auto stolen = second->advance(claim, out);
  ASSERT_FALSE(stolen);
  EXPECT_EQ(stolen.error().code, Errc::kAuthFailed);
  EXPECT_NE(stolen.error().text.find("another connection"), std::string::npos);
}

TEST_F(Munge, AServerOfAnUntrustedUserLearnsNothing) {
  if (getuid() != 0) GTEST_SKIP() << "needs root to run a server as another user";
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  pid_t child = fork();
  if (child == 0) {
    if (setgid(65534) != 0 || setuid(65534) != 0) _exit(1);
    Loop loop;
    auto l = listen_tcp(loop, "127.0.0.1", 0, security(), [](ChannelPtr) { _exit(7); });
    uint16_t port = l ? (*l)->port() : 0;
    if (l) (*l)->on_refused([](const std::string&, const Error&) { _exit(0); });
    if (write(ready[1], &port, sizeof port) != sizeof port) _exit(1);
    loop.run();
  }
  uint16_t port = 0;
  ASSERT_EQ(read(ready[0], &port, sizeof port), static_cast<ssize_t>(sizeof port));
  Fixture f;
  auto c = connect_and_wait(f, port, security());
  ASSERT_FALSE(c);
  EXPECT_EQ(c.error().code, Errc::kAuthFailed);
  EXPECT_NE(c.error().text.find("uid 65534"), std::string::npos);
  int status = Child(child).wait();
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  close(ready[0]);
  close(ready[1]);
}

TEST_F(Munge, CredentialsAreReadByEveryNodeAndNoAlteredOneIs) {
  auto text = sign_credential(security(), "job 7 of uid 1000");
  ASSERT_TRUE(text) << text.error().message();
  for (int node = 0; node < 2; ++node) {
    auto content = verify_credential(security(), *text);
    ASSERT_TRUE(content) << content.error().message();
    EXPECT_EQ(*content, "job 7 of uid 1000");
  }
  std::string other = *text;
  other.back() ^= 1;
  EXPECT_EQ(verify_credential(security(), other).error().text, "the credential was altered");
  for (size_t size = 0; size < text->size(); ++size) EXPECT_FALSE(verify_credential(security(), text->substr(0, size))) << size;
  EXPECT_FALSE(verify_credential(slurm_key(), *text));
  EXPECT_FALSE(verify_credential(security(), "A" + std::string(64, 'x') + "job 7 of uid 1000"));
}

TEST_F(Munge, ACredentialThatAUserMadeIsNone) {
  if (getuid() != 0) GTEST_SKIP() << "needs root to become another user";
  int made[2];
  ASSERT_EQ(pipe(made), 0);
  pid_t child = fork();
  if (child == 0) {
    if (setgid(65534) != 0 || setuid(65534) != 0) _exit(1);
    auto text = sign_credential(security(), "job 7 of uid 1000");
    _exit(text && write(made[1], text->data(), text->size()) == static_cast<ssize_t>(text->size()) ? 0 : 1);
  }
  int status = Child(child).wait();
  ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  char bytes[4096];
  const ssize_t size = read(made[0], bytes, sizeof bytes);
  ASSERT_GT(size, 0);
  auto content = verify_credential(security(), std::string_view(bytes, static_cast<size_t>(size)));
  ASSERT_FALSE(content);
  EXPECT_NE(content.error().text.find("uid 65534"), std::string::npos);
  close(made[0]);
  close(made[1]);
}

TEST_F(Munge, TheTwoKindsOfSecurityDoNotMixAndSayWhy) {
  Fixture f;
  Echo munge(f), key(f);
  uint16_t munge_port = munge.listen(security()), key_port = key.listen(slurm_key());
  auto c = connect_and_wait(f, key_port, security());
  ASSERT_FALSE(c);
  EXPECT_EQ(c.error().code, Errc::kAuthFailed);
  EXPECT_EQ(c.error().text, "the peer refused: this cluster uses AuthType=auth/slurm");
  c = connect_and_wait(f, munge_port, slurm_key());
  ASSERT_FALSE(c);
  EXPECT_EQ(c.error().code, Errc::kAuthFailed);
}

TEST_F(Munge, ADeadMungedIsSaidAtOnce) {
  Fixture f;
  Security s = security();
  s.munge_socket = dir_.path() + "/nobody";
  Echo echo(f);
  uint16_t port = echo.listen(s);
  Duration begin = Loop::monotonic();
  auto c = connect_and_wait(f, port, security());
  ASSERT_FALSE(c);
  EXPECT_EQ(c.error().code, Errc::kAuthFailed);
  EXPECT_NE(c.error().text.find("munged does not answer"), std::string::npos);
  EXPECT_LT(Loop::monotonic() - begin, seconds(2));
}

TEST_F(Munge, AStoppedMungedHoldsADaemonUpForItsPatienceAlone) {
  Security s = security();
  ASSERT_TRUE(sign_credential(s, "x"));  // libmunge is loaded by the first, however long that takes
  s.calls = std::make_shared<BoundedCalls>(CallFigures{.patience = milliseconds(50)});
  munged_.signal(SIGSTOP);
  for (int i = 0; i < 2; ++i) {  // the second is not begun
    auto text = sign_credential(s, "x");
    ASSERT_FALSE(text);
    EXPECT_EQ(text.error().text, "munged does not answer on " + socket());
  }
  munged_.signal(SIGCONT);
  Result<std::string> text = sign_credential(s, "x");
  for (Duration end = Loop::monotonic() + seconds(20); !text && Loop::monotonic() < end; text = sign_credential(s, "x"))
    poll(nullptr, 0, 5);
  EXPECT_TRUE(text) << text.error().message();
}

TEST_F(Munge, EveryChangedByteOfTheDialogueFails) {
  auto prover = make_prover(security());
  ASSERT_TRUE(prover);
  auto claims_after_flip = [&](size_t place, char mask) {
    auto client = (*prover)->client(), server = (*prover)->server();
    std::string hello, proof, out;
    EXPECT_TRUE(client->advance({}, hello));
    EXPECT_TRUE(server->advance(hello, proof));
    proof[place % proof.size()] ^= mask;
    // Either refused, or waiting for the rest that a larger length promises: never a claim.
    auto r = client->advance(proof, out);
    return r && out.find(std::string("MUSTER\x01\x03", 8)) != std::string::npos;
  };
  EXPECT_TRUE(claims_after_flip(0, 0));
  for (size_t place = 0; place < 260; place += 3) EXPECT_FALSE(claims_after_flip(place, 0x20)) << place;
}

}  // namespace
}  // namespace muster::net

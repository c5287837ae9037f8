#include "os/errand.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <cstring>

namespace muster::os {
namespace {

const Credentials kNobody{Uid{65534}, Gid{65533}, {65533, 4321}};
constexpr Duration kPatience = seconds(20);

bool root() { return geteuid() == 0; }
std::optional<Credentials> nobody_or_us() { return root() ? std::optional(kNobody) : std::nullopt; }

// A unix socket that listens, with room for so many who wait.
struct ListeningSocket {
  explicit ListeningSocket(const std::string& path, int backlog = 8) {
    auto& un = reinterpret_cast<sockaddr_un&>(address);
    un.sun_family = AF_UNIX;
    strncpy(un.sun_path, path.c_str(), sizeof un.sun_path - 1);
    fd.reset(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(bind(fd.get(), reinterpret_cast<sockaddr*>(&un), size), 0) << strerror(errno);
    EXPECT_EQ(listen(fd.get(), backlog), 0);
    chmod(path.c_str(), 0777);
  }
  Fd fd;
  sockaddr_storage address{};
  socklen_t size = sizeof(sockaddr_un);
};

struct ErrandTest : testing::Test {
  ErrandTest() { chmod(dir.path().c_str(), 0777); }
  TempDir dir = *TempDir::create("muster-errand-", "/tmp");
  std::string at(std::string_view name) { return dir.path() + "/" + std::string(name); }
  struct stat stat_of(const std::string& path) {
    struct stat st {};
    EXPECT_EQ(lstat(path.c_str(), &st), 0) << path;
    return st;
  }
};

TEST_F(ErrandTest, WhoeverIsAtTheOtherEndSeesTheUser) {
  if (!root()) GTEST_SKIP() << "only root may act as another user";
  ListeningSocket there(at("sock"));
  Errand e;
  const size_t connected = e.connect(there.address, there.size, "there");
  ASSERT_TRUE(e.start(kNobody));
  ASSERT_TRUE(e.over_within(kPatience));
  auto ours = e.take(connected);
  ASSERT_TRUE(ours) << ours.error().message();
  Fd theirs(accept(there.fd.get(), nullptr, nullptr));
  ucred peer{};
  socklen_t size = sizeof peer;
  ASSERT_EQ(getsockopt(theirs.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size), 0);
  EXPECT_EQ(peer.uid, 65534u);
  EXPECT_EQ(peer.gid, 65533u);
  ASSERT_EQ(write(ours->get(), "hello", 5), 5) << "the connection outlives the errand";
  char text[8] = {};
  EXPECT_EQ(read(theirs.get(), text, sizeof text), 5);
  EXPECT_TRUE(fcntl(ours->get(), F_GETFL) & O_NONBLOCK);
  EXPECT_TRUE(fcntl(ours->get(), F_GETFD) & FD_CLOEXEC);
}

TEST_F(ErrandTest, FilesAreTheUsersWithTheirParents) {
  Errand e;
  const size_t out = e.open_output(at("new/deep/job.out"), {.make_parents = true, .mode = 0640});
  const size_t none = e.open_input(at("none"));
  const size_t denied = e.open_output("/proc/none/x", {.make_parents = true});
  ASSERT_TRUE(e.start(nobody_or_us()));
  ASSERT_TRUE(e.over_within(kPatience));
  auto fd = e.take(out);
  ASSERT_TRUE(fd) << fd.error().message();
  ASSERT_TRUE(write_all(fd->get(), "x"));
  const struct stat st = stat_of(at("new/deep/job.out"));
  EXPECT_EQ(st.st_mode & 0777, 0640u);
  EXPECT_EQ(stat_of(at("new")).st_mode & 0022, 0u) << "the umask holds for directories";
  if (root()) {
    EXPECT_EQ(st.st_uid, 65534u);
    EXPECT_EQ(st.st_gid, 65533u);
    EXPECT_EQ(stat_of(at("new/deep")).st_uid, 65534u);
  }
  EXPECT_EQ(e.take(none).error().message(), at("none") + ": No such file or directory");
  EXPECT_EQ(e.take(denied).error().message(), "mkdir /proc/none: No such file or directory");
}

TEST_F(ErrandTest, RootsRightsAreNotTheUsers) {
  if (!root()) GTEST_SKIP() << "only root may act as another user";
  ASSERT_TRUE(write_file_atomic(at("secret"), "s", 0600));
  ASSERT_TRUE(write_file_atomic(at("group"), "g", 0640));
  ASSERT_EQ(chown(at("group").c_str(), 0, 4321), 0);
  Errand e;
  const size_t secret = e.open_input(at("secret")), group = e.open_input(at("group"));
  const size_t over = e.open_output(at("secret"), {});
  ASSERT_TRUE(e.start(kNobody));
  ASSERT_TRUE(e.over_within(kPatience));
  EXPECT_EQ(e.take(secret).error().code, Errc::kAccessDenied);
  EXPECT_EQ(e.take(over).error().code, Errc::kAccessDenied);
  EXPECT_TRUE(e.take(group)) << "through a supplementary group";
  EXPECT_EQ(*read_file(at("secret")), "s");
  uid_t r, eff, s;
  ASSERT_EQ(getresuid(&r, &eff, &s), 0);
  EXPECT_EQ(r + eff + s, 0u) << "we are who we were";
}

// A listener whose backlog is full: connect(2) waits there for as long as it likes.
TEST_F(ErrandTest, WhatNobodyAnswersIsGivenUp) {
  ListeningSocket full(at("sock"), 0);
  std::vector<Fd> waiting;
  for (int i = 0; i < 8; ++i) {
    Fd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (::connect(fd.get(), reinterpret_cast<sockaddr*>(&full.address), full.size) < 0) break;
    waiting.push_back(std::move(fd));
  }
  Errand e;
  const size_t first = e.open_output(at("first"), {}), stuck = e.connect(full.address, full.size, "there");
  ASSERT_TRUE(e.start(nobody_or_us()));
  EXPECT_FALSE(e.over_within(milliseconds(50)));
  const pid_t pid = e.pid();
  ::kill(pid, SIGSTOP);  // as its user may
  e.end();
  EXPECT_LT(::kill(pid, 0), 0) << "it is gone, and reaped";
  EXPECT_EQ(e.take(stuck).error().code, Errc::kTimedOut);
  EXPECT_TRUE(e.take(first)) << "what it had done is done";
}

TEST_F(ErrandTest, IsNoChildToThoseWhoCountChildren) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  Fd reading(ends[0]), writing(ends[1]);
  Fd file(open(at("copy").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0666));
  Errand e;
  e.copy(reading.get(), file.get());
  ASSERT_TRUE(e.start(nobody_or_us()));
  siginfo_t info{};
  EXPECT_LT(waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT), 0) << "no child";
  ASSERT_TRUE(write_all(writing.get(), std::string(300000, 'x')));
  EXPECT_FALSE(e.over());
  writing.reset();
  ASSERT_TRUE(e.over_within(kPatience));
  EXPECT_EQ(stat_of(at("copy")).st_size, 300000);
}

TEST_F(ErrandTest, WritesAllOfATextAndSurvivesAReaderThatLeaves) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  Fd writing(ends[1]);
  close(ends[0]);
  Fd file(open(at("text").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0666));
  Errand e;
  const size_t broken = e.write(writing.get(), "nobody reads"), whole = e.write(file.get(), "a line\n");
  ASSERT_TRUE(e.start(nobody_or_us()));
  ASSERT_TRUE(e.over_within(kPatience));
  EXPECT_FALSE(e.take(broken));
  EXPECT_TRUE(e.take(whole));
  EXPECT_EQ(*read_file(at("text")), "a line\n");
}

TEST_F(ErrandTest, NobodyButRootIsSomebodyElse) {
  if (root()) GTEST_SKIP() << "for others";
  Errand e;
  EXPECT_EQ(e.start(kNobody).error().code, Errc::kAccessDenied);
}

// ---- make_user_folder
struct UserFolder : ErrandTest {
  UserFolder() {
    EXPECT_EQ(mkdir(at("p").c_str(), 0755), 0);
    EXPECT_EQ(chmod(at("p").c_str(), 0755), 0);
  }
  const Uid uid = root() ? kNobody.uid : Uid{geteuid()};
  const Gid gid = root() ? kNobody.gid : Gid{getegid()};
  Result<> make(const std::string& folder, const std::string& name) {
    Errand e;
    const size_t thing = e.make_user_folder(folder, name, uid, gid);
    MUSTER_TRY_VOID(e.start(std::nullopt));
    EXPECT_TRUE(e.over_within(kPatience));
    MUSTER_TRY(nothing, e.take(thing));
    EXPECT_FALSE(nothing);
    return {};
  }
};

TEST_F(UserFolder, IsTheUsersAlone) {
  ASSERT_TRUE(make(at("p"), "ann"));
  ASSERT_TRUE(make(at("p"), "ann"));  // it is there already
  EXPECT_EQ(stat_of(at("p/ann")).st_uid, uid.value);
  EXPECT_EQ(stat_of(at("p/ann")).st_mode & 07777, 0700u);
  ASSERT_TRUE(make(at("new"), "ann"));  // with the folder above it
  EXPECT_EQ(stat_of(at("new")).st_uid, geteuid());
  EXPECT_EQ(stat_of(at("new")).st_mode & 022, 0u);
  EXPECT_FALSE(make(at("no/such"), "ann"));
}

TEST_F(UserFolder, WhatALinkPointsToStaysAsItIs) {
  ASSERT_EQ(mkdir(at("victim").c_str(), 0755), 0);
  ASSERT_EQ(symlink(at("victim").c_str(), at("p/ann").c_str()), 0);
  EXPECT_FALSE(make(at("p"), "ann"));
  EXPECT_EQ(stat_of(at("victim")).st_uid, geteuid());
  ASSERT_EQ(close(open(at("p/bob").c_str(), O_CREAT | O_WRONLY, 0644)), 0);
  EXPECT_FALSE(make(at("p"), "bob"));
}

TEST_F(UserFolder, AFolderThatOthersWriteToIsRefused) {
  for (unsigned mode : {01777u, 0775u}) {
    ASSERT_EQ(chmod(at("p").c_str(), mode), 0);
    auto made = make(at("p"), "ann");
    ASSERT_FALSE(made);
    EXPECT_NE(made.error().message().find("Operation not permitted"), std::string::npos);
    EXPECT_NE(access(at("p/ann").c_str(), F_OK), 0);
  }
  if (!root()) return;
  ASSERT_EQ(chmod(at("p").c_str(), 0755), 0);
  ASSERT_EQ(chown(at("p").c_str(), kNobody.uid.value, kNobody.gid.value), 0);
  EXPECT_FALSE(make(at("p"), "ann"));  // its owner could put anything there
}

TEST_F(UserFolder, SomebodyElsesIsNotGivenAway) {
  if (!root()) GTEST_SKIP() << "only root has folders of others";
  ASSERT_EQ(mkdir(at("p/ann").c_str(), 0700), 0);
  ASSERT_EQ(chown(at("p/ann").c_str(), 4321, 4321), 0);
  EXPECT_FALSE(make(at("p"), "ann"));
  EXPECT_EQ(stat_of(at("p/ann")).st_uid, 4321u);
  ASSERT_EQ(chown(at("p/ann").c_str(), 0, 0), 0);  // ours: left by one that was ended before it gave it away
  EXPECT_TRUE(make(at("p"), "ann"));
  EXPECT_EQ(stat_of(at("p/ann")).st_uid, uid.value);
}

}  // namespace
}  // namespace muster::os

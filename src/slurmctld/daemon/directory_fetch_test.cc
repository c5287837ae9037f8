// The controller's side of learning of accounts, against a slurmdbd that answers as the test has it.
#include "slurmctld/daemon/directory_fetch.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include "wire/accounting_instances.h"
#include "wire/messages.h"

namespace muster::slurmctld {
namespace {

struct FetchTest : testing::Test {
  FetchTest() {
    os::LogOptions o;
    o.async = false;
    log = std::move(*os::Log::open(o));
    DirectoryFetch::Ports p;
    p.learned = [this](DirectoryFetch::Directory d, std::function<void()> known, std::function<void(const Error&)> refused) {
      learned.push_back(d);
      if (refuse-- > 0) return refused(Error(Errc::kIo));
      known();
      loop.stop();
    };
    fetch = std::make_unique<DirectoryFetch>(loop, *log, decoder, std::move(p));
    int fds[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
    ours = net::adopt_channel(loop, fds[0], net::Peer{});
    theirs = net::adopt_channel(loop, fds[1], net::Peer{});
    theirs->on_request = [this](net::Frame f) { answer(f); };
  }
  ~FetchTest() override {
    fetch.reset();
    ours->close();
    theirs->close();
  }
  void answer(const net::Frame& f) {
    if (f.message == wire::number_of<rpc::AwaitDirectory>) {
      rpc::AwaitDirectory m;
      ASSERT_TRUE(wire::decode(f.payload, m));
      asked_with.push_back(m.version);
      if (on_await) on_await();
      if (m.version == version) waiting = f;
      else theirs->answer(f.id, f.message, wire::encoded(rpc::DirectoryVersion{version}));
      return;
    }
    if (f.message == wire::number_of<rpc::Ping>) return theirs->answer(f.id, f.message, "");
    ASSERT_EQ(f.message, wire::number_of<rpc::QueryEntities>);
    ++questions;
    rpc::QueryEntities q;
    ASSERT_TRUE(wire::decode(f.payload, q));
    EXPECT_EQ(q.filter.clusters, std::vector<std::string>{"c"});
    rpc::Entities part;
    if (q.what == Entity::kAssociation)
      for (uint32_t id : associations) {
        AssociationRecord& a = part.associations.emplace_back();
        a.id = id;
        a.account = "team";
      }
    if (q.what == Entity::kWckey) part.wckeys.emplace_back().name = "grant";
    if (q.what == Entity::kQos) part.qos.emplace_back().name = "normal";
    if (q.what == Entity::kUser) part.users.emplace_back().name = user;
    theirs->answer_part(f.id, f.message, wire::encoded(part));
    theirs->answer(f.id, f.message, "");
  }
  void changed() {
    ++version;
    theirs->answer(waiting.id, waiting.message, wire::encoded(rpc::DirectoryVersion{version}));
  }
  void run() {
    auto timer = loop.after(seconds(20), [this] {
      ADD_FAILURE() << "nothing was learned";
      loop.stop();
    });
    loop.run();
  }

  net::Loop loop;
  std::unique_ptr<os::Log> log;
  net::QueryThread decoder;
  std::unique_ptr<DirectoryFetch> fetch;
  net::ChannelPtr ours, theirs;
  uint64_t version = 7;
  std::vector<uint32_t> associations{1, 2};
  std::string user = "alice";
  net::Frame waiting;
  std::vector<uint64_t> asked_with;
  std::vector<DirectoryFetch::Directory> learned;
  std::function<void()> on_await;
  int refuse = 0, questions = 0;
};

TEST_F(FetchTest, FetchesAtOnceAndAgainWhenItMayBeAnother) {
  fetch->begin(ours, "c");
  run();
  ASSERT_EQ(learned.size(), 1u);
  EXPECT_EQ(learned[0]->associations.size(), 2u);
  EXPECT_EQ(learned[0]->qos.size(), 1u);
  EXPECT_EQ(learned[0]->wckeys.size(), 1u);
  associations = {1, 2, 3};
  loop.post([this] { changed(); });
  run();
  ASSERT_EQ(learned.size(), 2u);
  EXPECT_EQ(learned[1]->associations.size(), 3u);
  EXPECT_EQ(asked_with[0], 0u);
  EXPECT_EQ(asked_with[1], 7u);
}

TEST_F(FetchTest, WhatIsNotRecordedIsFetchedAnew) {
  refuse = 1;
  fetch->begin(ours, "c");
  run();
  ASSERT_EQ(learned.size(), 2u);
  EXPECT_EQ(asked_with.back(), 0u);
}

TEST_F(FetchTest, ABrokenAnswerIsNotTaken) {
  user = "";
  fetch->begin(ours, "c");
  on_await = [this] {
    if (asked_with.size() == 2) user = "alice";
  };
  run();
  ASSERT_EQ(learned.size(), 1u);
  EXPECT_EQ(learned[0]->users.at(0).name, "alice");
}

TEST_F(FetchTest, AnEndedOneHearsNothingMore) {
  fetch->begin(ours, "c");
  run();
  fetch->end();
  changed();
  ours->request(wire::number_of<rpc::Ping>, "", seconds(20), [this](Result<net::Frame>) { loop.stop(); });  // answered after what changed
  loop.run();
  EXPECT_EQ(questions, 6);
  EXPECT_EQ(learned.size(), 1u);
}

}  // namespace
}  // namespace muster::slurmctld

#include "site/known_users.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

namespace muster::site {
namespace {

// A user database of our own: answers when it is let, with what the test put there.
struct Database {
  std::mutex mutex;
  std::condition_variable changed;
  bool open = true;
  int asked = 0;
  Result<KnownUser> answer = KnownUser{{"ann", Uid{7}, Gid{70}, "/home/ann", "/bin/sh", ""}, {70, 71}, {"staff"}};

  Result<KnownUser> ask() {
    std::unique_lock lock(mutex);
    ++asked;
    changed.notify_all();
    changed.wait(lock, [this] { return open; });
    return answer;
  }
  void set_open(bool is) {
    std::lock_guard lock(mutex);
    open = is;
    changed.notify_all();
  }
  void set_answer(Result<KnownUser> a) {
    std::lock_guard lock(mutex);
    answer = std::move(a);
  }
  int times() {
    std::lock_guard lock(mutex);
    return asked;
  }
};

struct Fixture {
  Database database;
  net::Loop loop;
  KnownUsers users;
  explicit Fixture(KnownUsers::Figures figures = {})
      : users(
            loop, [this](Uid) { return database.ask(); }, figures) {}
  ~Fixture() { database.set_open(true); }  // the thread ends with its question
  // Whether `then` ran before prepare() returned; if not, the loop runs until it has.
  bool at_once(Uid uid = Uid{7}) {
    bool ran = false, returned = false, early = false;
    users.prepare(uid, [&] {
      ran = true;
      early = !returned;
      loop.stop();
    });
    returned = true;
    while (!ran) loop.run();
    return early;
  }
};

TEST(KnownUsers, AreAskedForOnceAndOffTheLoop) {
  Fixture f;
  EXPECT_EQ(f.users.find(Uid{7}).error().code, Errc::kTryAgainLater);
  EXPECT_FALSE(f.at_once());
  EXPECT_EQ((*f.users.find(Uid{7}))->user.name, "ann");
  EXPECT_EQ((*f.users.find(Uid{7}))->groups, (std::vector<uint32_t>{70, 71}));
  EXPECT_TRUE(f.at_once());
  EXPECT_EQ(f.database.times(), 1);
}

TEST(KnownUsers, ADatabaseThatHangsHoldsUpItsAskersAndNoLongerThanTheirPatience) {
  Fixture f({.keep_failure = minutes(1), .patience = milliseconds(20)});
  f.database.set_open(false);
  EXPECT_FALSE(f.at_once());
  EXPECT_EQ(f.users.find(Uid{7}).error().code, Errc::kTryAgainLater);
  EXPECT_EQ(f.users.name_of(Uid{7}), "7");
}

TEST(KnownUsers, AnOldAnswerServesWhereTheNewOneIsLate) {
  Fixture f({.old_serves = milliseconds(20)});
  f.at_once();
  f.users.out_of_date();
  f.database.set_open(false);
  EXPECT_FALSE(f.at_once());
  EXPECT_EQ(f.users.name_of(Uid{7}), "ann");
}

TEST(KnownUsers, AnOutageIsNoStatementAboutAUser) {
  Fixture f;
  f.at_once();
  f.users.out_of_date();
  f.database.set_answer(fail(Errc::kIo, "the directory is away"));
  f.at_once();
  EXPECT_EQ(f.users.name_of(Uid{7}), "ann");
  f.users.out_of_date();
  f.database.set_answer(fail(Errc::kNotFound, "Invalid user id: 7"));
  f.at_once();
  EXPECT_EQ(f.users.find(Uid{7}).error().code, Errc::kNotFound);
}

TEST(KnownUsers, WhatIsPreparedForAUserRunsInItsOrder) {
  Fixture f;
  std::string order;
  f.users.prepare(Uid{7}, [&] {
    order += 'a';
    f.users.prepare(Uid{7}, [&] { order += 'c'; });
  });
  f.users.prepare(Uid{7}, [&] {
    order += 'b';
    f.loop.stop();
  });
  EXPECT_EQ(order, "");
  f.loop.run();
  EXPECT_EQ(order, "acb");
}

TEST(KnownUsers, TheDatabaseOfThisHostKnowsRoot) {
  auto root = ask_user_database(Uid{0});
  ASSERT_TRUE(root);
  EXPECT_EQ(root->user.name, "root");
  EXPECT_EQ(root->groups.front(), 0u);
  EXPECT_EQ(ask_user_database(Uid{4'000'000'123u}).error().code, Errc::kNotFound);
}

}  // namespace
}  // namespace muster::site

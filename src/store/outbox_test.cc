#include "store/outbox.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

namespace muster::store {
namespace {

struct OutboxTest : testing::Test {
  std::string folder = [] {
    char name[] = "/tmp/muster-outbox-XXXXXX";
    return std::string(::mkdtemp(name));
  }();
  std::string path = folder + "/out.db";
  ~OutboxTest() override {
    for (const char* end : {"", "-wal", "-shm"}) ::unlink((path + end).c_str());
    ::rmdir(folder.c_str());
  }
  std::unique_ptr<Outbox> open(std::string_view kind = "file") {
    auto out = Outbox::open(path, kind);
    EXPECT_TRUE(out.has_value()) << (out ? "" : out.error().message());
    return out ? std::move(*out) : nullptr;
  }
  static size_t put(Outbox& out, std::vector<Outbox::Document> documents) {
    auto added = out.put(documents);
    EXPECT_TRUE(added.has_value());
    return added.value_or(0);
  }
  static std::string waiting(Outbox& out, size_t most = 100, size_t bytes = 1000) {
    std::string text;
    const auto all = out.oldest(most, bytes);
    for (const Outbox::Waiting& w : *all) text += w.body + " ";
    return text;
  }
};

TEST_F(OutboxTest, EachOnceAndInOrderAlsoAfterARestart) {
  auto out = open();
  EXPECT_EQ(put(*out, {{1, "1.0", "a"}, {2, "2.0", "b"}, {1, "1.0", "again"}}), 2u);
  EXPECT_EQ(waiting(*out), "a b ");
  ASSERT_TRUE(out->done(out->oldest(1, 1)->front().number, "so far"));
  out = open();
  EXPECT_EQ(*out->note(), "so far");
  EXPECT_EQ(out->waiting(), 1u);
  EXPECT_EQ(put(*out, {{1, "1.0", "a"}, {1, "1.1", "c"}}), 1u) << "it was taken";
  EXPECT_EQ(waiting(*out), "b c ");
  struct stat st {};
  ASSERT_EQ(::stat(path.c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0600u);
}

TEST_F(OutboxTest, ForgottenSubjectsLeaveNothingBehind) {
  auto out = open();
  put(*out, {{1, "1", "a"}, {2, "2", "b"}, {3, "3", "c"}});
  ASSERT_TRUE(out->done(out->oldest(1, 1)->front().number));
  const uint32_t both[] = {1, 2};
  ASSERT_TRUE(out->forget(both));
  EXPECT_EQ(waiting(*out), "b c ") << "what waits still goes";
  ASSERT_TRUE(out->done(out->oldest(1, 1)->front().number));
  EXPECT_EQ(put(*out, {{1, "1", "new"}, {2, "2", "new"}}), 2u);
  const uint32_t third[] = {3};
  ASSERT_TRUE(out->done(1000));
  ASSERT_TRUE(out->forget_all_but(third));
  EXPECT_EQ(put(*out, {{1, "1", "x"}, {3, "3", "x"}}), 1u);
}

TEST_F(OutboxTest, BoundsAndSizes) {
  auto out = open();
  put(*out, {{1, "1", "aaaa"}, {2, "2", "bbbb"}, {3, "3", "cccc"}});
  EXPECT_EQ(waiting(*out, 100, 5), "aaaa bbbb ");
  EXPECT_EQ(waiting(*out, 1), "aaaa ");
  EXPECT_EQ(*out->drop_excess(2, 100), 1u);
  EXPECT_EQ(*out->drop_excess(2, 8), 0u);
  EXPECT_EQ(waiting(*out), "bbbb cccc ");
  out = open();
  EXPECT_EQ(*out->drop_excess(2, 7), 1u);
  EXPECT_EQ(waiting(*out), "cccc ");
  EXPECT_EQ(put(*out, {{1, "1", "aaaa"}}), 0u);
}

TEST_F(OutboxTest, OfAnotherKindNothingIsSent) {
  put(*open("file"), {{1, "1", "a"}});
  auto out = open("http");
  EXPECT_EQ(out->dropped_of_other_kind(), 1u);
  EXPECT_EQ(waiting(*out), "");
}

TEST_F(OutboxTest, AFileOfAnotherProgramIsRefused) {
  ASSERT_TRUE(open());
  auto db = Database::open(path, Database::Access::kWriter);
  ASSERT_TRUE(db->exec("PRAGMA application_id = 7"));
  auto again = Outbox::open(path, "file");
  ASSERT_FALSE(again.has_value());
  EXPECT_NE(again.error().message().find("another program"), std::string::npos);
}

}  // namespace
}  // namespace muster::store

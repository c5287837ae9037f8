#include "slurmctld/daemon/completion_senders.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace muster::slurmctld {
namespace {

struct FileTest : testing::Test {
  std::string folder = [] {
    char name[] = "/tmp/muster-completion-XXXXXX";
    return std::string(::mkdtemp(name));
  }();
  std::string path = folder + "/comp";
  std::string note;
  ~FileTest() override {
    ::unlink(path.c_str());
    ::rmdir(folder.c_str());
  }
  std::unique_ptr<CompletionSender> sender(bool shared = true) {
    return file_sender(path, shared,
                       {[this]() -> Result<std::string> { return note; },
                        [this](const std::string& text) -> Result<> {
                          note = text;
                          return {};
                        }});
  }
  // Sends as one that is told that they are taken.
  void sent(const Waiting& documents) {
    const auto taken = sender()->send(documents);
    ASSERT_TRUE(taken.has_value()) << taken.error().message();
    EXPECT_EQ(*taken, documents.size());
    note.clear();
  }
  std::string content() const {
    std::ifstream file(path);
    std::ostringstream out;
    out << file.rdbuf();
    return out.str();
  }
  void write(const std::string& text) const { std::ofstream(path, std::ios::app) << text; }
};

TEST_F(FileTest, Appends) {
  write("before\n");
  sent({{1, "a\n"}, {2, "b\n"}});
  sent({{3, "c\n"}});
  EXPECT_EQ(content(), "before\na\nb\nc\n");
}

// A crash before it was recorded that they are taken: nothing of them, a part, or all stands in the file.
TEST_F(FileTest, EachLineOnceOverACrash) {
  for (const std::string written : {"", "a", "a\n", "a\nb", "a\nb\n"}) {
    ::unlink(path.c_str());
    write("before\n");
    ASSERT_TRUE(sender()->send({{1, "a\n"}, {2, "b\n"}}).has_value());
    ASSERT_EQ(::truncate(path.c_str(), static_cast<off_t>(7 + written.size())), 0);
    sent({{1, "a\n"}, {2, "b\n"}, {3, "c\n"}});
    EXPECT_EQ(content(), "before\na\nb\nc\n") << written;
  }
}

TEST_F(FileTest, OthersWroteBehindIt) {
  ASSERT_TRUE(sender()->send({{1, "a\n"}, {2, "b\n"}}).has_value());
  write("other\n");
  sent({{1, "a\n"}, {2, "b\n"}});
  EXPECT_EQ(content(), "a\nb\nother\n");
}

TEST_F(FileTest, TheFileWasMovedAway) {
  ASSERT_TRUE(sender()->send({{1, "a\n"}}).has_value());
  note.clear();
  ASSERT_EQ(::rename(path.c_str(), (path + ".1").c_str()), 0);
  sent({{2, "b\n"}});
  EXPECT_EQ(content(), "b\n");
  ::unlink((path + ".1").c_str());
}

TEST_F(FileTest, WhoMayReadIt) {
  struct stat st {};
  ::umask(022);
  ASSERT_TRUE(sender(false)->send({{1, "a\n"}}).has_value());
  ASSERT_EQ(::stat(path.c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0600u);
  ::unlink(path.c_str());
  ASSERT_TRUE(sender(true)->send({{1, "a\n"}}).has_value());
  ASSERT_EQ(::stat(path.c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0644u);
}

TEST_F(FileTest, WhatIsNoFileIsRefused) {
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_FALSE(sender()->send({{1, "a\n"}}).has_value());
  ::unlink(path.c_str());
  ASSERT_EQ(::symlink("/dev/null", path.c_str()), 0);
  EXPECT_FALSE(sender()->send({{1, "a\n"}}).has_value());
  path = folder;
  EXPECT_FALSE(sender()->send({{1, "a\n"}}).has_value());
  path = folder + "/comp";
}

TEST(Variables, ThereAndBack) {
  const std::vector<std::string> some = {"A=1", "B=", "C=x\ny"};
  EXPECT_EQ(unpacked_variables(packed_variables(some)), some);
}

}  // namespace
}  // namespace muster::slurmctld

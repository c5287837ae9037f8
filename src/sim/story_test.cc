#include "sim/story.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "sim/options.h"

namespace muster::sim {
namespace {

std::string contents(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// test/releases/README.md
TEST(Releases, LogsOfAllOfThemMeanWhatTheyMeant) {
  size_t found = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator("test/releases")) {
    if (entry.path().extension() != ".events") continue;
    ++found;
    auto story = story_of(contents(entry.path()));
    ASSERT_TRUE(story) << entry.path() << ": " << story.error().message();
    EXPECT_EQ(*story, contents(std::filesystem::path(entry.path()).replace_extension(".story"))) << entry.path();
  }
  EXPECT_GE(found, 3u);
}

TEST(Story, TellsEachJobOnce) {
  std::string log;
  RunOptions options;
  options.actions = 20;
  options.faults = 0;
  options.keep = [&](std::string_view record) { add_record(log, record); };
  const RunResult run = run_seed(options);
  ASSERT_TRUE(run.ok) << run.text;
  auto story = story_of(log);
  ASSERT_TRUE(story) << story.error().message();
  EXPECT_GT(std::ranges::count(*story, '\n'), 5);
  EXPECT_NE(story->find("COMPLETED"), std::string::npos);
}

TEST(Story, SaysWhichRecordCannotBeRead) {
  std::string log;
  add_record(log, "\xff\xff");
  EXPECT_NE(story_of(log).error().text.find("record 1"), std::string::npos);
  EXPECT_EQ(story_of(std::string("\x05\0\0\0ab", 6)).error().text, "record 1 is cut off");
}

}  // namespace
}  // namespace muster::sim

#include "wire/profile_file.h"

#include <gtest/gtest.h>

namespace muster::wire {
namespace {

ProfileChunk first() {
  ProfileChunk c;
  c.header = ProfileHeader{JobId{7}, StepId{0}, "n1", 1, 2, 4, Time{}};
  return c;
}
ProfileChunk second() {
  ProfileChunk c;
  TaskSample s;
  s.task = 3;
  s.rss = Bytes(1 << 20);
  s.gpu_util = 0;
  c.tasks = {s, s};
  c.energy = {{seconds(1), Time{}, 200, 3'000'000}};
  return c;
}
std::string file() { return std::string(kProfileMagic) + profile_bytes(first()) + profile_bytes(second()); }

TEST(ProfileFile, IsReadAsItWasWritten) {
  const std::string bytes = file();
  auto reader = ProfileReader::open(bytes);
  ASSERT_TRUE(reader);
  ProfileChunk c;
  ASSERT_TRUE(*reader->next(c));
  EXPECT_EQ(c, first());
  ASSERT_TRUE(*reader->next(c));
  EXPECT_EQ(c, second());
  EXPECT_FALSE(*reader->next(c));
}

// Whatever is missing at its end, what stands before it is read.
TEST(ProfileFile, OneThatWasCutIsReadUpToThere) {
  const std::string bytes = file();
  const size_t whole = kProfileMagic.size() + profile_bytes(first()).size();
  for (size_t size = kProfileMagic.size(); size < bytes.size(); ++size) {
    const std::string_view cut = std::string_view(bytes).substr(0, size);
    auto reader = ProfileReader::open(cut);
    ASSERT_TRUE(reader);
    size_t read = 0;
    ProfileChunk c;
    for (auto more = reader->next(c); more && *more; more = reader->next(c)) ++read;
    EXPECT_EQ(read, size >= whole ? 1u : 0u) << size;
  }
}

TEST(ProfileFile, WhatIsNoneIsRefused) {
  EXPECT_FALSE(ProfileReader::open("\x89HDF\r\n\x1a\n"));
  EXPECT_FALSE(ProfileReader::open(""));
  ProfileChunk c;
  const std::string huge = std::string(kProfileMagic) + "\xff\xff\xff\x7f";
  auto reader = ProfileReader::open(huge);
  EXPECT_EQ(reader->next(c).error().code, Errc::kFrameMalformed);
  const std::string junk = std::string(kProfileMagic) + std::string("\x04\0\0\0", 4) + "\xff\xff\xff\xff";
  reader = ProfileReader::open(junk);
  EXPECT_EQ(reader->next(c).error().code, Errc::kFrameMalformed);
}

TEST(ProfileFile, StepsAndFilesHaveTheirNames) {
  EXPECT_EQ(profile_file_name(JobId{12}, StepId{0}, "n1"), "12_0_n1.samples");
  EXPECT_EQ(profile_file_name(JobId{12}, kBatchStep, "n1"), "12_batch_n1.samples");
}

}  // namespace
}  // namespace muster::wire

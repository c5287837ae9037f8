#include "model/sluid.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

constexpr Time at(int64_t seconds) { return Time(std::chrono::seconds(seconds)); }

TEST(Sluids, SayWhichJobAndReadBack) {
  for (uint32_t id : {1u, 70001u, 0x03ff0000u}) {
    const Sluid s = sluid_of(JobId(id), at(1795374000), 3);
    EXPECT_EQ(job_of(s), JobId(id));
    const std::string text = sluid_text(s);
    EXPECT_EQ(text.size(), 14u);
    EXPECT_EQ(parse_sluid(text), s) << text;
    std::string small = text;
    for (char& c : small) c = static_cast<char>(std::tolower(c));
    EXPECT_EQ(parse_sluid(small), s) << small;
  }
}

TEST(Sluids, SortByTimeOfSubmissionThenRun) {
  const auto text = [](uint32_t id, int64_t seconds, uint32_t restarts) { return sluid_text(sluid_of(JobId(id), at(seconds), restarts)); };
  EXPECT_LT(text(900, 1795374000, 0), text(1, 1795374001, 0));
  EXPECT_LT(text(1, 1795374000, 5), text(2, 1795374000, 0));
  EXPECT_LT(text(1, 1795374000, 0), text(1, 1795374000, 1));
}

TEST(Sluids, OtherWordsAreNone) {
  for (const char* text :
       {"", "123", "s", "s0000000000000", "sZZZZZZZZZZZZZ", "x5B5M82BAYWH00", "s5B5M82BAYWH0", "s5B5M82BAYWH000", "s5B5M82BAYWI00"})
    EXPECT_FALSE(parse_sluid(text)) << text;
  EXPECT_TRUE(parse_sluid("s5B5M82BAYWH00"));
}

}  // namespace
}  // namespace muster

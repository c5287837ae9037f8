#include "cli/common/job_ids.h"

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

TEST(JobIds, ParseAndPrintAreInverse) {
  for (const char* text : {"1", "123", "123_0", "123_4", "123_[4-7,9]", "123.0", "123.batch", "123_4.extern", "123.interactive",
                           "2147483647", "s6DPK2R0G9C0G0", "s6DPK2R0G9C0G0.1"}) {
    Result<rpc::JobSelector> s = parse_job_selector(text);
    ASSERT_TRUE(s) << text;
    EXPECT_EQ(selector_text(*s), text);
  }
}

TEST(JobIds, TheWholeArrayIsItsJob) {
  Result<rpc::JobSelector> s = parse_job_selector("12_*");
  ASSERT_TRUE(s);
  EXPECT_EQ(selector_text(*s), "12");
  EXPECT_EQ(parse_job_selector("12_[1-4%2]")->array_tasks, "1-4");
}

TEST(JobIds, WrongOnesAreNamed) {
  for (const char* text : {"", "0", "-1", "abc", "12_", "12_a", "12.", "12.x", "12_[", "12_[3", "12_[a]", "12 13", "4294967296", "_1", ".0",
                           "12_4000001", "12_3_4", "s6DPK2R0G9C0G0_1", "sIDPK2R0G9C0G0"}) {
    Result<rpc::JobSelector> s = parse_job_selector(text);
    ASSERT_FALSE(s) << text;
    EXPECT_EQ(s.error().message(), std::string("Invalid job id ") + text);
    EXPECT_FALSE(s.error().hint.empty());
  }
  EXPECT_FALSE(parse_job_selector("s6DPK2R0G9C0G0+1")) << "it names one run of one job";
}

}  // namespace
}  // namespace muster::cli

// --array, --dependency and --mail-type: read and printed. The expected texts are what Debian's Slurm 22.05
// prints.
#include <gtest/gtest.h>

#include <random>

#include "model/array_spec.h"
#include "model/dependency.h"
#include "model/mail.h"

namespace muster {
namespace {

std::string again(std::string_view text, size_t length = kArrayTextLength) {
  auto tasks = parse_array_spec(text, 1000);
  if (!tasks) return "error: " + std::string(tasks.error().message());
  return format_array_tasks(*tasks, length);
}

TEST(ArraySpec, PrintsAsSqueueDoes) {
  EXPECT_EQ(again("0-15%4"), "0-15%4");
  EXPECT_EQ(again("1,3,5-7"), "1,3,5-7");
  EXPECT_EQ(again("5"), "5");
  EXPECT_EQ(again("1,1,2"), "1-2");
  EXPECT_EQ(again("1-3,2-5"), "1-5");
  EXPECT_EQ(again("0-10:20"), "0");
  EXPECT_EQ(again("0-6:1,8,9,11%5"), "0-6,8-9,11%5");
  EXPECT_EQ(again("0-6:2,20"), "0,2,4,6,20");
}

TEST(ArraySpec, WritesAStepOnlyForLongerRuns) {
  EXPECT_EQ(again("0-30:5"), "0-30:5");
  EXPECT_EQ(again("0-999:10"), "0-990:10");
  EXPECT_EQ(again("0-999:3%7"), "0-999:3%7");
  EXPECT_EQ(again("0-15:3"), "0-15:3");
  EXPECT_EQ(again("980-995:3"), "980-995:3");
  EXPECT_EQ(again("0-12:2%3"), "0-12:2%3");
  EXPECT_EQ(again("0-10:2"), "0,2,4,6,8,10");
  EXPECT_EQ(again("100-110:2"), "100,102,104,106,108,110");
  EXPECT_EQ(again("0-40:10"), "0,10,20,30,40");
  EXPECT_EQ(again("100-500:100"), "100,200,300,400,500");
}

TEST(ArraySpec, CutsLongListsAndKeepsTheLimit) {
  const char* spec = "1,3,5,7,9,11,13,15,17,19,21,23,25-40,50,60,70,80,90,100-120,130,140,150-160,170,180%22";
  EXPECT_EQ(again(spec), "1,3,5,7,9,11,13,15,17,19,21,23,25-40,50,60,70,80,90,100-120,...%22");
  EXPECT_EQ(again(spec, 0), spec);
  const char* other = "1-3,5-7,9-11,13-15,17,19,21,23,25-40,50,60,70,80,90,100-120,130,140,150-160,170,180";
  EXPECT_EQ(again(other), "1-3,5-7,9-11,13-15,17,19,21,23,25-40,50,60,70,80,90,100-120,...");
  EXPECT_EQ(again(other, 20), "1-3,5-7,9-11,13-...");
  EXPECT_EQ(again(other, 21), "1-3,5-7,9-11,13-1...");
  EXPECT_EQ(again("0-15", 5), "0-15");
  EXPECT_EQ(again("0-15", 1), "...");
}

TEST(ArraySpec, AcceptsWhatUsersPaste) {
  EXPECT_EQ(again("[1-3]"), "1-3");
  EXPECT_EQ(again("[1-3]%2"), "1-3%2");
  EXPECT_EQ(again("[1-3%2]"), "1-3%2");
  EXPECT_EQ(again(" 1-3"), "1-3");
  EXPECT_EQ(again("1,,2"), "1-2");
  EXPECT_EQ(again("1-3,"), "1-3");
  EXPECT_EQ(again("01-03"), "1-3");
  EXPECT_EQ(again("1-5%0"), "1-5");
  EXPECT_EQ(again("1-3%2000"), "1-3%2000");
}

TEST(ArraySpec, RefusesTheRestWithSlurmsSentence) {
  for (std::string_view bad : {"",
                               "a",
                               "1-",
                               "-1",
                               "3-1",
                               "0-1001",
                               "1001",
                               "0-10:0",
                               "0-10:",
                               "5:2",
                               "1-4:2-8",
                               "1-5%",
                               "1-5%x",
                               "%4",
                               ",",
                               "[",
                               "1-99999999999999999999",
                               "1+2",
                               "0x5",
                               "1 2"}) {
    auto tasks = parse_array_spec(bad, 1000);
    ASSERT_FALSE(tasks) << bad;
    EXPECT_EQ(tasks.error().code, Errc::kInvalidArray) << bad;
    EXPECT_EQ(tasks.error().message(), "Invalid job array specification") << bad;
    EXPECT_FALSE(tasks.error().hint.empty()) << bad;
  }
  EXPECT_EQ(parse_array_spec("0-2000", 1000).error().hint, "in \"0-2000\": the largest task id here is 1000 (MaxArraySize - 1)");
}

TEST(ArraySpec, ParseOfPrintIsTheSameSet) {
  std::mt19937 rng(1);
  for (int round = 0; round < 300; ++round) {
    ArrayTasks tasks{.pending = Bitmap(1 + rng() % 1000), .max_running = static_cast<uint32_t>(rng() % 3)};
    const size_t step = 1 + rng() % 5;
    for (size_t i = rng() % tasks.pending.size(); i < tasks.pending.size(); i += round % 2 ? step : 1 + rng() % 9) tasks.pending.set(i);
    const std::string text = format_array_tasks(tasks, 0);
    auto back = parse_array_spec(text, 1000);
    ASSERT_TRUE(back) << text;
    EXPECT_EQ(*back, tasks) << text;
  }
}

std::string deps(std::string_view text) {
  auto d = parse_dependencies(text);
  if (!d) return "error: " + std::string(d.error().message());
  return format_dependencies(*d);
}

TEST(Dependencies, PrintAsScontrolDoes) {
  EXPECT_EQ(deps("after:41+5"), "after:41+5(unfulfilled)");
  EXPECT_EQ(deps("afterok:41:1"), "afterok:41(unfulfilled),afterok:1(unfulfilled)");
  EXPECT_EQ(deps("afterok:41:1?afternotok:40_4"), "afterok:41(unfulfilled)?afterok:1(unfulfilled)?afternotok:40_4(unfulfilled)");
  EXPECT_EQ(deps("singleton"), "singleton(unfulfilled)");
  EXPECT_EQ(deps("aftercorr:40"), "aftercorr:40(unfulfilled)");
  EXPECT_EQ(deps("41"), "afterany:41(unfulfilled)");
  EXPECT_EQ(deps("AFTEROK:41,singleton"), "afterok:41(unfulfilled),singleton(unfulfilled)");
  EXPECT_EQ(deps("afterok:41,afterok:41"), "afterok:41(unfulfilled)");
  EXPECT_EQ(deps("afterok:40_[1-2,5]:41,afterburstbuffer:3"),
            "afterok:40_1(unfulfilled),afterok:40_2(unfulfilled),afterok:40_5(unfulfilled),afterok:41(unfulfilled),"
            "afterburstbuffer:3(unfulfilled)");
  EXPECT_EQ(deps("after:2_*+3"), "after:2_*+3(unfulfilled)");
  EXPECT_EQ(deps(""), "");
}

TEST(Dependencies, FulfilledOnesAreLeftOutAndFailedOnesSaySo) {
  Dependencies d{.list = {{.job = JobId(1), .state = DependencyState::kFulfilled},
                          {.type = DependencyType::kAfterOk, .job = JobId(2), .state = DependencyState::kFailed},
                          {.job = JobId(3)}}};
  EXPECT_EQ(format_dependencies(d), "afterok:2(failed),afterany:3(unfulfilled)");
}

TEST(Dependencies, KeepWhatWasSaid) {
  auto d = parse_dependencies("after:41+5?afternotok:40_4");
  ASSERT_TRUE(d);
  EXPECT_TRUE(d->any);
  ASSERT_EQ(d->list.size(), 2u);
  EXPECT_EQ(d->list[0], (Dependency{.type = DependencyType::kAfter, .job = JobId(41), .delay_min = 5}));
  EXPECT_EQ(d->list[1], (Dependency{.type = DependencyType::kAfterNotOk, .job = JobId(40), .array_task = 4}));
  EXPECT_EQ(parse_dependencies("afterany:7_*")->list[0].array_task, kWholeArray);
}

TEST(Dependencies, RefuseTheRestWithSlurmsSentence) {
  for (std::string_view bad : {"afterok:",
                               "afterok",
                               "foo:1",
                               "afterok:x",
                               "after:41+x",
                               "afterok:41,",
                               ",afterok:41",
                               " afterok:41",
                               "afterok:41 afterok:1",
                               "afterok:0",
                               "singleton:1",
                               "afterok:41?",
                               "afterok:1,afterok:2?afterok:3",
                               "afterok:1_",
                               "afterok:1_x",
                               "afterok:1_[",
                               "afterok:1_[2",
                               "afterok:1_[1-2%1]",
                               "afterok:99999999999",
                               "afterok:1::2"}) {
    auto d = parse_dependencies(bad);
    ASSERT_FALSE(d) << bad;
    EXPECT_EQ(d.error().code, Errc::kDependency) << bad;
    EXPECT_EQ(d.error().message(), "Job dependency problem") << bad;
    EXPECT_FALSE(d.error().hint.empty()) << bad;
  }
  EXPECT_EQ(parse_dependencies("expand:41").error().code, Errc::kUnsupported);
}

TEST(Dependencies, AreBounded) {
  EXPECT_TRUE(parse_dependencies("afterok:1_[0-9999]"));
  EXPECT_FALSE(parse_dependencies("afterok:1_[0-10000]"));
}

TEST(MailType, PrintsAsScontrolDoes) {
  auto shown = [](std::string_view text) { return format_mail_type(parse_mail_type(text).value()); };
  EXPECT_EQ(shown("ALL"), "INVALID_DEPEND,BEGIN,END,FAIL,REQUEUE,STAGE_OUT");
  EXPECT_EQ(shown("END,begin"), "BEGIN,END");
  EXPECT_EQ(shown("END,BEGIN,ARRAY_TASKS"), "ARRAY_TASKS,BEGIN,END");
  EXPECT_EQ(shown("TIME_LIMIT,TIME_LIMIT_90"), "TIME_LIMIT_90,TIME_LIMIT");
  EXPECT_EQ(shown("NONE,BEGIN"), "NONE");
  for (std::string_view bad : {"foo", ",", "", "BEGIN,"}) {
    auto r = parse_mail_type(bad);
    ASSERT_FALSE(r) << bad;
    EXPECT_EQ(r.error().message(), "Invalid --mail-type specification");
  }
}

}  // namespace
}  // namespace muster

#include "cli/sh5util/job_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "cli/sh5util/extract.h"
#include "cli/sh5util/merge.h"
#include "os/files.h"
#include "wire/profile_file.h"

namespace muster::cli {
namespace {

TaskSample sample(uint32_t task, int64_t second, uint64_t rss_kib) {
  TaskSample s;
  s.task = task;
  s.elapsed = seconds(second);
  s.at = Time(seconds(1'700'000'000 + second));
  s.khz = 2'596'000;
  s.cpu = milliseconds(500);
  s.interval = seconds(1);
  s.rss = Bytes(rss_kib * 1024);
  s.read = Bytes(3 << 20);
  return s;
}

struct JobFileTest : testing::Test {
  os::TempDir dir = *os::TempDir::create("muster-h5-");
  const std::string folder = dir.path() + "/ann", job_file = dir.path() + "/job_7.h5";
  JobFileTest() { EXPECT_EQ(mkdir(folder.c_str(), 0700), 0); }

  std::string recording(const std::string& node, uint32_t first_task, bool energy = false) {
    ProfileChunk start, look;
    start.header = ProfileHeader{JobId{7}, StepId{0}, node, first_task, 1, 2, Time(seconds(1'700'000'000))};
    look.tasks = {sample(first_task, 1, 100 + first_task), sample(first_task, 2, 300)};
    if (energy) look.energy = {{seconds(1), Time(seconds(1'700'000'001)), 250, 3'000'000}};
    return std::string(wire::kProfileMagic) + wire::profile_bytes(start) + wire::profile_bytes(look);
  }
  void put(const std::string& name, const std::string& bytes) { ASSERT_TRUE(os::write_file_atomic(folder + "/" + name, bytes)); }
  bool there(const std::string& name) { return access((folder + "/" + name).c_str(), F_OK) == 0; }
  Result<MergeOutcome> merge(const std::string& jobs = "7", bool save = false) {
    return merge_recordings({*parse_wanted_steps(jobs), folder, job_file, save});
  }
  void two_nodes() {
    put("7_0_n1.samples", recording("n1", 0, true));
    put("7_0_n2.samples", recording("n2", 1));
    put("7_batch_n1.samples", recording("n1", 0));
    put("77_0_n1.samples", recording("n1", 0));
  }
};

TEST_F(JobFileTest, RecordingsOfAJobBecomeOneFile) {
  two_nodes();
  const auto done = merge();
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(done->merged, 3u);
  EXPECT_TRUE(done->faults.empty());
  EXPECT_FALSE(there("7_0_n1.samples"));
  EXPECT_TRUE(there("77_0_n1.samples"));  // another job's
  const auto file = JobFile::open(job_file);
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_EQ(file->steps(), (std::vector<std::string>{"0", "batch"}));
  EXPECT_EQ(file->nodes("0"), (std::vector<std::string>{"n1", "n2"}));
  EXPECT_EQ(file->series("0", "n1"), (std::vector<std::string>{"Energy", "Tasks/0"}));
  const auto table = file->read("0", "n2", "Tasks/1");
  ASSERT_TRUE(table) << table.error().message();
  EXPECT_EQ(table->find("RSS")->whole, (std::vector<uint64_t>{101, 300}));
  EXPECT_EQ(table->find("CPUFrequency")->whole[0], 2'596'000u);
  EXPECT_DOUBLE_EQ(table->find("CPUUtilization")->fractions[0], 50);
  EXPECT_DOUBLE_EQ(table->find("ReadMB")->fractions[1], 3);
  EXPECT_EQ(file->read("0", "n1", "Energy")->find("Power")->whole, std::vector<uint64_t>{250});
  EXPECT_FALSE(file->read("0", "n9", "Energy"));
}

TEST_F(JobFileTest, StepsThatAreNamedAreMergedAlone) {
  two_nodes();
  ASSERT_EQ(merge("7.batch", true)->merged, 1u);
  EXPECT_TRUE(there("7_batch_n1.samples"));  // saved
  EXPECT_EQ(JobFile::open(job_file)->steps(), std::vector<std::string>{"batch"});
  EXPECT_EQ(merge("8")->merged, 0u);
  EXPECT_FALSE(parse_wanted_steps("x"));
  EXPECT_FALSE(parse_wanted_steps("7.x"));
  EXPECT_FALSE(parse_wanted_steps("7,8"));
  EXPECT_TRUE(parse_wanted_steps("7.0,7")->wants("batch"));
}

// The folder is the user's, who may put there what root is to read, to remove or to write over.
TEST_F(JobFileTest, WhatIsNoRecordingIsNeitherFollowedNorRemoved) {
  two_nodes();
  const std::string secret = dir.path() + "/secret";
  ASSERT_TRUE(os::write_file_atomic(secret, "kept"));
  ASSERT_EQ(symlink(secret.c_str(), (folder + "/7_1_n1.samples").c_str()), 0);
  ASSERT_EQ(mkfifo((folder + "/7_2_n1.samples").c_str(), 0600), 0);
  ASSERT_EQ(mkdir((folder + "/7_3_n1.samples").c_str(), 0700), 0);
  put("7_4_n1.samples", "junk");
  put("7_5_n1.samples", recording("n1", 0) + std::string("\xff\xff\xff\x7f", 4));  // good up to its end
  put("7_6_...samples", recording("..", 0));
  ASSERT_EQ(symlink(secret.c_str(), job_file.c_str()), 0);
  const auto done = merge();
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(done->merged, 4u);
  EXPECT_EQ(done->faults.size(), 5u);
  EXPECT_TRUE(there("7_4_n1.samples") && there("7_5_n1.samples"));
  EXPECT_EQ(*os::read_file(secret), "kept");
  struct stat st {};
  ASSERT_EQ(lstat(job_file.c_str(), &st), 0);
  EXPECT_TRUE(S_ISREG(st.st_mode));  // it took the link's place
  EXPECT_EQ(JobFile::open(job_file)->series("5", "n1"), std::vector<std::string>{"Tasks/0"});
  ASSERT_EQ(rename(folder.c_str(), (folder + "2").c_str()), 0);
  ASSERT_EQ(symlink((folder + "2").c_str(), folder.c_str()), 0);
  EXPECT_EQ(merge().error().code, Errc::kAccessDenied);
}

TEST_F(JobFileTest, NothingIsLeftWhereItCannotBeWritten) {
  put("7_4_n1.samples", "junk");
  EXPECT_EQ(merge()->merged, 0u);
  EXPECT_NE(access(job_file.c_str(), F_OK), 0);
  two_nodes();
  EXPECT_FALSE(merge_recordings({*parse_wanted_steps("7"), folder, dir.path() + "/no/such.h5", false}));
  EXPECT_TRUE(there("7_0_n1.samples"));
}

TEST_F(JobFileTest, SeriesAsCommaSeparatedValues) {
  two_nodes();
  ASSERT_TRUE(merge());
  const auto file = JobFile::open(job_file);
  ASSERT_TRUE(file);
  Extraction how{*parse_wanted_steps("7"), "Task_1", "", true};
  EXPECT_EQ(*extract_series(*file, how),
            "Step,Node,Series,ElapsedTime,EpochTime,CPUFrequency,CPUTime,CPUUtilization,RSS,VMSize,Pages,ReadMB,WriteMB\n"
            "0,n2,1,1,1700000001,2596000,0.500000,50.000000,101,0,0,3.000000,0.000000\n"
            "0,n2,1,2,1700000002,2596000,0.500000,50.000000,300,0,0,3.000000,0.000000\n");
  how.series = "energy";
  how.time_series = false;
  EXPECT_EQ(*extract_series(*file, how),
            "Step,Node,ElapsedTime,Min_EpochTime,Max_EpochTime,Sum_EpochTime,Avg_EpochTime,Min_Power,Max_Power,Sum_Power,Avg_Power,"
            "Min_CPUFrequency,Max_CPUFrequency,Sum_CPUFrequency,Avg_CPUFrequency\n"
            "0,n1,1,1700000001,1700000001,1700000001,1700000001.000000,250,250,250,250.000000,3000000,3000000,3000000,3000000.000000\n");
  how.series = "Task";
  how.node = "n2";
  const std::string totals = *extract_series(*file, how);
  EXPECT_NE(totals.find("\n0,n2,1,2,"), std::string::npos) << totals;
  EXPECT_NE(totals.find(",101,300,401,200.500000,"), std::string::npos) << totals;
  EXPECT_EQ(std::ranges::count(totals, '\n'), 2);
  how.series = "";  // everything
  how.node = "";
  EXPECT_EQ(std::ranges::count(*extract_series(*file, how), '\n'), 4 + 2);  // series; headings of energy, tasks
  how.wanted = *parse_wanted_steps("7.batch");
  EXPECT_EQ(std::ranges::count(*extract_series(*file, how), '\n'), 2);
  how.series = "Network";
  EXPECT_EQ(extract_series(*file, how).error().message(), "Series Network not found");
}

TEST_F(JobFileTest, OneItemOfAllSamples) {
  two_nodes();
  ASSERT_TRUE(merge());
  const auto file = JobFile::open(job_file);
  ASSERT_TRUE(file);
  const Extraction how{*parse_wanted_steps("7.0"), "Task", "", false};
  const auto item = extract_item(*file, how, "rss");
  ASSERT_TRUE(item) << item.error().message();
  EXPECT_EQ(item->lines, "Step,ElaspedTime,MinNode,MinValue,MaxNode,MaxValue,Sum,Avg,NumNodes,Task_0 n1,Task_1 n2\n"
                         "0,1,n1,100,n2,101,201,100.500000,2,100,101\n"
                         "0,2,n1,300,n1,300,600,300.000000,2,300,300\n");
  EXPECT_EQ(item->summary,
            std::vector<std::string>{"    Step 0 Maximum accumulated RSS Value (600) occurred at Time=2, Ave Node 300.000000"});
  EXPECT_NE(extract_item(*file, how, "Read_Megabytes")->lines.find(",3.000000,"), std::string::npos);
  EXPECT_EQ(extract_item(*file, how, "Power").error().code, Errc::kNotFound);
  EXPECT_EQ(list_items(*file, how)->front(), "ElapsedTime");
}

TEST_F(JobFileTest, OtherFilesAreRefused) {
  EXPECT_EQ(JobFile::open(dir.path() + "/none.h5").error().code, Errc::kNotFound);
  ASSERT_TRUE(os::write_file_atomic(job_file, "\x89HDF\r\n\x1a\nno more"));
  EXPECT_FALSE(JobFile::open(job_file));
}

TEST(JobFileNames, NumbersComeBeforeWords) {
  std::vector<std::string> names{"batch", "10", "2", "0"};
  std::ranges::sort(names, name_before);
  EXPECT_EQ(names, (std::vector<std::string>{"0", "2", "10", "batch"}));
}

}  // namespace
}  // namespace muster::cli

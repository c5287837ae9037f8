#include "slurmstepd/step_profiler.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "net/loop.h"
#include "os/files.h"
#include "wire/profile_file.h"

namespace muster::slurmstepd {
namespace {

struct StepProfilerTest : testing::Test {
  os::TempDir dir = *os::TempDir::create("muster-profile-");
  const std::string base = dir.path() + "/p", file = base + "/ann/7_0_n1.samples";
  net::Loop loop;
  Errands openings{loop, std::nullopt}, writings{loop, std::nullopt};
  step_rpc::StepdLaunch launch;
  std::unique_ptr<TaskFiles> files;
  std::vector<std::string> notes;
  UseBook book;

  StepProfilerTest() {
    launch.job = JobId{7};
    launch.step = StepId{0};
    launch.node = "n1";
    launch.uid = Uid{::geteuid()};
    launch.gid = Gid{::getegid()};
    launch.user_name = "ann";
    launch.gather.emplace();
    launch.profile.emplace().directory = base;
    launch.profile->task = true;
  }
  std::unique_ptr<StepProfiler> make(size_t tasks) {
    launch.tasks.resize(tasks);
    for (size_t i = 0; i < tasks; ++i) launch.tasks[i].rank = static_cast<uint32_t>(i);
    files = std::make_unique<TaskFiles>(openings, writings, launch);
    book = UseBook(tasks);
    return StepProfiler::make(launch, {openings, *files, [this](const std::string& line) { notes.push_back(line); }});
  }
  // Runs the loop until its errands are over.
  void settle() {
    std::function<void()> look = [&] {
      if (openings.pids().empty() && writings.pids().empty()) return loop.stop();
      timer = loop.after(milliseconds(2), look);
    };
    timer = loop.after(milliseconds(2), look);
    loop.run();
    timer.reset();
  }
  std::unique_ptr<net::Loop::Timer> timer;
};

TEST_F(StepProfilerTest, WhatIsRecordedBeforeTheFileIsOpenIsInIt) {
  auto profiler = make(2);
  ASSERT_TRUE(profiler);
  profiler->open();
  profiler->begin();
  UseLook look;
  look.resident = Bytes(4096);
  book.look(1, look);
  profiler->look(book, {0, 42});  // the first has no process
  settle();
  profiler->ended(book, 1);
  settle();
  EXPECT_TRUE(notes.empty());
  struct stat st {};
  ASSERT_EQ(::stat(file.c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0600u);
  const std::string bytes = *os::read_file(file);
  auto reader = wire::ProfileReader::open(bytes);
  ASSERT_TRUE(reader);
  ProfileChunk chunk;
  ASSERT_TRUE(*reader->next(chunk));
  ASSERT_TRUE(chunk.header);
  EXPECT_EQ(chunk.header->job, JobId{7});
  EXPECT_EQ(chunk.header->tasks, 2u);
  ASSERT_TRUE(*reader->next(chunk));
  ASSERT_EQ(chunk.tasks.size(), 1u);
  EXPECT_EQ(chunk.tasks[0].task, 1u);
  EXPECT_EQ(chunk.tasks[0].rss, Bytes(4096));
  ASSERT_TRUE(*reader->next(chunk));
  EXPECT_FALSE(*reader->next(chunk));
}

// A step may be over before its file is open: its end waits for that.
TEST_F(StepProfilerTest, TheEndOfAStepCanWaitForTheFile) {
  auto profiler = make(1);
  int told = 0;
  profiler->when_open([&] { ++told; });
  EXPECT_EQ(told, 1);  // nobody has begun to open it
  profiler->open();
  profiler->begin();
  profiler->ended(book, 0);
  profiler->when_open([&] {
    ++told;
    files->when_quiet([&] { loop.stop(); });
  });
  EXPECT_EQ(told, 1);
  loop.run();
  EXPECT_EQ(told, 2);
  EXPECT_GT(os::read_file(file)->size(), wire::kProfileMagic.size() + 40);
}

TEST_F(StepProfilerTest, AFileTakesSoMuchAndNoMore) {
  auto profiler = make(1000);
  profiler->open();
  profiler->begin();
  settle();
  const std::vector<pid_t> pids(1000, 42);
  UseLook look;
  look.resident = Bytes(uint64_t{1} << 40);
  for (size_t i = 0; i < 1000; ++i) book.look(i, look);
  for (int i = 0; i < 5000 && notes.empty(); ++i) profiler->look(book, pids);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0], "slurmstepd: error: --profile: no more is recorded: its file has come to 64 MiB");
  profiler->look(book, pids);
  settle();
  EXPECT_EQ(notes.size(), 1u);
  EXPECT_LE(os::read_file(file)->size(), wire::kMostProfileBytes);
}

TEST_F(StepProfilerTest, AFolderThatIsNotSafeIsToldOnceAndTheStepGoesOn) {
  ASSERT_EQ(::mkdir(base.c_str(), 0755), 0);
  ASSERT_EQ(::chmod(base.c_str(), 0777), 0);
  auto profiler = make(1);
  profiler->open();
  settle();
  EXPECT_TRUE(notes.empty());  // the step has no standard error yet
  profiler->begin();
  profiler->look(book, {42});
  profiler->ended(book, 0);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find(base + "/ann: Operation not permitted"), std::string::npos) << notes[0];
}

TEST_F(StepProfilerTest, NothingIsRecordedWithoutBeingAskedFor) {
  launch.profile.reset();
  EXPECT_FALSE(make(1));
  launch.profile.emplace();
  launch.gather.reset();
  EXPECT_FALSE(make(1));
}

TEST_F(StepProfilerTest, AUserWithAnOddNameHasAFolderOfTheNumber) {
  launch.user_name = "../../etc";
  auto profiler = make(1);
  profiler->open();
  profiler->begin();
  settle();
  EXPECT_TRUE(notes.empty());
  EXPECT_EQ(::access((base + "/" + std::to_string(::geteuid()) + "/7_0_n1.samples").c_str(), F_OK), 0);
}

}  // namespace
}  // namespace muster::slurmstepd

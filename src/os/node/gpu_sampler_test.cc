#include "os/node/gpu_sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/files.h"

namespace muster::os {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class GpuUse : public testing::Test {
 protected:
  void SetUp() override { ::setenv("MUSTER_FAKE_NVML_USE", use_.c_str(), 1); }
  void TearDown() override {
    ::unsetenv("MUSTER_FAKE_NVML");
    ::unsetenv("MUSTER_FAKE_NVML_USE");
  }
  Result<GpuSampler> on(const char* machine) {
    ::setenv("MUSTER_FAKE_NVML", machine, 1);
    return GpuSampler::open(MUSTER_FAKE_NVML_PATH);
  }
  void says(std::string_view text) { ASSERT_TRUE(write_file_atomic(use_, text)); }
  TempDir dir_ = *TempDir::create("muster-gpu-use-");
  const std::string use_ = dir_.path() + "/use", file_ = dir_.path() + "/samples";
};

TEST_F(GpuUse, OfAProcessOnTwoCardsIsTheSum) {
  says("process 0 100 1000 40\nprocess 1 100 500 50\nprocess 1 101 7 0\ncard 1 300000 5000\n");
  auto sampler = on("h100");
  ASSERT_TRUE(sampler) << sampler.error().message();
  const GpuSamples s = sampler->sample(seconds(9));
  EXPECT_THAT(s.processes, ElementsAre(GpuSamples::Process{100, 90, 1500}, GpuSamples::Process{101, 0, 7}));
  EXPECT_THAT(s.cards, ElementsAre(GpuSamples::Card{1, 300'000, 5'000}));
  EXPECT_EQ(s.taken, seconds(9));
  EXPECT_TRUE(s.faults.empty());
}

TEST_F(GpuUse, WhatTheDriverCannotMeanIsLeftOutAndToldOnce) {
  says("process 0 100 999999999999999 250\nprocess 0 0 5 5\nlie\n");
  auto sampler = on("h100");
  ASSERT_TRUE(sampler);
  sampler->sample(seconds(1));
  const GpuSamples s = sampler->sample(seconds(2));
  EXPECT_THAT(s.processes, ElementsAre(GpuSamples::Process{100, 100, 0}));
  EXPECT_EQ(std::ranges::count(s.faults, "/dev/nvidia0: a process is said to hold more memory than there is"), 1);
  EXPECT_EQ(std::ranges::count(s.faults, "/dev/nvidia0: the driver tells of more processes than it was asked for"), 1);
}

TEST_F(GpuUse, TooManyProcessesAreTold) {
  says("process 0 100 1000 40\ncrowd\n");
  auto sampler = on("dead");  // one of its cards has fallen off the bus
  ASSERT_TRUE(sampler);
  EXPECT_THAT(sampler->sample(seconds(1)).faults,
              testing::Contains("/dev/nvidia3: it runs more than 1024 processes, which is too many to look at"));
}

TEST_F(GpuUse, CardsWithInstancesTellOfNoProcess) {
  says("process 0 100 1000 40\nprocess 1 101 8 9\n");
  auto sampler = on("mig");
  ASSERT_TRUE(sampler);
  EXPECT_THAT(sampler->sample(seconds(1)).processes, ElementsAre(GpuSamples::Process{101, 9, 8}));
}

TEST_F(GpuUse, ADriverThatDoesNotStart) {
  EXPECT_EQ(on("broken").error().message(), "use of GPUs: Driver Not Loaded");
  EXPECT_EQ(watch_gpus(MUSTER_FAKE_NVML_PATH, file_, seconds(1)), 1);
  EXPECT_THAT(read_gpu_samples(file_)->faults, ElementsAre("use of GPUs: Driver Not Loaded"));
}

TEST_F(GpuUse, IsReadAsItWasWritten) {
  GpuSamples s;
  s.taken = boot_clock();
  s.every = seconds(1);
  s.processes = {{7, 40, 1 << 20}, {8, 6400, 0}};
  s.cards = {{0, 1, 2}, {63, 700'000, 1ull << 59}};
  s.faults = {"a fault with words"};
  ASSERT_TRUE(write_gpu_samples(file_, s));
  auto again = read_gpu_samples(file_);
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(*again, s);
  EXPECT_EQ(read_gpu_samples(dir_.path() + "/none").error().code, Errc::kNotFound);
}

TEST_F(GpuUse, OldSamplesAreNone) {
  GpuSamples s;
  s.every = seconds(1);
  s.taken = boot_clock() - seconds(8);
  ASSERT_TRUE(write_gpu_samples(file_, s));
  EXPECT_EQ(read_gpu_samples(file_).error().code, Errc::kTimedOut);
  s.taken = boot_clock() + seconds(100);  // of before the machine's start
  ASSERT_TRUE(write_gpu_samples(file_, s));
  EXPECT_EQ(read_gpu_samples(file_).error().code, Errc::kTimedOut);
}

TEST_F(GpuUse, LinksPipesAndLongFilesAreNotRead) {
  GpuSamples s;
  s.taken = boot_clock();
  ASSERT_TRUE(write_gpu_samples(file_, s));
  const std::string link = dir_.path() + "/link", pipe = dir_.path() + "/pipe", large = dir_.path() + "/large";
  ASSERT_EQ(::symlink(file_.c_str(), link.c_str()), 0);
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  ASSERT_TRUE(write_file_atomic(large, s.text() + std::string(2 << 20, 'x')));
  for (const std::string& path : {link, pipe, large}) EXPECT_FALSE(read_gpu_samples(path)) << path;
}

TEST(GpuSamplesText, IsBounded) {
  const std::string head = "gpu-samples 1\ntaken 5 1\n";
  EXPECT_TRUE(GpuSamples::parse(head + "process 1 2 3\n"));
  for (const char* bad : {"process 0 2 3", "process -1 2 3", "process 1 6401 3", "process 1 2 3 4", "process 1 2 99999999999999999",
                          "card 1 2", "card 1 999999999999 2", "other", "taken 1"})
    EXPECT_FALSE(GpuSamples::parse(head + bad)) << bad;
  EXPECT_FALSE(GpuSamples::parse(""));
  EXPECT_FALSE(GpuSamples::parse("gpu-samples 1\n"));
  EXPECT_FALSE(GpuSamples::parse("gpu-samples 2\ntaken 5 1\n"));
  std::string many = head;
  for (size_t i = 0; i <= GpuSamples::kMostProcesses; ++i) many += "process 1 2 3\n";
  EXPECT_FALSE(GpuSamples::parse(many));
}

}  // namespace
}  // namespace muster::os

#include "model/file_pattern.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

FileNames names() {
  FileNames n;
  n.job = JobId(128);
  n.step = StepId(0);
  n.node = "n1.cluster";
  n.node_index = 2;
  n.rank = 3;
  n.user = "ann";
  n.job_name = "train";
  return n;
}

TEST(FilePattern, AsTheManualPageShows) {
  EXPECT_EQ(expand_file_pattern("job%J.out", names()), "job128.0.out");
  EXPECT_EQ(expand_file_pattern("job%4j.out", names()), "job0128.out");
  EXPECT_EQ(expand_file_pattern("job%2j-%2t.out", names()), "job128-03.out");
  EXPECT_EQ(expand_file_pattern("%x-%u-%N-%n-%s-%r%%", names()), "train-ann-n1-2-0-0%");
}

TEST(FilePattern, ArraysAndTheirDefault) {
  FileNames n = names();
  EXPECT_EQ(expand_file_pattern("%A_%a", n), "128_4294967294");
  n.array_job = JobId(120);
  n.array_task = 17;
  n.step = kBatchStep;
  EXPECT_EQ(expand_file_pattern(default_batch_output(true), n), "slurm-120_17.out");
  EXPECT_EQ(expand_file_pattern("%b %J %s %12a", n), "7 128 batch 0000000017");
}

TEST(FilePattern, WhatIsNoSymbolStays) {
  EXPECT_EQ(expand_file_pattern("%q %", names()), "%q %");
  EXPECT_EQ(expand_file_pattern("%5", names()), "%5");
  EXPECT_EQ(expand_file_pattern("a\\%j", names()), "a%j");
}

TEST(FilePattern, PerTask) {
  EXPECT_TRUE(pattern_is_per_task("o%3t"));
  EXPECT_TRUE(pattern_is_per_task("%j-%N"));
  EXPECT_FALSE(pattern_is_per_task("%j-%x"));
  EXPECT_FALSE(pattern_is_per_task("%%t"));
  EXPECT_EQ(below("/w", "a/b"), "/w/a/b");
  EXPECT_EQ(below("/w", "/a"), "/a");
}

}  // namespace
}  // namespace muster

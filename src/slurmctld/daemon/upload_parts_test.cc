#include "slurmctld/daemon/upload_parts.h"

#include <gtest/gtest.h>

#include "net/frame.h"
#include "wire/accounting_instances.h"

namespace muster::slurmctld {
namespace {

rpc::StoreRecords upload(uint32_t jobs, size_t bytes) {
  rpc::StoreRecords m;
  m.cluster = "c";
  m.position = 7;
  for (uint32_t i = 1; i <= jobs; ++i) {
    JobRecord& j = m.jobs.emplace_back();
    j.key.id = JobId(i);
    j.submit_line.assign(bytes, 'x');
    m.steps.emplace_back().job = j.key;
  }
  return m;
}

rpc::StoreRecords decoded(const std::string& bytes) {
  rpc::StoreRecords m;
  EXPECT_TRUE(wire::decode(bytes, m));
  return m;
}

// 80 MiB of one event: as one message slurmdbd's connection refuses it, now and each time it is sent again.
TEST(UploadParts, WhatIsLongerThanAFrameGoesInSeveral) {
  const rpc::StoreRecords all = upload(800, 100'000);
  std::string whole;
  wire::encode(all, whole);
  ASSERT_GT(whole.size(), net::kMaxPayload);
  std::vector<uint32_t> jobs, steps;
  for (const std::string& part : upload_parts(all)) {
    EXPECT_LE(part.size(), kUploadPartBytes + 1000);
    const rpc::StoreRecords m = decoded(part);
    EXPECT_EQ(m.cluster, "c");
    EXPECT_EQ(m.position, 7u);
    for (const JobRecord& j : m.jobs) jobs.push_back(j.key.id.value);
    for (const StepRecord& s : m.steps) steps.push_back(s.job.id.value);
  }
  ASSERT_EQ(jobs.size(), 800u);
  for (uint32_t i = 0; i < 800; ++i) EXPECT_EQ(jobs[i], i + 1);
  EXPECT_EQ(steps, jobs);
}

TEST(UploadParts, FewRecordsAndNoneAreOneMessage) {
  EXPECT_EQ(upload_parts(upload(3, 10)).size(), 1u);
  const auto none = upload_parts(upload(0, 0));
  ASSERT_EQ(none.size(), 1u);
  EXPECT_EQ(decoded(none[0]).position, 7u);
  EXPECT_EQ(upload_parts(upload(2, 5000), 1000).size(), 3u);  // longer than a part: one each
}

}  // namespace
}  // namespace muster::slurmctld

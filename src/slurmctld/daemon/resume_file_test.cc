#include "slurmctld/daemon/resume_file.h"

#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include "slurmctld/core/core_testing.h"

namespace muster::slurmctld {
namespace {

TEST(ResumeFile, SaysForWhichJobsWhichNodesComeUp) {
  Bench b("NodeName=c[0-2] CPUs=4 RealMemory=4000 State=CLOUD Features=big\nPartitionName=cloud Nodes=c[0-2] MaxTime=60\n"
          "ResumeTimeout=60\nResumeProgram=/r\nSuspendProgram=/s\n",
          false);
  const JobId plain = b.submit([](JobRequest& r) {
    r.partitions = {"cloud"};
    r.min_nodes = r.max_nodes = 2;
    r.features = "big";
    r.extra = "say \"more\"";
  });
  ASSERT_EQ(b.plan(), 1u);
  const PowerNodes* up = nullptr;
  for (const Effect& e : b.effects)
    if (auto* power = std::get_if<PowerNodes>(&e)) up = power;
  ASSERT_TRUE(up);
  rapidjson::Document file;
  file.Parse(resume_file(b.core.cluster(), *up).c_str());
  ASSERT_FALSE(file.HasParseError());
  EXPECT_STREQ(file["all_nodes_resume"].GetString(), "c[0-1]");
  ASSERT_EQ(file["jobs"].Size(), 1u);
  const auto& job = file["jobs"][0];
  EXPECT_EQ(job["job_id"].GetUint(), plain.value);
  EXPECT_STREQ(job["nodes_alloc"].GetString(), "c[0-1]");
  EXPECT_STREQ(job["nodes_resume"].GetString(), "c[0-1]");
  EXPECT_STREQ(job["features"].GetString(), "big");
  EXPECT_STREQ(job["extra"].GetString(), "say \"more\"");
  EXPECT_STREQ(job["partition"].GetString(), "cloud");
  EXPECT_STREQ(job["exclusive"].GetString(), "NO");
  EXPECT_STREQ(job["oversubscribe"].GetString(), "NO");
  EXPECT_TRUE(job["reservation"].IsNull());
}

}  // namespace
}  // namespace muster::slurmctld

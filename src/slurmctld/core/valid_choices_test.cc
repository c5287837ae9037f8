// Refusals name what there is instead, and only what the caller may use.
#include "slurmctld/core/core_testing.h"
#include "slurmctld/core/explain.h"

namespace muster::slurmctld {
namespace {

constexpr const char* kPartitions = "EnforcePartLimits=ANY\n"
                                    "PartitionName=long Nodes=ALL MaxTime=1000\n"
                                    "PartitionName=wide Nodes=ALL MaxTime=30\n"
                                    "PartitionName=small Nodes=n0 MaxTime=60 MaxNodes=1\n"
                                    "PartitionName=staff Nodes=ALL MaxTime=5000 AllowGroups=staff\n"
                                    "PartitionName=secret Nodes=ALL MaxTime=5000 Hidden=YES\n";

Error refused(const std::function<void(JobRequest&)>& change, std::vector<std::string> groups = {}) {
  Bench b(kPartitions);
  b.core.begin(b.now);
  auto answer = b.core.run(Caller{Uid(1000), {}, std::move(groups), {}}, Bench::request(change));
  EXPECT_FALSE(answer.has_value());
  return answer ? Error() : answer.error();
}

TEST(ValidChoices, Partitions) {
  Error e = refused([](JobRequest& r) { r.partitions = {"lnog"}; });
  EXPECT_EQ(e.message(), "invalid partition specified: lnog");
  EXPECT_EQ(e.hint, "did you mean long? partitions here: long, wide, small, main");
  EXPECT_EQ(refused([](JobRequest& r) { r.partitions = {"qqqqqqq"}; }, {"staff"}).hint, "partitions here: long, wide, small, staff, main");
}

TEST(ValidChoices, ALongerTimeLimit) {
  Error e = refused([](JobRequest& r) { r.time_limit_min = 500; });
  EXPECT_EQ(e.code, Errc::kInvalidTimeLimit);
  EXPECT_EQ(e.hint, "--time asks for more than the 60 minutes (MaxTime) of partition main; partition long allows it");
  EXPECT_EQ(refused([](JobRequest& r) { r.time_limit_min = 2000; }).hint,
            "--time asks for more than the 60 minutes (MaxTime) of partition main");
}

TEST(ValidChoices, MoreNodes) {
  Error e = refused([](JobRequest& r) {
    r.partitions = {"small"};
    r.min_nodes = r.max_nodes = 2;
  });
  EXPECT_EQ(e.code, Errc::kInvalidNodeCount);
  EXPECT_EQ(e.hint, "partition small gives a job at most 1 nodes (MaxNodes); partitions long, wide, main allow it");
}

TEST(ValidChoices, NodesAndFeaturesAndGres) {
  EXPECT_EQ(refused([](JobRequest& r) { r.required_nodes = "m0"; }).hint, "no node is called 'm0'; did you mean n0?");
  EXPECT_EQ(refused([](JobRequest& r) { r.required_nodes = "compute-7"; }).hint, "no node is called 'compute-7'; nodes here: n[0-3]");
  EXPECT_EQ(refused([](JobRequest& r) { r.features = "fast"; }).hint, "no node has the feature \"fast\"; there are none here");
  EXPECT_EQ(refused([](JobRequest& r) { r.tres_per_node = "gres/gpu:1"; }).hint, "no node has gres/gpu; there are none here");
}

TEST(ExplainAnswer, NamesTheRecordOrSaysWhyThereIsNone) {
  Bench b;
  JobId id = b.submit();
  rpc::ExplainJob q;
  q.job.job = id;
  auto e = explain_job(b.core.cluster(), b.settings, b.now, q);
  ASSERT_TRUE(e);
  EXPECT_EQ(e->job.id, id);
  q.job.job = JobId(id.value + 1);
  EXPECT_EQ(explain_job(b.core.cluster(), b.settings, b.now, q).error().hint,
            "no job has had that number yet; the last was " + std::to_string(id.value));
  rpc::ExplainNode n;
  n.node = "n9";
  EXPECT_EQ(explain_node(*b.core.snapshot(), b.settings, b.now, n).error().code, Errc::kInvalidNodeName);
  n.node = "n2";
  EXPECT_EQ(explain_node(*b.core.snapshot(), b.settings, b.now, n)->name, "n2");
}

}  // namespace
}  // namespace muster::slurmctld

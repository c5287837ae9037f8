#include "sql/stored_records.h"

#include <gtest/gtest.h>

#include <variant>

#include "sql/columns.h"
#include "wire/accounting_instances.h"

namespace muster::sql {
namespace {

class FakeRow : public Row {
 public:
  explicit FakeRow(std::vector<std::variant<int64_t, std::string>> values) : values_(std::move(values)) {}
  int64_t number(int column) const override { return std::get<int64_t>(values_.at(static_cast<size_t>(column))); }
  std::string_view bytes(int column) const override { return std::get<std::string>(values_.at(static_cast<size_t>(column))); }

 private:
  std::vector<std::variant<int64_t, std::string>> values_;
};

JobRecord a_job() {
  JobRecord r;
  r.key = {JobId(7), from_unix(1'700'000'000), 2};
  r.position = 12;
  r.cluster = "c";
  r.uid = Uid(1000);
  r.gid = Gid(1001);
  r.account = "lab";
  r.partition = "gpu";
  r.name = "train";
  r.qos = "normal";
  r.wckey = "w";
  r.state = JobState::kFailed;
  r.eligible = r.key.submitted + seconds(1);
  r.started = r.eligible + seconds(9);
  r.ended = r.started + minutes(5);
  r.std_out = r.std_err = "/home/u/slurm-%j.out";
  r.tres_requested = r.tres_allocated = TresAmounts::from_text("cpu=64,mem=512G,node=4,billing=64,gres/gpu=32");
  r.work_dir = "/home/u";
  return r;
}

// The row as Storage writes it, with something else before the record.
FakeRow row_of(const JobRecord& r, std::string record) {
  auto name = [](const std::string& s) { return std::string(name_of(s).text); };
  return FakeRow({int64_t{1}, std::move(record), int64_t{r.key.id.value}, number_of(r.key.submitted), int64_t{r.key.restarts},
                  name(r.cluster), signed_of(r.position), int64_t{r.uid.value}, int64_t{r.gid.value}, name(r.account), name(r.partition),
                  name(r.name), name(r.qos), name(r.wckey), static_cast<int64_t>(r.state), number_of(r.eligible), number_of(r.started),
                  end_number(r.ended)});
}

JobRecord again(const JobRecord& r, std::string record) {
  JobRecord out;
  EXPECT_TRUE(read_job(row_of(r, std::move(record)), 1, out));
  return out;
}

TEST(StoredRecords, AJobComesBackAndTakesHalfTheRoom) {
  const JobRecord job = a_job();
  EXPECT_EQ(wire::encoded(again(job, stored_job(job))), wire::encoded(job));
  EXPECT_LT(stored_job(job).size() * 2, wire::encoded(job).size());
}

TEST(StoredRecords, WhatDiffersIsKept) {
  JobRecord job = a_job();
  job.name = std::string(300, 'n');
  job.account = std::string(kNameBytes, 'a');
  job.std_err = "/elsewhere";
  job.tres_requested = TresAmounts::from_text("cpu=1");
  job.ended = kTimeUnset;
  job.wckey.clear();
  EXPECT_EQ(wire::encoded(again(job, stored_job(job))), wire::encoded(job));
}

TEST(StoredRecords, WholeRecordsOfOlderVersionsAreRead) {
  const JobRecord job = a_job();
  EXPECT_EQ(wire::encoded(again(job, wire::encoded(job))), wire::encoded(job));
}

TEST(StoredRecords, AStepComesBack) {
  StepRecord step;
  step.job = a_job().key;
  step.id = kBatchStep;
  step.position = 9;
  step.name = "batch";
  step.started = from_unix(1'700'000'010);
  step.ended = step.started + minutes(1);
  for (const std::string& record : {stored_step(step), wire::encoded(step)}) {
    StepRecord out;
    ASSERT_TRUE(read_step(FakeRow({int64_t{step.id.value}, int64_t{9}, end_number(step.ended), record}), 0, step.job, out));
    EXPECT_EQ(wire::encoded(out), wire::encoded(step));
    ASSERT_TRUE(read_step(FakeRow({int64_t{step.id.value}, int64_t{9}, int64_t{-1}, wire::encoded(step)}), 0, step.job, out));
    EXPECT_EQ(out.ended, step.ended) << "nobody has looked into it yet";
  }
}

}  // namespace
}  // namespace muster::sql

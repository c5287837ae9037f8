// Amounts and lists of what steps used, as Debian's sstat 22.05 printed them for steps like these; sstat's columns.
#include "fields/usage_values.h"

#include <gtest/gtest.h>

#include <set>

#include "base/documented_test.h"
#include "fields/json.h"
#include "fields/live_view.h"
#include "fields/record_values.h"
#include "fields/record_view.h"

namespace muster::fields {
namespace {

StepUsage two_tasks() {
  StepUsage u;
  add_task(u, {0, milliseconds(2500), milliseconds(200), Bytes(62320 << 10), Bytes(65400 << 10), Bytes(1685844), Bytes(1703), 0}, "n1");
  add_task(u, {1, milliseconds(400), milliseconds(100), Bytes(81840 << 10), Bytes(84928 << 10), Bytes(2097152), Bytes(1703), 3}, "n2");
  return u;
}
std::string list(UsageDirection d, UsageKind k, UsageStyle style = {}) {
  std::string out;
  put_tres_used(two_tasks(), d, k, style, out);
  return out;
}
std::string bytes(uint64_t n, UsageStyle style = {}) {
  std::string out;
  put_bytes_used(Bytes(n), style, out);
  return out;
}
std::string exact(Duration d) {
  std::string out;
  put_cpu_time_exact(d, out);
  return out;
}

TEST(UsageValues, Sizes) {
  EXPECT_EQ(bytes(0), "0");
  EXPECT_EQ(bytes(309392 << 10), "309392K");
  EXPECT_EQ(bytes(1716220), "1716220");
  EXPECT_EQ(bytes(3 << 20), "3M");
  EXPECT_EQ(bytes(3 << 20, {0, true}), "3145728");
  EXPECT_EQ(bytes(309392 << 10, {'M', false}), "302.14M");
  EXPECT_EQ(bytes(2 << 20, {'M', false}), "2M");
  EXPECT_EQ(bytes(UINT64_MAX, {'P', false}), "16384P");
}

TEST(UsageValues, Times) {
  EXPECT_EQ(exact({}), "00:00:00");
  EXPECT_EQ(exact(milliseconds(12)), "00:00.012");
  EXPECT_EQ(exact(minutes(59) + milliseconds(61'999)), "01:00:01");
  EXPECT_EQ(exact(minutes(17) + milliseconds(42'123)), "17:42.123");
  EXPECT_EQ(exact(minutes(60 * 51) + seconds(5)), "2-03:00:05");
}

TEST(UsageValues, Lists) {
  using enum UsageKind;
  EXPECT_EQ(list(UsageDirection::kIn, kMax), "cpu=00:00:02,energy=0,fs/disk=2097152,mem=81840K,pages=3,vmem=84928K");
  EXPECT_EQ(list(UsageDirection::kIn, kAverage), "cpu=00:00:01,energy=0,fs/disk=1891498,mem=72080K,pages=1,vmem=75164K");
  EXPECT_EQ(list(UsageDirection::kIn, kTotal), "cpu=00:00:03,energy=0,fs/disk=3782996,mem=144160K,pages=3,vmem=150328K");
  EXPECT_EQ(list(UsageDirection::kIn, kMaxNode), "cpu=n1,energy=n1,fs/disk=n2,mem=n2,pages=n2,vmem=n2");
  EXPECT_EQ(list(UsageDirection::kIn, kMaxTask), "cpu=00:00:00,fs/disk=1,mem=1,pages=1,vmem=1");
  EXPECT_EQ(list(UsageDirection::kIn, kMin), "cpu=00:00:00,energy=0,fs/disk=1685844,mem=62320K,pages=0,vmem=65400K");
  EXPECT_EQ(list(UsageDirection::kIn, kMinNode), "cpu=n2,energy=n2,fs/disk=n1,mem=n1,pages=n1,vmem=n1");
  EXPECT_EQ(list(UsageDirection::kOut, kTotal), "energy=0,fs/disk=3406");
  EXPECT_EQ(list(UsageDirection::kOut, kMaxTask), "fs/disk=0");
  EXPECT_EQ(list(UsageDirection::kIn, kMax, {0, true}), "cpu=00:00:02,energy=0,fs/disk=2097152,mem=83804160,pages=3,vmem=86966272");
}

TEST(UsageValues, GpusAndEnergyWhereTheyWereMeasured) {
  using enum UsageKind;
  StepUsage u;
  TaskUsage t{0, milliseconds(2500), milliseconds(200), Bytes(62320 << 10), Bytes(65400 << 10), Bytes(8), Bytes(9), 0};
  t.gpu_util = 100;
  t.gpu_memory = Bytes(uint64_t{36266} << 20);
  add_task(u, t, "n1");
  t.task = 1;
  t.gpu_util = 50;
  add_task(u, t, "n2");
  add_energy(u, 1000, "n2");
  const auto text = [&](UsageDirection d, UsageKind k) {
    std::string out;
    put_tres_used(u, d, k, {}, out);
    return out;
  };
  EXPECT_EQ(text(UsageDirection::kIn, kTotal),
            "cpu=00:00:05,energy=1000,fs/disk=16,gres/gpumem=72532M,gres/gpuutil=150,mem=124640K,pages=0,vmem=130800K");
  EXPECT_EQ(text(UsageDirection::kIn, kMinNode), "cpu=n1,energy=n2,fs/disk=n1,gres/gpumem=n1,gres/gpuutil=n2,mem=n1,pages=n1,vmem=n1");
  EXPECT_EQ(text(UsageDirection::kIn, kMaxTask), "cpu=00:00:00,fs/disk=0,gres/gpumem=0,gres/gpuutil=0,mem=0,pages=0,vmem=0");
  EXPECT_EQ(text(UsageDirection::kOut, kTotal), "energy=1000,fs/disk=18");
}

TEST(UsageValues, Energy) {
  const auto energy = [](uint64_t joules, UsageStyle style = {}) {
    std::string out;
    put_energy(joules, style, out);
    return out;
  };
  EXPECT_EQ(energy(0), "0");
  EXPECT_EQ(energy(0, {'M', false}), "0");
  EXPECT_EQ(energy(999), "999");
  EXPECT_EQ(energy(12345), "12.35K");
  EXPECT_EQ(energy(12345, {0, true}), "12345");
  EXPECT_EQ(energy(12'345'678, {'K', false}), "12345.68K");
  EXPECT_EQ(energy(3'000'000'000), "3.00G");
}

class UsageColumns : public ::testing::Test {
 protected:
  UsageColumns() {
    job.key.id = JobId(12);
    step.job = job.key;
    step.id = StepId(0);
    step.usage = std::make_shared<const StepUsage>(two_tasks());
    batch = step;
    batch.id = kBatchStep;
  }
  std::string line(std::string_view columns, const StepRecord* of) {
    Table<RecordView> table({TableStyle::Form::kSeparated, "|", false});
    EXPECT_TRUE(table.add(record_fields(), columns));
    std::string out;
    const std::vector<StepRecord> steps{batch, step};
    table.row({job, of, env, style, of ? std::span<const StepRecord>() : std::span<const StepRecord>(steps)}, out);
    return out;
  }
  JobRecord job;
  StepRecord step, batch;
  Environment env;
  RecordStyle style;
};

TEST_F(UsageColumns, OfAStep) {
  EXPECT_EQ(line("maxrss,maxrssnode,maxrsstask,averss,mincpu,mincpunode,avecpu,maxpages,maxdiskread,avediskwrite", &step),
            "81840K|n2|1|72080K|00:00:00|n2|00:00:01|3|2M|1703\n");
  EXPECT_EQ(line("totalcpu,usercpu,systemcpu", &step), "00:03.200|00:02.900|00:00.300\n");
}

TEST_F(UsageColumns, OfAJobAreTheTimesOfItsSteps) {
  EXPECT_EQ(line("totalcpu,usercpu,systemcpu,maxrss,tresusageintot", nullptr), "00:06.400|00:05.800|00:00.600||\n");
}

TEST_F(UsageColumns, EnergyOfAJobCountsWhatWasMeasuredTwiceOnce) {
  StepUsage own = two_tasks(), of_script = two_tasks();
  add_energy(own, 1500, "n1");
  add_energy(of_script, 2000, "n1");
  step.usage = std::make_shared<const StepUsage>(own);
  batch.usage = std::make_shared<const StepUsage>(of_script);
  EXPECT_EQ(line("consumedenergy,consumedenergyraw", &step), "1.50K|1500\n");
  EXPECT_EQ(line("consumedenergyraw", nullptr), "2000\n");
  batch.usage = nullptr;
  EXPECT_EQ(line("consumedenergyraw", nullptr), "1500\n");
}

TEST_F(UsageColumns, WhereNothingWasGathered) {
  step.usage = nullptr;
  EXPECT_EQ(line("maxrss,maxrssnode,maxrsstask,avecpu,tresusageinmax,totalcpu", &step), "|||||00:00:00\n");
}

TEST_F(UsageColumns, APlaceThatPointsNowhere) {
  StepUsage hostile = two_tasks();
  hostile.rss.max_at.node = 77;
  step.usage = std::make_shared<const StepUsage>(hostile);
  EXPECT_EQ(line("maxrssnode,maxrsstask", &step), "|1\n");
}

TEST(SstatColumns, AreThoseOfTheManualPage) {
  // A name stands alone on its line, or before its description.
  const auto names = documented_names("sstat.columns", "man/sstat.1.txt", [](const std::string& page) {
    std::vector<std::string> out;
    std::istringstream lines(page.substr(page.find("Job Status Fields")));
    for (std::string line; std::getline(lines, line) && !line.starts_with("PERFORMANCE");)
      if (line.size() > 14 && line.find_first_not_of(' ') == 14) out.push_back(line.substr(14, line.find(' ', 14) - 14));
    return out;
  });
  EXPECT_GT(names.size(), 35u);
  for (const std::string& name : names) EXPECT_TRUE(find_column(live_fields(), name)) << name;
  for (std::string_view name : split(kLiveDefault, ',')) EXPECT_TRUE(find_column(live_fields(), name)) << name;
  std::set<std::string> known;
  for (const LiveField& f : live_fields()) EXPECT_TRUE(known.insert(to_lower(f.name)).second && !f.doc.empty()) << f.name;
}

TEST(SstatColumns, OfAStep) {
  Table<LiveView> table({TableStyle::Form::kEnded, "|", false});
  ASSERT_TRUE(table.add(live_fields(), "jobid,maxrss,maxrssnode,ntasks,avecpufreq,reqcpufreqmin,alloctres"));
  StepRow row;
  row.tasks = 2;
  row.tres = {.cpus = 2, .nodes = 2};
  const StepUsage usage = two_tasks();
  std::string out;
  table.row({"12.0", {}, row, &usage, {}}, out);
  EXPECT_EQ(out, "12.0|81840K|n2|2|0|Unknown|cpu=2,node=2|\n");
}

TEST(UsageValues, ClocksPrintAsSlurmDoes) {
  StepUsage usage = two_tasks();
  EXPECT_EQ(average_clock(&usage), 0u);
  EXPECT_EQ(average_clock(nullptr), 0u);
  usage.clock.parts = 2;
  usage.clock.total = 2 * 2'596'000;
  std::string shown, whole;
  put_clock(average_clock(&usage), {}, shown);
  put_clock(average_clock(&usage), {0, true}, whole);
  EXPECT_EQ(shown, "2.60M");
  EXPECT_EQ(whole, "2596K");
  put_clock(0, {}, shown);
  EXPECT_EQ(shown, "2.60M0");
}

}  // namespace
}  // namespace muster::fields

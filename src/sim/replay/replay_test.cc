// Whole replays: small traces whose starts can be worked out by hand, and what is the same in every run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/replay/accounts_file.h"
#include "sim/replay/generate.h"
#include "sim/replay/report_text.h"

namespace muster::sim::replay {
namespace {

using testing::HasSubstr;

slurmctld::Settings settings_of(const std::string& conf, const std::string& gres = {}) {
  config::MemoryFiles files{{"/etc/slurm/slurm.conf", "ClusterName=c\nSlurmctldHost=ctl\nSelectType=select/cons_tres\n" + conf}};
  if (!gres.empty()) files.put("/etc/slurm/gres.conf", gres);
  auto loaded = config::load_config(files, "/etc/slurm/slurm.conf");
  EXPECT_TRUE(loaded) << (loaded ? "" : config::to_text(loaded.error()));
  return slurmctld::make_settings(std::make_shared<const config::LoadedConfig>(std::move(*loaded)), Uid{0}, false);
}

constexpr const char* kOneNode =
    "SelectTypeParameters=CR_CPU\nNodeName=n1 CPUs=4 RealMemory=4000\nPartitionName=main Nodes=ALL Default=YES MaxTime=600\n";

struct Replayed {
  Trace trace;
  std::unique_ptr<Driver> driver;
  Report report;
  int64_t wait(uint32_t i) const {
    const JobResult& r = driver->collector().jobs()[i];
    return to_seconds(r.first_start - r.eligible);
  }
  JobState state(uint32_t i) const { return driver->collector().jobs()[i].state; }
  int64_t run(uint32_t i) const {
    const JobResult& r = driver->collector().jobs()[i];
    return to_seconds(r.end - r.start);
  }
};

std::unique_ptr<Replayed> replay(Trace trace, slurmctld::Settings settings, const rpc::Entities* accounts = nullptr,
                                 RequestRules rules = {}) {
  auto out = std::make_unique<Replayed>();
  out->trace = std::move(trace);
  const rpc::Entities own = accounts ? *accounts : accounts_of(out->trace);
  out->driver = std::make_unique<Driver>(out->trace, std::move(settings), own, std::move(rules), Pace{}, bucket_of(out->trace));
  const Drive drive = out->driver->run([](const Standing&) { return true; });
  out->report = make_report("test", out->trace, *out->driver, drive, {});
  return out;
}

std::unique_ptr<Replayed> replay(const std::string& text, const std::string& conf, RequestRules rules = {}) {
  auto trace = read_trace(text, {});
  EXPECT_TRUE(trace) << (trace ? "" : trace.error().message());
  return replay(std::move(*trace), settings_of(conf), nullptr, std::move(rules));
}

TEST(Replay, OneAfterTheOther) {
  const auto r = replay("1 0 0 100 4 -1 -1 4 240 -1 1\n"
                        "2 10 0 50 4 -1 -1 4 240 -1 1\n"
                        "3 20 0 10 4 -1 -1 4 240 -1 0\n",
                        kOneNode);
  EXPECT_EQ(r->wait(0), 0);
  EXPECT_EQ(r->wait(1), 90);
  EXPECT_EQ(r->wait(2), 130);
  EXPECT_EQ(r->state(2), JobState::kFailed);
  EXPECT_NEAR(r->report.wait.mean, 220.0 / 3, 1e-9);
  EXPECT_DOUBLE_EQ(r->report.wait.median, 90);
  EXPECT_DOUBLE_EQ(r->report.wait.p90, 130);
  EXPECT_DOUBLE_EQ(r->report.slowdown.median, 140.0 / 50);
  EXPECT_DOUBLE_EQ(r->report.slowdown.most, 14);
  EXPECT_DOUBLE_EQ(r->report.cpu_use, 1);
  EXPECT_EQ(r->report.counts.completed, 2u);
  EXPECT_EQ(r->report.counts.failed, 1u);
  EXPECT_EQ(r->report.promises.promised, 2u);
  EXPECT_EQ(r->report.promises.early, 2u) << "jobs end before their limits";
  EXPECT_EQ(r->report.promises.moved_later, 0u);
}

TEST(Replay, BackfillGoesBeforeAndDelaysNobody) {
  // The second needs all four CPUs and is promised the moment at which the limit of the first strikes; the third fits in before, the fourth does not.
  const auto r = replay("1 0 0 600 3 -1 -1 3 600 -1 1\n"
                        "2 10 0 60 4 -1 -1 4 60 -1 1\n"
                        "3 20 0 60 1 -1 -1 1 120 -1 1\n"
                        "4 30 0 60 1 -1 -1 1 3600 -1 1\n",
                        kOneNode);
  EXPECT_EQ(r->wait(2), 0);
  EXPECT_EQ(r->wait(1), 590);
  EXPECT_EQ(r->wait(3), 600 + 60 - 30);
}

TEST(Replay, TimeoutsAndCancellations) {
  const auto r = replay(
      "Submit|Start|End|ElapsedRaw|TimelimitRaw|State|ReqCPUS|JobID\n"
      "1800000000|1800000000|1800000120|120|2|TIMEOUT|4|1\n"        // until the limit
      "1800000010|None|1800000040|0|2|CANCELLED by 5|4|2\n"         // cancelled in the queue
      "1800000020|1800000120|1800000150|30|2|CANCELLED by 5|4|3\n"  // cancelled while it runs
      "1800000030|1800000150|1800000400|250|2|COMPLETED|4|4\n",     // ran longer than its limit: it was raised, which a trace does not tell
      kOneNode);
  EXPECT_EQ(r->state(0), JobState::kTimeout);
  EXPECT_EQ(r->run(0), 120);
  EXPECT_EQ(r->state(1), JobState::kCancelled);
  EXPECT_EQ(r->driver->collector().jobs()[1].starts, 0);
  EXPECT_EQ(r->state(2), JobState::kCancelled);
  EXPECT_EQ(r->run(2), 30);
  EXPECT_EQ(r->wait(2), 100);
  EXPECT_EQ(r->state(3), JobState::kTimeout);
  EXPECT_EQ(r->report.counts.cancelled_waiting, 1u);
  EXPECT_EQ(r->report.counts.cancelled, 1u);
}

TEST(Replay, WaitsBeginWhenAJobMayStart) {
  const auto r = replay("1 0 0 100 1 -1 -1 1 240 -1 1 -1 -1 -1 -1 -1 -1 -1\n"
                        "2 10 0 100 1 -1 -1 1 240 -1 1 -1 -1 -1 -1 -1 1 0\n",  // follows the first
                        kOneNode);
  EXPECT_EQ(r->wait(1), 0);
  EXPECT_EQ(to_seconds(r->driver->collector().jobs()[1].first_start - r->driver->begin()), 100);
  RequestRules alone;
  alone.follow = false;
  const auto free = replay("1 0 0 100 1 -1 -1 1 240 -1 1\n2 10 0 100 1 -1 -1 1 240 -1 1 -1 -1 -1 -1 -1 1 0\n", kOneNode, alone);
  EXPECT_EQ(to_seconds(free->driver->collector().jobs()[1].first_start - free->driver->begin()), 10);
  const auto later =
      replay("Submit|Eligible|Start|ElapsedRaw|TimelimitRaw|State|ReqCPUS\n1800000000|1800000500|1800000500|10|2|COMPLETED|1\n", kOneNode);
  EXPECT_EQ(later->wait(0), 0);
  EXPECT_EQ(to_seconds(later->driver->collector().jobs()[0].first_start - later->driver->begin()), 500);
}

TEST(Replay, WhatCannotRunIsRefusedWithItsReason) {
  const auto r = replay("1 0 0 100 4 -1 -1 4 240 -1 1\n2 10 0 50 4 -1 -1 400 240 -1 1\n3 10 0 50 4 -1 -1 1 24000000 -1 1\n", kOneNode);
  EXPECT_EQ(r->report.counts.refused, 1u);
  EXPECT_EQ(r->report.refusals.size(), 1u);
  EXPECT_EQ(r->report.counts.started, 1u);
  EXPECT_EQ(r->report.counts.still_waiting, 1u) << "EnforcePartLimits=NO";
  const std::string text = report_text({"t", &r->trace}, {&r->report});
  EXPECT_THAT(text, HasSubstr("refused 1 jobs: "));
  EXPECT_THAT(text, HasSubstr("still waiting at the end 1 jobs: PartitionTimeLimit"));
}

TEST(Replay, PartitionsThatAreNotThere) {
  const std::string conf = std::string(kOneNode) + "PartitionName=other Nodes=ALL MaxTime=600\n";
  const std::string text = "1 0 0 9 1 -1 -1 1 240 -1 1 -1 -1 -1 -1 1 -1 -1\n2 0 0 9 1 -1 -1 1 240 -1 1 -1 -1 -1 -1 2 -1 -1\n";
  RequestRules rules;
  rules.partitions["2"] = "other";
  const auto r = replay(text, conf, rules);
  ASSERT_EQ(r->report.notes.size(), 1u);
  EXPECT_THAT(r->report.notes[0], HasSubstr("1 jobs asked for the partition 1"));
  EXPECT_EQ(r->report.counts.completed, 2u);
}

TEST(Replay, LicensesOfTheSiteAreWaitedFor) {
  auto trace = read_trace("Submit|Start|ElapsedRaw|TimelimitRaw|State|ReqTRES\n"
                          "1800000000|1800000000|100|10|COMPLETED|cpu=1,license/app=1\n"
                          "1800000001|1800000100|100|10|COMPLETED|cpu=1,license/app=1\n"
                          "1800000002|1800000100|100|10|COMPLETED|cpu=1,license/other=2\n",
                          {});
  ASSERT_TRUE(trace) << trace.error().message();
  const auto r = replay(std::move(*trace), settings_of(std::string("Licenses=app:1\n") + kOneNode));
  EXPECT_EQ(r->report.counts.completed, 3u) << report_text({"t", &r->trace}, {&r->report});
  EXPECT_EQ(r->wait(1), 99);
  EXPECT_EQ(r->wait(2), 0);
  ASSERT_EQ(r->report.notes.size(), 1u);
  EXPECT_EQ(r->report.notes[0], "1 jobs asked for the license other, which slurm.conf does not have: they ran without it");
}

TEST(Replay, GpusOverNodes) {
  const std::string conf =
      "GresTypes=gpu\nSelectTypeParameters=CR_Core_Memory\nNodeName=g[1-2] Sockets=2 CoresPerSocket=4 RealMemory=8000 Gres=gpu:4\n"
      "PartitionName=main Nodes=ALL Default=YES MaxTime=600\n";
  auto trace = read_trace("Submit|Start|ElapsedRaw|TimelimitRaw|State|ReqTRES\n"
                          "1800000000|1800000000|100|10|COMPLETED|cpu=16,node=2,gres/gpu=8,mem=16000M\n"
                          "1800000001|1800000100|100|10|COMPLETED|cpu=2,node=1,gres/gpu=1,mem=1000M\n"
                          "1800000002|1800000100|100|10|COMPLETED|gres/gpu=6\n",
                          {});
  ASSERT_TRUE(trace) << trace.error().message();
  const auto r = replay(std::move(*trace), settings_of(conf, "NodeName=g[1-2] Name=gpu File=/dev/nvidia[0-3]\n"));
  EXPECT_EQ(r->report.counts.completed, 3u) << report_text({"t", &r->trace}, {&r->report});
  EXPECT_EQ(r->driver->collector().jobs()[0].gpus, 8u);
  EXPECT_EQ(r->driver->collector().jobs()[0].nodes, 2u);
  EXPECT_EQ(r->wait(1), 99);
  EXPECT_EQ(r->driver->collector().jobs()[2].gpus, 6u);
  EXPECT_EQ(r->report.capacity.gpus, 8u);
}

TEST(Replay, AMomentOfTheLastCenturyIsAsGoodAsAnyOther) {
  const auto r = replay("; UnixStartTime: 835000000\n1 0 0 100 4 -1 -1 4 240 -1 1\n2 10 0 50 4 -1 -1 4 240 -1 1\n", kOneNode);
  EXPECT_EQ(r->wait(1), 90);
  EXPECT_EQ(r->report.from, 835000000);
  EXPECT_EQ(r->report.line_begin, 835000000);
  EXPECT_EQ(Driver::shift_of(r->trace) % (7 * 86400), 0) << "weekdays stay";
}

// Two accounts with shares of 2 and 1, both of which always have jobs in the queue.
TEST(Replay, SharesAreWhatAccountsUseWhileBothWait) {
  std::string text = "User|Account|Submit|Start|ElapsedRaw|TimelimitRaw|State|ReqCPUS\n";
  for (int i = 0; i < 1200; ++i)
    for (const char* who : {"two", "one"})
      text += std::string("u") + who + "|" + who + "|" + std::to_string(1800000000 + i * 150) + "|1800000000|600|20|COMPLETED|1\n";
  auto trace = read_trace(text, {});
  ASSERT_TRUE(trace);
  auto accounts = read_accounts("Parent - 'root'\nAccount - 'two':Fairshare=2\nAccount - 'one':Fairshare=1\nParent - 'two'\nUser - "
                                "'utwo'\nParent - 'one'\nUser - 'uone'\n");
  ASSERT_TRUE(accounts) << accounts.error().message();
  const std::string fair =
      "AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageEnforce=associations\nPriorityType=priority/multifactor\n"
      "PriorityWeightFairshare=10000\nPriorityDecayHalfLife=02:00:00\nMaxJobCount=100000\n";
  const auto r = replay(std::move(*trace), settings_of(fair + kOneNode), &*accounts);
  ASSERT_EQ(r->report.counts.refused, 0u) << r->report.refusals[0].first;
  EXPECT_EQ(r->report.counts.completed, 2400u);
  // Until the last submission both wait. Then what is left of `one` has the machine for itself, so that is not counted here.
  std::map<std::string, double> before;
  for (uint32_t i = 0; i < r->trace.jobs.size(); ++i) {
    const JobResult& j = r->driver->collector().jobs()[i];
    if (unix_seconds(j.end) <= r->trace.last_submit() + Driver::shift_of(r->trace))
      before[r->trace.accounts.of(r->trace.jobs[i].account)] += 1;
  }
  EXPECT_NEAR(before["two"] / before["one"], 2, 0.1);
  EXPECT_NEAR(r->report.accounts[0].share, 2.0 / 3, 1e-9);
}

TEST(Replay, TheSameTwice) {
  GenerateOptions o;
  o.profile = profile_named("seren");
  o.nodes = 4;
  o.months = 0.1;
  o.seed = 5;
  auto made = generate(o);
  ASSERT_TRUE(made);
  EXPECT_EQ(generate(o)->trace, made->trace);
  o.seed = 6;
  EXPECT_NE(generate(o)->trace, made->trace);
  auto once = [&](const std::string& more) {
    config::MemoryFiles files{{"/etc/slurm/slurm.conf", made->slurm_conf + more}, {"/etc/slurm/gres.conf", made->gres_conf}};
    auto loaded = config::load_config(files, "/etc/slurm/slurm.conf");
    EXPECT_TRUE(loaded) << (loaded ? "" : config::to_text(loaded.error()));
    auto trace = read_trace(made->trace, {});
    auto accounts = read_accounts(made->accounts);
    EXPECT_TRUE(accounts) << (accounts ? "" : accounts.error().message());
    return replay(std::move(*trace),
                  slurmctld::make_settings(std::make_shared<const config::LoadedConfig>(std::move(*loaded)), Uid{0}, false), &*accounts);
  };
  const auto first = once(""), second = once(""), other = once("PriorityFlags=SMALL_RELATIVE_TO_TIME\nPriorityWeightJobSize=100000\n");
  EXPECT_EQ(first->report.hash, second->report.hash);
  EXPECT_NE(first->report.hash, other->report.hash);
  EXPECT_EQ(first->report.counts.refused, 0u);
  EXPECT_EQ(first->report.counts.still_waiting, 0u);
  EXPECT_EQ(report_json({"t", &first->trace}, {&first->report}), report_json({"t", &second->trace}, {&second->report}));
  const std::string page = report_html({"<t>", &first->trace}, {&first->report, &other->report});
  EXPECT_THAT(page, HasSubstr("Replay of &lt;t&gt;"));
  EXPECT_EQ(page.find("<script"), page.npos);
  EXPECT_EQ(page.find("http"), page.npos) << "nothing is fetched";
}

TEST(Replay, IsStoppedWhereItIs) {
  auto trace = read_trace("1 0 0 100 4 -1 -1 4 240 -1 1\n2 864000 0 50 4 -1 -1 4 240 -1 1\n", {});
  ASSERT_TRUE(trace);
  Driver driver(*trace, settings_of(kOneNode), accounts_of(*trace), {}, {}, bucket_of(*trace));
  const Drive drive = driver.run([](const Standing&) { return false; });
  EXPECT_TRUE(drive.stopped);
  const Report r = make_report("test", *trace, driver, drive, {});
  EXPECT_THAT(report_text({"t", &*trace}, {&r}), HasSubstr("stopped before its end"));
}

TEST(Generate, TheModelHasThePublishedMeans) {
  for (const Profile& p : profiles()) {
    const ModelFigures m = model_figures(p, 1u << 20);
    EXPECT_NEAR(m.mean_gpus / p.mean_gpus, 1, 0.01) << p.name;
    EXPECT_NEAR(m.mean_run / p.mean_run, 1, 0.02) << p.name;
    EXPECT_NEAR(m.median_run / p.median_run, 1, 0.02) << p.name;
    EXPECT_NEAR(m.gpu_seconds / p.gpu_seconds_a_job(), 1, 0.3) << p.name << ": run times are cut at the longest";
  }
}

TEST(Generate, ComesNearThePublishedFigures) {
  for (const Profile& p : profiles()) {
    GenerateOptions o;
    o.profile = &p;
    o.nodes = 512;  // room for the largest jobs
    o.jobs = 40'000;
    o.months = 3;
    auto made = generate(o);
    ASSERT_TRUE(made);
    EXPECT_NEAR(made->mean_gpus / p.mean_gpus, 1, 0.15) << p.name;
    EXPECT_EQ(made->jobs, 40'000u);
    EXPECT_NEAR(made->load, o.load, 0.05) << p.name;
    EXPECT_NEAR(made->median_run / made->stretch / p.median_run, 1, 0.2) << p.name;
  }
}

}  // namespace
}  // namespace muster::sim::replay

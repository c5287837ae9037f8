#include "cli/sdiag/report.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <time.h>

namespace muster::cli {
namespace {

rpc::Statistics sample() {
  rpc::Statistics s;
  s.now = from_unix(1795264038);
  s.since = from_unix(1795264038 - 600);
  s.submitted = 13;
  s.main_cycles.cycles = 20;
  s.main_cycles.total_us = 2000;
  s.by_message = {{"REQUEST_PING", 1008, 2, 300}, {"REQUEST_SUBMIT_BATCH_JOB", 4003, 5, 100}};
  s.by_user = {{"", 7, 7, 400}};
  return s;
}

std::string text(const rpc::Statistics& s, CallOrder order = CallOrder::kByCount) {
  setenv("TZ", "UTC", 1);
  tzset();
  return statistics_text(s, order, [](Uid u) { return "user" + std::to_string(u.value); });
}

TEST(Sdiag, LayoutAsExportersReadIt) {
  std::string t = text(sample());
  EXPECT_NE(t.find("sdiag output at Sat Nov 21 12:27:18 2026 (1795264038)\n"), t.npos) << t;
  EXPECT_NE(t.find("\nJobs submitted: 13\n"), t.npos);
  EXPECT_NE(t.find("\tMean cycle:   100\n"), t.npos);
  EXPECT_NE(t.find("\tCycles per minute: 2\n"), t.npos);
  EXPECT_NE(t.find("\tLast cycle when: N/A\n"), t.npos);
  EXPECT_NE(t.find("\tREQUEST_SUBMIT_BATCH_JOB                ( 4003) count:5      ave_time:20     total_time:100\n"), t.npos) << t;
  EXPECT_NE(t.find("\tuser7           (       7) count:7      ave_time:57     total_time:400\n"), t.npos) << t;
}

TEST(Sdiag, MeansOnlyOfWhatHappened) {
  std::string t = text(rpc::Statistics{});
  EXPECT_EQ(t.find("Mean"), t.npos) << t;
}

TEST(Sdiag, Order) {
  auto first_is_ping = [&](CallOrder o) {
    std::string t = text(sample(), o);
    return t.find("REQUEST_PING") < t.find("REQUEST_SUBMIT");
  };
  EXPECT_FALSE(first_is_ping(CallOrder::kByCount));
  EXPECT_TRUE(first_is_ping(CallOrder::kById));
  EXPECT_TRUE(first_is_ping(CallOrder::kByTotalTime));
  EXPECT_TRUE(first_is_ping(CallOrder::kByMeanTime));
}

}  // namespace
}  // namespace muster::cli

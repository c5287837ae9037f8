// GPU-hours: what is asked, how it is summed, and its forms.
#include "muster/gpu_hours.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

namespace muster::front {
namespace {

using Words = std::vector<std::string>;

struct GpuHoursTest : testing::Test {
  GpuHoursTest() {
    setenv("TZ", "UTC", 1);
    tzset();
  }
  const Time now = from_unix(1'792'936'245);  // 2026-10-25T13:50:45
  std::string asked(const Words& words) {
    const auto a = parse_gpu_hours(words, now);
    if (!a) return std::string(a.error().message());
    return std::to_string(a->by) + " " + format_time(a->from) + " " + format_time(a->until) + " " +
           std::to_string(static_cast<int>(a->form));
  }
  GpuHours hours() {
    Usage usage;
    auto add = [&](const char* account, bool wasted, const char* used) {
      usage.entries.push_back({{account, "", "", "", "", wasted}, TresAmounts::from_text(used)});
    };
    add("lab, <one>", false, "gres/gpu=7200,gres/gpu:h100=7200,cpu=99");
    add("lab, <one>", true, "gres/gpu=1800");
    add("two", false, "gres/gpu=36000");
    add("three", false, "cpu=5");
    usage.cluster.reported = TresAmounts::from_text("gres/gpu=72000");
    usage.cluster.allocated = TresAmounts::from_text("gres/gpu=45000");
    usage.cluster.down = TresAmounts::from_text("gres/gpu=3600");
    GpuHoursAsk ask;
    ask.from = from_unix(1'790'812'800);
    ask.until = from_unix(1'793'491'200);
    return gpu_hours_of(ask, "c", usage);
  }
};

TEST_F(GpuHoursTest, WhatIsAsked) {
  EXPECT_EQ(asked({}), "1 2026-10-01T00:00:00 2026-11-01T00:00:00 0");
  EXPECT_EQ(asked({"--by", "user", "--month", "2026-02", "--csv"}), "2 2026-02-01T00:00:00 2026-03-01T00:00:00 1");
  EXPECT_EQ(asked({"--by=qos", "--month=2025-12", "--html"}), "4 2025-12-01T00:00:00 2026-01-01T00:00:00 4");
  EXPECT_EQ(asked({"--by", "colour"}), "--by colour: account, user, partition or qos");
  EXPECT_EQ(asked({"--by"}), "gpu-hours: --by needs a value");
  EXPECT_EQ(asked({"--bye", "user"}), "gpu-hours: unknown option '--bye'");
  for (const char* wrong : {"2026", "2026-13", "2026-1", "10/2026", "", "0000-01"})
    EXPECT_EQ(asked({"--month", wrong}), std::string("--month ") + wrong + ": no month");
  EXPECT_EQ(query_of({.by = kUsagePartition, .from = now, .until = now}, "c").parts, kUsagePartition | kUsageWasted);
}

TEST_F(GpuHoursTest, Sums) {
  const GpuHours g = hours();
  ASSERT_EQ(g.rows.size(), 2u);  // who had no GPU is not there
  EXPECT_EQ(g.rows[0].name, "two");
  EXPECT_EQ(g.rows[1].allocated, 9000u);
  EXPECT_EQ(g.rows[1].used(), 7200u);
  EXPECT_EQ(g.total.allocated, 45'000u);
  EXPECT_EQ(g.idle, 23'400u);
}

TEST_F(GpuHoursTest, Forms) {
  const GpuHours g = hours();
  EXPECT_EQ(to_text(g), "GPU-hours of cluster c by account, 2026-10-01T00:00:00 - 2026-11-01T00:00:00\n\n"
                        "account                    allocated        used      wasted    share\n"
                        "two                            10.00       10.00        0.00    80.0%\n"
                        "lab, <one>                      2.50        2.00        0.50    20.0%\n"
                        "total                          12.50       12.00        0.50   100.0%\n"
                        "\nThe cluster had 20.00: 6.50 were idle, 1.00 down.\n");
  EXPECT_EQ(to_csv(g), "account,allocated_hours,used_hours,wasted_hours\ntwo,10.00,10.00,0.00\n\"lab, <one>\",2.50,2.00,0.50\n");
  const std::string page = to_html(g);
  EXPECT_NE(page.find("lab, &lt;one&gt;"), std::string::npos);
  EXPECT_EQ(page.find("<one>"), std::string::npos);
  EXPECT_NE(page.find("<svg "), std::string::npos);
  std::string json;
  auto sink = fields::make_tree_sink(fields::TreeForm::kJson, true, json);
  to_tree(g, *sink);
  EXPECT_NE(json.find("\"account\":\"lab, <one>\",\"allocated_hours\":2.5,\"used_hours\":2.0,\"wasted_hours\":0.5"), std::string::npos)
      << json;
  EXPECT_NE(to_svg({}).find("</svg>"), std::string::npos);
}

}  // namespace
}  // namespace muster::front

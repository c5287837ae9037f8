// The words of sreport, the rows of its reports, and what their columns print.
#include <gtest/gtest.h>

#include <cstdlib>

#include "cli/sreport/report_rows.h"
#include "cli/sreport/report_words.h"

namespace muster::cli {
namespace {

using Words = std::vector<std::string>;

struct Sreport : testing::Test {
  Sreport() {
    setenv("TZ", "UTC", 1);
    tzset();
  }
  Result<ReportRequest> parse(const Words& words) { return parse_report(words, now); }
  std::string title(const Words& words) {
    auto r = parse(words);
    return r ? report_title(*r) : std::string(r.error().message()) + "|" + r.error().hint;
  }
  const Time now = from_unix(1'792'936'245);  // 2026-10-25T13:50:45
};

TEST_F(Sreport, TheDayBeforeIsTheDefault) {
  EXPECT_EQ(title({"cluster", "AccountUtilizationByUser"}),
            "Cluster/Account/User Utilization 2026-10-24T00:00:00 - 2026-10-24T23:59:59 (86400 secs)");
  EXPECT_EQ(title({"c", "util"}), "Cluster Utilization 2026-10-24T00:00:00 - 2026-10-24T23:59:59");
  EXPECT_EQ(title({"user", "top", "Start=11:00"}), "Top 10 Users 2026-10-25T11:00:00 - 2026-10-25T12:59:59 (7200 secs)");
  EXPECT_EQ(title({"user", "TopUsage", "topcount=3", "start=7/10", "end=7/11"}),
            "Top 3 Users 2026-07-10T00:00:00 - 2026-07-10T23:59:59 (86400 secs)");
  // A start is rounded up to the hour and an end down; an hour is the least.
  EXPECT_EQ(title({"job", "sizesbyaccount", "start=2026-10-01T10:20", "end=2026-10-01T12:59:59"}),
            "Job Sizes 2026-10-01T11:00:00 - 2026-10-01T11:59:59 (3600 secs)");
  EXPECT_EQ(title({"job", "sizesbyaccount", "start=2026-10-01T11:00", "end=2026-10-01T11:00"}),
            "Job Sizes 2026-10-01T11:00:00 - 2026-10-01T11:59:59 (3600 secs)");
}

TEST_F(Sreport, WordsMayBeShortAndAreOfTheirReports) {
  auto r = parse({"cluster", "acc", "account=a,b", "user=alice", "tree", "format=login%20,used", "All_Clusters"});
  ASSERT_TRUE(r);
  EXPECT_EQ(r->report, Report::kAccountsByUser);
  EXPECT_EQ(r->accounts, (Words{"a", "b"}));
  EXPECT_EQ(r->users, Words{"alice"});
  EXPECT_TRUE(r->tree && r->all_clusters);
  EXPECT_EQ(r->format, "login%20,used");
  r = parse({"job", "sizesbyaccountandwckey", "grouping=10,100", "PrintJobCount", "flatview", "acctasparent", "gid=5", "nodes=n[1-2]"});
  ASSERT_TRUE(r);
  EXPECT_EQ(r->report, Report::kSizesByAccountAndWckey);
  EXPECT_EQ(r->bounds, (std::vector<uint64_t>{10, 100}));
  EXPECT_TRUE(r->job_count && r->flat && r->as_parent);
  EXPECT_EQ(r->nodes, Words{"n[1-2]"});
  EXPECT_TRUE(parse({"job", "SizesByWckey", "grouping=individual"})->each_size);
  EXPECT_TRUE(parse({"user", "TopUsage", "group"})->group);
  EXPECT_EQ(parse({"reservation", "util", "name=course"})->names, Words{"course"});
}

TEST_F(Sreport, WhatIsWrongIsNamed) {
  EXPECT_EQ(title({}), "invalid keyword: |reports are of a cluster, job, reservation or user");
  EXPECT_EQ(title({"nonsense"}), "invalid keyword: nonsense|reports are of a cluster, job, reservation or user");
  EXPECT_TRUE(title({"cluster", "userutilizationby"}).starts_with("Not valid report userutilizationby\nValid cluster reports are, \""));
  EXPECT_EQ(title({"cluster"}), "too few arguments for keyword:cluster|");
  EXPECT_EQ(title({"user", "x"}), "Not valid report x\nValid user reports are, \"TopUsage\"|");
  EXPECT_EQ(title({"user", "top", "tree"}), " Unknown condition: tree\nUse keyword set to modify value|");
  EXPECT_EQ(title({"user", "top", "nodes=n1"}), " Unknown condition: nodes=n1\nUse keyword set to modify value|");
  EXPECT_TRUE(title({"user", "top", "start=yesteryear"}).starts_with("Invalid time specification (yesteryear)"));
  EXPECT_EQ(title({"user", "top", "topcount=0"}), "Invalid value for TopCount (0)|a number from 1");
  for (const char* wrong : {"grouping=5,5", "grouping=", "grouping=0", "grouping=-1", "grouping=a"})
    EXPECT_TRUE(title({"job", "sizesbyaccount", wrong}).starts_with("Invalid grouping (")) << wrong;
}

TEST_F(Sreport, TimeFormats) {
  using fields::ReportTime;
  EXPECT_EQ(fields::parse_report_time("minper"), ReportTime::kMinutesPer);
  EXPECT_EQ(fields::parse_report_time("M"), ReportTime::kMinutes);
  EXPECT_EQ(fields::parse_report_time("hour"), ReportTime::kHours);
  EXPECT_EQ(fields::parse_report_time("SECPER"), ReportTime::kSecondsPer);
  EXPECT_EQ(fields::parse_report_time("perc"), ReportTime::kPercent);
  EXPECT_FALSE(fields::parse_report_time("days"));
  EXPECT_FALSE(fields::parse_report_time(""));
  EXPECT_EQ(fields::report_amount(7230, 72'300, ReportTime::kMinutes), "120");
  EXPECT_EQ(fields::report_amount(7230, 72'300, ReportTime::kHours), "2");
  EXPECT_EQ(fields::report_amount(7230, 72'300, ReportTime::kSeconds), "7230");
  EXPECT_EQ(fields::report_amount(7230, 72'300, ReportTime::kPercent), "10.00%");
  EXPECT_EQ(fields::report_amount(7230, 72'300, ReportTime::kSecondsPer), "7230(10.00%)");
  EXPECT_EQ(fields::report_amount(7230, 0, ReportTime::kPercent), "0.00%");
}

AssociationRecord account(const char* name, const char* parent) {
  AssociationRecord a;
  a.cluster = "c";
  a.account = name;
  a.parent_account = parent;
  return a;
}

struct Rows : Sreport {
  ClusterUsage usage() {
    ClusterUsage u;
    u.cluster = "c";
    u.usage.cluster.reported = u.usage.cluster.count = TresAmounts::from_text("cpu=6000");
    auto add = [&](const char* account, const char* user, const char* used) {
      u.usage.entries.push_back({{account, user, "", "", "", false}, TresAmounts::from_text(used)});
    };
    add("main", "alice", "cpu=600");
    add("sub", "bob", "cpu=1200");
    add("gone", "carol", "cpu=60");
    return u;
  }
  std::string shown(const std::vector<ReportRow>& rows) {
    std::string out;
    for (const ReportRow& r : rows)
      out += std::string(r.indent, ' ') + r.account + (r.login.empty() ? "" : "/" + r.login) + "=" + std::to_string(r.used) + " ";
    return out;
  }
  std::string tree(const Words& words) {
    request = *parse(words);
    return shown(tree_rows({request, tres, [](const std::string&) { return std::string(); }}, usage(), AccountTree(accounts, "c")));
  }
  ReportRequest request;
  std::vector<AssociationRecord> accounts = {account("root", ""), account("main", "root"), account("sub", "main"), account("idle", "root")};
  std::vector<ReportTres> tres = *parse_report_tres("cpu");
};

TEST_F(Rows, AccountsAreSumsOfWhatIsBelow) {
  EXPECT_EQ(tree({"cluster", "AccountUtilizationByUser"}),
            "root=1860 main=1800 main/alice=600 sub=1200 sub/bob=1200 gone=60 gone/carol=60 ");
  EXPECT_EQ(tree({"cluster", "AccountUtilizationByUser", "tree"}),
            "root=1860  main=1800   main/alice=600   sub=1200    sub/bob=1200  gone=60   gone/carol=60 ");
  EXPECT_EQ(tree({"cluster", "AccountUtilizationByUser", "account=sub"}), "sub=1200 sub/bob=1200 ");
  EXPECT_EQ(tree({"cluster", "AccountUtilizationByUser", "account=main"}), "main=1800 main/alice=600 sub=1200 sub/bob=1200 ");
}

TEST_F(Rows, ATreeThatGoesInCirclesEnds) {
  accounts = {account("main", "sub"), account("sub", "main")};
  EXPECT_FALSE(tree({"cluster", "AccountUtilizationByUser"}).empty());
}

TEST_F(Rows, TopUsersCanBeGrouped) {
  ClusterUsage u = usage();
  u.usage.entries.push_back({{"zoo", "bob", "", "", "", false}, TresAmounts::from_text("cpu=100")});
  auto rows = [&](const Words& words) {
    request = *parse(words);
    return shown(user_rows({request, tres, [](const std::string&) { return std::string(); }}, u));
  };
  EXPECT_EQ(rows({"user", "top"}), "sub/bob=1200 main/alice=600 zoo/bob=100 gone/carol=60 ");
  EXPECT_EQ(rows({"user", "top", "topcount=2", "group"}), "sub, zoo/bob=1300 main/alice=600 ");
}

TEST_F(Rows, ATimeOfAClusterAddsUp) {
  ClusterUsage u = usage();
  u.usage.cluster.allocated = TresAmounts::from_text("cpu=1000");
  u.usage.cluster.down = TresAmounts::from_text("cpu=500");
  request = *parse({"cluster", "utilization"});
  const auto rows = cluster_rows({request, tres, nullptr}, u);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].idle, 4500u);
  std::string line;
  fields::Table<fields::ReportView> table;
  ASSERT_TRUE(table.add(fields::report_fields(Report::kUtilization),
                        fields::report_default_columns(Report::kUtilization, fields::ReportTime::kMinutes, false)));
  table.header(line);
  table.row({rows[0], fields::ReportTime::kMinutes}, line);
  EXPECT_EQ(line, "  Cluster Allocate     Down  Planned     Idle  Planned Reported \n"
                  "--------- -------- -------- -------- -------- -------- -------- \n"
                  "        c       17        8        0       75        0      100 \n");
}

TEST_F(Rows, SizesAreGrouped) {
  std::vector<rpc::JobSize> sizes;
  auto add = [&](const char* account, uint64_t cpus, uint64_t jobs, uint64_t seconds) {
    sizes.push_back({"c", account, "w", TresAmounts{.cpus = cpus}, jobs, seconds});
  };
  add("main", 10, 2, 60);
  add("sub", 49, 1, 10);
  add("sub", 50, 1, 10);
  add("sub", 5000, 1, 1);
  auto table = [&](const Words& words) {
    request = *parse(words);
    const SizeTable t = size_table({request, tres, nullptr}, sizes, accounts);
    std::string out;
    for (const std::string& h : t.headers) out += h + "|";
    for (const SizeLine& l : t.lines) {
      out += " " + l.label + ":";
      for (uint64_t a : l.amounts) out += std::to_string(a) + "|";
    }
    return out;
  };
  const std::string usual = "0-49 CPUs|50-249 CPUs|250-499 CPUs|500-999 CPUs|>= 1000 CPUs|";
  EXPECT_EQ(table({"job", "sizesbyaccount"}), usual + " root:1090|500|0|0|5000|");
  EXPECT_EQ(table({"job", "sizesbyaccount", "printjobcount"}), usual + " root:3|1|0|0|1|");
  EXPECT_EQ(table({"job", "sizesbyaccount", "flatview", "grouping=100"}), "0-99 CPUs|>= 100 CPUs| main:600|0| sub:990|5000|");
  EXPECT_EQ(table({"job", "sizesbyaccount", "acctasparent", "account=main", "grouping=100"}),
            "0-99 CPUs|>= 100 CPUs| main:600|0| sub:990|5000|");
  EXPECT_EQ(table({"job", "sizesbyaccount", "account=sub", "grouping=individual"}),
            "10 CPUs|49 CPUs|50 CPUs|5000 CPUs| sub:0|490|500|5000|");
  EXPECT_EQ(table({"job", "sizesbywckey", "grouping=100"}), "0-99 CPUs|>= 100 CPUs| w:1590|5000|");
  EXPECT_EQ(table({"job", "sizesbyaccountandwckey", "grouping=100"}), "0-99 CPUs|>= 100 CPUs| root:w:1590|5000|");

  request = *parse({"job", "sizesbyaccount", "flatview"});
  const SizeTable flat = size_table({request, tres, nullptr}, sizes, accounts);
  ASSERT_EQ(flat.lines.size(), 2u);
  EXPECT_EQ(flat.lines[0].used, 600u);
  EXPECT_EQ(flat.lines[0].total, 6590u) << "100 % is what all lines have";
  sizes.push_back({"c", "main", "", TresAmounts{.cpus = 10}, 1, 60});
  EXPECT_EQ(table({"job", "sizesbywckey", "grouping=100"}), "0-99 CPUs|>= 100 CPUs| w:1590|5000|") << "a job without a key has no line";
  EXPECT_EQ(table({"job", "sizesbyaccountandwckey", "grouping=100"}), "0-99 CPUs|>= 100 CPUs| root:w:1590|5000|");
  sizes.clear();
  EXPECT_EQ(table({"job", "sizesbyaccount", "grouping=individual"}), "");
}

TEST_F(Rows, AReservationsTresComeInTheirOwnOrder) {
  tres = {{TresName::of("gres/gpu"), "gres/gpu"}, {TresName::of("cpu"), "cpu"}};
  request = *parse({"reservation", "utilization"});
  rpc::ReservationUsage course;
  course.reservation.tres = TresAmounts::from_text("cpu=4,mem=8G,gres/gpu=2");
  course.reservation.started = from_unix(1'700'000'000);
  course.reservation.ended = course.reservation.started + seconds(100);
  std::string out;
  for (const ReportRow& row : reservation_rows({request, tres, nullptr}, course)) out += row.tres + "=" + std::to_string(row.idle) + " ";
  EXPECT_EQ(out, "cpu=400 gres/gpu=200 ");
}

TEST_F(Rows, NamesOfTres) {
  EXPECT_EQ(parse_report_tres("cpu,GRES/GPU")->size(), 2u);
  EXPECT_TRUE(parse_report_tres("ALL")->empty());
  EXPECT_FALSE(parse_report_tres("cpux"));
  EXPECT_EQ(all_tres(TresAmounts::from_text("cpu=1,gres/gpu:h100=2"))[1].shown, "gres/gpu:h100");
}

}  // namespace
}  // namespace muster::cli

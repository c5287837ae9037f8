// sinfo's output: the expected texts are those of Debian's Slurm 22.05 for the same nodes.
#include <gtest/gtest.h>

#include <algorithm>

#include "fields/sinfo_formats.h"
#include "fields/sinfo_groups.h"
#include "fields/sort.h"
#include "fields/testing.h"

namespace muster::fields {
namespace {

struct Sinfo : testing::Test {
  TestCluster cluster;
  Environment env = test_environment();
  GroupOptions options;

  std::string print(std::string_view format_text, std::string_view sort = kSinfoSort) {
    auto format = parse_format<SinfoView>(format_text).format;
    std::vector<SinfoLine> lines = group_nodes(cluster.partitions, cluster.nodes, format, options, env);
    std::vector<SinfoView> views;
    for (const SinfoLine& l : lines) views.push_back({l, env});
    std::string out;
    format.header(out);
    for (uint32_t i : sorted_order(views, parse_sort<SinfoView>(sort).keys)) format.row(views[i], out);
    return out;
  }
  std::string print(SinfoLayout layout, std::string_view sort = kSinfoSort) {
    return print(sinfo_format(layout, partition_column_width(cluster.partitions), node_column_width(cluster.nodes)), sort);
  }
};

TEST_F(Sinfo, Default) {
  EXPECT_EQ(print(SinfoLayout::kDefault), "PARTITION                    AVAIL  TIMELIMIT  NODES  STATE NODELIST\n"
                                          "main*                           up 1-00:00:00      1   drng n6\n"
                                          "main*                           up 1-00:00:00      4    mix n[1-3,5]\n"
                                          "main*                           up 1-00:00:00      1   idle n4\n"
                                          "big                             up   infinite      1   unk* n9\n"
                                          "big                             up   infinite      3    mix n[1-3]\n"
                                          "big                             up   infinite      1   idle n4\n"
                                          "adown                         down   infinite      1   drng n6\n"
                                          "adown                         down   infinite      1    mix n5\n"
                                          "a_really_long_partition_name    up   infinite      1   drng n6\n"
                                          "a_really_long_partition_name    up   infinite      1    mix n5\n");
}

TEST_F(Sinfo, Summary) {
  EXPECT_EQ(print(SinfoLayout::kSummary), "PARTITION                    AVAIL  TIMELIMIT   NODES(A/I/O/T) NODELIST\n"
                                          "main*                           up 1-00:00:00          5/1/0/6 n[1-6]\n"
                                          "big                             up   infinite          3/2/0/5 n[1-4,9]\n"
                                          "adown                         down   infinite          2/0/0/2 n[5-6]\n"
                                          "a_really_long_partition_name    up   infinite          2/0/0/2 n[5-6]\n");
}

TEST_F(Sinfo, Long) {
  std::string out = print(SinfoLayout::kLong);
  EXPECT_TRUE(out.starts_with("PARTITION                    AVAIL  TIMELIMIT   JOB_SIZE ROOT OVERSUBS     GROUPS  "
                              "NODES       STATE RESERVATION NODELIST\n"
                              "main*                           up 1-00:00:00 1-infinite   no       NO        all     "
                              " 1    draining             n6\n"));
  EXPECT_NE(out.find("adown                         down   infinite        2-3  yes       NO        all      "
                     "1       mixed             n5\n"),
            std::string::npos);
}

TEST_F(Sinfo, Nodes) {
  options.node_centric = true;
  std::string out = print(SinfoLayout::kNode, kSinfoNodeSort);
  EXPECT_TRUE(out.starts_with("NODELIST   NODES                    PARTITION STATE \n"
                              "n1             1                        main* mix   \n"
                              "n1             1                          big mix   \n"));
  EXPECT_TRUE(out.ends_with("n6             1 a_really_long_partition_name drng  \n"
                            "n9             1                          big unk*  \n"));
  EXPECT_EQ(std::ranges::count(out, '\n'), 16);
  std::string wide = print(SinfoLayout::kLongNode, kSinfoNodeSort);
  EXPECT_TRUE(wide.starts_with("NODELIST   NODES                    PARTITION       STATE CPUS    S:C:T MEMORY "
                               "TMP_DISK WEIGHT AVAIL_FE REASON              \n"
                               "n1             1                        main*       mixed 8       2:4:1   4000     "
                               "1000      2  fast,ib none                \n"));
  EXPECT_NE(wide.find("n6             1                        adown    draining 4       4:1:1   2000        "
                      "0      1   (null) bad disk with a quit\n"),
            std::string::npos);
}

TEST_F(Sinfo, Reasons) {
  setenv("TZ", "UTC", 1);
  tzset();
  options.empty_partitions = false;
  options.keep = [](const NodeRow& n) { return (n.flags & (kNodeDrain | kNodeFail)) || n.state == NodeState::kDown; };
  EXPECT_EQ(print(SinfoLayout::kReasons), "REASON               USER      TIMESTAMP           NODELIST\n"
                                          "bad disk with a quit root      2026-11-21T09:20:11 n6\n");
  EXPECT_EQ(print(SinfoLayout::kLongReasons), "REASON               USER         TIMESTAMP           STATE  NODELIST\n"
                                              "bad disk with a quit root(0)      2026-11-21T09:20:11 drng   n6\n");
}

TEST_F(Sinfo, RangesAndExact) {
  EXPECT_EQ(print("%D %c %m %z %w"),
            "NODES CPUS MEMORY S:C:T WEIGHT\n7 4+ 2000+ 2+:1+:1 1+\n");  // each node once
  EXPECT_EQ(print("%P %c"), "PARTITION CPUS\nmain* 4+\nbig 4+\nadown 4\na_really_long_partition_name 4\n");
  options.exact = true;
  EXPECT_EQ(print("%D %c %m %N", "c"), "NODES CPUS MEMORY NODELIST\n3 4 2000 n[5-6,9]\n4 8 4000 n[1-4]\n");
}

TEST_F(Sinfo, CountsOfCpus) { EXPECT_EQ(print("%C|%A|%F"), "CPUS(A/I/O/T)|NODES(A/I)|NODES(A/I/O/T)\n9/32/3/44|5/2|5/2/0/7\n"); }

TEST_F(Sinfo, NarrowColumns) {
  EXPECT_EQ(print("<%3P><%.3P>"), "<PAR><PAR>\n<ma*><ma*>\n<big><big>\n<ado><ado>\n<a_r><a_r>\n");
  EXPECT_EQ(print("<%3N><%.3N>"), "<NOD><NODELIST>\n<n[1><n[1>\n");
  EXPECT_EQ(print("<%3l><%.3l>").substr(0, 22), "<TIM><TIM>\n<1-0><1-0>\n");
}

TEST_F(Sinfo, PartitionsWithoutNodes) {
  options.keep = [](const NodeRow& n) { return n.name == "n2"; };
  EXPECT_EQ(print("%N %P %D %t"), "NODELIST PARTITION NODES STATE\nn2 main* 1 mix\nn2 big 1 mix\n adown 0 n/a\n "
                                  "a_really_long_partition_name 0 n/a\n");
}

TEST_F(Sinfo, OrderOfPartitions) {
  EXPECT_EQ(print("%P", "P"), "PARTITION\na_really_long_partition_name\nadown\nbig\nmain*\n");
  EXPECT_EQ(print("%P", "-#P"), "PARTITION\na_really_long_partition_name\nadown\nbig\nmain*\n");
  EXPECT_EQ(print("%R", "#P"), "PARTITION\nmain\nbig\nadown\na_really_long_partition_name\n");
}

TEST_F(Sinfo, UnknownFields) {
  auto parsed = parse_format<SinfoView>("%#P %N");
  EXPECT_EQ(parsed.messages.at(0), "Invalid node format specification: #");
  EXPECT_EQ(print("%#P %N"), "%#P NODELIST\n%#P n[1-6,9]\n");
}

}  // namespace
}  // namespace muster::fields

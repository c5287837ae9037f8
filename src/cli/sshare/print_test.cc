#include "cli/sshare/print.h"

#include <gtest/gtest.h>

#include <limits>

#include "model/accounts.h"

namespace muster::cli {
namespace {

ShareRow share(uint32_t association, uint32_t parent, std::string account, std::string user, uint32_t depth, uint64_t shares) {
  ShareRow r;
  r.association = association;
  r.parent = parent;
  r.account = std::move(account);
  r.user = std::move(user);
  r.depth = depth;
  r.shares = shares;
  return r;
}

void numbers(ShareRow& r, double norm_shares, double raw_usage, double effective_usage, double level_fs, double factor) {
  r.norm_shares = norm_shares;
  r.raw_usage = raw_usage;
  r.norm_usage = raw_usage / 1000;
  r.effective_usage = effective_usage;
  r.level_fs = level_fs;
  r.factor = factor;
}

// Two accounts with three users; b and its user have used nothing.
rpc::ShareRows tree() {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  rpc::ShareRows t;
  t.shares = {share(1, 0, "root", "", 0, 1), share(2, 1, "a", "", 1, 3), share(4, 2, "a", "alice", 2, 1),
              share(5, 2, "a", "bob", 2, 3), share(3, 1, "b", "", 1, 1), share(6, 3, "b", "carol", 2, kSharesOfParent)};
  numbers(t.shares[0], 1, 1000.75, 1, 0, 0);
  numbers(t.shares[1], 0.75, 1000.75, 1, 0.75, 0);
  numbers(t.shares[2], 0.25, 750, 0.75, 1.0 / 3, 1.0 / 3);
  numbers(t.shares[3], 0.75, 250.75, 0.25, 3, 2.0 / 3);
  numbers(t.shares[4], 0.25, 0, 0, kInfinite, 0);
  numbers(t.shares[5], 0.25, 0, 0, kInfinite, 1);
  t.shares[1].limit_minutes.cpus = 5000;
  t.shares[1].limit_minutes.gres = {{"gpu", "h100", 60}};
  t.shares[1].used_minutes.mem_mb = 8192;
  t.shares[1].run_minutes.cpus = 120;
  t.shares[5].partition = "gpu";
  return t;
}

SshareOptions options(const std::vector<std::string>& words) {
  auto parse = parse_sshare(words, {});
  EXPECT_EQ(parse.outcome, Outcome::kRun) << (parse.messages.empty() ? "" : parse.messages[0].text);
  return parse.options;
}

// What is printed for the tree when alice asks.
std::string listed(const std::vector<std::string>& words, const rpc::ShareRows& rows = tree()) {
  const SshareOptions o = options(words);
  ShareFilter filter(o, "alice");
  ShareLines lines(o, filter, "orc");
  std::string out;
  EXPECT_TRUE(lines.add(rows, out));
  EXPECT_TRUE(lines.end(out));
  return out;
}

TEST(Sshare, AccountsAndYourself) {
  EXPECT_EQ(listed({}), "Account                    User  RawShares  NormShares    RawUsage  EffectvUsage  FairShare \n"
                        "-------------------- ---------- ---------- ----------- ----------- ------------- ---------- \n"
                        "root                                          0.000000        1000      1.000000            \n"
                        " a                                       3    0.750000        1000      1.000000            \n"
                        "  a                       alice          1    0.250000         750      0.750000   0.333333 \n"
                        " b                                       1    0.250000           0      0.000000            \n");
}

TEST(Sshare, LongHasLevelsLimitsAndRunningMinutes) {
  EXPECT_EQ(listed({"-l", "-a"}),
            "Account                    User  RawShares  NormShares    RawUsage   NormUsage  EffectvUsage  FairShare  "
            "  LevelFS                    GrpTRESMins                    TRESRunMins \n"
            "-------------------- ---------- ---------- ----------- ----------- ----------- ------------- ---------- -"
            "--------- ------------------------------ ------------------------------ \n"
            "root                                          0.000000        1000    1.000750      1.000000             "
            "                                                                        \n"
            " a                                       3    0.750000        1000    1.000750      1.000000             "
            " 0.750000      cpu=5000,gres/gpu:h100=60                        cpu=120 \n"
            "  a                       alice          1    0.250000         750    0.750000      0.750000   0.333333  "
            " 0.333333                                                               \n"
            "  a                         bob          3    0.750000         250    0.250750      0.250000   0.666667  "
            " 3.000000                                                               \n"
            " b                                       1    0.250000           0    0.000000      0.000000             "
            "      inf                                                               \n"
            "  b                       carol     parent    0.250000           0    0.000000      0.000000   1.000000  "
            "                                                                        \n");
}

TEST(Sshare, ClassicGivesAccountsAFactorAndHasNoLevels) {
  rpc::ShareRows classic = tree();
  classic.fair_tree = false;
  classic.shares[0].factor = 1;
  classic.shares[1].factor = 0.5;
  EXPECT_EQ(listed({"-P", "-A", "root,a", "-o", "account,fairshare,levelfs"}, classic),
            "Account|FairShare|LevelFS\nroot|1.000000|\n a|0.500000|\n  a|0.333333|\n");
  EXPECT_EQ(listed({"-l", "-P"}, classic).find("LevelFS"), std::string::npos);
}

TEST(Sshare, WhoIsShown) {
  const std::string names = "account,user";
  EXPECT_EQ(listed({"-nP", "-o", names}), "root|\n a|\n  a|alice\n b|\n");
  EXPECT_EQ(listed({"-nPa", "-o", names}), "root|\n a|\n  a|alice\n  a|bob\n b|\n  b|carol\n");
  EXPECT_EQ(listed({"-nPa", "-A", "b", "-o", names}), "b|\n b|carol\n");
  EXPECT_EQ(listed({"-nP", "--accounts=B", "-A", "a", "-o", names}), "a|\n a|alice\nb|\n");
  EXPECT_EQ(listed({"-nP", "-u", "bob,carol", "-o", names}), "root|\n a|\n  a|bob\n b|\n  b|carol\n");
  EXPECT_EQ(listed({"-nPa", "-U", "-o", names}), "a|alice\na|bob\nb|carol\n");
  EXPECT_EQ(listed({"-nP", "-U", "-u", "bob", "-o", names}), "a|bob\n");
}

TEST(Sshare, Columns) {
  EXPECT_EQ(listed({"-p", "-m", "-U", "-u", "carol"}), "Account|User|Partition|RawShares|NormShares|RawUsage|EffectvUsage|FairShare|\n"
                                                       "b|carol|gpu|parent|0.250000|0|0.000000|1.000000|\n");
  EXPECT_EQ(listed({"-P", "-A", "a", "-o", "cluster,id,grptresmins,grptresraw,tresrunmins,normusage", "-u", "nobody"}),
            "Cluster|ID|GrpTRESMins|GrpTRESRaw|TRESRunMins|NormUsage\n"
            "orc|2|cpu=5000,gres/gpu:h100=60|mem=8192,energy=0|cpu=120|1.000750\n");
  EXPECT_EQ(listed({"-n", "-U", "-u", "alice", "-o", "user%3,account%-4,rawusage%5"}), "al+ a      750 \n");
}

TEST(Sshare, OfEveryTresUsedAlsoWhatNothingCounts) {
  rpc::ShareRows rows = tree();
  TresAmounts& used = rows.shares[1].used_minutes;
  used.cpus = used.mem_mb = used.nodes = used.billing = 1;
  EXPECT_EQ(listed({"-nP", "-A", "a", "-o", "grptresraw", "-u", "nobody"}, rows),
            "cpu=1,mem=1,energy=0,node=1,billing=1,fs/disk=0,vmem=0,pages=0\n");
}

TEST(Sshare, AnEmptyAnswerHasAHeader) {
  const SshareOptions o = options({"-P", "-o", "user"});
  ShareFilter filter(o, "alice");
  ShareLines lines(o, filter, "orc");
  std::string out;
  EXPECT_TRUE(lines.end(out));
  EXPECT_EQ(out, "User\n");
}

TEST(Sshare, NamesThatNothingHasAreTold) {
  const SshareOptions o = options({"-A", "a,zoo", "-u", "carol,zed"});
  ShareFilter filter(o, "alice");
  for (const ShareRow& row : tree().shares) filter.shows(row);
  EXPECT_EQ(filter.unknown(), (std::vector<std::string>{"account zoo", "user zed"}));
}

TEST(Sshare, BadInput) {
  auto unknown = share_table(options({"-o", "user,rawshare,sharez"}), true);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message(), "sharez");
  EXPECT_FALSE(share_table(options({"-o", "user%x"}), true));
  EXPECT_EQ(parse_sshare(std::vector<std::string>{"-A"}, {}).outcome, Outcome::kFailed);
  EXPECT_EQ(parse_sshare(std::vector<std::string>{"word"}, {}).outcome, Outcome::kFailed);
  EXPECT_EQ(parse_sshare(std::vector<std::string>{"--help"}, {}).outcome, Outcome::kHelp);
}

TEST(Sshare, HelpNamesEveryColumn) {
  EXPECT_EQ(fields::share_help(), "Account           Cluster           EffectvUsage      FairShare        \n"
                                  "GrpTRESMins       GrpTRESRaw        ID                LevelFS          \n"
                                  "NormShares        NormUsage         Partition         RawShares        \n"
                                  "RawUsage          TRESRunMins       User             \n");
}

TEST(Sshare, DocumentNamesParentsAndTotals) {
  const SshareOptions o = options({"-a", "--json"});
  ShareFilter filter(o, "alice");
  ShareTree shares(filter, "orc");
  shares.add(tree());
  std::string out;
  auto sink = fields::make_tree_sink(fields::TreeForm::kJson, true, out);
  shares.write(*sink);
  EXPECT_NE(out.find(R"("id":1,"cluster":"orc","name":"root","parent":"")"), out.npos) << out;
  EXPECT_NE(out.find(R"("id":3,"cluster":"orc","name":"b","parent":"root")"), out.npos) << out;
  EXPECT_NE(out.find(R"("id":6,"cluster":"orc","name":"carol","parent":"b","partition":"gpu")"), out.npos) << out;
  EXPECT_NE(out.find(R"("total_shares":4})"), out.npos) << out;
}

}  // namespace
}  // namespace muster::cli

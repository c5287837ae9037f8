#include "config/accounts_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

AccountsFile read(std::string_view text) {
  auto file = read_accounts_file(text);
  EXPECT_TRUE(file) << file.error().message();
  return file ? std::move(*file) : AccountsFile{};
}
std::string refusal(std::string_view text) {
  auto file = read_accounts_file(text);
  if (file) return "read";
  return std::string(file.error().message()) + (file.error().hint.empty() ? "" : "; " + file.error().hint);
}
const LimitChange* limit(const EntityChange& set, LimitKind kind, std::string_view tres = {}) {
  for (const LimitChange& l : set.limits)
    if (l.kind == kind && l.tres == tres) return &l;
  return nullptr;
}

// What Debian's slurm-wlm 22.05 wrote, its comments left out.
constexpr std::string_view kOfSlurm =
    "# To edit this file start with a cluster line for the new cluster\n"
    "Cluster - 'tux':Fairshare=3:MaxJobs=7:QOS='high,normal'\n"
    "Parent - 'root'\n"
    "User - 'root':DefaultAccount='root':AdminLevel='Administrator':Fairshare=1\n"
    "Account - 'lab':Description='lab':Organization='lab':Fairshare=1\n"
    "Account - 'science':Description='science: all it`s':Organization='the org':Fairshare=50:GrpTRESMins=cpu=1000:GrpTRESRunMins=cpu=5:"
    "GrpTRES=cpu=100,mem=2G:GrpJobs=10:GrpJobsAccrue=4:GrpSubmitJobs=20:GrpWall=1440:MaxTRESMinsPerJob=cpu=9:MaxTRESPerNode=cpu=3:"
    "MaxJobsAccrue=2:MaxSubmitJobs=8\n"
    "Parent - 'lab'\n"
    "User - 'brian':DefaultAccount='lab':DefaultWCKey='w':AdminLevel='Operator':WCKeys='w':Fairshare=1\n"
    "Parent - 'science'\n"
    "User - 'adam':Partition='p':DefaultAccount='chem':Coordinator='chem,lab,science':DefaultQOS='low':Fairshare=1:QOS='+low'\n"
    "Account - 'chem':Description='chem':Organization='science':DefaultQOS='high':Fairshare=2147483647:QOS='high,low'\n"
    "Parent - 'chem'\n"
    "User - 'adam':DefaultAccount='chem':Coordinator='chem,lab,science':Fairshare=10:MaxTRESPerJob=cpu=4,mem=3G,node=2:MaxJobs=2:"
    "MaxWallDurationPerJob=30:Priority=9\n"
    "User - 'brian':DefaultAccount='lab':DefaultWCKey='w':AdminLevel='Operator':WCKeys='w':Fairshare=1:QOS='-high'\n";

TEST(AccountsFile, ReadsWhatSlurmWrote) {
  const AccountsFile file = read(kOfSlurm);
  EXPECT_EQ(file.cluster.name, "tux");
  EXPECT_EQ(file.cluster.line, 2u);
  EXPECT_EQ(limit(file.cluster.set, LimitKind::kMaxJobs)->value, 7u);
  ASSERT_EQ(file.cluster.set.qos.size(), 2u);
  EXPECT_THAT(file.cluster.set.qos[1].names, ElementsAre("high", "normal"));
  ASSERT_EQ(file.accounts.size(), 3u);
  const AccountEntry &science = file.accounts[1], &chem = file.accounts[2];
  EXPECT_EQ(science.set.description, "science: all it`s");
  EXPECT_EQ(science.set.organization, "the org");
  EXPECT_EQ(limit(science.set, LimitKind::kGrpTres, "mem")->value, 2048u);
  EXPECT_EQ(limit(science.set, LimitKind::kGrpWall)->value, 1440u);
  EXPECT_EQ(limit(science.set, LimitKind::kMaxTresMinsPerJob, "cpu")->value, 9u);
  EXPECT_EQ(chem.parent, "science");
  EXPECT_EQ(limit(chem.set, LimitKind::kShares)->value, kSharesOfParent);
  ASSERT_EQ(file.users.size(), 5u);
  EXPECT_EQ(file.users[1].set.admin_level, AdminLevel::kOperator);
  EXPECT_THAT(file.users[1].wckeys, ElementsAre("w"));
  EXPECT_EQ(file.users[2].partition, "p");
  EXPECT_THAT(file.users[2].coordinator_of, ElementsAre("chem", "lab", "science"));
  EXPECT_EQ(file.users[3].account, "chem");
  EXPECT_EQ(limit(file.users[3].set, LimitKind::kMaxWall)->value, 30u);
  ASSERT_EQ(file.users[4].set.qos.size(), 2u);
  EXPECT_EQ(file.users[4].set.qos[0].op, ChangeOp::kClear);
  EXPECT_EQ(file.users[4].set.qos[1].op, ChangeOp::kSubtract);
}

TEST(AccountsFile, ReadsTheManualsExamples) {
  const AccountsFile file = read("Cluster - cluster_name:MaxTRESPerJob=node=15\n"
                                 "Parent - root\n"
                                 "Account - cs:MaxTRESPerJob=node=5:MaxJobs=4:FairShare=399:MaxWallDurationPerJob=40:Description='Computer "
                                 "Science':Organization='LC'\n"
                                 "Parent - cs\n"
                                 "Account - test:MaxNodesPerJob=1:GrpNodes=2:MaxCPUs=6:QOS+=standby\n");
  EXPECT_EQ(limit(file.accounts[1].set, LimitKind::kMaxTresPerJob, "cpu")->value, 6u) << "older files shorten MaxCPUsPerJob";
  EXPECT_EQ(file.accounts[0].set.description, "computer science");
  EXPECT_EQ(limit(file.accounts[1].set, LimitKind::kMaxTresPerJob, "node")->value, 1u);
  EXPECT_EQ(limit(file.accounts[1].set, LimitKind::kGrpTres, "node")->value, 2u);
  ASSERT_EQ(file.accounts[1].set.qos.size(), 1u);
  EXPECT_EQ(file.accounts[1].set.qos[0].op, ChangeOp::kAdd);
}

TEST(AccountsFile, ErrorsNameLineOptionValueAndRule) {
  EXPECT_EQ(refusal("Cluster - 'a'\n\nnonsense\n"), "line 3: want TITLE - 'name'[:Option=value …]");
  EXPECT_EQ(refusal("Cluster - 'a'\nCluster - 'b'\n"), "line 2: a second Cluster: a file has one");
  EXPECT_EQ(refusal("Account - 'a':Colour='red'\n"), "line 1: Unknown option: Colour=red");
  EXPECT_EQ(refusal("Account - 'a':AdminLevel=Operator\n"), "line 1: Unknown option: AdminLevel=Operator") << "it is one of users";
  EXPECT_EQ(refusal("Account - 'a':GraceTime=3\n"), "line 1: Unknown option: GraceTime=3") << "it is one of QOS";
  EXPECT_EQ(refusal("User - 'u':AdminLevel=King\n"), "line 1: Invalid value for AdminLevel (King); one of None, Operator, Administrator");
  EXPECT_THAT(refusal("Account - 'a':Fairshare=lots\n"), HasSubstr("line 1: Invalid value for FairShare (lots); a whole number"));
  EXPECT_THAT(refusal("Account - 'a':MaxJobs=-2\n"), HasSubstr("line 1: Invalid value for MaxJobs (-2)"));
  EXPECT_EQ(refusal("Parent - 'no'\n"), "line 1: Parent: the account no is not there yet");
  EXPECT_EQ(refusal("Account - 'a'\nParent - 'a':MaxJobs=1\n"), "line 2: a Parent line has no options");
  EXPECT_EQ(refusal("Account - 'a'\nAccount - 'A'\n"), "line 2: the account a is there already");
  EXPECT_EQ(refusal("Account - 'a:MaxJobs=1\n"), "line 1: a quote is open at its end");
  EXPECT_EQ(refusal("Account - ''\n"), "line 1: the name is missing or longer than 200 bytes");
}

TEST(AccountsFile, IsBounded) {
  EXPECT_EQ(refusal("Cluster - 'a'\nAccount - 'b\x1b[31m'\n"), "line 2: it holds a control character");
  EXPECT_EQ(refusal(std::string("Cluster - 'a\0b'\n", 16)), "line 1: it holds a control character");
  EXPECT_EQ(refusal("Cluster - 'a'\nAccount - 'b':Description='" + std::string(70'000, 'x') + "'\n"),
            "line 2: a line has at most 65536 bytes");
  EXPECT_EQ(refusal("Account - '" + std::string(201, 'x') + "'\n"), "line 1: the name is missing or longer than 200 bytes");
  EXPECT_EQ(refusal(std::string(1'000'000, '\n')), "line 100001: a file has at most 100000 lines");
  EXPECT_EQ(read("Cluster - 'a':").cluster.name, "a");
  EXPECT_EQ(read("").cluster.name, "");
}

AssociationRecord association(uint32_t id, uint32_t above, std::string account, std::string user = "") {
  AssociationRecord a;
  a.id = id;
  a.parent_id = above;
  a.cluster = "tux";
  a.account = std::move(account);
  a.user = std::move(user);
  return a;
}

TEST(AccountsFile, WritesWhatItReads) {
  rpc::Entities all;
  QosRecord q;
  q.name = "high";
  q.description = "it's";
  q.flags = {"DenyOnLimit"};
  q.preempt = {"normal"};
  q.usage_factor = 2.5;
  q.limits = {{LimitKind::kGraceTime, {}, 90}, {LimitKind::kPreemptExemptTime, {}, 120}, {LimitKind::kMaxTresPerUser, "gres/gpu:h100", 8}};
  all.qos = {q};
  all.accounts.resize(1);
  all.accounts[0].name = "lab";
  all.accounts[0].description = "two\nlines: \"it's\"";
  all.users.resize(1);
  all.users[0].name = "ann";
  all.users[0].coordinator_of = {"lab"};
  all.associations = {association(1, 0, "root"), association(2, 1, "lab"), association(3, 2, "lab", "ann")};
  all.associations[0].qos = {"normal", "high"};
  all.associations[1].limits = {
      {LimitKind::kShares, {}, kSharesOfParent}, {LimitKind::kGrpTres, "mem", 1536}, {LimitKind::kGrpWall, {}, 90}};
  all.associations[2].qos = {"+high", "-normal"};
  all.associations[2].is_default = true;
  const std::string text = write_accounts_file("tux", all);
  EXPECT_THAT(text, HasSubstr("\nQOS - 'high':Description=\"it's\":Flags='DenyOnLimit':MaxTRESPerUser='gres/gpu:h100=8':GraceTime=90:"
                              "PreemptExemptTime=2:Preempt='normal':UsageFactor=2.5\n"
                              "Cluster - 'tux':Fairshare=1:QOS='high,normal'\n"
                              "Parent - 'root'\n"
                              "Account - 'lab':Description='two lines: \"it`s\"':Fairshare=2147483647:GrpTRES=mem=1536M:GrpWall=90\n"
                              "Parent - 'lab'\n"
                              "User - 'ann':DefaultAccount='lab':Coordinator='lab':Fairshare=1:QOS='+high,-normal'\n"));
  const AccountsFile file = read(text);
  EXPECT_EQ(file.qos[0].set.description, "it's");
  EXPECT_EQ(limit(file.qos[0].set, LimitKind::kMaxTresPerUser, "gres/gpu:h100")->value, 8u);
  EXPECT_EQ(limit(file.qos[0].set, LimitKind::kPreemptExemptTime)->value, 120u);
  EXPECT_EQ(limit(file.accounts[0].set, LimitKind::kGrpTres, "mem")->value, 1536u);
  ASSERT_EQ(file.users[0].set.qos.size(), 3u);
  EXPECT_THAT(file.users[0].set.qos[1].names, ElementsAre("high"));
  EXPECT_THAT(file.users[0].set.qos[2].names, ElementsAre("normal"));
}

TEST(AccountsFile, FlagsOfAnAccountAreInIt) {
  const AccountsFile file = read("Cluster - 'tux'\nParent - 'root'\nAccount - 'lab':Flags='UsersAreCoords'\n");
  ASSERT_EQ(file.accounts.size(), 1u);
  ASSERT_EQ(file.accounts[0].set.flags.size(), 1u);
  EXPECT_THAT(file.accounts[0].set.flags[0].names, ElementsAre("UsersAreCoords"));
  rpc::Entities what;
  what.accounts.emplace_back().name = "lab";
  what.accounts[0].flags = {"UsersAreCoords"};
  for (const char* account : {"root", "lab"}) {
    AssociationRecord& a = what.associations.emplace_back();
    a.id = static_cast<uint32_t>(what.associations.size());
    a.parent_id = a.id - 1;
    a.cluster = "tux";
    a.account = account;
  }
  EXPECT_NE(write_accounts_file("tux", what).find("Account - 'lab':Flags='UsersAreCoords':Fairshare=1\n"), std::string::npos);
}

}  // namespace
}  // namespace muster::config

// The records of scontrol show assoc_mgr are those that Debian's Slurm 22.05 printed for such a site, but for Lineage, which took Lft's place.
#include "fields/show_assoc_mgr.h"

#include <gtest/gtest.h>

namespace muster::fields {
namespace {

const std::vector<std::string> kTres{"cpu", "mem", "gres/gpu"};
const AssocMgrNames kNames{.number_of = [](const std::string& user) { return user == "alice" ? "1000" : ""; },
                           .user_of = [](const std::string& uid) { return uid == "1000" ? "alice" : ""; }};

UseRow a_use() {
  UseRow u;
  u.jobs = 1;
  u.submitted = 3;
  u.accruing = 2;
  u.wall_s = 90;
  u.raw_usage = 12;
  u.held = {1, 600, 0};
  u.used_minutes = {4, 5, 6};
  u.run_minutes = {60, 36000, 0};
  return u;
}

TEST(ShowAssocMgr, AUser) {
  UserRecord u;
  u.name = "alice";
  u.default_account = "physics";
  std::string out;
  show_user_record(u, kNames, out);
  EXPECT_EQ(out, "UserName=alice(1000) DefAccount=physics DefWckey= AdminLevel=None\n");
}

TEST(ShowAssocMgr, AnAssociation) {
  AssociationUse row;
  row.record.id = 4;
  row.record.cluster = "orc";
  row.record.account = "physics";
  row.record.parent_account = "root";
  row.record.parent_id = 1;
  row.record.lineage = "/physics/";
  row.record.limits = {{LimitKind::kGrpTres, "cpu", 5},          {LimitKind::kMaxWall, "", 120},         {LimitKind::kMaxJobs, "", 7},
                       {LimitKind::kMaxTresPerNode, "cpu", 2},   {LimitKind::kMaxTresPerNode, "mem", 9}, {LimitKind::kShares, "", 2},
                       {LimitKind::kGrpTresMins, "gres/gpu", 50}};
  row.use = a_use();
  row.norm_shares = 2.0 / 3;
  row.level_shares = 3;
  std::string out;
  show_association(row, kTres, kNames, out);
  EXPECT_EQ(out, "ClusterName=orc Account=physics UserName= Partition= Priority=0 ID=4\n"
                 "    SharesRaw/Norm/Level/Factor=2/0.67/3/0.00\n"
                 "    UsageRaw/Norm/Efctv=12.00/0.00/0.00\n"
                 "    ParentAccount=root(1) Lineage=/physics/ DefAssoc=No\n"
                 "    GrpJobs=N(1) GrpJobsAccrue=N(2)\n"
                 "    GrpSubmitJobs=N(3) GrpWall=N(1.50)\n"
                 "    GrpTRES=cpu=5(1),mem=N(600),gres/gpu=N(0)\n"
                 "    GrpTRESMins=cpu=N(4),mem=N(5),gres/gpu=50(6)\n"
                 "    GrpTRESRunMins=cpu=N(60),mem=N(36000),gres/gpu=N(0)\n"
                 "    MaxJobs=7(1) MaxJobsAccrue= MaxSubmitJobs= MaxWallPJ=120\n"
                 "    MaxTRESPJ=\n"
                 "    MaxTRESPN=cpu=2,mem=9\n"
                 "    MaxTRESMinsPJ=\n"
                 "    MinPrioThresh=\n");
}

TEST(ShowAssocMgr, AQosWithItsUsers) {
  QosUse row;
  row.record.id = 2;
  row.record.name = "lim";
  row.record.limits = {{LimitKind::kMaxJobsPerUser, "", 4}, {LimitKind::kMaxTresMinsPerJob, "cpu", 10}};
  row.use = a_use();
  row.users = {{"1000", a_use()}, {"1001", UseRow{}}};
  std::string out;
  show_qos(row, kTres, kNames, out);
  EXPECT_EQ(out, "QOS=lim(2)\n"
                 "    UsageRaw=12.000000\n"
                 "    GrpJobs=N(1) GrpJobsAccrue=N(2) GrpSubmitJobs=N(3) GrpWall=N(1.50)\n"
                 "    GrpTRES=cpu=N(1),mem=N(600),gres/gpu=N(0)\n"
                 "    GrpTRESMins=cpu=N(4),mem=N(5),gres/gpu=N(6)\n"
                 "    GrpTRESRunMins=cpu=N(60),mem=N(36000),gres/gpu=N(0)\n"
                 "    MaxWallPJ=\n"
                 "    MaxTRESPJ=\n"
                 "    MaxTRESPN=\n"
                 "    MaxTRESMinsPJ=cpu=10\n"
                 "    MinPrioThresh= \n"
                 "    MinTRESPJ=\n"
                 "    PreemptMode=OFF\n"
                 "    Priority=0\n"
                 "    Account Limits\n"
                 "        No Accounts\n"
                 "    User Limits\n"
                 "      alice(1000)\n"
                 "        MaxJobsPU=4(1) MaxJobsAccruePU=N(2) MaxSubmitJobsPU=N(3)\n"
                 "        MaxTRESPU=cpu=N(1),mem=N(600),gres/gpu=N(0)\n"
                 "      1001\n"
                 "        MaxJobsPU=4(0) MaxJobsAccruePU=N(0) MaxSubmitJobsPU=N(0)\n"
                 "        MaxTRESPU=cpu=N(0),mem=N(0),gres/gpu=N(0)\n");
}

}  // namespace
}  // namespace muster::fields

#include "cli/sprio/print.h"

#include <gtest/gtest.h>

#include "cli/common/job_ids.h"

namespace muster::cli {
namespace {

FactorRow factor(double normal, double weight) { return {"", normal, normal * weight}; }

// The priority of a job that has waited for a part of PriorityMaxAge; the numbers are those of sprio(1)'s examples.
PriorityRow job(uint32_t id, std::string partition, double age, double fair_share) {
  PriorityRow r;
  r.job = JobId(id);
  r.sluid = sluid_of(r.job, from_unix(1795252815), 0);
  r.user = Uid{id == 65541 ? 1001u : 1000u};
  r.account = "team";
  r.qos = "normal";
  r.partition = std::move(partition);
  r.age = factor(age, 1000);
  r.fair_share = factor(fair_share, 100000);
  r.job_size = factor(1, 1000);
  r.partition_factor = factor(1, 10000);
  r.qos_factor = factor(0, 1);
  r.priority = static_cast<uint32_t>(r.age.weighted + r.fair_share.weighted + 11000);
  r.tres = {{"cpu", 0.01, 10}, {"gres/gpu", 0.1, 200}};
  r.nice = 5;
  return r;
}

rpc::PriorityRows answer() {
  rpc::PriorityRows a;
  a.weights.age.weighted = a.weights.job_size.weighted = 1000;
  a.weights.fair_share.weighted = 100000;
  a.weights.partition_factor.weighted = 10000;
  a.weights.qos_factor.weighted = 1;
  a.jobs = {job(65540, "main", 0.000718, 0.516637), job(65539, "main", 0.000718, 0.516647), job(65541, "big", 0.000718, 0.516627)};
  return a;
}

fields::Environment environment() {
  fields::Environment env;
  env.cluster = "orc";
  env.user_name = [](Uid u) { return u == Uid{1000} ? std::string("fred") : std::string(); };
  return env;
}

SprioOptions options(const std::vector<std::string>& words, const EnvLookup& env = {}) {
  auto parse = parse_sprio(words, env);
  EXPECT_EQ(parse.outcome, Outcome::kRun) << (parse.messages.empty() ? "" : parse.messages[0].text);
  return parse.options;
}

std::string listed_for(const SprioOptions& o, const rpc::PriorityRows& rows = answer()) {
  const fields::Environment env = environment();
  PriorityListing listing = make_priority_listing(o);
  EXPECT_TRUE(listing.messages.empty() && !listing.failed);
  auto filter = make_priority_filter(o);
  EXPECT_TRUE(filter);
  PriorityLines lines(o, std::move(listing), std::move(*filter), env);
  lines.add(rows);
  std::string out;
  lines.print(out);
  return out;
}
std::string listed(const std::vector<std::string>& words, const rpc::PriorityRows& rows = answer()) {
  return listed_for(options(words), rows);
}

TEST(Sprio, FactorsWithAWeight) {
  EXPECT_EQ(listed({}), "          JOBID PARTITION   PRIORITY       SITE        AGE  FAIRSHARE    JOBSIZE  PARTITION        QOS\n"
                        "          65539 main           62665          0          1      51665       1000      10000          0\n"
                        "          65540 main           62664          0          1      51664       1000      10000          0\n"
                        "          65541 big            62663          0          1      51663       1000      10000          0\n");
}

TEST(Sprio, FactorsWithoutAWeightAreLeftOut) {
  rpc::PriorityRows none = answer();
  none.weights = PriorityRow();
  none.jobs.resize(1);
  EXPECT_EQ(listed({}, none), "          JOBID PARTITION   PRIORITY       SITE\n"
                              "          65540 main           62664          0\n");
  none.weights.tres = {{"cpu", 0, 1000}, {"gres/gpu", 0, 2000}};
  none.weights.association.weighted = 1;
  EXPECT_EQ(listed({}, none), "          JOBID PARTITION   PRIORITY       SITE      ASSOC                 TRES\n"
                              "          65540 main           62664          0          0  cpu=10,gres/gpu=200\n");
  EXPECT_EQ(listed({"-h", "-o", "%i %A"}, none), "65540 1\n");  // who asks for a column has it
}

TEST(Sprio, FactorsAreRounded) {
  rpc::PriorityRows rows = answer();
  rows.jobs.resize(1);
  rows.jobs[0].job_size.weighted = 187.5;
  rows.jobs[0].fair_share.weighted = 227.27;
  rows.jobs[0].tres = {{"cpu", 0.125, 37.5}, {"mem", 0.0002, 0.04}, {"gres/gpu", 0, 0}};
  EXPECT_EQ(listed({"-h", "-o", "%J %F %T %t"}, rows), "188 227 cpu=38,mem=0 cpu=0.12,mem=0.00\n");
}

TEST(Sprio, UsersThatAreAskedForAreShown) {
  EXPECT_EQ(listed({"-h", "-u", "1001"}),
            "          65541 big           1001      62663          0          1      51663       1000      10000          0\n");
  EXPECT_EQ(listed({"-n", "-u", "1000", "-j", "65539"}),
            "          JOBID PARTITION     USER PRIORITY   AGE        FAIRSHARE  JOBSIZE    PARTITION  QOS       \n"
            "          65539 main          fred 0.00001459 0.0007180  0.5166470  1.0000000  1.0000000  0.0000000 \n");
}

TEST(Sprio, ColumnsCutWhatIsTooWide) { EXPECT_EQ(listed({"-h", "-j", "65539", "-o", "%3i|%.3i"}), "655|655\n"); }

TEST(Sprio, Long) {
  EXPECT_EQ(listed({"-l", "-j", "65541"}),
            "          JOBID PARTITION     USER  ACCOUNT   PRIORITY       SITE        AGE  FAIRSHARE    JOBSIZE  PARTITION    QOSNAME"
            "        QOS        NICE\n"
            "          65541 big           1001     team      62663          0          1      51663       1000      10000     normal"
            "          0           5\n");
}

TEST(Sprio, Normalized) {
  EXPECT_EQ(listed({"-n", "-j", "65539"}), "          JOBID PARTITION PRIORITY   AGE        FAIRSHARE  JOBSIZE    PARTITION  QOS       \n"
                                           "          65539 main      0.00001459 0.0007180  0.5166470  1.0000000  1.0000000  0.0000000 \n");
  EXPECT_EQ(listed({"-h", "-j", "65539", "-o", "%y|%t"}), "0.00001459033228|cpu=0.01,gres/gpu=0.10\n");
}

TEST(Sprio, Weights) {
  EXPECT_EQ(listed({"-w"}), "          JOBID PARTITION   PRIORITY       SITE        AGE  FAIRSHARE    JOBSIZE  PARTITION        QOS\n"
                            "        Weights                               1       1000     100000       1000      10000          1\n");
  EXPECT_EQ(listed({"-w", "-h", "-o", "%i|%a|%u|%N|%s|%y|"}), "Weights|1000|||||\n");
}

TEST(Sprio, EveryLetter) {
  const std::string sluid = sluid_text(sluid_of(JobId(65539), from_unix(1795252815), 0));
  EXPECT_EQ(listed({"-j", sluid, "-o", "%c %i %n %N %o %r %S %u %b %B"}),
            "CLUSTER JOBID QOSNAME NICE ACCOUNT PARTITION SITE USER ASSOC ASSOC\norc 65539 normal 5 team main 0 fred 0.0000000 0\n");
  EXPECT_EQ(listed({"-h", "-j", "65539", "-o", "%s"}), sluid + "\n");
  EXPECT_EQ(listed({"-h", "-j", "65539", "-o", "%T"}), "cpu=10,gres/gpu=200\n");
}

TEST(Sprio, Filters) {
  EXPECT_EQ(listed({"-h", "-o", "%i", "-p", "big"}), "65541\n");
  EXPECT_EQ(listed({"-h", "-o", "%i", "-u", "1000"}), "65539\n65540\n");
  EXPECT_EQ(listed({"-h", "-o", "%i", "--users=1001"}), "65541\n");
  EXPECT_EQ(listed({"-h", "-o", "%i", "--jobs=65541,65539"}), "65539\n65541\n");
  EXPECT_EQ(listed({"-h", "-o", "%i", "-j", "65539", "-p", "big"}), "");
}

TEST(Sprio, Order) {
  EXPECT_EQ(listed({"-h", "-o", "%i", "-S", "-y"}), "65539\n65540\n65541\n");
  EXPECT_EQ(listed({"-h", "-o", "%i", "-S", "r,-i"}), "65541\n65540\n65539\n");
  EXPECT_EQ(listed({"-h", "-o", "%i", "--sort=+f"}), "65541\n65540\n65539\n");
}

// A job has a line for each of its partitions, in the order in which they came.
TEST(Sprio, PartitionsOfAJobStayTogether) {
  rpc::PriorityRows rows = answer();
  rows.jobs.push_back(job(65540, "big", 0, 0));
  EXPECT_EQ(listed({"-h", "-o", "%i %r"}, rows), "65539 main\n65540 main\n65540 big\n65541 big\n");
}

TEST(Sprio, WhichFormatCounts) {
  auto env = [](const char* name) -> const char* { return std::string_view(name) == "SPRIO_FORMAT" ? "%i" : nullptr; };
  EXPECT_EQ(listed_for(options({"-h"}, env)), "65539\n65540\n65541\n");
  EXPECT_EQ(listed_for(options({"-h", "-o", "%r", "-n", "-j", "65539"}, env)), "main\n");
  EXPECT_EQ(parse_sprio(std::vector<std::string>{"-o", "%r", "-l"}, {}).outcome, Outcome::kFailed) << "which is meant?";
  EXPECT_NE(listed_for(options({"-l"}, env)).find("ACCOUNT"), std::string::npos);
}

TEST(Sprio, Federation) {
  EXPECT_TRUE(options({"--federation"}).federation);
  EXPECT_FALSE(options({"--federation", "--local"}).federation);
  EXPECT_TRUE(options({"-M", "orc", "--sibling"}).local);
  EXPECT_EQ(parse_sprio(std::vector<std::string>{"-M", "orc,other"}, {}).outcome, Outcome::kFailed);
}

TEST(Sprio, JobsThatAreNotPendingAreTold) {
  const fields::Environment env = environment();
  const SprioOptions o = options({"-j", "65539,7"});
  PriorityLines lines(o, make_priority_listing(o), make_priority_filter(o).value(), env);
  lines.add(answer());
  EXPECT_EQ(lines.missing(), std::vector<std::string>{"7"});
  EXPECT_FALSE(lines.found_nothing());
  const SprioOptions unknown = options({"-j", "7"});
  PriorityLines none(unknown, make_priority_listing(unknown), make_priority_filter(unknown).value(), env);
  none.add(answer());
  EXPECT_TRUE(none.found_nothing());
}

TEST(Sprio, BadInput) {
  PriorityListing unknown = make_priority_listing(options({"-o", "%i %k"}));
  EXPECT_EQ(unknown.messages, std::vector<std::string>{"Invalid job format specification: k"});
  EXPECT_FALSE(unknown.failed);  // the rest is printed, as squeue does
  EXPECT_TRUE(make_priority_listing(options({"-S", "z"})).failed);
  for (const char* id : {"x", "12_3", "12.0", "0"}) EXPECT_FALSE(make_priority_filter(options({"-j", id}))) << id;
  EXPECT_FALSE(make_priority_filter(options({"-u", "no such user"})));
  EXPECT_EQ(parse_sprio(std::vector<std::string>{"word"}, {}).outcome, Outcome::kFailed);
}

}  // namespace
}  // namespace muster::cli

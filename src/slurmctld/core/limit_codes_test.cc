// Each reason that a limit of accounts gives, by a run in which a job waits for it: from the table of limits, so that a new row is run, too.
#include <gtest/gtest.h>

#include <set>

#include "acct/limit_rows.h"
#include "model/account_directory_testing.h"
#include "slurmctld/core/core_testing.h"

namespace muster::slurmctld {
namespace {

constexpr const char* kTres[] = {"cpu", "mem", "node", "billing", "gres/gpu", "license/matlab"};

// A licence is on no node, so no job waits for that.
bool held(const acct::LimitRow& row, const std::string& tres) { return row.counts != acct::Counts::kOneNode || tres != "license/matlab"; }

// A cluster with GPUs and a licence, alice in the account team, and one limit.
struct AccountRun : Bench {
  AccountRun(const acct::LimitRow& row, const std::string& tres)
      : Bench("AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageEnforce=limits\nGresTypes=gpu\nLicenses=matlab:4\n"
              "AccountingStorageTRES=gres/gpu,license/matlab\nNodeName=g[0-3] CPUs=4 RealMemory=4000 Gres=gpu:2\n",
              false) {
    register_all();
    ADirectory accounts;
    accounts.qos("normal").account("root").account("team").user("alice", "team").association("alice", "team", {"normal"});
    rpc::Entities all = accounts.entities();
    const std::vector<Limit> limits{{row.kind, tres, amount(row)}};
    if (row.on == acct::On::kQos) all.qos[0].limits = limits;
    for (AssociationRecord& a : all.associations)
      if (row.on != acct::On::kQos && !a.user.empty()) a.limits = limits;
    turn([&] { core.learn_directory(all); });
  }
  // So little that any job is over it; of what a job has to take, more than there is.
  static uint64_t amount(const acct::LimitRow& row) {
    return row.counts == acct::Counts::kAtLeast ? 1'000'000 : row.counts == acct::Counts::kMinutes ? 1 : 0;
  }
  void register_all() {
    turn([&] {
      core.cluster().nodes.for_each([&](uint32_t id, const Node& node) {
        node_rpc::Register r;
        r.node = node.spec->name;
        r.hardware.cpus = r.hardware.sockets = 4;
        r.hardware.cores_per_socket = r.hardware.threads_per_core = 1;
        r.hardware.real_memory_mb = 4000;
        r.hardware.boot_id = "boot";
        r.hardware.gres = node.spec->gres;
        core.node_connected(NodeId(id));
        core.report(NodeId(id), r);
      });
    });
  }
  Result<JobId> ask() {
    JobRequest r = request([](JobRequest& q) {
      q.user_name = "alice";
      q.tres_per_node = "gres/gpu:1";
      q.licenses = "matlab:1";
      q.mem_per_node_mb = 100;
    });
    Result<rpc::JobSubmitted> answer = fail(Errc::kError);
    turn([&] { answer = core.run(Caller{r.uid, r.gid, {}, {}}, r); });
    if (!answer) return std::unexpected(answer.error());
    return answer->job;
  }
};

TEST(LimitCodes, EachReasonOfALimitAppears) {
  std::set<Reason> seen;
  for (const acct::LimitRow& row : acct::limit_rows()) {
    if (row.reasons.any == Reason::kNone || row.on == acct::On::kPartition) continue;  // the partition's are shown as those of a QOS
    for (const char* tres : kTres) {
      if (!row.per_tres() && tres != kTres[0]) continue;
      const Reason expected = row.per_tres() ? row.reasons.of(TresName::of(tres)) : row.reasons.any;
      SCOPED_TRACE(std::string(row.name()) + "=" + tres + ": " + std::string(reason_name(expected)));
      AccountRun b(row, row.per_tres() ? tres : "");
      const Result<JobId> job = b.ask();
      if (row.asked == acct::kAtSubmission) {  // nobody waits for these: there is no job
        EXPECT_FALSE(job);
        continue;
      }
      ASSERT_TRUE(job) << job.error().message() << " " << job.error().hint;
      EXPECT_EQ(b.plan(), held(row, tres) ? 0u : 1u);
      if (!held(row, tres)) continue;
      const Reason shown = reason_shown(b.core.cluster(), b.get(*job));
      EXPECT_EQ(reason_name(shown), reason_name(expected));
      seen.insert(shown);
    }
  }
  EXPECT_GE(seen.size(), 80u);
}

}  // namespace
}  // namespace muster::slurmctld

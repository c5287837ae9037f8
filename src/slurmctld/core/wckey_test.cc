// Workload characterization keys: the default one of who names none, and AccountingStorageEnforce=wckeys. guide wckey, slurm.conf(5).
#include "model/account_directory_testing.h"
#include "slurmctld/core/core_testing.h"
#include "slurmctld/core/records.h"

namespace muster::slurmctld {
namespace {

// alice may name grant and thesis, and grant is her default; bob has none.
struct Keys : Bench {
  explicit Keys(const std::string& conf) : Bench("AccountingStorageType=accounting_storage/slurmdbd\n" + conf) {
    ADirectory d;
    d.qos("normal").account("root").account("team");
    for (const char* user : {"alice", "bob"}) d.user(user, "team").association(user, "team", {"normal"});
    all = d.entities();
    all.users[0].default_wckey = "grant";
    give("alice", "thesis");
    give("alice", "grant");
    learn();
  }
  void give(const std::string& user, const std::string& key) {
    WckeyRecord& w = all.wckeys.emplace_back();
    w.id = static_cast<uint32_t>(all.wckeys.size());
    w.user = user;
    w.name = key;
  }
  void learn() {
    turn([&] { core.learn_directory(all); });
  }
  Result<JobId> ask(const std::string& user, const std::string& key = "") {
    JobRequest r = request([&](JobRequest& q) {
      q.user_name = user;
      q.wckey = key;
    });
    Result<rpc::JobSubmitted> answer = fail(Errc::kError);
    turn([&] { answer = core.run(Caller{r.uid, r.gid, {}, {}}, r); });
    if (!answer) return std::unexpected(answer.error());
    return answer->job;
  }
  std::string key(JobId job) const { return (get(job).request->wckey_is_default ? "*" : "") + get(job).request->wckey; }
  rpc::Entities all;
};

TEST(Wckeys, WhoNamesNoneHasTheDefaultOne) {
  Keys b("TrackWCKey=yes\n");
  const JobId none = *b.ask("alice"), named = *b.ask("alice", "Thesis"), other = *b.ask("bob"), anything = *b.ask("bob", "mine");
  EXPECT_EQ(b.key(none), "*grant");
  EXPECT_EQ(b.key(named), "thesis");
  EXPECT_EQ(b.key(other), "*");
  EXPECT_EQ(b.key(anything), "mine") << "nobody asks whether it is his";
  EXPECT_EQ(make_job_record(b.core.cluster(), b.get(none)).wckey, "grant") << "reports count it with the others";
  EXPECT_TRUE(make_job_record(b.core.cluster(), b.get(none)).wckey_is_default);
  ASSERT_TRUE(b.update(none, "WCKey", "Thesis"));
  EXPECT_EQ(b.key(none), "thesis");
  ASSERT_TRUE(b.update(none, "WCKey", ""));
  EXPECT_EQ(b.key(none), "*grant");
  b.expect_replay_equal();
}

TEST(Wckeys, WithoutTrackWCKeyThereIsNoDefault) {
  Keys b("");
  EXPECT_EQ(b.key(*b.ask("alice")), "");
}

TEST(Wckeys, OnlyOnesOwnWhereTheyAreEnforced) {
  Keys b("AccountingStorageEnforce=wckeys\n");
  const JobId none = *b.ask("alice"), named = *b.ask("alice", "thesis");
  EXPECT_EQ(b.key(none), "*grant") << "wckeys implies TrackWCKey";
  EXPECT_EQ(b.key(named), "thesis");
  auto refused = [&](const std::string& user, const std::string& key) {
    auto r = b.ask(user, key);
    EXPECT_FALSE(r.has_value());
    EXPECT_EQ(r.error().message(), "Invalid wckey specification");
    return r.error().hint;
  };
  EXPECT_EQ(refused("alice", "mine"), "user alice may not use wckey mine; it may use: grant, thesis");
  EXPECT_EQ(refused("bob", ""), "user bob has no wckey on this cluster");
  b.give("bob", "thesis");
  b.learn();
  EXPECT_EQ(refused("bob", ""), "user bob has no default wckey; name one of thesis");
  EXPECT_TRUE(b.ask("bob", "thesis"));
  EXPECT_EQ(b.update(named, "WCKey", "mine").error().code, Errc::kInvalidWckey);
  b.all.wckeys[0].deleted = true;  // alice's thesis
  b.learn();
  EXPECT_EQ(b.plan(), 2u);
  EXPECT_EQ(b.state(named), JobState::kPending) << "a key that was taken away lets nothing start";
  b.expect_replay_equal();
}

}  // namespace
}  // namespace muster::slurmctld

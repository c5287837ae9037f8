#include "sim/check_reservations.h"

#include <gtest/gtest.h>

#include "model/account_directory.h"
#include "sched/testing.h"

namespace muster::sim {
namespace {

using namespace muster::sched;

const Time kNow = from_unix(1'000'000);

// team-a stands below team.
Cluster with_accounts() {
  Cluster c = a_cluster().nodes(2).cpus(4).build();
  AccountChanges changes;
  uint32_t id = 0;
  for (const auto& [account, parent] : {std::pair("root", 0u), std::pair("team", 1u), std::pair("team-a", 2u), std::pair("other", 1u)}) {
    AssociationRecord& a = changes.associations.emplace_back();
    a.id = ++id;
    a.account = account;
    a.parent_id = parent;
  }
  auto directory = std::make_shared<AccountDirectory>();
  directory->learn(changes);
  c.directory = directory;
  return c;
}

Reservation over_all(const Cluster& c) {
  Reservation r;
  r.id = 1;
  r.name = "r";
  r.start = kNow;
  r.end = kNow + minutes(60);
  r.nodes = Bitmap(c.nodes.size(), true);
  return r;
}

TEST(Reservations, EveryListHasToAdmit) {
  const Cluster c = with_accounts();
  RequestBody ann;
  ann.user_name = "ann";
  ann.account = "team-a";
  ann.qos = "fast";
  const std::pair<std::function<void(Reservation&)>, bool> cases[] = {
      {[](Reservation&) {}, true},
      {[](Reservation& r) {
         r.users = {{"ann"}, false};
       },
       true},
      {[](Reservation& r) {
         r.users = {{"ann"}, true};
       },
       false},
      {[](Reservation& r) {
         r.users = {{"bob"}, true};
       },
       true},
      {[](Reservation& r) {
         r.accounts = {{"team"}, false};
       },
       true},
      {[](Reservation& r) {
         r.accounts = {{"team"}, true};
       },
       false},
      {[](Reservation& r) {
         r.accounts = {{"other"}, false};
       },
       false},
      {[](Reservation& r) {
         r.groups = {{"staff"}, false}, r.group_members = {"ann"};
       },
       true},
      {[](Reservation& r) {
         r.groups = {{"staff"}, false}, r.group_members = {"bob"};
       },
       false},
      {[](Reservation& r) {
         r.qos = {{"fast"}, true};
       },
       false},
      {[](Reservation& r) {
         r.partitions = {{"main"}, false};
       },
       true},
      {[](Reservation& r) {
         r.partitions = {{"small"}, false};
       },
       false},
      {[](Reservation& r) {
         r.users = {{"ann"}, false}, r.qos = {{"normal"}, false};
       },
       false},
  };
  for (size_t i = 0; i < std::size(cases); ++i) {
    Reservation r = over_all(c);
    cases[i].first(r);
    EXPECT_EQ(is_let_in(c, r, ann, "main"), cases[i].second) << i;
  }
}

struct Start {
  Cluster cluster = with_accounts();
  JobId job = submit(cluster, a_job().tasks(1).minutes(30));
  event::JobStarted started;
  Start() {
    Allocation a;
    a.nodes.push_back({NodeId(0), Bitmap(1, true)});
    a.licenses = {{"tool", 2}};
    started.job = job;
    started.time = kNow;
    started.allocation = std::make_shared<const Allocation>(std::move(a));
  }
  std::vector<std::string> wrong(const Reservation& r, const Pools& pools) {
    cluster.reservations.set(r.id, r);
    std::vector<std::string> out;
    check_reservation(cluster, started, pools, [&](const std::string& what) { out.push_back(what); });
    return out;
  }
};

TEST(Reservations, NobodyElseTakesTheirNodesOrLicenses) {
  Start s;
  Reservation r = over_all(s.cluster);
  EXPECT_EQ(s.wrong(r, {{"tool", 3}}).size(), 1u);  // its node
  r.start = kNow + minutes(31);
  EXPECT_TRUE(s.wrong(r, {{"tool", 3}}).empty());
  r.flags = kResvTimeFloat;
  r.floats_by = minutes(29);
  EXPECT_EQ(s.wrong(r, {{"tool", 3}}).size(), 1u);
  r.flags = kResvAnyNodes;
  r.start = kNow;
  r.licenses = {{"tool", 1}};
  EXPECT_TRUE(s.wrong(r, {{"tool", 3}}).empty());
  r.licenses = {{"tool", 2}};
  EXPECT_EQ(s.wrong(r, {{"tool", 3}}).size(), 1u);
}

TEST(Reservations, OfItsOwnAJobHasOnlyWhatIsThere) {
  Start s;
  Reservation r = over_all(s.cluster);
  r.licenses = {{"tool", 2}};
  s.started.reservation = r.id;
  EXPECT_EQ(s.wrong(r, {{"tool", 2}}).size(), 1u);  // it never asked for it
  r.flags = kResvMagnetic;
  EXPECT_TRUE(s.wrong(r, {{"tool", 2}}).empty());
  r.users = {{"ann"}, false};
  EXPECT_EQ(s.wrong(r, {{"tool", 2}}).size(), 1u);
  r.users = {};
  EXPECT_EQ(s.wrong(r, {{"tool", 1}}).size(), 1u);  // there are not so many
  r.end = kNow;
  EXPECT_FALSE(s.wrong(r, {{"tool", 2}}).empty());
}

}  // namespace
}  // namespace muster::sim

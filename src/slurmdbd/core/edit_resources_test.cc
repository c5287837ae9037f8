// Resources as the guide licenses makes, changes and deletes them.
#include "slurmdbd/core/edit_testing.h"

namespace muster::slurmdbd {
namespace {

struct Resources : EditTest {
  Resources() {
    for (const char* name : {"fluid", "pdf"})
      commit(make(EditVerb::kAdd, Entity::kCluster, [&](EntityEdit& e) { e.where.clusters = {name}; }));
  }
  EntityEdit resource(EditVerb verb, const std::string& name, const std::string& server, std::vector<std::string> clusters = {},
                      const std::function<void(EntityChange&)>& set = {}) {
    return make(verb, Entity::kResource, [&](EntityEdit& e) {
      if (!name.empty()) e.where.names = {name};
      if (!server.empty()) e.where.servers = {server};
      e.where.clusters = std::move(clusters);
      if (set) set(e.set);
    });
  }
  std::vector<ResourceRecord> shown(const std::function<void(EntityFilter&)>& filter = {}) {
    rpc::QueryEntities q;
    q.what = Entity::kResource;
    if (filter) filter(q.filter);
    return query(d, q, {}).resources;
  }
  void nastran() {
    commit(resource(EditVerb::kAdd, "Nastran", "flex_host", {"fluid", "pdf"}, [](EntityChange& s) {
      s.count = 100;
      s.allowed = 50;
      s.server_type = "flexlm";
    }));
  }
};

TEST_F(Resources, InOneStep) {
  nastran();
  auto all = shown();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].name, "nastran");  // lower case
  EXPECT_EQ(all[0].allocated(), 100u);
  EXPECT_EQ(all[0].usable_by("pdf"), 50u);
  EXPECT_EQ(all[0].usable_by("alpha"), 0u);
  // What slurmctld of one cluster asks for.
  auto own = shown([](EntityFilter& f) { f.clusters = {"pdf"}; });
  ASSERT_EQ(own.size(), 1u);
  ASSERT_EQ(own[0].clusters.size(), 1u);
  EXPECT_EQ(own[0].clusters[0].cluster, "pdf");
  EXPECT_TRUE(shown([](EntityFilter& f) { f.clusters = {"alpha"}; }).empty());
}

TEST_F(Resources, InSeveralSteps) {
  commit(resource(EditVerb::kAdd, "matlab", "", {}, [](EntityChange& s) { s.count = 50; }));
  EXPECT_EQ(shown()[0].server, "slurmdb");
  commit(resource(EditVerb::kAdd, "matlab", "", {"pdf"}, [](EntityChange& s) { s.allowed = 70; }));
  auto told = commit(resource(EditVerb::kAdd, "matlab", "", {"pdf", "fluid"}, [](EntityChange& s) { s.allowed = 30; }));
  ASSERT_EQ(told.resources.size(), 1u);
  ASSERT_EQ(told.resources[0].clusters.size(), 1u);  // pdf had its share
  EXPECT_EQ(told.resources[0].clusters[0].cluster, "fluid");
  EXPECT_EQ(shown()[0].usable_by("pdf"), 35u);
  EXPECT_EQ(shown()[0].usable_by("fluid"), 15u);
}

TEST_F(Resources, OfTheSameNameOnAnotherServerAreOthers) {
  nastran();
  commit(resource(EditVerb::kAdd, "nastran", "other", {}, [](EntityChange& s) { s.count = 1; }));
  EXPECT_EQ(shown().size(), 2u);
  commit(resource(EditVerb::kModify, "nastran", "other", {}, [](EntityChange& s) { s.count = 2; }));
  EXPECT_EQ(shown()[0].count + shown()[1].count, 102u);
}

TEST_F(Resources, AreChanged) {
  nastran();
  const Time before = shown()[0].modified;
  now += minutes(1);
  auto told = commit(resource(EditVerb::kModify, "nastran", "", {}, [](EntityChange& s) { s.count = 200; }));
  EXPECT_EQ(told.resources[0].clusters.size(), 2u);
  told = commit(resource(EditVerb::kModify, "nastran", "", {"pdf"}, [](EntityChange& s) { s.allowed = 40; }));
  EXPECT_EQ(told.resources[0].clusters.size(), 1u);
  EXPECT_EQ(shown()[0].usable_by("pdf"), 80u);
  EXPECT_EQ(shown()[0].allocated(), 90u);
  EXPECT_GT(shown()[0].modified, before);
  // The same number told again is news, too: it is as of now.
  commit(resource(EditVerb::kModify, "nastran", "", {}, [](EntityChange& s) { s.last_consumed = 7; }));
  const Time first = shown()[0].modified;
  now += minutes(1);
  commit(resource(EditVerb::kModify, "nastran", "", {}, [](EntityChange& s) { s.last_consumed = 7; }));
  EXPECT_GT(shown()[0].modified, first);
}

TEST_F(Resources, AbsoluteAndShared) {
  settings.all_resources_absolute = true;
  commit(resource(EditVerb::kAdd, "deluxe", "", {"fluid", "pdf"}, [](EntityChange& s) {
    s.count = 150;
    s.allowed = 70;
  }));
  EXPECT_TRUE(shown()[0].has("Absolute"));
  EXPECT_EQ(shown()[0].usable_by("pdf"), 70u);
  EXPECT_EQ(refused(resource(EditVerb::kModify, "deluxe", "", {"pdf"}, [](EntityChange& s) { s.allowed = 90; })), Errc::kError);
  EXPECT_EQ(refused(resource(EditVerb::kModify, "deluxe", "", {},
                             [](EntityChange& s) {
                               s.flags = {{ChangeOp::kAdd, {"sharedpool"}}};
                             })),
            Errc::kError);
  commit(resource(EditVerb::kModify, "deluxe", "", {}, [](EntityChange& s) {
    s.allowed = 0;
    s.flags = {{ChangeOp::kAdd, {"sharedpool"}}};
  }));
  EXPECT_EQ(shown()[0].usable_by("pdf"), 150u);
  EXPECT_EQ(shown()[0].usable_by("fluid"), 150u);
}

TEST_F(Resources, AreDeletedForAClusterOrForAll) {
  nastran();
  auto told = commit(remove(Entity::kResource, [](EntityFilter& w) {
    w.names = {"nastran"};
    w.clusters = {"fluid"};
  }));
  EXPECT_EQ(told.resources[0].clusters.size(), 1u);
  EXPECT_EQ(shown()[0].usable_by("fluid"), 0u);
  commit(remove(Entity::kResource, [](EntityFilter& w) { w.names = {"nastran"}; }));
  EXPECT_TRUE(d.resources.empty());  // young
  nastran();
  now += minutes(60 * 25);
  commit(remove(Entity::kResource, [](EntityFilter& w) { w.names = {"nastran"}; }));
  EXPECT_TRUE(shown().empty());
  EXPECT_EQ(shown([](EntityFilter& f) { f.with_deleted = true; }).size(), 1u);
  nastran();
  EXPECT_EQ(shown().size(), 1u);
}

TEST_F(Resources, WhatIsWrongIsRefused) {
  nastran();
  EXPECT_EQ(refused(resource(EditVerb::kAdd, "x", "")), Errc::kError);  // how many?
  EXPECT_EQ(refused(resource(EditVerb::kAdd, "", "")), Errc::kError);
  EXPECT_EQ(refused(resource(EditVerb::kAdd, "x", "", {"nowhere"}, [](EntityChange& s) { s.count = 1; })), Errc::kInvalidClusterName);
  EXPECT_EQ(refused(resource(EditVerb::kAdd, "a@b,c", "", {}, [](EntityChange& s) { s.count = 1; })), Errc::kBadName);
  EXPECT_EQ(refused(resource(EditVerb::kModify, "nastran", "", {"pdf"}, [](EntityChange& s) { s.allowed = 51; })), Errc::kError);
  EXPECT_NE(said.find("101 % of 100 %"), said.npos) << said;
  EXPECT_EQ(refused(resource(EditVerb::kModify, "nastran", "", {},
                             [](EntityChange& s) {
                               s.flags = {{ChangeOp::kAdd, {"odd"}}};
                             })),
            Errc::kError);
  EXPECT_EQ(refused(remove(Entity::kResource, [](EntityFilter&) {})), Errc::kError);
  auto typed = resource(EditVerb::kAdd, "x", "", {}, [](EntityChange& s) { s.count = 1; });
  typed.where.tres = {"tape"};
  EXPECT_EQ(refused(typed), Errc::kError);
  EXPECT_EQ(refused(resource(EditVerb::kModify, "nastran", "", {}, [](EntityChange& s) { s.count = 1; }), "ann", AdminLevel::kNone),
            Errc::kAccessDenied);
  auto account = resource(EditVerb::kModify, "nastran", "", {}, [](EntityChange& s) { s.count = 1; });
  account.where.accounts = {"team"};
  EXPECT_EQ(refused(account), Errc::kError);  // a condition that means nothing here
}

}  // namespace
}  // namespace muster::slurmdbd

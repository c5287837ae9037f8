// EditTest: a directory of one cluster to edit, shared by the tests of sacctmgr's edits.
#pragma once

#include <gtest/gtest.h>

#include "slurmdbd/core/defaults.h"
#include "slurmdbd/core/edit.h"
#include "slurmdbd/core/edit_jobs.h"
#include "slurmdbd/core/query.h"

namespace muster::slurmdbd {

struct EditTest : testing::Test {
  EditTest() : d(initial_directory(now)) {
    Touched t;
    rpc::RegisterCluster r;
    r.cluster.name = "Alpha";
    r.cluster.control_host = "ctl";
    r.tracked_tres = {"cpu", "gres/gpu"};
    register_cluster(d, r, "", now, t);
    EXPECT_FALSE(t.keys.empty());
  }

  EntityEdit make(EditVerb verb, Entity entity, const std::function<void(EntityEdit&)>& fill) {
    EntityEdit e;
    e.verb = verb;
    e.entity = entity;
    fill(e);
    return e;
  }
  Result<Edited> attempt(const std::vector<EntityEdit>& edits, const std::string& actor = "root",
                         AdminLevel level = AdminLevel::kAdministrator) {
    rpc::EditEntities m;
    m.edits = edits;
    auto stored = [this](const rpc::JobRecordFilter& f) -> Result<std::vector<JobRecord>> {
      ++asked;
      std::vector<JobRecord> out;
      for (const JobRecord& r : jobs)
        if ((f.accounts.empty() || r.account == f.accounts[0]) && (f.qos.empty() || r.qos == f.qos[0])) out.push_back(r);
      return out;
    };
    auto any = [this](const rpc::JobRecordFilter& f, const std::string& user, const std::string&) -> Result<bool> {
      return std::ranges::any_of(jobs, [&](const JobRecord& r) {
        return (f.accounts.empty() || r.account == f.accounts[0]) && (f.qos.empty() || r.qos == f.qos[0]) &&
               (user.empty() || r.user == user);
      });
    };
    EditContext context{settings, actor, level, now, stored, any};
    return edit(d, m, context);
  }
  rpc::Entities commit(const EntityEdit& e, const std::string& actor = "root", AdminLevel level = AdminLevel::kAdministrator) {
    auto done = attempt({e}, actor, level);
    EXPECT_TRUE(done) << (done ? "" : std::string(done.error().message()) + " / " + done.error().hint);
    if (!done) return {};
    d = std::move(done->directory);
    return std::move(done->answer.changed[0]);
  }
  Errc refused(const EntityEdit& e, const std::string& actor = "root", AdminLevel level = AdminLevel::kAdministrator) {
    auto done = attempt({e}, actor, level);
    EXPECT_FALSE(done);
    if (done) return Errc::kOk;
    said = std::string(done.error().message()) + " " + done.error().hint;
    return done.error().code;
  }
  EntityEdit account(const std::string& name, const std::string& parent = "") {
    return make(EditVerb::kAdd, Entity::kAccount, [&](EntityEdit& e) {
      e.where.accounts = {name};
      if (!parent.empty()) e.set.parent = parent;
    });
  }
  EntityEdit user(const std::string& name, const std::string& in) {
    return make(EditVerb::kAdd, Entity::kUser, [&](EntityEdit& e) {
      e.where.users = {name};
      if (!in.empty()) e.where.accounts = {in};
    });
  }
  EntityEdit remove(Entity entity, const std::function<void(EntityFilter&)>& where) {
    return make(EditVerb::kDelete, entity, [&](EntityEdit& e) { where(e.where); });
  }
  EntityEdit limit(Entity entity, const std::string& name, LimitChange change) {
    return make(EditVerb::kModify, entity, [&](EntityEdit& e) {
      (entity == Entity::kUser      ? e.where.users
       : entity == Entity::kQos     ? e.where.qos
       : entity == Entity::kCluster ? e.where.clusters
                                    : e.where.accounts) = {name};
      e.set.limits = {change};
    });
  }
  std::vector<AssociationRecord> tree(bool raw = false, const std::function<void(rpc::QueryEntities&)>& more = {}) {
    rpc::QueryEntities q;
    q.what = Entity::kAssociation;
    q.raw = raw;
    if (more) more(q);
    return query(d, q, {}).associations;
  }
  const AssociationRecord& find(const std::string& account, const std::string& user = "") {
    const AssociationRecord* a = d.association("alpha", account, user);
    EXPECT_TRUE(a);
    return *a;
  }

  Time now = from_unix(1'700'000'000);
  Settings settings;
  Directory d;
  std::vector<JobRecord> jobs;
  std::string said;
  int asked = 0;  // how often whole job records were asked for
};

}  // namespace muster::slurmdbd

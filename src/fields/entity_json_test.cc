// sacctmgr --json against the OpenAPI description, and what the description does not say of it.
#include "fields/entity_objects.h"
#include "fields/json.h"
#include "fields/json_database.h"
#include "fields/listed_fact.h"
#include "fields/listed_objects.h"
#include "fields/schema_testing.h"
#include "fields/testing.h"

namespace muster::fields {
namespace {

struct EntityJson : SchemaWalk {
  Environment env = test_environment();
  EntityView view{.env = env};
  std::vector<TresRecord> tres = {{1, "cpu", ""}, {1002, "gres", "gpu:h100"}};
  rapidjson::Document doc;

  // The document that holds what `write` puts into it, held against a shape.
  template <class Write>
  const Value& document(std::string_view list, const char* shape, Write&& write) {
    std::string out;
    auto sink = make_tree_sink(TreeForm::kJson, true, out);
    DocumentMeta meta;
    meta.from_database = true;
    begin_document(*sink, list);
    write(*sink);
    end_document(*sink, list, meta);
    doc.Parse(out.c_str());
    EXPECT_FALSE(doc.HasParseError()) << out;
    if (*shape) walk(out, shape);
    return doc[std::string(list).c_str()];
  }
  const Value& listed_entity(Entity entity, const char* shape) {
    view.known_tres = &tres;
    return document(entity_list_name(entity), shape, [&](TreeSink& sink) { json_listed(entity_object(entity), view, sink); })[0];
  }
};

TEST_F(EntityJson, Associations) {
  AssociationRecord a;
  a.id = 7;
  a.cluster = "orc";
  a.account = "team";
  a.user = "alice";
  a.qos = {"normal", "high"};
  a.is_default = true;
  a.limits = {{LimitKind::kMaxJobs, "", 5}, {LimitKind::kGrpTres, "gres/gpu:h100", 8}, {LimitKind::kGrpTres, "cpu", 0}};
  view.association = &a;
  const Value& v = listed_entity(Entity::kAssociation, "v0.0.44_openapi_assocs_resp");
  EXPECT_EQ(v["id"].GetInt(), 7);
  EXPECT_STREQ(v["qos"][0].GetString(), "high");
  EXPECT_EQ(v["max"]["jobs"]["active"]["number"].GetInt(), 5);
  EXPECT_TRUE(v["max"]["jobs"]["total"]["infinite"].GetBool());
  EXPECT_FALSE(v["max"]["jobs"]["total"]["set"].GetBool());
  const Value& total = v["max"]["tres"]["total"];
  ASSERT_EQ(total.Size(), 2u);
  EXPECT_STREQ(total[1]["name"].GetString(), "gpu:h100");
  EXPECT_EQ(total[1]["id"].GetInt(), 1002);
  EXPECT_EQ(total[1]["count"].GetInt(), 8);
  EXPECT_EQ(v["shares_raw"].GetInt(), 1);
  EXPECT_FALSE(v["priority"]["set"].GetBool());
}

TEST_F(EntityJson, Accounts) {
  AccountRecord account;
  account.name = "team";
  account.coordinators = {"alice"};
  account.deleted = true;
  std::vector<AssociationRecord> associations(2);
  associations[0].account = "team";
  associations[0].id = 4;
  associations[1].account = "others";
  view.account = &account;
  view.associations = &associations;
  const Value& v = listed_entity(Entity::kAccount, "v0.0.44_openapi_accounts_resp");
  ASSERT_EQ(v["associations"].Size(), 1u);
  EXPECT_EQ(v["associations"][0]["id"].GetInt(), 4);
  EXPECT_STREQ(v["coordinators"][0]["name"].GetString(), "alice");
  EXPECT_STREQ(v["flags"][0].GetString(), "DELETED");
}

TEST_F(EntityJson, Users) {
  UserRecord user;
  user.name = "alice";
  user.default_account = "team";
  user.admin_level = AdminLevel::kOperator;
  user.coordinator_of = {"team"};
  view.user = &user;
  const Value& v = listed_entity(Entity::kUser, "v0.0.44_openapi_users_resp");
  EXPECT_STREQ(v["administrator_level"][0].GetString(), "Operator");
  EXPECT_STREQ(v["default"]["account"].GetString(), "team");
  EXPECT_STREQ(v["coordinators"][0]["name"].GetString(), "team");
}

TEST_F(EntityJson, Clusters) {
  ClusterRecord cluster;
  cluster.name = "orc";
  cluster.control_host = "head";
  cluster.control_port = 6817;
  cluster.tres.cpus = 64;
  cluster.tres.gres = {{"gpu", "h100", 4}};
  cluster.flags = {"external", "no flag of the description"};
  std::vector<AssociationRecord> associations(2);
  associations[0].cluster = "other";
  associations[1].cluster = "orc";
  associations[1].account = "root";
  view.cluster = &cluster;
  view.associations = &associations;
  const Value& v = listed_entity(Entity::kCluster, "v0.0.44_openapi_clusters_resp");
  EXPECT_EQ(v["controller"]["port"].GetInt(), 6817);
  EXPECT_STREQ(v["associations"]["root"]["account"].GetString(), "root");
  EXPECT_EQ(v["tres"][1]["id"].GetInt(), 1002);
  EXPECT_EQ(v["flags"].Size(), 1u);
}

TEST_F(EntityJson, QualitiesOfService) {
  QosRecord qos;
  qos.id = 2;
  qos.name = "high";
  qos.flags = {"DenyOnLimit", "NoDecay"};
  qos.preempt = {"normal"};
  qos.preempt_mode = "requeue,within";
  qos.limit_factor = 1.5;
  qos.limits = {{LimitKind::kGraceTime, "", 100}, {LimitKind::kMaxTresPerUser, "cpu", 16}, {LimitKind::kMaxWall, "", 60}};
  view.qos = &qos;
  const Value& v = listed_entity(Entity::kQos, "v0.0.44_openapi_slurmdbd_qos_resp");
  EXPECT_STREQ(v["flags"][0].GetString(), "DENY_LIMIT");
  EXPECT_STREQ(v["preempt"]["mode"][0].GetString(), "REQUEUE");
  EXPECT_EQ(v["limits"]["grace_time"].GetInt(), 100);
  EXPECT_EQ(v["limits"]["max"]["tres"]["per"]["user"][0]["count"].GetInt(), 16);
  EXPECT_EQ(v["limits"]["max"]["wall_clock"]["per"]["job"]["number"].GetInt(), 60);
  EXPECT_EQ(v["limits"]["factor"]["number"].GetDouble(), 1.5);
  EXPECT_EQ(v["usage_factor"]["number"].GetDouble(), 1);
  EXPECT_FALSE(v["usage_threshold"]["set"].GetBool());
  EXPECT_EQ(v["priority"]["number"].GetInt(), 0);
  QosRecord plain;
  view.qos = &plain;
  EXPECT_STREQ(listed_entity(Entity::kQos, "")["preempt"]["mode"][0].GetString(), "DISABLED");
}

TEST_F(EntityJson, TresAndWckeys) {
  view.tres = &tres[1];
  EXPECT_STREQ(listed_entity(Entity::kTres, "v0.0.44_openapi_tres_resp")["name"].GetString(), "gpu:h100");
  WckeyRecord key;
  key.id = 3;
  key.name = "project";
  key.is_default = true;
  view.wckey = &key;
  EXPECT_STREQ(listed_entity(Entity::kWckey, "v0.0.44_openapi_wckey_resp")["name"].GetString(), "project");
}

TEST_F(EntityJson, TransactionsAndResources) {
  TransactionRecord transaction;
  transaction.time = from_unix(1000);
  transaction.accounts = {"team"};
  view.transaction = &transaction;
  const Value& t = listed_entity(Entity::kTransaction, "");
  EXPECT_EQ(t["time"].GetInt(), 1000);
  EXPECT_STREQ(t["accounts"][0].GetString(), "team");
  ResourceRecord resource;
  resource.count = 40;
  resource.clusters = {{"orc", 50}};
  view.resource = &resource;
  const Value& r = listed_entity(Entity::kResource, "");
  EXPECT_EQ(r["allocated"].GetInt(), 50);
  EXPECT_EQ(r["clusters"][0]["allowed"].GetInt(), 50);
}

// What a user wrote stays one text.
TEST_F(EntityJson, HostileTextsAreEscaped) {
  AccountRecord account;
  account.description = "\"},\n{\"name\":\"root\x01";
  view.account = &account;
  EXPECT_STREQ(listed_entity(Entity::kAccount, "")["description"].GetString(), account.description.c_str());
}

TEST_F(EntityJson, Events) {
  EventRecord event;
  event.cluster = "orc";
  event.node = "n1";
  event.started = from_unix(1000);
  event.ended = from_unix(1060);
  event.state = NodeState::kDown;
  event.reason = "power";
  event.tres.cpus = 8;
  const auto written = [&](TreeSink& sink) { json_listed(event_object(), EventView{event, env}, sink); };
  const Value& node = document("events", "", written)[0];
  EXPECT_STREQ(node["event"].GetString(), "Node");
  EXPECT_STREQ(node["state"][0].GetString(), "DOWN");
  EXPECT_EQ(node["time"]["duration"].GetInt(), 60);
  EXPECT_EQ(node["tres"][0]["count"].GetInt(), 8);
  event = {};
  event.state = NodeState::kIdle;
  const Value& cluster = document("events", "", written)[0];
  EXPECT_STREQ(cluster["reason"].GetString(), "Cluster Registered TRES");
  EXPECT_EQ(cluster["state"].Size(), 0u);
  EXPECT_EQ(cluster["time"]["end"].GetInt(), 0);
}

TEST_F(EntityJson, ReservationsAndProblems) {
  rpc::ReservationUsage held;
  held.reservation.id = 9;
  held.reservation.started = env.now - seconds(100);
  held.reservation.ended = env.now;
  held.reservation.tres.cpus = 2;
  held.reservation.users = "alice,bob";
  held.allocated.cpus = 100;
  const Value& r = document("reservations", "", [&](TreeSink& sink) { json_listed(held_object(), HeldView{held, env, "4,7"}, sink); })[0];
  EXPECT_EQ(r["unused_wall"].GetDouble(), 50);
  EXPECT_EQ(r["users"].Size(), 2u);
  EXPECT_STREQ(r["associations"][1].GetString(), "7");
  const ProblemView problem{"", "team", "", "Account has no Associations"};
  const Value& p = document("problems", "", [&](TreeSink& sink) { json_listed(problem_object(), problem, sink); })[0];
  EXPECT_STREQ(p["account"].GetString(), "team");
}

TEST_F(EntityJson, WhatSlurmdbdSaysOfItself) {
  rpc::DatabaseStatistics told;
  told.since = from_unix(500);
  told.rolled_up = kTimeUnset;
  rpc::WorkCount work;
  work.add(milliseconds(2));
  work.add(milliseconds(4));
  told.requests = {{1401, "StoreRecords", work}};
  told.callers = {{Uid{1000}, "", work}};
  const Value& s =
      document("statistics", "v0.0.44_openapi_slurmdbd_stats_resp", [&](TreeSink& sink) { json_database_statistics(told, sink); });
  EXPECT_EQ(s["RPCs"][0]["time"]["average"].GetInt(), 3000);
  EXPECT_STREQ(s["users"][0]["user"].GetString(), "1000");
  EXPECT_EQ(s["rollups"]["hourly"]["last_run"].GetInt(), 0);
  const Value& p = document("pings", "v0.0.44_openapi_slurmdbd_ping_resp", [](TreeSink& sink) {
    json_database_ping({"head", true, true, 120}, sink);
  });
  EXPECT_EQ(p[0]["latency"].GetInt(), 120);
}

}  // namespace
}  // namespace muster::fields

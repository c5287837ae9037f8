// --json against the OpenAPI description: every member written is described there with that type, and every
// property of the description is written.
#include <gtest/gtest.h>
#include <rapidjson/document.h>
#include <rapidjson/prettywriter.h>
#include <rapidjson/stringbuffer.h>

#include <limits>

#include "fields/json.h"
#include "fields/json_share.h"
#include "fields/json_statistics.h"
#include "fields/schema_testing.h"
#include "fields/show_license.h"
#include "fields/show_reservation.h"
#include "fields/sinfo_groups.h"
#include "fields/testing.h"

namespace muster::fields {
namespace {

using rapidjson::Value;

DocumentMeta test_meta() {
  DocumentMeta meta;
  meta.cluster = "orc";
  meta.command = {"squeue", "--json"};
  meta.errors = {{1, "e", "d", "s"}};
  meta.warnings = {{"d", "s"}};
  return meta;
}

TestJob full_job() {
  TestJob j(1, "two\"no\nde", "main");
  j.runs("n[2-3]");
  j.row.flags = kJobCompleting;
  j.row.shares = {{"n2", "0-1", 1500, "gpu:a100:1(IDX:0)", 2}};
  j.row.tres.edit().requested = {.cpus = 2, .nodes = 2, .billing = 2};
  j.row.tres.edit().allocated = {.cpus = 4, .mem_mb = 3000, .nodes = 2, .billing = 4};
  j.request.mail_type = 3;
  j.request.exclusive = Exclusive::kUser;
  j.request.node_sizes = "2,4";
  j.request.spread_job = true;
  return j;
}

std::string jobs_document(TreeForm form, bool compact) {
  Environment env = test_environment();
  TestJob a = full_job(), b(2, "pending", "big");
  std::string out;
  auto sink = make_tree_sink(form, compact, out);
  begin_document(*sink, "jobs");
  json_job({a.row, a.request, env}, *sink);
  json_job({b.row, b.request, env}, *sink);
  end_document(*sink, "jobs", test_meta());
  return out;
}
std::string nodes_document() {
  Environment env = test_environment();
  TestCluster cluster;
  std::string out;
  auto sink = make_tree_sink(TreeForm::kJson, true, out);
  begin_document(*sink, "nodes");
  for (const NodeRow& n : cluster.nodes) json_node(n, env, *sink);
  end_document(*sink, "nodes", test_meta());
  return out;
}
std::string partitions_document() {
  Environment env = test_environment();
  TestCluster cluster;
  std::string out;
  auto sink = make_tree_sink(TreeForm::kJson, true, out);
  begin_document(*sink, "partitions");
  for (const PartitionRow& p : cluster.partitions) json_partition(p, env, *sink);
  end_document(*sink, "partitions", test_meta());
  return out;
}

std::string step_json(const StepRow& row) {
  Environment env = test_environment();
  std::string out;
  auto sink = make_tree_sink(TreeForm::kJson, true, out);
  json_step({row, env}, *sink);
  return out;
}

TEST_F(SchemaWalk, Jobs) { walk(jobs_document(TreeForm::kJson, false), "v0.0.44_openapi_job_info_resp"); }
TEST_F(SchemaWalk, Nodes) { walk(nodes_document(), "v0.0.44_openapi_nodes_resp"); }
TEST_F(SchemaWalk, Licenses) {
  std::string out;
  auto sink = make_tree_sink(TreeForm::kJson, true, out);
  begin_document(*sink, "licenses");
  json_license({"matlab", 10, 3, 1, false}, *sink);
  end_document(*sink, "licenses", test_meta());
  walk(out, "v0.0.44_openapi_licenses_resp");
}
TEST_F(SchemaWalk, Pings) {
  std::string out;
  auto sink = make_tree_sink(TreeForm::kJson, true, out);
  begin_document(*sink, "pings");
  json_ping({"head", true, true, 350}, *sink);
  end_document(*sink, "pings", test_meta());
  walk(out, "v0.0.44_openapi_ping_array_resp");
}
TEST_F(SchemaWalk, Reservations) {
  std::string out;
  auto sink = make_tree_sink(TreeForm::kJson, true, out);
  begin_document(*sink, "reservations");
  ReservationRow row;
  row.name = "root_1";
  row.start = from_unix(1000);
  row.end = from_unix(4600);
  row.flags = kResvMaint | kResvSpecNodes | kResvPurgeComp;
  row.purge_after = minutes(5);
  row.cores = {{"n1", "0-3"}};
  row.users.names = {"root"};
  json_reservation(row, *sink);
  end_document(*sink, "reservations", test_meta());
  walk(out, "v0.0.44_openapi_reservation_resp");
}
TEST_F(SchemaWalk, Steps) {
  StepRow row;
  row.job = JobId(12);
  row.id = StepId{0};
  row.node_list = "n[1-2]";
  row.nodes = 2;
  row.tres = {.cpus = 2, .mem_mb = 500, .nodes = 2, .gres = {{"gpu", "a100", 1}}};
  row.start = from_unix(kNow - 60);
  walk(step_json(row), "v0.0.44_step");
}
TEST_F(SchemaWalk, Statistics) {
  rpc::Statistics s;
  s.now = from_unix(kNow);
  s.since = from_unix(kNow - 3600);
  s.submitted = 7;
  s.main_cycles.cycles = 120;
  s.main_cycles.total_us = 2400;
  s.by_message = {{"REQUEST_PING", 1008, 3, 90}};
  s.by_user = {{"", 1000, 3, 90}};
  std::string out;
  auto sink = make_tree_sink(TreeForm::kJson, true, out);
  begin_document(*sink, "statistics");
  json_statistics(
      s, [](Uid) { return std::string("alice"); }, *sink);
  end_document(*sink, "statistics", test_meta());
  rapidjson::Document doc;
  doc.Parse(out.c_str());
  ASSERT_FALSE(doc.HasParseError()) << out;
  const Value& statistics = doc["statistics"];
  EXPECT_EQ(statistics["jobs_submitted"].GetInt(), 7);
  EXPECT_EQ(statistics["schedule_cycle_mean"].GetInt(), 20);
  EXPECT_EQ(statistics["schedule_cycle_per_minute"].GetInt(), 2);
  EXPECT_STREQ(statistics["rpcs_by_user"][0]["user"].GetString(), "alice");
  EXPECT_EQ(statistics["rpcs_by_message_type"][0]["average_time"]["number"].GetInt(), 30);
  walk(out, "v0.0.44_openapi_diag_resp");
}
TEST_F(SchemaWalk, RecordsOfTheDatabase) {
  JobRecord job;
  job.key = {JobId{7}, from_unix(kNow - 100), 1};
  job.array_job_id = JobId{5};
  job.array_task = 2;
  job.state = JobState::kCancelled;
  job.flags = kJobRequeued;
  job.cancelled_by = Uid{1000};
  job.eligible = from_unix(kNow - 100);
  job.started = from_unix(kNow - 60);
  job.ended = from_unix(kNow - 10);
  job.exit_status = 15;
  job.nodes = 2;
  job.node_list = "n[1-2]";
  job.requested_mem = "4G";
  job.tres_allocated = TresAmounts::from_text("cpu=4,mem=4G,node=2,gres/gpu:h100=16");
  job.gres_allocated = "gpu:h100:16";
  job.std_out = "/o/%A_%a";
  StepRecord step;
  step.job = job.key;
  step.id = StepId{0};
  step.state = JobState::kCompleted;
  step.started = job.started;
  step.ended = job.ended;
  step.suspended_total = seconds(20);
  step.node_list = "n[1-2]";
  step.cpu_freq = "800000-1200000:ondemand";
  Environment env = test_environment();
  RecordStyle style;
  std::string out;
  auto sink = make_tree_sink(TreeForm::kJson, true, out);
  DocumentMeta meta = test_meta();
  meta.from_database = true;
  begin_document(*sink, "jobs");
  json_record({job, nullptr, env, style}, std::span(&step, 1), *sink);
  end_document(*sink, "jobs", meta);
  walk(out, "v0.0.44_openapi_slurmdbd_jobs_resp");
  rapidjson::Document doc;
  doc.Parse(out.c_str());
  const Value& j = doc["jobs"][0];
  EXPECT_STREQ(j["state"]["current"][0].GetString(), "REQUEUED") << "as the column State";
  EXPECT_EQ(j["state"]["current"].Size(), 1u);
  EXPECT_EQ(j["time"]["elapsed"].GetInt(), 50);
  EXPECT_EQ(j["time"]["planned"]["number"].GetInt(), 40);
  EXPECT_STREQ(j["kill_request_user"].GetString(), "1000");
  EXPECT_STREQ(j["exit_code"]["signal"]["name"].GetString(), "TERM");
  EXPECT_EQ(j["array"]["task_id"]["number"].GetInt(), 2);
  EXPECT_STREQ(j["stdout_expanded"].GetString(), "/o/5_2");
  EXPECT_EQ(j["required"]["memory_per_node"]["number"].GetInt(), 4096);
  EXPECT_STREQ(j["used_gres"].GetString(), "gpu:h100:16");
  const Value& s = j["steps"][0];
  EXPECT_STREQ(s["step"]["id"].GetString(), "5_2.0");
  EXPECT_EQ(s["time"]["elapsed"].GetInt(), 30);
  EXPECT_EQ(s["time"]["suspended"].GetInt(), 20);
  EXPECT_EQ(s["nodes"]["list"].Size(), 2u);
  EXPECT_EQ(s["CPU"]["requested_frequency"]["max"]["number"].GetInt(), 1200000);
}
std::vector<ShareEntry> share_entries() {
  ShareEntry root, account, user;
  root.row.association = 1;
  root.row.account = account.parent = "root";
  account.row.association = 2;
  account.row.account = user.row.account = user.parent = "team";
  account.row.depth = 1;
  account.row.shares = 3;
  account.row.norm_shares = 0.75;
  account.row.raw_usage = 1234.9;
  account.row.effective_usage = 0.5;
  account.row.level_fs = 1.5;
  account.row.limit_minutes.cpus = 5000;
  account.row.limit_minutes.gres = {{"gpu", "h100", 60}};
  account.row.used_minutes.mem_mb = 10;
  account.row.run_minutes.cpus = 2;
  user.row.association = 3;
  user.row.user = "alice";
  user.row.depth = 2;
  user.row.level_fs = std::numeric_limits<double>::infinity();
  user.row.factor = 1;
  return {root, account, user};
}
TEST_F(SchemaWalk, Shares) {
  std::string out;
  auto sink = make_tree_sink(TreeForm::kJson, true, out);
  begin_document(*sink, "shares");
  json_shares({"orc", true, 3}, share_entries(), *sink);
  end_document(*sink, "shares", test_meta());
  rapidjson::Document doc;
  doc.Parse(out.c_str());
  ASSERT_FALSE(doc.HasParseError()) << out;
  EXPECT_EQ(doc["shares"]["total_shares"].GetInt(), 3);
  const Value& list = doc["shares"]["shares"];
  ASSERT_EQ(list.Size(), 3u);
  EXPECT_FALSE(list[0]["shares"]["set"].GetBool());
  EXPECT_FALSE(list[0]["fairshare"]["level"]["set"].GetBool());
  EXPECT_EQ(list[1]["shares"]["number"].GetInt(), 3);
  EXPECT_EQ(list[1]["shares_normalized"]["number"].GetDouble(), 0.75);
  EXPECT_EQ(list[1]["usage"].GetInt(), 1234);
  EXPECT_STREQ(list[1]["tres"]["group_minutes"][1]["name"].GetString(), "gres/gpu:h100");
  EXPECT_EQ(list[1]["tres"]["group_minutes"][1]["value"]["number"].GetInt(), 60);
  EXPECT_EQ(list[1]["tres"]["run_seconds"][0]["value"]["number"].GetInt(), 120);
  EXPECT_EQ(list[1]["tres"]["usage"][0]["value"].GetDouble(), 600.0);
  EXPECT_FALSE(list[1]["fairshare"]["factor"]["set"].GetBool());  // a fair tree ranks users
  EXPECT_STREQ(list[1]["type"][0].GetString(), "ASSOCIATION");
  EXPECT_STREQ(list[2]["name"].GetString(), "alice");
  EXPECT_STREQ(list[2]["parent"].GetString(), "team");
  EXPECT_TRUE(list[2]["fairshare"]["level"]["infinite"].GetBool());
  EXPECT_EQ(list[2]["fairshare"]["factor"]["number"].GetDouble(), 1.0);
  EXPECT_STREQ(list[2]["type"][0].GetString(), "USER");
  walk(out, "v0.0.44_openapi_shares_resp");
}
TEST_F(SchemaWalk, Partitions) { walk(partitions_document(), "v0.0.44_openapi_partition_resp"); }

// RapidJSON's own writers are the judges of what stands between the values.
template <class Writer>
std::string reprinted(const std::string& text) {
  rapidjson::Document doc;
  doc.Parse(text.c_str());
  EXPECT_FALSE(doc.HasParseError()) << text;
  rapidjson::StringBuffer buffer;
  Writer writer(buffer);
  if constexpr (requires { writer.SetIndent(' ', 2); }) writer.SetIndent(' ', 2);
  doc.Accept(writer);
  return buffer.GetString();
}
TEST(Json, LayoutIsThatOfRapidJson) {
  std::string pretty = jobs_document(TreeForm::kJson, false), compact = jobs_document(TreeForm::kJson, true);
  EXPECT_EQ(reprinted<rapidjson::PrettyWriter<rapidjson::StringBuffer>>(pretty), pretty);
  EXPECT_EQ(reprinted<rapidjson::Writer<rapidjson::StringBuffer>>(compact), compact);
}

TEST(Json, EveryKindOfValue) {
  std::string out;
  auto sink = make_tree_sink(TreeForm::kJson, true, out);
  sink->begin_list();
  for (int64_t n : {int64_t{0}, int64_t{-7}, std::numeric_limits<int64_t>::min()}) sink->number(n);
  sink->number_unsigned(std::numeric_limits<uint64_t>::max());
  for (double n : {0.0, 1.5, -2.25e300}) sink->real(n);
  sink->real(std::numeric_limits<double>::infinity());
  sink->real(std::numeric_limits<double>::quiet_NaN());
  sink->boolean(true);
  sink->null();
  for (std::string_view t : {"", "plain", "a\"b\\c", "tab\there", "\x7f", "gr\xc3\xbc\xc3\x9f", "not \xff utf8"}) sink->text(t);
  sink->begin_object();
  sink->end_object();
  sink->begin_list();
  sink->end_list();
  sink->end_list();
  EXPECT_EQ(out, "[0,-7,-9223372036854775808,18446744073709551615,0.0,1.5,-2.25e300,null,null,true,null,"
                 "\"\",\"plain\",\"a\\\"b\\\\c\",\"tab\\there\",\"\x7f\",\"gr\xc3\xbc\xc3\x9f\",\"not ? utf8\",{},[]]");
}

TEST(Json, ValuesOfAJob) {
  rapidjson::Document doc;
  std::string text = jobs_document(TreeForm::kJson, true);
  doc.Parse(text.c_str());
  ASSERT_FALSE(doc.HasParseError());
  const Value& job = doc["jobs"][0];
  EXPECT_STREQ(job["name"].GetString(), "two\"no\nde");
  EXPECT_EQ(job["job_id"].GetInt(), 1);
  EXPECT_STREQ(job["job_state"][0].GetString(), "RUNNING");
  EXPECT_STREQ(job["job_state"][1].GetString(), "COMPLETING");
  EXPECT_EQ(job["time_limit"]["number"].GetInt(), 1440);
  EXPECT_EQ(job["billable_tres"]["number"].GetDouble(), 4.0);
  EXPECT_TRUE(job["billable_tres"]["set"].GetBool());
  EXPECT_STREQ(job["tres_req_str"].GetString(), "cpu=2,node=2,billing=2");
  EXPECT_STREQ(job["tres_alloc_str"].GetString(), "cpu=4,mem=3000M,node=2,billing=4");
  EXPECT_FALSE(job["array_task_id"]["set"].GetBool());
  EXPECT_EQ(job["job_resources"]["nodes"]["allocation"][0]["cpus"]["count"].GetInt(), 2);
  ASSERT_EQ(doc["jobs"].Size(), 2u);
  const Value& waiting = doc["jobs"][1];
  EXPECT_FALSE(waiting["billable_tres"]["set"].GetBool());
  EXPECT_EQ(waiting["billable_tres"]["number"].GetDouble(), 0.0);
  EXPECT_STREQ(waiting["tres_alloc_str"].GetString(), "");
  EXPECT_STREQ(doc["meta"]["slurm"]["cluster"].GetString(), "orc");
}

TEST(Json, ValuesOfAStep) {
  StepRow row;
  row.job = JobId(20);
  row.array_job_id = JobId(12);
  row.array_task = 3;
  row.id = kBatchStep;
  row.node_list = "n[1-2]";
  row.std_out = "out.%t";
  row.tres = {.cpus = 2, .mem_mb = 1024, .gres = {{"gpu", "a100", 1}}, .licenses = {{"matlab", 3}}};
  row.start = from_unix(kNow - 60);
  rapidjson::Document doc;
  std::string text = step_json(row);
  doc.Parse(text.c_str());
  ASSERT_FALSE(doc.HasParseError()) << text;
  EXPECT_STREQ(doc["step"]["id"].GetString(), "12_3.batch");
  EXPECT_STREQ(doc["step"]["stdout"].GetString(), "out.%t");
  EXPECT_EQ(doc["time"]["elapsed"].GetInt(), 60);
  EXPECT_STREQ(doc["nodes"]["list"][1].GetString(), "n2");
  const std::string tres = R"([{"type":"cpu","name":"","id":1,"count":2},{"type":"mem","name":"","id":2,"count":1024},)"
                           R"({"type":"gres","name":"gpu:a100","id":0,"count":1},{"type":"license","name":"matlab","id":0,"count":3}])";
  EXPECT_NE(text.find(R"("allocated":)" + tres), text.npos) << text;
  EXPECT_NE(text.find(R"("total":)" + tres), text.npos) << text;
  EXPECT_TRUE(doc["tres"]["consumed"]["total"].Empty());
}

TEST(Json, UnlimitedIsInfinite) {
  Environment env = test_environment();
  TestJob j(1, "x", "main");
  j.row.time_limit_min = kUnlimited32;
  std::string out;
  auto sink = make_tree_sink(TreeForm::kJson, true, out);
  json_job({j.row, j.request, env}, *sink);
  EXPECT_NE(out.find("\"time_limit\":{\"set\":false,\"infinite\":true,\"number\":0}"), std::string::npos);
}

TEST(Json, BytesThatAreNotTextAreReplaced) {
  std::string out;
  auto sink = make_tree_sink(TreeForm::kJson, true, out);
  sink->text("a\xff\xc3\xa9\xed\xa0\x80");
  EXPECT_EQ(out, "\"a?\xc3\xa9???\"");
}

TEST(Json, RowsCanBeDrainedOneByOne) {
  Environment env = test_environment();
  TestJob j = full_job();
  std::string out, all;
  auto sink = make_tree_sink(TreeForm::kJson, true, out);
  size_t largest = 0;
  auto drain = [&] {
    largest = std::max(largest, out.size());
    all += out;
    out.clear();
  };
  begin_document(*sink, "jobs");
  for (int i = 0; i < 50; ++i) {
    json_job({j.row, j.request, env}, *sink);
    drain();
  }
  end_document(*sink, "jobs", test_meta());
  drain();
  EXPECT_LT(largest, 16'000u);
  rapidjson::Document doc;
  doc.Parse(all.c_str());
  ASSERT_FALSE(doc.HasParseError());
  EXPECT_EQ(doc["jobs"].Size(), 50u);
}

TEST(Json, SinfoLines) {
  Environment env = test_environment();
  TestCluster cluster;
  auto format = parse_format<SinfoView>("%P %t").format;
  std::vector<SinfoLine> lines = group_nodes(cluster.partitions, cluster.nodes, format, {}, env);
  std::string out;
  auto sink = make_tree_sink(TreeForm::kJson, true, out);
  begin_document(*sink, "sinfo");
  for (const SinfoLine& l : lines) json_sinfo({l, env}, *sink);
  end_document(*sink, "sinfo", test_meta());
  rapidjson::Document doc;
  doc.Parse(out.c_str());
  ASSERT_FALSE(doc.HasParseError());
  ASSERT_EQ(doc["sinfo"].Size(), lines.size());
  const Value& first = doc["sinfo"][0];
  EXPECT_STREQ(first["partition"]["name"].GetString(), "main");
  EXPECT_EQ(first["nodes"]["total"].GetInt(), 4);
  EXPECT_STREQ(first["node"]["state"][0].GetString(), "MIXED");
}

TEST(Yaml, BlockStyle) {
  std::string out;
  auto sink = make_tree_sink(TreeForm::kYaml, false, out);
  sink->begin_object();
  sink->key("jobs");
  sink->begin_list();
  sink->begin_object();
  sink->key("name");
  sink->text("a \"b\"\n");
  sink->key("empty");
  sink->begin_list();
  sink->end_list();
  sink->key("limit");
  sink->begin_object();
  sink->key("set");
  sink->boolean(true);
  sink->key("number");
  sink->number(-5);
  sink->end_object();
  sink->key("state");
  sink->begin_list();
  sink->text("RUNNING");
  sink->text("COMPLETING");
  sink->end_list();
  sink->end_object();
  sink->begin_object();
  sink->end_object();
  sink->end_list();
  sink->key("none");
  sink->begin_object();
  sink->end_object();
  sink->end_object();
  EXPECT_EQ(out, "jobs:\n"
                 "  - name: \"a \\\"b\\\"\\n\"\n"
                 "    empty: []\n"
                 "    limit:\n"
                 "      set: true\n"
                 "      number: -5\n"
                 "    state:\n"
                 "      - \"RUNNING\"\n"
                 "      - \"COMPLETING\"\n"
                 "  - {}\n"
                 "none: {}\n");
}

TEST(Yaml, AWholeDocument) {
  std::string out = jobs_document(TreeForm::kYaml, false);
  EXPECT_TRUE(out.starts_with("jobs:\n  - account: \"\"\n    accrue_time:\n      set: true\n")) << out.substr(0, 200);
  EXPECT_NE(out.find("\n  - account: \"\"\n"), std::string::npos);
  EXPECT_NE(out.find("\nmeta:\n  plugin:\n    type: \"\"\n"), std::string::npos);
  EXPECT_TRUE(out.ends_with("warnings:\n  - description: \"d\"\n    source: \"s\"\n"));
}

}  // namespace
}  // namespace muster::fields

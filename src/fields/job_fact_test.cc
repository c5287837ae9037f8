// The facts of a job and of a step against the OpenAPI description, and how rows of facts come to be.
#include "fields/job_fact.h"

#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <map>
#include <set>

#include "base/documented_test.h"
#include "base/text.h"
#include "fields/job_fields.h"
#include "fields/step_fields.h"
#include "fields/testing.h"

namespace muster::fields {
namespace {

using rapidjson::Value;

// What a property of the description is, in our terms.
Shape described(const Value& schemas, const Value& property) {
  if (property.HasMember("$ref")) {
    const std::string ref = property["$ref"].GetString();
    return described(schemas, schemas[ref.substr(ref.rfind('/') + 1).c_str()]);
  }
  const std::string type = property["type"].GetString();
  if (type == "array") return described(schemas, property["items"]) == Shape::kObject ? Shape::kObjects : Shape::kTexts;
  if (type == "boolean") return Shape::kFlag;
  if (type == "integer") return Shape::kInteger;
  if (type == "string") return Shape::kText;
  return property.HasMember("properties") && property["properties"].HasMember("infinite") ? Shape::kNumber : Shape::kObject;
}

TEST(JobFacts, MembersAreThoseOfTheDescription) {
  rapidjson::Document doc;
  doc.Parse(contents_of("test/documented/v0.0.44_openapi_job_info_resp.json").c_str());
  ASSERT_FALSE(doc.HasParseError());
  const Value& schemas = doc["components"]["schemas"];
  const Value& properties = schemas["v0.0.44_job_info"]["properties"];
  std::set<std::string> written;
  for (const ObjectMember<JobView>* member : job_object()) {
    const std::string key(member->key);
    EXPECT_TRUE(written.insert(key).second) << key << " is written twice";
    ASSERT_TRUE(properties.HasMember(key.c_str())) << key << " is not described";
    EXPECT_EQ(static_cast<int>(member->shape), static_cast<int>(described(schemas, properties[key.c_str()]))) << key;
  }
  for (const auto& p : properties.GetObject()) EXPECT_TRUE(written.contains(p.name.GetString())) << p.name.GetString();
}

// A step's stand in objects of objects: "time.start".
TEST(StepFacts, MembersAreThoseOfTheDescription) {
  rapidjson::Document doc;
  doc.Parse(contents_of("test/documented/v0.0.44_step.json").c_str());
  ASSERT_FALSE(doc.HasParseError());
  const Value& schemas = doc["components"]["schemas"];
  std::set<std::string_view> written;
  for (const ObjectMember<StepView>* member : step_object()) {
    EXPECT_TRUE(written.insert(member->key).second) << member->key << " is written twice";
    const Value* at = &schemas["v0.0.44_step"];
    for (std::string_view word : split(member->key, '.')) {
      const std::string name(word);
      ASSERT_TRUE(at->HasMember("properties") && (*at)["properties"].HasMember(name.c_str())) << member->key << " is not described";
      at = &(*at)["properties"][name.c_str()];
      if (at->HasMember("$ref")) {
        const std::string ref = (*at)["$ref"].GetString();
        at = &schemas[ref.substr(ref.rfind('/') + 1).c_str()];
      }
    }
    EXPECT_EQ(static_cast<int>(member->shape), static_cast<int>(described(schemas, *at))) << member->key;
  }
}

TEST(JobFacts, KeysStandOnceAndEachFactSaysWhatItIs) {
  std::set<std::string_view> keys;
  for (const ShownKey<JobView>* key : job_record()) {
    if (!key->key.empty()) {
      EXPECT_TRUE(keys.insert(key->key).second) << key->key;
    }
    EXPECT_NE(key->print, nullptr) << key->key;
  }
  for (std::span<const JobFact> facts : job_subjects())
    for (const JobFact& fact : facts) {
      EXPECT_FALSE(fact.column.doc.empty()) << fact.column.name << fact.shown.key << fact.member.key;
      EXPECT_TRUE(fact.has_column() || fact.shown.is_there() || fact.member.is_there()) << fact.column.doc;
    }
}

// One row says it all.
struct OneFact : testing::Test {
  static constexpr JobFact kAccount = field<Text, &ShownRequest::account>("Who pays", column('a', "Account", "ACCOUNT"),
                                                                          shown("Account", at(30, 10)), member("account", 10));
  static constexpr JobFact kPart =
      field<Text, &ShownRequest::wckey>("A key", column(0, "WCKey", "WCKEY").none("-"), shown("WCKey", at(30, 20)).if_any());
  TestJob job{7, "x", "main"};
  Environment env = test_environment();
  JobView view() const { return {job.row, job.request, env}; }
  std::string text(const JobFact& fact) const {
    std::string out;
    print_field(fact.column, view(), out);
    return out;
  }
  std::string record() const {
    std::string out;
    Record r(out, false);
    for (const JobFact* fact : {&kAccount, &kPart}) fact->shown.print(view(), fact->shown, r);
    return out;
  }
};

TEST_F(OneFact, IsSpelledInEveryForm) {
  job.request.account = "physics";
  job.request.wckey = "k";
  EXPECT_EQ(text(kAccount), "physics");
  EXPECT_EQ(record(), "Account=physics WCKey=k");
  std::string out;
  auto sink = make_tree_sink(TreeForm::kJson, true, out);
  sink->begin_object();
  Members m(*sink);
  kAccount.member.write(view(), kAccount.member.key, m);
  sink->end_object();
  sink.reset();
  EXPECT_EQ(out, R"({"account":"physics"})");
}

TEST_F(OneFact, StandsInTheObjectThatItsKeyNames) {
  constexpr JobFact kDeep[] = {
      field<Number, &JobRow::tasks>("Tasks", member("a.b.tasks", 10)), field<Number, &JobRow::cpus>("CPUs", member("a.cpus", 20)),
      field<Number, &JobRow::nodes>("Nodes", member("ab.nodes", 30)), field<Text, &ShownRequest::account>("Account", member("name", 40))};
  const ObjectMember<JobView>* const members[] = {&kDeep[0].member, &kDeep[1].member, &kDeep[2].member, &kDeep[3].member};
  job.row.tasks = 1;
  job.row.cpus = 2;
  job.row.nodes = 3;
  job.request.account = "x";
  std::string out;
  auto sink = make_tree_sink(TreeForm::kJson, true, out);
  sink->begin_object();
  Members m(*sink);
  write_members(std::span<const ObjectMember<JobView>* const>(members), view(), m);
  sink->end_object();
  sink.reset();
  EXPECT_EQ(out, R"({"a":{"b":{"tasks":1},"cpus":2},"ab":{"nodes":3},"name":"x"})");
}

TEST_F(OneFact, HasAWordForNothing) {
  EXPECT_EQ(text(kAccount), "(null)");
  EXPECT_EQ(text(kPart), "-");
  EXPECT_EQ(record(), "Account=(null)");
}

TEST_F(OneFact, SortsByItsNumberIfItsKindHasOne) {
  constexpr JobFact tasks = field<Quantity, &JobRow::tasks>("Tasks", column(0, "NumTasks", "TASKS"));
  job.row.tasks = 12;
  ASSERT_NE(tasks.column.number, nullptr);
  EXPECT_EQ(tasks.column.number(view()), 12);
  EXPECT_EQ(kAccount.column.number, nullptr);
}

TEST_F(OneFact, TakesAFormFromElsewhereWhereItSaysSo) {
  constexpr JobFact fact = field<Limit, &JobRow::time_limit_min>("Limit", column<Number>('l', "TimeLimit", "LIMIT"),
                                                                 shown<Moment, &JobRow::submitted>("Submit", at(10, 10)));
  EXPECT_EQ(text(fact), "1440");
  EXPECT_EQ(fact.shown.none, "Unknown");
}

}  // namespace
}  // namespace muster::fields

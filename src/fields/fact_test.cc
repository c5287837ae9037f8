// The facts of jobs, steps, nodes … against the OpenAPI description, and how rows of facts come to be.
#include "fields/fact.h"

#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <set>

#include "base/documented_test.h"
#include "base/text.h"
#include "fields/job_fact.h"
#include "fields/job_fields.h"
#include "fields/json.h"
#include "fields/node_fields.h"
#include "fields/partition_fields.h"
#include "fields/record_fields.h"
#include "fields/step_fields.h"
#include "fields/testing.h"

namespace muster::fields {
namespace {

using rapidjson::Value;

// One object of the published description, as test/documented keeps it.
class Description {
 public:
  Description(const std::string& answer, const char* object) {
    doc_.Parse(contents_of("test/documented/v0.0.44_" + answer + ".json").c_str());
    EXPECT_FALSE(doc_.HasParseError()) << answer;
    object_ = &schema(object);
  }
  const Value& object() const { return *object_; }

  // nullptr: there is no such member. A path such as "time.start" leads through objects.
  const Value* member(std::string_view path) const {
    const Value* at = object_;
    for (std::string_view word : split(path, '.')) {
      const std::string name(word);
      if (!at->HasMember("properties") || !(*at)["properties"].HasMember(name.c_str())) return nullptr;
      at = &resolved((*at)["properties"][name.c_str()]);
    }
    return at;
  }
  const Value& resolved(const Value& property) const {
    if (!property.HasMember("$ref")) return property;
    const std::string ref = property["$ref"].GetString();
    return schema(ref.substr(ref.rfind('/') + 1).c_str());
  }
  // What a property is, in our terms.
  Shape shape(const Value& given) const {
    const Value& property = resolved(given);
    const std::string type = property["type"].GetString();
    if (type == "array") return shape(property["items"]) == Shape::kObject ? Shape::kObjects : Shape::kTexts;
    if (type == "boolean") return Shape::kFlag;
    if (type == "integer") return Shape::kInteger;
    if (type == "number") return Shape::kReal;
    if (type == "string") return Shape::kText;
    return property.HasMember("properties") && property["properties"].HasMember("infinite") ? Shape::kNumber : Shape::kObject;
  }

 private:
  const Value& schema(const char* name) const { return doc_["components"]["schemas"][name]; }
  rapidjson::Document doc_;
  const Value* object_ = nullptr;
};

void expect_all_written(const Description& description, const Value& object, const std::string& path,
                        const std::set<std::string>& written) {
  for (const auto& p : object["properties"].GetObject()) {
    const std::string key = path + p.name.GetString();
    if (written.contains(key)) continue;
    const Value& inner = description.resolved(p.value);
    if (description.shape(inner) == Shape::kObject && inner.HasMember("properties"))
      expect_all_written(description, inner, key + ".", written);
    else ADD_FAILURE() << key << " is not written";
  }
}

// Members and their types are those of the description, each once, and all of them.
template <class View>
void expect_described(std::span<const ObjectMember<View>* const> members, const Description& description) {
  std::set<std::string> written;
  for (const ObjectMember<View>* member : members) {
    EXPECT_TRUE(written.emplace(member->key).second) << member->key << " is written twice";
    const Value* described = description.member(member->key);
    ASSERT_TRUE(described) << member->key << " is not described";
    EXPECT_EQ(static_cast<int>(member->shape), static_cast<int>(description.shape(*described))) << member->key;
    EXPECT_NE(member->write, nullptr) << member->key;
  }
  expect_all_written(description, description.object(), "", written);
}

TEST(Members, OfJobsAreDescribed) { expect_described(job_object().members, {"openapi_job_info_resp", "v0.0.44_job_info"}); }
TEST(Members, OfStepsAreDescribed) { expect_described(step_object().members, {"step", "v0.0.44_step"}); }
TEST(Members, OfNodesAreDescribed) { expect_described(node_object().members, {"openapi_nodes_resp", "v0.0.44_node"}); }
TEST(Members, OfPartitionsAreDescribed) {
  expect_described(partition_object().members, {"openapi_partition_resp", "v0.0.44_partition_info"});
}

TEST(Members, OfRecordsAreDescribed) {
  expect_described(job_record_object().members, {"openapi_slurmdbd_jobs_resp", "v0.0.44_job"});
  expect_described(step_record_object().members, {"openapi_slurmdbd_jobs_resp", "v0.0.44_step"});
}

// Each key once, and something that prints it.
template <class View>
void expect_keys_once(std::span<const ShownKey<View>* const> record) {
  std::set<std::string_view> keys;
  for (const ShownKey<View>* key : record) {
    if (!key->key.empty()) {
      EXPECT_TRUE(keys.insert(key->key).second) << key->key;
    }
    EXPECT_NE(key->print, nullptr) << key->key;
  }
}
TEST(Keys, StandOnce) {
  expect_keys_once(job_record().keys);
  expect_keys_once(step_record().keys);
  expect_keys_once(node_record().keys);
  expect_keys_once(partition_record().keys);
}

TEST(JobFacts, SayWhatTheyAre) {
  for (std::span<const JobFact> facts : job_subjects())
    for (const JobFact& fact : facts) {
      EXPECT_FALSE(fact.column.doc.empty()) << fact.column.name << fact.shown.key << fact.member.key;
      EXPECT_TRUE(fact.has_column() || fact.shown.is_there() || fact.member.is_there()) << fact.column.doc;
    }
}

// A row of nodes: sinfo's column is of a line of them.
TEST(NodeFacts, AColumnIsOfTheFirstNodeOfTheLine) {
  const SinfoField* field = field_by_name<SinfoView>("Comment");
  ASSERT_TRUE(field);
  const Environment env = test_environment();
  NodeRow plain, told;
  told.comment = "loud";
  SinfoLine none, first_plain, first_told;
  for (const NodeRow* node : {&plain, &told}) first_plain.add(*node);
  for (const NodeRow* node : {&told, &plain}) first_told.add(*node);
  const auto text = [&](const SinfoLine& line) {
    std::string out;
    print_field(*field, {line, env}, out);
    return out;
  };
  EXPECT_EQ(text(none), "");
  EXPECT_EQ(text(first_plain), "(null)");
  EXPECT_EQ(text(first_told), "loud");
  EXPECT_EQ(field->split, Split::kAlways);
}

TEST(NodeFacts, CoresKeptForGpus) {
  NodeRow row = TestCluster().nodes.at(0);
  row.restricted_cores = "2(0-1,4-5)";
  std::string out;
  auto sink = make_tree_sink(TreeForm::kJson, true, out);
  json_node(row, test_environment(), *sink);
  EXPECT_NE(out.find(R"("res_cores_per_gpu":2,)"), std::string::npos) << out;
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

constexpr JobFact kDeep[] = {
    field<Number, &JobRow::tasks>("Tasks", member("a.b.tasks", 10)), field<Number, &JobRow::cpus>("CPUs", member("a.cpus", 20)),
    field<Number, &JobRow::nodes>("Nodes", member("ab.nodes", 30)), field<Text, &ShownRequest::account>("Account", member("name", 40)),
    field<Text, &ShownRequest::wckey>("WCKey", member("c.d.wckey", 50))};
constexpr std::array<std::span<const JobFact>, 1> kDeepSubjects = {kDeep};
constexpr auto kDeepMembers = in_order<kDeepSubjects, &JobFact::member>();

TEST_F(OneFact, StandsInTheObjectThatItsKeyNames) {
  job.row.tasks = 1;
  job.row.cpus = 2;
  job.row.nodes = 3;
  job.request.account = "x";
  std::string out;
  auto sink = make_tree_sink(TreeForm::kJson, true, out);
  sink->begin_object();
  Members m(*sink);
  object_of<JobView, kDeepMembers>().write(view(), m);
  sink->end_object();
  sink.reset();
  EXPECT_EQ(out, R"({"a":{"b":{"tasks":1},"cpus":2},"ab":{"nodes":3},"name":"x","c":{"d":{"wckey":""}}})");
}

TEST_F(OneFact, MayHaveSomethingBehindItOrInItsPlace) {
  constexpr JobFact behind = field<Text, &ShownRequest::account>("Who pays", shown("Account", at(10, 10)).then(" "));
  constexpr JobFact in_place = field<Text, &ShownRequest::wckey>("A key", shown("WCKey", at(10, 20)).if_any(" "));
  job.request.account = "x";
  std::string out;
  Record r(out, false);
  behind.shown.print(view(), behind.shown, r);
  in_place.shown.print(view(), in_place.shown, r);
  EXPECT_EQ(out, "Account=x  ");
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

// How each kind of value is spelled.
#include "fields/kinds.h"

#include <gtest/gtest.h>

#include "fields/testing.h"

namespace muster::fields {
namespace {

struct Kinds : testing::Test {
  Environment env = test_environment();
  void SetUp() override {
    setenv("TZ", "UTC", 1);
    tzset();
  }
  // "column shown json", with the words for no value.
  template <class K>
  std::string spelled(const auto& value) {
    std::string out, json;
    if (K::empty(value)) out += K::kColumnNone;
    else K::column(out, value, env);
    out += ' ';
    if (K::empty(value)) out += K::kShownNone;
    else K::shown(out, value, env);
    auto sink = make_tree_sink(TreeForm::kJson, true, json);
    sink->begin_object();
    Members m(*sink);
    K::json(m, "k", value, env);
    sink->end_object();
    sink.reset();
    return out + ' ' + json.substr(5, json.size() - 6);
  }
};

TEST_F(Kinds, Texts) {
  EXPECT_EQ(spelled<Text>(std::string("a,b")), "a,b a,b \"a,b\"");
  EXPECT_EQ(spelled<Text>(std::string_view()), "(null) (null) \"\"");
  EXPECT_EQ(spelled<Text>(FeatureText("fast&ib")), "fast&ib fast&ib \"fast&ib\"");
  EXPECT_EQ(spelled<Words>(std::string("a,b")), "a,b a,b [\"a\",\"b\"]");
  EXPECT_EQ(spelled<List>(std::vector<std::string>{"a", "b"}), "a,b a,b [\"a\",\"b\"]");
  EXPECT_EQ(spelled<List>(std::vector<std::string>()), "(null) (null) []");
  EXPECT_EQ(spelled<JoinedList>(std::vector<std::string>{"a", "b"}), "a,b a,b \"a,b\"");
  EXPECT_EQ(spelled<Hosts>(NodeList("n2,n1")), "n2,n1 n[1-2] \"n2,n1\"");
  EXPECT_EQ(spelled<Hosts>(NodeList()), " (null) \"\"");
}

TEST_F(Kinds, Numbers) {
  EXPECT_EQ(spelled<Number>(-5), "-5 -5 -5");
  EXPECT_EQ(spelled<Number>(JobId(7)), "7 7 7");
  EXPECT_EQ(spelled<Quantity>(0u), R"(0 0 {"set":true,"infinite":false,"number":0})");
  EXPECT_EQ(spelled<Quantity>(std::optional<uint32_t>()), R"(0 0 {"set":false,"infinite":false,"number":0})");
  EXPECT_EQ(spelled<Asked>(3u), R"(3 3 {"set":true,"infinite":false,"number":3})");
  EXPECT_EQ(spelled<Asked>(0u), R"(N/A * {"set":false,"infinite":false,"number":0})");
  EXPECT_EQ(spelled<Flag>(true), "1 1 true");
  EXPECT_EQ(spelled<YesNo>(true), "yes YES true");
  EXPECT_EQ(spelled<Bound>(3u), R"(3 3 {"set":true,"infinite":false,"number":3})");
  EXPECT_EQ(spelled<Bound>(kUnlimited32), R"(UNLIMITED UNLIMITED {"set":false,"infinite":true,"number":0})");
  EXPECT_EQ(spelled<MemMb>(2048u), R"(2G 2G {"set":true,"infinite":false,"number":2048})");
  env.noconvert = true;
  EXPECT_EQ(spelled<MemMb>(2048u), R"(2048M 2048M {"set":true,"infinite":false,"number":2048})");
}

TEST_F(Kinds, Times) {
  EXPECT_EQ(spelled<Moment>(from_unix(kNow)),
            R"(2026-11-21T09:20:15 2026-11-21T09:20:15 {"set":true,"infinite":false,"number":1795252815})");
  EXPECT_EQ(spelled<Moment>(kTimeUnset), R"(N/A Unknown {"set":true,"infinite":false,"number":0})");
  EXPECT_EQ(spelled<Span>(seconds(300)), R"(5:00 00:05:00 {"set":true,"infinite":false,"number":300})");
  EXPECT_EQ(spelled<Minutes>(0u), R"(0:00 N/A {"set":true,"infinite":false,"number":0})");
  EXPECT_EQ(spelled<Limit>(90u), R"(1:30:00 01:30:00 {"set":true,"infinite":false,"number":90})");
  EXPECT_EQ(spelled<Limit>(kUnlimited32), R"(UNLIMITED UNLIMITED {"set":false,"infinite":true,"number":0})");
  EXPECT_GT(Moment::order(kTimeUnset), Moment::order(from_unix(kNow)));
}

TEST_F(Kinds, People) {
  EXPECT_EQ(spelled<Owner>(UserNamed{Uid(0), ""}), "root root(0) \"root\"");
  EXPECT_EQ(spelled<Owner>(UserNamed{Uid(7), "eve"}), "eve eve(7) \"eve\"");
  EXPECT_EQ(spelled<Someone>(std::optional<UserNamed>({Uid(7), "eve"})), "eve eve(7) \"eve\"");
  EXPECT_EQ(spelled<Someone>(std::optional<UserNamed>()), "  \"\"");
  EXPECT_EQ(spelled<Group>(Gid(9)), "9 9(9) \"9\"");
}

TEST_F(Kinds, EndsAndAmounts) {
  EXPECT_TRUE(spelled<Exit>(Ending{3 << 8, JobState::kFailed}).starts_with("3:0 3:0 {\"status\":[\"ERROR\"]"));
  EXPECT_EQ(spelled<Amounts>(TresAmounts{.cpus = 4, .nodes = 1}), "cpu=4,node=1 cpu=4,node=1 \"cpu=4,node=1\"");
  EXPECT_EQ(spelled<Amounts>(TresAmounts()), "N/A (null) \"\"");
}

}  // namespace
}  // namespace muster::fields

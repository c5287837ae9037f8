// The examples of the guide extra_constraints, row by row, and what the guide leaves open.
#include "model/extra_constraint.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

// The node of the guide's examples.
constexpr std::string_view kNode = R"({ "a": 1.23, "b": true, "c": 0, "foo": "bar", "zed": 23 })";

bool fulfilled(std::string_view text, std::string_view node = kNode) {
  const auto wanted = ExtraConstraint::parse(text);
  EXPECT_TRUE(wanted) << text << ": " << (wanted ? "" : wanted.error().hint);
  const auto extra = NodeExtra::parse(node);
  return wanted && wanted->met_by(extra.value_or(NodeExtra{}));
}

// What is wrong with the text, without the text itself; "" where nothing is.
std::string wrong(const std::string& text) {
  const auto wanted = ExtraConstraint::parse(text);
  if (wanted) return "";
  EXPECT_EQ(wanted.error().code, Errc::kInvalidExtra) << text;
  const std::string& hint = wanted.error().hint;
  const std::string before = "--extra=" + text + ": ";
  return hint.starts_with(before) ? hint.substr(before.size()) : hint;
}

TEST(ExtraConstraint, ValidRequestsOfTheGuide) {
  for (const char* text : {"a=1.23", "a=   b", "a!=1.24", "a!=1.23|foo!=blah", "b=200", "b=true", "foo<baz", "(c<=0.0001&a=1.25)|zed=23.0",
                           "((c<=0.0001&a=1.25)|zed=23.0)&(a<1|b=false|c>=0.00000001)", "((c<=0.0001&a=1.25)|zed=23.0)&(a<1|b=true|c>=0.1)",
                           "(a=1&b=2)|c=foobar", "( a=b)", "load<0.5", "(load<0.9&load>0.5)"})
    EXPECT_EQ(wrong(text), "");
}

TEST(ExtraConstraint, InvalidRequestsOfTheGuide) {
  EXPECT_EQ(wrong("a,<=6"), "one of = != < <= > >= has to follow the key 'a' (character 2)");
  EXPECT_EQ(wrong("a<=6<="), "a comparison has one operator (character 5)");
  EXPECT_EQ(wrong("a=5&&&b=5"), "a key is missing (character 5)");
  EXPECT_EQ(wrong("a=5|||b=5"), "a key is missing (character 5)");
  EXPECT_EQ(wrong("a====5"), "a value is missing (character 3)");
  EXPECT_EQ(wrong("b<=<=5"), "a value is missing (character 4)");
  EXPECT_EQ(wrong("a=5&()"), "there is nothing inside the parentheses (character 6)");
  EXPECT_EQ(wrong("a=5&b=5|c=5"), "& and | cannot be mixed in one level: put parentheses around a part (character 8)");
  EXPECT_EQ(wrong("a=1&b=2|c=foobar"), "& and | cannot be mixed in one level: put parentheses around a part (character 8)");
  EXPECT_EQ(wrong("(a=1)&(b=2)|(c=3)"), "& and | cannot be mixed in one level: put parentheses around a part (character 12)");
  for (const char* text : {"a=1(b=2)", "(a=1)(b=2)", "(((a=1)b=2))"})
    EXPECT_TRUE(wrong(text).starts_with("an operator & , or | has to stand between two comparisons")) << text << ": " << wrong(text);
  EXPECT_EQ(wrong(" (a=b)"), "one of = != < <= > >= has to follow the key ' ' (character 2)");
}

TEST(ExtraConstraint, OtherTextsThatAreNone) {
  for (const char* text :
       {"a", "a=", "=1", "a!1", "a=>1", "a=1&", "&a=1", "(a=1", "a=1)", "(", ")", "()", "some note of mine", "a<1>2", "a=1 (b=2)", "!a=1"})
    EXPECT_NE(wrong(text), "") << text;
}

TEST(ExtraConstraint, FulfilledByTheNodeOfTheGuide) {
  for (const char* text :
       {"a=1.23", "a!=1.24", "a!=1.24|foo!=blah", "b=200", "b=true", "foo<baz", "(c<=0.0001&a=1.25)|zed=23.0",
        "((c<=0.0001&a=1.25)|zed=23.0)&(a<1|b=false|c>=0.00000001)", "((c<=0.0001&a=1.25)|zed=23.0)&(a<1|b=true|c>=0.1)"})
    EXPECT_TRUE(fulfilled(text)) << text;
}

TEST(ExtraConstraint, NotFulfilledByTheNodeOfTheGuide) {
  for (const char* text : {"a!=1.23", "b=0", "b=false", "foo>baz", "((c<=0.0001&a=1.25)|zed=23.0)&(a<1|b=false|c>=0.00001)"})
    EXPECT_FALSE(fulfilled(text)) << text;
}

TEST(ExtraConstraint, NumbersOfTheGuidesLoadAverages) {
  EXPECT_FALSE(fulfilled("load<0.5", R"({ "load": 0.99 })"));
  EXPECT_TRUE(fulfilled("load<0.5", R"({ "load": 0.45 })"));
  EXPECT_TRUE(fulfilled("(load<0.9&load>0.5)", R"({ "load": 0.75 })"));
  EXPECT_FALSE(fulfilled("(load<0.9&load>0.5)", R"({ "load": 0.45 })"));
}

TEST(ExtraConstraint, NumbersAreEqualWithinATolerance) {
  EXPECT_TRUE(fulfilled("c=0.000009"));
  EXPECT_FALSE(fulfilled("c=0.00002"));
  EXPECT_FALSE(fulfilled("c<0.000009"));  // they are equal, so not less
  EXPECT_TRUE(fulfilled("zed>=+23&zed<=23.000001"));
  EXPECT_TRUE(fulfilled("n<-1", R"({"n": -1.5})"));
}

TEST(ExtraConstraint, CommaMeansAnd) {
  EXPECT_TRUE(fulfilled("b=true,zed>20"));
  EXPECT_FALSE(fulfilled("b=true,zed>30"));
  EXPECT_TRUE(fulfilled("b=true,zed>20&a<2"));  // & is the same operator
}

TEST(ExtraConstraint, BlanksAndQuotesArePartOfWords) {
  EXPECT_FALSE(fulfilled("foo=\"bar\""));
  EXPECT_FALSE(fulfilled("foo= bar"));
  EXPECT_FALSE(fulfilled(" foo=bar"));
  EXPECT_TRUE(fulfilled(" foo= bar", R"({" foo": " bar"})"));
  EXPECT_FALSE(fulfilled("zed= 23")) << "with a blank it is a string";
}

// What the guide does not say: extra_constraint.h decides it.
TEST(ExtraConstraint, ValuesThatCannotBeCompared) {
  EXPECT_FALSE(fulfilled("zed=23kb"));
  EXPECT_TRUE(fulfilled("zed!=23kb"));
  EXPECT_FALSE(fulfilled("zed<23kb|zed>23kb|zed<=23kb|zed>=23kb"));
  EXPECT_FALSE(fulfilled("zed=2.3e1")) << "letters make it a string";
  EXPECT_TRUE(fulfilled("b!=yes"));
  EXPECT_TRUE(fulfilled("b>false&b>0&b<=5"));
  EXPECT_TRUE(fulfilled("n=10&n<9", R"({"n": "10"})")) << "as texts";
}

TEST(ExtraConstraint, ANodeHasToSayWhatAJobAsksFor) {
  EXPECT_FALSE(fulfilled("nosuch=1"));
  EXPECT_FALSE(fulfilled("nosuch!=1"));
  EXPECT_TRUE(fulfilled("nosuch=1|b=true"));
  for (const char* none : {"", "rack 7, by the door", "{\"b\": true", "[true]", "true", "{\"b\": null}", "{\"b\": {\"b\": true}}",
                           "{\"b\": true, \"b\": [true]}"})
    EXPECT_FALSE(fulfilled("b=true", none)) << none;
}

TEST(ExtraConstraint, NothingIsWantedOfAnEmptyText) {
  EXPECT_TRUE(ExtraConstraint{}.met_by(NodeExtra{}));
  EXPECT_TRUE(fulfilled("", ""));
}

// Hostile texts cost no more than their length allows.
TEST(ExtraConstraint, Bounds) {
  auto nested = [](size_t deep) { return std::string(deep, '(') + "a=1" + std::string(deep, ')'); };
  EXPECT_EQ(wrong(nested(32)), "");
  EXPECT_EQ(wrong(nested(33)), "parentheses are nested deeper than 32 levels (character 34)");
  EXPECT_NE(wrong(std::string(4096, '(')), "");
  auto many = [](size_t n) {
    std::string out = "a=1";
    while (--n > 0) out += "|a=1";
    return out;
  };
  EXPECT_EQ(wrong(many(32)), "");
  EXPECT_TRUE(wrong(many(33)).starts_with("more than 32 comparisons")) << wrong(many(33));
  EXPECT_EQ(wrong(std::string(4097, 'a')), "--extra: 4097 bytes, at most 4096");
}

// Small and large numbers that a careless conversion goes wrong on: the text comes from a node.
TEST(NodeExtra, NumbersOfAnyLength) {
  auto met = [](const std::string& number, const char* wanted) {
    const auto extra = NodeExtra::parse("{\"n\": " + number + ", \"m\": 1}");
    return extra && ExtraConstraint::parse("m=1")->met_by(*extra) && ExtraConstraint::parse(wanted)->met_by(*extra);
  };
  EXPECT_TRUE(met("1.5e3", "n=1500"));
  EXPECT_TRUE(met("-0.25", "n<0"));
  EXPECT_TRUE(met("18446744073709551616", "n>1000"));
  EXPECT_TRUE(met("0." + std::string(200, '0') + "1", "n<0.5"));
  for (const std::string& none :
       {"0." + std::string(500, '0') + "1", "0." + std::string(48, '0') + "1e-300", std::string("0.00000000001e-2147483639")})
    EXPECT_TRUE(met(none, "m=1")) << none;
  EXPECT_FALSE(met("0." + std::string(500, '0') + "1", "n<0.5")) << "no double holds it";
  EXPECT_FALSE(NodeExtra::parse("{\"n\": 1e400}"));
}

TEST(NodeExtra, ReadsValuesThatCanBeCompared) {
  const auto e =
      NodeExtra::parse(R"({"s": "x\u00e9\"y", "n": -12e2, "t": true, "f": false, "o": {"n": 1}, "l": [1, {"n": 2}], "z": null})");
  ASSERT_TRUE(e);
  ASSERT_EQ(e->values.size(), 4u);
  EXPECT_EQ(*e->value_of("s"), ExtraValue("x\xc3\xa9\"y"));
  EXPECT_EQ(*e->value_of("n"), ExtraValue(-1200.0));
  EXPECT_EQ(*e->value_of("t"), ExtraValue(true));
  EXPECT_EQ(*e->value_of("f"), ExtraValue(false));
  EXPECT_FALSE(e->value_of("o"));
  EXPECT_FALSE(e->value_of(""));
}

TEST(NodeExtra, SaysWhatIsWrong) {
  auto wrong_json = [](const std::string& text) {
    const auto e = NodeExtra::parse(text);
    return e ? std::string() : e.error().hint;
  };
  EXPECT_EQ(wrong_json(""), "");
  EXPECT_EQ(wrong_json("{}"), "");
  for (const char* text : {"rack 7", "[1]", "7", "\"x\"", "{\"a\":1} x", "{\"a\":}", "{a:1}", "{\"a\":\"\xff\"}", "{\"a\":1e999}", "{"})
    EXPECT_TRUE(wrong_json(text).starts_with("Extra: ")) << text;
  EXPECT_EQ(wrong_json("[1]"), "Extra: no JSON object (character 1)");
  EXPECT_EQ(wrong_json(std::string(4097, ' ')), "Extra: 4097 bytes, at most 4096");
  std::string deep = "{\"a\":" + std::string(4000, '[');
  EXPECT_NE(wrong_json(deep), "");
}

}  // namespace
}  // namespace muster

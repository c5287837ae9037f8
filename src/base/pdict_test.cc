#include "base/pdict.h"

#include <gtest/gtest.h>

#include <map>

#include "base/random.h"

namespace muster {
namespace {

TEST(PersistentDictionary, HoldsWhatAMapWouldAndCopiesStayAsTheyWere) {
  Random rng(7);
  PersistentDictionary<uint64_t> dictionary, before;
  std::map<std::string, uint64_t> model, model_before;
  for (int i = 0; i < 20'000; ++i) {
    const std::string name = "user" + std::to_string(rng.next() % 3000);
    if (i == 15'000) before = dictionary, model_before = model;
    if (rng.next() % 3) {
      dictionary.edit(name) = model[name] = rng.next();
    } else {
      ASSERT_EQ(dictionary.erase(name), model.erase(name) == 1);
    }
    ASSERT_EQ(dictionary.size(), model.size());
  }
  auto contents = [](const auto& d) {
    std::map<std::string, uint64_t> out;
    d.for_each([&](const std::string& name, uint64_t value) { out[name] = value; });
    return out;
  };
  EXPECT_EQ(contents(dictionary), model);
  EXPECT_EQ(contents(before), model_before);
  for (const auto& [name, value] : model) ASSERT_TRUE(dictionary.find(name) && *dictionary.find(name) == value);
  EXPECT_FALSE(dictionary.contains("user"));
}

TEST(PersistentDictionary, TheOrderFollowsFromTheNamesAlone) {
  PersistentDictionary<int> a, b;
  for (int i = 0; i < 5000; ++i) a.edit(std::to_string(i)) = i;
  for (int i = 5000; i-- > 0;) b.edit(std::to_string(i)) = i;
  std::vector<std::string> in_a, in_b;
  a.for_each([&](const std::string& name, int) { in_a.push_back(name); });
  b.for_each([&](const std::string& name, int) { in_b.push_back(name); });
  EXPECT_EQ(in_a, in_b);
}

}  // namespace
}  // namespace muster

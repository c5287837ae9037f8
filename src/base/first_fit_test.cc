#include "base/first_fit.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

using Order = std::vector<size_t>;

// Things of which some do not fit behind others.
struct Crowd {
  std::vector<Order> not_behind;
  std::vector<Order> tried;
  std::optional<size_t> choose(const Order& order) {
    tried.push_back(order);
    for (size_t i = 0; i < order.size(); ++i)
      for (size_t other : not_behind[order[i]])
        if (std::find(order.begin(), order.end(), other) < order.begin() + static_cast<ptrdiff_t>(i)) return i;
    return std::nullopt;
  }
};

TEST(FirstFit, TheirOwnOrderWhereTheyFitInIt) {
  Crowd crowd{{{}, {}, {}}, {}};
  EXPECT_TRUE(first_fit(3, [&](const Order& order) { return crowd.choose(order); }));
  EXPECT_EQ(crowd.tried, std::vector<Order>({{0, 1, 2}}));
}

TEST(FirstFit, WhatFindsNothingGoesFirst) {
  Crowd crowd{{{}, {}, {0, 1}}, {}};
  EXPECT_TRUE(first_fit(3, [&](const Order& order) { return crowd.choose(order); }));
  EXPECT_EQ(crowd.tried, std::vector<Order>({{0, 1, 2}, {2, 0, 1}}));
}

TEST(FirstFit, EndsWhereTheFirstDoesNotFitByItself) {
  size_t calls = 0;
  EXPECT_FALSE(first_fit(3, [&](const Order& order) -> std::optional<size_t> {
    ++calls;
    return static_cast<size_t>(std::find(order.begin(), order.end(), size_t{1}) - order.begin());
  }));
  EXPECT_EQ(calls, 2u);
}

TEST(FirstFit, EndsWhereTwoKeepEachOtherOut) {
  size_t calls = 0;
  EXPECT_FALSE(first_fit(2, [&](const Order&) -> std::optional<size_t> {
    ++calls;
    return 1;
  }));
  EXPECT_EQ(calls, 3u);
}

}  // namespace
}  // namespace muster

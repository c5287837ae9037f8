// The worked examples of the guides tres and priority_multifactor, and what is no weight.
#include "model/billing.h"

#include <gtest/gtest.h>

#include "model/tres_amounts.h"
#include "model/tres_table.h"

namespace muster {
namespace {

using Of = BillingMethod::Of;
constexpr uint64_t kGiB = 1024;

const char* const kGuide = "CPU=1.0,Mem=0.25G,GRES/gpu=2.0,license/licA=1.5";

BillingMethod by(Of of = Of::kSum) { return {of, {"gres/gpu", "gres/gpu:tesla", "license/lica"}}; }

struct Job {
  uint64_t cpus, gib, gpus = 0, licenses = 0;
  TresAmounts held() const {
    TresAmounts out{.cpus = cpus, .mem_mb = gib * kGiB, .nodes = 1};
    if (gpus) out.add_gres("gpu", "tesla", gpus);
    if (licenses) out.licenses.push_back({"licA", licenses});
    return out;
  }
};

uint64_t bill(const Job& job, const BillingMethod& method = by(), const std::string& weights = kGuide) {
  return billing_of(BillingText(weights), method, job.held());
}

TEST(Billing, WithoutWeightsItIsTheCpus) {
  EXPECT_EQ(bill({5, 8}, by(), ""), 5u);
  EXPECT_EQ(bill({5, 8}, by(Of::kMax), ""), 5u);
}

TEST(Billing, TheExamplesOfTheGuideTres) {
  EXPECT_EQ(bill({1, 8}), 3u);
  EXPECT_EQ(bill({1, 8, 0, 1}), 4u) << "4.5 is cut";
  EXPECT_EQ(bill({1, 10, 0, 1}), 5u);
  EXPECT_EQ(bill({1, 8}, by(Of::kMax)), 2u);
  EXPECT_EQ(bill({1, 8}, by(Of::kMaxButGres)), 2u);
  EXPECT_EQ(bill({1, 8, 1}, by(Of::kMaxButGres)), 4u) << "a GPU by itself, and the most of the others";
  EXPECT_EQ(bill({1, 8, 0, 2}, by(Of::kMax)), 5u) << "licences are added";
  EXPECT_EQ(bill({0, 8}, by(), "mem=0.25"), 2048u);
  EXPECT_EQ(bill({0, 8}, by(), "mem=0.25G"), 2u);
}

TEST(Billing, TheExamplesOfTheGuideOfPriorities) {
  const std::string weights = "CPU=1.0,Mem=0.25G";
  EXPECT_EQ(bill({1, 60}, by(), weights), 16u);
  EXPECT_EQ(bill({16, 1}, by(), weights), 16u);
  EXPECT_EQ(bill({16, 60}, by(), weights), 31u);
  EXPECT_EQ(bill({1, 60}, by(Of::kMax), weights), 15u);
  EXPECT_EQ(bill({15, 1}, by(Of::kMax), weights), 15u);
  EXPECT_EQ(bill({16, 64}, by(Of::kMax), weights), 16u);
}

TEST(Billing, OnlyTheTypeThatIsNamedHasItsWeight) {
  EXPECT_EQ(bill({0, 0, 3}, by(), "gres/gpu:tesla=2"), 6u);
  EXPECT_EQ(bill({0, 0, 3}, by(), "gres/gpu:tesla=2,gres/gpu=1"), 9u);
  EXPECT_EQ(bill({0, 0, 3}, by(), "gres/gpu:h100=2"), 0u);
}

TEST(Billing, WhatIsNotTrackedIsNotBilled) {
  EXPECT_EQ(bill({1, 0, 3}, BillingMethod{}, "CPU=1,gres/gpu=2"), 1u);
  EXPECT_EQ(bill({1, 0}, by(), "billing=100,CPU=1"), 1u);
}

TEST(Billing, OfWhatAJobWantsItIsTheSame) {
  TresTable table;
  table.learn({"gres/gpu", "license/lica"});
  TresCounts wanted;
  wanted.add(TresTable::kCpu, 1);
  wanted.add(TresTable::kMem, 8 * kGiB);
  wanted.add(table.find("gres/gpu"), 2);
  wanted.add(table.find("license/lica"), 1);
  EXPECT_EQ(billing_of(BillingText(kGuide), by(), wanted, table), 8u);
  EXPECT_EQ(billing_of(BillingText("gres/nic=4"), by(), wanted, table), 0u);
}

TEST(Billing, WhatIsNoWeightIsRefused) {
  for (const char* wrong : {"cpu", "cpu=", "cpu=x", "cpu=1X", "cpu=-1", "cpu=nan", "cpu=inf", "cpu=1GG", "=1,cpu="})
    EXPECT_FALSE(BillingWeights::parse(wrong)) << wrong;
  for (const char* right : {"", "cpu=1", " CPU = 1.5 , Mem=2GB", "cpu=1e3", "cpu=0"}) EXPECT_TRUE(BillingWeights::parse(right)) << right;
  EXPECT_EQ(BillingWeights::parse("cpu=1K")->list[0].each, 1.0 / 1024) << "a weight of 1,024 CPUs";
}

TEST(TresName, IsReadAndWritten) {
  for (const char* text : {"cpu", "mem", "node", "billing", "gres/gpu", "gres/gpu:h100", "license/matlab", "fs/disk"})
    EXPECT_EQ(TresName::of(text).text(), text);
  EXPECT_EQ(TresName::of("GRES/gpu:H100"), (TresName{TresKind::kGres, "gpu", "h100"}));
  EXPECT_EQ(TresName::of("Memory").kind, TresKind::kMem);
}

}  // namespace
}  // namespace muster

#include "pam/join.h"

#include <gtest/gtest.h>

namespace muster::pam {
namespace {

Result<rpc::ProcessAdopted> adopted(rpc::Adoption outcome, std::string text) {
  rpc::ProcessAdopted out;
  out.outcome = outcome;
  out.text = std::move(text);
  return out;
}

TEST(PamJoin, AJobWithoutNamespaceIsLeftAsItIs) {
  auto answer = adopted(rpc::Adoption::kDone, "");
  join_namespace(answer);
  EXPECT_EQ(answer->outcome, rpc::Adoption::kDone);
}

TEST(PamJoin, WhatCannotBeJoinedIsAFailure) {
  for (const char* file : {"/proc/self/absent", "/dev/null", "/"}) {
    auto answer = adopted(rpc::Adoption::kDone, file);
    join_namespace(answer);
    EXPECT_EQ(answer->outcome, rpc::Adoption::kFailed) << file;
    EXPECT_TRUE(answer->text.starts_with(std::string(file) + ": ")) << answer->text;
  }
}

TEST(PamJoin, WhoIsNotAdoptedJoinsNothing) {
  for (const auto outcome : {rpc::Adoption::kNoJobs, rpc::Adoption::kFailed}) {
    auto answer = adopted(outcome, "/dev/null");
    join_namespace(answer);
    EXPECT_EQ(answer->outcome, outcome);
    EXPECT_EQ(answer->text, "/dev/null");
  }
  Result<rpc::ProcessAdopted> none = fail(Errc::kConnectFailed, "refused");
  join_namespace(none);
  EXPECT_FALSE(none);
}

}  // namespace
}  // namespace muster::pam

#include "pam/verdict.h"

#include <gtest/gtest.h>

namespace muster::pam {
namespace {

Judged judged(const Options& options, rpc::Adoption outcome) {
  rpc::ProcessAdopted answer;
  answer.outcome = outcome;
  answer.job = JobId(12);
  answer.text = "no group";
  return judge(options, "alice", answer);
}

TEST(PamVerdict, WhatIsDoneWhereNothingWasSaid) {
  const Options usual;
  EXPECT_EQ(judged(usual, rpc::Adoption::kDone).verdict, Verdict::kSuccess);
  const Judged none = judged(usual, rpc::Adoption::kNoJobs);
  EXPECT_EQ(none.verdict, Verdict::kDeny);
  EXPECT_EQ(none.to_user, "Access denied by pam_slurm_adopt: you have no active jobs on this node");
  EXPECT_EQ(judged(usual, rpc::Adoption::kFailed).verdict, Verdict::kSuccess);
  EXPECT_EQ(judged(usual, rpc::Adoption::kFailed).to_log, "alice is not in job 12: no group: let in without a job");
  EXPECT_EQ(judge(usual, "alice", fail(Errc::kConnectFailed, "refused")).verdict, Verdict::kIgnore);
}

TEST(PamVerdict, EachActionIsCarriedOut) {
  Options strict;
  strict.no_jobs = Action::kIgnore;
  strict.unknown = strict.adopt_failure = strict.generic_failure = Action::kDeny;
  EXPECT_EQ(judged(strict, rpc::Adoption::kNoJobs).verdict, Verdict::kIgnore);
  EXPECT_EQ(judged(strict, rpc::Adoption::kNoJobs).to_user, "");
  EXPECT_EQ(judged(strict, rpc::Adoption::kSeveralJobs).verdict, Verdict::kDeny);
  EXPECT_EQ(judged(strict, rpc::Adoption::kFailed).verdict, Verdict::kDeny);
  const Judged away = judge(strict, "alice", fail(Errc::kConnectFailed, "refused"));
  EXPECT_EQ(away.verdict, Verdict::kDeny);
  EXPECT_EQ(away.level, 2);
  strict.unknown = strict.generic_failure = Action::kAllow;
  EXPECT_EQ(judged(strict, rpc::Adoption::kSeveralJobs).verdict, Verdict::kSuccess);
  EXPECT_EQ(judge(strict, "alice", fail(Errc::kConnectFailed, "refused")).verdict, Verdict::kSuccess);
}

}  // namespace
}  // namespace muster::pam

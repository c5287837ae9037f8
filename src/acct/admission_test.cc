#include "acct/admission.h"

#include <gtest/gtest.h>

#include "model/account_directory_testing.h"

namespace muster::acct {
namespace {

constexpr Enforcement kNothing{}, kAssociations{true, false}, kQos{true, true};

// What is said of it: "account qos", "error NUMBER" or "reason NAME".
std::string told(const Admission& a) {
  if (auto* in = std::get_if<Admitted>(&a)) return in->account + " " + in->qos;
  if (auto* never = std::get_if<Never>(&a)) return "error " + std::to_string(errc_number(never->error));
  return "reason " + std::string(reason_name(std::get<Wait>(a).reason));
}
std::string detail_of(const Admission& a) {
  if (auto* never = std::get_if<Never>(&a)) return never->detail;
  if (auto* wait = std::get_if<Wait>(&a)) return wait->detail;
  return {};
}

struct AdmissionTest : testing::Test {
  AccountDirectory d = ADirectory()
                           .qos("normal")
                           .qos("fast")
                           .qos("slow")
                           .account("root")
                           .account("team")
                           .account("deep", "team")
                           .account("other")
                           .user("games", "team")
                           .user("news", "other")
                           .user("lost", "")
                           .association("games", "team", {"normal", "fast"}, "fast")
                           .association("games", "deep", {"normal"})
                           .association("games", "deep", {"slow"}, "slow", "gpu")
                           .association("news", "other", {"normal"})
                           .make();
  std::string ask(const Enforcement& e, const Asked& asked, Moment m = Moment::kSubmission) { return told(admit(&d, e, asked, m)); }
};

TEST_F(AdmissionTest, FillsInTheDefaultsOfTheUser) {
  for (const Enforcement& e : {kNothing, kAssociations, kQos}) {
    EXPECT_EQ(ask(e, {"games", "", "", "main"}), "team fast");
    EXPECT_EQ(ask(e, {"games", "", "normal", "main"}), "team normal");
    EXPECT_EQ(ask(e, {"news", "", "", "main"}), "other normal");
    EXPECT_EQ(ask(e, {"games", "deep", "", "main"}), "deep normal");
    EXPECT_EQ(ask(e, {"GAMES", "", "", "main"}), "team fast");
  }
}

TEST_F(AdmissionTest, ThePartitionsOwnAssociationGoesBeforeTheOneForAll) {
  EXPECT_EQ(ask(kQos, {"games", "deep", "", "gpu"}), "deep slow");
  EXPECT_EQ(ask(kQos, {"games", "deep", "slow", "main"}), "error 2066");
  EXPECT_EQ(ask(kQos, {"games", "deep", "normal", "gpu"}), "error 2066");
  EXPECT_EQ(std::get<Admitted>(admit(&d, kQos, {"games", "deep", "", "gpu"}, Moment::kStart)).association->partition, "gpu");
}

TEST_F(AdmissionTest, TheOnlyQosOfAnAssociationIsThatOfItsJobs) {
  d = ADirectory()
          .qos("normal")
          .qos("fast")
          .qos("slow")
          .account("root")
          .account("team")
          .user("games", "team")
          .user("news", "team")
          .association("games", "team", {"slow"})
          .association("news", "team", {"fast", "slow"})
          .make();
  for (const Enforcement& e : {kNothing, kAssociations, kQos}) EXPECT_EQ(ask(e, {"games", "", "", "main"}), "team slow");
  EXPECT_EQ(ask(kQos, {"games", "", "normal", "main"}), "error 2066");
  EXPECT_EQ(ask(kQos, {"news", "", "", "main"}), "error 2066");  // it has to say which
}

TEST_F(AdmissionTest, WithoutEnforcementAnythingIsTaken) {
  EXPECT_EQ(ask(kNothing, {"games", "nosuch", "nosuch", "main"}), "nosuch nosuch");
  EXPECT_EQ(ask(kNothing, {"nobody", "", "", "main"}), " normal");
  EXPECT_EQ(told(admit(nullptr, kNothing, {"games", "", "", "main"}, Moment::kSubmission)), " ");
}

TEST_F(AdmissionTest, AnAssociationIsAskedForWhereThatIsEnforced) {
  EXPECT_EQ(ask(kAssociations, {"games", "nosuch", "", "main"}), "error 2045");
  EXPECT_EQ(ask(kAssociations, {"games", "other", "", "main"}), "error 2045");
  EXPECT_EQ(ask(kAssociations, {"nobody", "", "", "main"}), "error 2045");
  EXPECT_EQ(ask(kAssociations, {"lost", "", "", "main"}), "error 2045");
  EXPECT_EQ(ask(kAssociations, {"games", "team", "nosuch", "main"}), "team nosuch");  // as Slurm without qos
  EXPECT_EQ(detail_of(admit(&d, kAssociations, {"games", "other", "", "main"}, Moment::kSubmission)),
            "user games may not use account other in partition main; accounts of that user: deep, team");
  EXPECT_EQ(detail_of(admit(&d, kAssociations, {"nobody", "", "", "main"}, Moment::kSubmission)),
            "user nobody has no account on this cluster");
}

TEST_F(AdmissionTest, AQosIsOneOfTheAssociationsOrGranted) {
  EXPECT_EQ(ask(kQos, {"games", "team", "nosuch", "main"}), "error 2066");
  EXPECT_EQ(ask(kQos, {"games", "team", "slow", "main"}), "error 2066");
  EXPECT_EQ(ask(kQos, {"games", "team", "slow", "main", true}), "team slow");
  EXPECT_EQ(ask(kQos, {"games", "team", "nosuch", "main", true}), "error 2066");
}

TEST_F(AdmissionTest, WhatIsThereWaitsWithAReason) {
  EXPECT_EQ(ask(kQos, {"games", "nosuch", "normal", "main"}, Moment::kStart), "reason InvalidAccount");
  EXPECT_EQ(ask(kQos, {"games", "team", "slow", "main"}, Moment::kStart), "reason InvalidQOS");
  EXPECT_EQ(ask(kQos, {"games", "nosuch", "normal", "main"}, Moment::kUpdate), "error 2045");
}

TEST_F(AdmissionTest, BeforeSlurmdbdWasHeardNobodyIsJudged) {
  const Admission a = admit(nullptr, kAssociations, {"games", "team", "", "main"}, Moment::kSubmission);
  EXPECT_EQ(told(a), "error 7000");
  EXPECT_NE(detail_of(a).find("slurmdbd"), std::string::npos);
  EXPECT_EQ(told(admit(nullptr, kAssociations, {"games", "team", "", "main"}, Moment::kStart)), "reason InvalidAccount");
}

}  // namespace
}  // namespace muster::acct

// Who may ask what of a slurmd: each row of peers.def with each kind of peer.
#include "slurmd/core/peers.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace muster::slurmd {
namespace {

using enum SubjectKind;

TEST(SlurmdPeers, EachRowWithEachKind) {
  const std::map<PeerRight, std::set<SubjectKind>> expected = {
      {PeerRight::kLook, {kUser, kAdministrator, kClusterKey, kNode}},
      {PeerRight::kBearCredential, {kUser, kAdministrator, kClusterKey, kNode, kLogin}},
      {PeerRight::kBearOfOthers, {kAdministrator, kClusterKey, kNode, kLogin}},
      {PeerRight::kManageSteps, {kAdministrator, kClusterKey, kNode}},
      {PeerRight::kAnyStep, {kAdministrator, kClusterKey}},
      {PeerRight::kSignalOwn, {kUser, kAdministrator, kClusterKey}},
      {PeerRight::kAdopt, {kAdministrator}},
      {PeerRight::kPassOn, {kUser, kAdministrator, kClusterKey}},
  };
  ASSERT_EQ(peer_rows().size(), expected.size());
  for (const auto& [right, kinds] : expected)
    for (const SubjectKind kind : {kUser, kAdministrator, kClusterKey, kController, kNode, kLogin, kToken})
      EXPECT_EQ(may(right, kind), kinds.contains(kind)) << peer_rows()[static_cast<size_t>(right)].name << " " << static_cast<int>(kind);
}

}  // namespace
}  // namespace muster::slurmd

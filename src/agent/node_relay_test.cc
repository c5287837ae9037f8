// What a daemon passes on to a node for a user of its host, and whose credential it finds in it.
#include "agent/node_relay.h"

#include <gtest/gtest.h>

#include "net/credential.h"
#include "wire/codec.h"
#include "wire/instances.h"
#include "wire/messages.h"

namespace muster::agent {
namespace {

template <class Request>
rpc::RelayToNode to_n1(const Request& request) {
  return {"n1", wire::number_of<Request>, wire::encoded(request)};
}

TEST(NodeRelay, PassesOnWhatACredentialAllowsAndNothingElse) {
  rpc::LaunchStep launch;
  launch.credential = "c";
  const auto found = relayed_request(to_n1(launch));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->credential, "c");
  EXPECT_EQ(found->purpose, rpc::CredentialPurpose::kLaunch);
  EXPECT_EQ(relayed_request(to_n1(rpc::AttachTasks{}))->purpose, rpc::CredentialPurpose::kAttach);
  EXPECT_EQ(relayed_request(to_n1(rpc::QueryStepUse{}))->purpose, rpc::CredentialPurpose::kWatch);
  EXPECT_EQ(relayed_request(to_n1(rpc::SendFile{}))->purpose, rpc::CredentialPurpose::kSendFile);
  for (const rpc::RelayToNode& other : {to_n1(rpc::SignalStepTasks{}), to_n1(rpc::AdoptProcess{}), to_n1(rpc::PartEnded{}),
                                        to_n1(rpc::QueryLocalSteps{}), to_n1(rpc::RelayToNode{}), to_n1(rpc::Shutdown{})})
    EXPECT_EQ(relayed_request(other).error().code, Errc::kUnexpectedMessage) << other.message;
}

TEST(NodeRelay, AFileWithoutAnAllocationWouldCountAsTheDaemonsOwn) {
  rpc::SendFile file;
  file.as_caller = true;
  EXPECT_EQ(relayed_request(to_n1(file)).error().code, Errc::kAccessDenied);
  EXPECT_FALSE(relayed_request({"n1", wire::number_of<rpc::SendFile>, "\xff\xff"}));
}

TEST(NodeRelay, ACredentialIsTheAuthoritys) {
  net::Security ours, other;
  for (net::Security* s : {&ours, &other}) {
    s->authority_secret = net::new_private_key().value_or("");
    s->identity = std::make_shared<net::Identity>();
    s->identity->authority = net::public_key(s->authority_secret).value_or("");
  }
  rpc::StepCredential said;
  said.uid = Uid(1001);
  const auto text = net::sign_credential(ours, wire::encoded(said));
  ASSERT_TRUE(text) << text.error().message();
  const auto found = signed_credential(ours, *text);
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ(found->uid, Uid(1001));
  EXPECT_FALSE(signed_credential(other, *text));
  EXPECT_FALSE(signed_credential(ours, ""));
  const auto nonsense = net::sign_credential(ours, "\xff\xff");
  ASSERT_TRUE(nonsense);
  EXPECT_EQ(signed_credential(ours, *nonsense).error().code, Errc::kInvalidCredential);
}

TEST(NodeRelay, OrOfWhoHasItsWarrant) {
  net::Security ours;
  ours.authority_secret = net::new_private_key().value_or("");
  ours.identity = std::make_shared<net::Identity>();
  ours.identity->authority = net::public_key(ours.authority_secret).value_or("");
  const std::string manager = net::new_private_key().value_or("");
  rpc::StepWarrant warrant;
  warrant.key = net::public_key(manager).value_or("");
  const auto right = net::sign_warrant(ours, wire::encoded(warrant));
  ASSERT_TRUE(right);
  rpc::StepCredential said;
  said.uid = Uid(1002);
  const auto text = net::sign_by_warrant(manager, *right, wire::encoded(said));
  ASSERT_TRUE(text);
  EXPECT_EQ(signed_credential(ours, *text)->uid, Uid(1002));
  const auto forged = net::sign_by_warrant(net::new_private_key().value_or(""), *right, wire::encoded(said));
  ASSERT_TRUE(forged);
  EXPECT_FALSE(signed_credential(ours, *forged));
}

}  // namespace
}  // namespace muster::agent

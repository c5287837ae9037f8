// slurmctld as the authority: its key and its tokens on the disk, and who is given a certificate of whom.
#include "slurmctld/daemon/certificates.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "net/authority.h"
#include "net/credential.h"
#include "os/files.h"

namespace muster::slurmctld {
namespace {

using enum SubjectKind;

struct Folder {
  Folder() {
    char name[] = "/tmp/muster-authority-XXXXXX";
    path = ::mkdtemp(name);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  Result<std::unique_ptr<Certificates>> open() const { return Certificates::open(path, Uid(::geteuid()), now); }
  mode_t mode(const std::string& name) const {
    struct stat s {};
    EXPECT_EQ(::stat((path + "/" + name).c_str(), &s), 0) << name;
    return s.st_mode & 0777;
  }
  std::string path;
  Time now = from_unix(1800000000);
};

rpc::AskCertificate of(const std::string& name, rpc::TokenRole role = rpc::TokenRole::kNode) {
  return {role, name, net::public_key(net::new_private_key().value_or("")).value_or("")};
}
rpc::CreateToken token_for(const std::string& hosts) {
  rpc::CreateToken out;
  out.hosts = NodeList(hosts);
  out.seconds = 600;
  return out;
}

TEST(Certificates, TheAuthorityAndTheTokensOutliveARestart) {
  const Folder folder;
  std::string authority;
  Subject joined{kToken, {}};
  {
    auto first = folder.open();
    ASSERT_TRUE(first) << first.error().message();
    authority = (*first)->identity()->authority;
    auto made = (*first)->create(token_for("n1"), folder.now);
    ASSERT_TRUE(made);
    auto token = net::parse_token(made->token);
    ASSERT_TRUE(token);
    EXPECT_EQ(token->authority, authority);
    joined.name = net::token_proof(token->secret)->name;
    EXPECT_TRUE((*first)->identity()->tokens.contains(joined.name));
    ASSERT_TRUE((*first)->revoke({0, "n9", ""}, folder.now));
  }
  EXPECT_EQ(folder.mode("authority"), 0600u);
  EXPECT_EQ(folder.mode("tokens"), 0600u);
  auto again = folder.open();
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ((*again)->identity()->authority, authority);
  EXPECT_TRUE((*again)->identity()->refuses({kNode, "n9"}, unix_seconds(folder.now)));
  EXPECT_TRUE((*again)->identity()->tokens.contains(joined.name));
  EXPECT_TRUE((*again)->issue(joined, "10.0.0.1", of("n1"), folder.now));
  // The use is on the disk before the certificate leaves.
  auto third = folder.open();
  ASSERT_TRUE(third);
  EXPECT_FALSE((*third)->issue(joined, "10.0.0.1", of("n1"), folder.now));
  EXPECT_EQ((*third)->rows().tokens.at(0).used.at(0).address, "10.0.0.1");
}

TEST(Certificates, WhoIsGivenOneOfWhom) {
  const Folder folder;
  auto certificates = folder.open();
  ASSERT_TRUE(certificates);
  const auto gives = [&](const Subject& who, const rpc::AskCertificate& asked) {
    auto issued = (*certificates)->issue(who, "here", asked, folder.now);
    if (!issued) return std::string();
    auto facts = net::verify_certificate(issued->certificate, (*certificates)->identity()->authority, folder.now);
    return facts && facts->public_key == asked.public_key ? facts->subject.text() + (facts->has_key ? " with the key" : "") : "?";
  };
  EXPECT_EQ(gives({kClusterKey, ""}, of("n1")), "node:n1 with the key");
  EXPECT_EQ(gives({kAdministrator, ""}, of("l1", rpc::TokenRole::kLogin)), "login:l1 with the key");
  EXPECT_EQ(gives({kNode, "n1"}, of("n1")), "node:n1");
  EXPECT_EQ(gives({kLogin, "l1"}, of("l1", rpc::TokenRole::kLogin)), "login:l1");
  for (const auto& [who, name, role] : {std::tuple{Subject{kNode, "n1"}, "n2", rpc::TokenRole::kNode},
                                        {Subject{kNode, "n1"}, "n1", rpc::TokenRole::kLogin},
                                        {Subject{kLogin, "l1"}, "l1", rpc::TokenRole::kNode},
                                        {Subject{kLogin, "l1"}, "l2", rpc::TokenRole::kLogin},
                                        {Subject{kToken, "unknown"}, "n1", rpc::TokenRole::kNode},
                                        {Subject{kUser, ""}, "n1", rpc::TokenRole::kNode},
                                        {Subject{kClusterKey, ""}, "a b", rpc::TokenRole::kNode}})
    EXPECT_EQ(gives(who, of(name, role)), "") << who.text() << " " << name;
  rpc::AskCertificate short_key = of("n1");
  short_key.public_key.pop_back();
  EXPECT_EQ(gives({kClusterKey, ""}, short_key), "");
}

TEST(Certificates, FilesThatAreNotGoodAreNoReasonToForget) {
  const Folder folder;
  ASSERT_TRUE(folder.open());
  ASSERT_TRUE(os::write_file_atomic(folder.path + "/tokens", "nonsense", 0600));
  EXPECT_FALSE(folder.open()) << "what was revoked would be good again";
  ::unlink((folder.path + "/tokens").c_str());
  ASSERT_TRUE(folder.open());
  ::chmod((folder.path + "/authority").c_str(), 0644);
  EXPECT_EQ(folder.open().error().code, Errc::kAccessDenied);
  ASSERT_TRUE(os::write_file_atomic(folder.path + "/authority", "short", 0600));
  EXPECT_FALSE(folder.open());
}

}  // namespace
}  // namespace muster::slurmctld

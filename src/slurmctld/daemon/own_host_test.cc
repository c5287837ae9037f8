#include "slurmctld/daemon/own_host.h"

#include <gtest/gtest.h>

namespace muster::slurmctld {
namespace {

config::Config hosts(std::vector<config::ControllerHost> lines) {
  config::Config c;
  c.path = "/etc/slurm/slurm.conf";
  c.slurmctld_hosts = std::move(lines);
  return c;
}

// What of the lines is this host's, where only `here` leads to it.
std::string found(const config::Config& c, std::string_view hostname, const std::string& here = "") {
  const auto* line = own_line(c, hostname, [&](const std::string& host) { return host == here; });
  return line ? line->name : "none";
}

TEST(OwnHost, ByItsNameShortOrInFull) {
  const auto c = hosts({{"ctl", "10.0.0.1"}, {"spare.example.org", "spare.example.org"}});
  EXPECT_EQ(found(c, "ctl"), "ctl");
  EXPECT_EQ(found(c, "CTL.example.org"), "ctl");
  EXPECT_EQ(found(c, "spare"), "spare.example.org");
  EXPECT_EQ(found(c, "login"), "none");
}

TEST(OwnHost, ByWhatTheNameOrTheAddressLeadsTo) {
  const auto c = hosts({{"ctl", "10.0.0.1"}, {"alias", "alias"}});
  EXPECT_EQ(found(c, "login", "10.0.0.1"), "ctl");
  EXPECT_EQ(found(c, "login", "ctl"), "ctl");
  EXPECT_EQ(found(c, "login", "alias"), "alias");
  EXPECT_EQ(found(c, "alias", "10.0.0.1"), "alias");  // the name says it; nobody has to be asked
}

TEST(OwnHost, AnotherHostIsRefusedWithTheLines) {
  const auto c = hosts({{"ctl", "10.0.0.1"}, {"spare", "spare"}});
  const auto no = may_control(c, "login-node.example.org", [](const std::string&) { return false; });
  ASSERT_FALSE(no);
  EXPECT_EQ(no.error().message(),
            "This host (login-node/login-node.example.org) not a valid controller: /etc/slurm/slurm.conf has SlurmctldHost=ctl(10.0.0.1), "
            "SlurmctldHost=spare, and none of these names or addresses is this host's");
  EXPECT_NE(no.error().hint.find("SlurmctldHost=login-node "), std::string::npos) << no.error().hint;
  EXPECT_TRUE(may_control(c, "spare", [](const std::string&) { return false; }));
}

TEST(OwnHost, LoopbackIsHereAndADocumentationAddressIsNot) {
  EXPECT_TRUE(leads_here("127.0.0.1"));
  EXPECT_TRUE(leads_here("127.0.0.9"));
  EXPECT_TRUE(leads_here("localhost"));
  EXPECT_FALSE(leads_here("192.0.2.1"));  // RFC 5737: nobody has it
  EXPECT_FALSE(leads_here("ctl.invalid"));
}

}  // namespace
}  // namespace muster::slurmctld

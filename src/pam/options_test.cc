#include "pam/options.h"

#include <gtest/gtest.h>

namespace muster::pam {
namespace {

Options of(std::vector<const char*> arguments) { return parse_options(arguments); }

TEST(PamOptions, AreAsTheGuideSays) {
  const Options usual = of({});
  EXPECT_EQ(usual.no_jobs, Action::kDeny);
  EXPECT_EQ(usual.unknown, Action::kNewest);
  EXPECT_EQ(usual.adopt_failure, Action::kAllow);
  EXPECT_EQ(usual.generic_failure, Action::kIgnore);
  EXPECT_EQ(usual.service, "sshd");
  EXPECT_EQ(usual.log_level, 3);
  EXPECT_TRUE(usual.join_container);
  const Options all = of({"action_no_jobs=ignore", "action_unknown=deny", "action_adopt_failure=deny", "action_generic_failure=allow",
                          "log_level=debug2", "nodename=n1", "service=*", "disable_x11=1", "join_container=false", "socket=/run/s"});
  EXPECT_EQ(all.no_jobs, Action::kIgnore);
  EXPECT_EQ(all.unknown, Action::kDeny);
  EXPECT_EQ(all.adopt_failure, Action::kDeny);
  EXPECT_EQ(all.generic_failure, Action::kAllow);
  EXPECT_EQ(all.log_level, 6);
  EXPECT_EQ(all.nodename, "n1");
  EXPECT_FALSE(all.join_container);
  EXPECT_EQ(all.service, "*");
  EXPECT_EQ(all.socket, "/run/s");
  EXPECT_TRUE(all.faults.empty()) << all.faults.front();
  EXPECT_EQ(of({"log_level=1"}).log_level, 1);
}

TEST(PamOptions, ASlipOfThePenOpensNothing) {
  const Options typo = of({"action_adopt_failure=denied", "action_generic_failure=", "action_no_jobs=allow", "action_unknown"});
  EXPECT_EQ(typo.adopt_failure, Action::kDeny);
  EXPECT_EQ(typo.generic_failure, Action::kDeny);
  EXPECT_EQ(typo.no_jobs, Action::kDeny);
  EXPECT_EQ(typo.unknown, Action::kDeny);
  ASSERT_EQ(typo.faults.size(), 4u);
  EXPECT_EQ(typo.faults[0], "action_adopt_failure=denied: must be one of allow, deny; deny counts");
}

TEST(PamOptions, WhatIsNoneIsNamed) {
  const Options odd =
      of({"action_no_job=ignore", "log_level=loud", "nodename=../n1", "socket=run", "disable_x11=yes", "join_container=1", "="});
  EXPECT_EQ(odd.faults.size(), 7u);
  EXPECT_EQ(odd.no_jobs, Action::kDeny);
  EXPECT_EQ(odd.nodename, "");
  EXPECT_TRUE(odd.join_container) << "what nobody understands takes nobody out of his job";
  EXPECT_EQ(odd.socket, "");
  EXPECT_EQ(odd.log_level, 3);
}

TEST(PamSocket, IsBesideThePidFile) {
  EXPECT_EQ(socket_in("", "n1", "host"), "/var/run/slurmd.n1.sock");
  EXPECT_EQ(socket_in("ClusterName=c\nslurmdpidfile = /run/slurm/slurmd.pid # here\n", "n1", "host"), "/run/slurm/slurmd.n1.sock");
  EXPECT_EQ(socket_in("SlurmdPidFile=/run/%h/%n/d.pid\r\n", "n1", "host"), "/run/host/n1/slurmd.n1.sock");
  EXPECT_EQ(socket_in("#SlurmdPidFile=/x/d.pid\nSlurmdPidFileX=/y/d.pid\nSlurmdPidFile=z\n", "n1", "host"), "/var/run/slurmd.n1.sock");
}

}  // namespace
}  // namespace muster::pam

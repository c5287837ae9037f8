// Session against a controller that answers from a unix socket where slurmctld's agent socket would be.
#include "cli/common/session.h"

#include <gtest/gtest.h>
#include <poll.h>

#include "cli/common/command.h"
#include "net/shares.h"
#include "net/test_support.h"

namespace muster::cli {
namespace {

using net::test::Background;
using net::test::Fixture;
using net::test::TempDir;

template <class T>
std::string bytes_of(const T& value) {
  std::string out;
  wire::encode(value, out);
  return out;
}

class FakeController {
 public:
  explicit FakeController(net::Limits limits = {}, bool counts_us = false)
      : background_([this, limits, counts_us](Fixture& f) mutable {
          if (counts_us) {
            net::ShareFigures two = net::ShareFigures::fit(1024);
            two.connections = 4;
            limits.shares = net::Shares::make(f.loop, {}, two);
          }
          auto channels = std::make_shared<std::vector<net::ChannelPtr>>();
          auto listener = net::listen_unix(
              f.loop, dir_.path() + "/slurmctld.7001.sock",
              [channels](net::ChannelPtr c) {
                c->on_request = [raw = c.get()](net::Frame q) { answer(*raw, q); };
                c->on_closed = [channels, raw = c.get()](const Error&) {
                  std::erase_if(*channels, [&](const net::ChannelPtr& p) { return p.get() == raw; });
                };
                channels->push_back(std::move(c));
              },
              limits);
          EXPECT_TRUE(listener);
          return std::make_shared<std::pair<decltype(channels), std::unique_ptr<net::Listener>>>(channels, std::move(*listener));
        }) {}

  ClientConf conf() const {
    ClientConf c;
    c.slurmctld_pid_file = dir_.path() + "/slurmctld.pid";
    c.slurmd_pid_file = dir_.path() + "/none/slurmd.pid";
    c.slurmctld_port = 7001;
    c.auth_type = "auth/slurm";
    c.message_timeout_seconds = 2;
    return c;
  }

 private:
  static void answer(net::Channel& c, const net::Frame& q) {
    switch (q.message) {
      case wire::number_of<rpc::SubmitJob>: {
        rpc::SubmitJob request;
        ASSERT_TRUE(wire::decode(q.payload, request));
        rpc::JobSubmitted done;
        done.job = JobId{static_cast<uint32_t>(request.script.size())};
        return c.answer(q.id, q.message, bytes_of(done));
      }
      case wire::number_of<rpc::QueryJobs>:
        for (uint32_t part = 0; part < 3; ++part) {
          rpc::JobRows rows;
          rows.jobs.resize(2);
          rows.jobs[0].id = JobId{part * 2 + 1};
          rows.jobs[1].id = JobId{part * 2 + 2};
          c.answer_part(q.id, q.message, bytes_of(rows));
        }
        return c.answer(q.id, q.message, "");
      default: return c.answer_error(q.id, Error(Errc::kInvalidJobId));
    }
  }

  TempDir dir_;
  Background background_;
};

// Whoever holds all of its user's share is told so; when a place is free the command gets it without being run again.
TEST(Session, WaitsForAPlaceAndSaysWhyThereIsNone) {
  FakeController controller({}, true);
  rpc::SubmitJob request;
  request.script = "#!/bin/sh\n";
  auto first = std::make_unique<Session>(controller.conf(), Patience::kNone),
       second = std::make_unique<Session>(controller.conf(), Patience::kNone);
  ASSERT_TRUE(first->call(request));
  ASSERT_TRUE(second->call(request));
  Session third(controller.conf(), Patience::kNone);
  auto refused = third.call(request);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kTryAgainLater);
  EXPECT_NE(refused.error().message().find("2 connections of this user"), std::string_view::npos) << refused.error().message();
  first.reset();
  auto taken = third.call(request);
  EXPECT_TRUE(taken) << taken.error().message();
}

// A daemon ends idle connections; the command that kept one (salloc) asks on a new one.
TEST(Session, AnIdleConnectionThatEndedIsReplaced) {
  net::Limits limits;
  limits.idle = milliseconds(5);
  FakeController controller(limits, true);
  Session s(controller.conf(), Patience::kNone);
  rpc::SubmitJob request;
  request.script = "#!/bin/sh\n";
  ASSERT_TRUE(s.call(request));
  pollfd ended{s.client().fd(), POLLIN, 0};
  ASSERT_EQ(::poll(&ended, 1, 10'000), 1);
  auto again = s.call(request);
  EXPECT_TRUE(again) << again.error().message();
}

TEST(Session, CallsOverTheAgentSocket) {
  FakeController controller;
  Session s(controller.conf(), Patience::kNone);
  rpc::SubmitJob request;
  request.script = "#!/bin/sh\n";
  Result<rpc::JobSubmitted> done = s.call(request);
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(done->job, JobId{10});
}

TEST(Session, StreamsPartsInOrder) {
  FakeController controller;
  Session s(controller.conf(), Patience::kNone);
  std::vector<uint32_t> seen;
  Result<rpc::Empty> done = s.stream(rpc::QueryJobs{}, [&](rpc::JobRows&& part) -> Result<> {
    for (const JobRow& j : part.jobs) seen.push_back(j.id.value);
    return {};
  });
  ASSERT_TRUE(done);
  EXPECT_EQ(seen, (std::vector<uint32_t>{1, 2, 3, 4, 5, 6}));
}

TEST(Session, ErrorsOfTheControllerComeThrough) {
  FakeController controller;
  Session s(controller.conf(), Patience::kNone);
  Result<rpc::Messages> done = s.call(rpc::UpdateJob{});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message(), "Invalid job id specified");
}

TEST(Session, WithoutAControllerQueriesFailAtOnceInSlurmsWords) {
  TempDir dir;
  ClientConf conf;
  conf.slurmctld_pid_file = conf.slurmd_pid_file = dir.path() + "/x.pid";
  conf.auth_type = "auth/slurm";
  Session s(conf, Patience::kNone);
  auto began = std::chrono::steady_clock::now();
  Result<rpc::Pong> done = s.call(rpc::Ping{});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message(), "Unable to contact slurm controller (connect failure)");
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(2));
}

TEST(Session, ControlCommandsWaitForOneThatIsStarting) {
  TempDir dir;
  ClientConf conf;
  conf.slurmctld_pid_file = conf.slurmd_pid_file = dir.path() + "/x.pid";
  conf.auth_type = "auth/slurm";
  conf.message_timeout_seconds = 1;
  Session s(conf, Patience::kMessageTimeout);
  auto began = std::chrono::steady_clock::now();
  ASSERT_FALSE(s.call(rpc::Ping{}));
  EXPECT_GE(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(900));
}

TEST(Session, WithoutSlurmdbdTheHintSaysWhereItWasSought) {
  TempDir dir;
  ClientConf conf;
  conf.path = dir.path() + "/slurm.conf";
  conf.slurmctld_pid_file = conf.slurmd_pid_file = dir.path() + "/x.pid";
  conf.auth_type = "auth/slurm";
  conf.accounting_host = "127.0.0.1";
  conf.accounting_port = 1;
  Session s(conf, Patience::kNone, Whom::kDatabase);
  Result<rpc::Pong> done = s.call(rpc::Ping{});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message(), "Connection refused");
  EXPECT_NE(done.error().hint.find("127.0.0.1:1"), std::string::npos) << done.error().hint;
}

TEST(ClientOptions, SlurmdbdsSocketsAndHosts) {
  ClientConf conf;
  conf.path = "/nowhere/slurm.conf";
  conf.slurmctld_pid_file = "/run/s/slurmctld.pid";
  conf.accounting_host = "db1";
  conf.accounting_backup_host = "db2";
  conf.accounting_port = 6820;
  net::ClientOptions o = database_options(conf, Patience::kNone);
  EXPECT_EQ(o.agent_sockets, (std::vector<std::string>{"/run/s/slurmdbd.6820.sock", "/var/run/slurmdbd.6820.sock"}));
  ASSERT_EQ(o.controllers.size(), 2u);
  EXPECT_EQ(o.controllers[1].host, "db2");
  EXPECT_EQ(o.controllers[1].port, 6820);
}

TEST(ClientOptions, TheControllersSocketComesFirstAndTheCallerIsTrusted) {
  ClientConf conf;
  conf.slurmctld_pid_file = "/run/s/slurmctld.pid";
  conf.slurmd_pid_file = "/run/%n/slurmd.pid";
  conf.controllers = {{"a", "10.0.0.1"}, {"b", "b"}};
  conf.slurmctld_port = 6820;
  net::ClientOptions o = client_options(conf, Patience::kNone);
  ASSERT_GE(o.agent_sockets.size(), 2u);
  EXPECT_EQ(o.agent_sockets[0], "/run/s/slurmctld.6820.sock");
  const std::string host = short_hostname();  // then the node daemon of this host, which passes on
  EXPECT_EQ(o.agent_sockets[1], "/run/" + host + "/slurmd." + host + ".sock");
  EXPECT_EQ(o.agent_sockets.back(), "/run/slurm/sack.socket") << "of a login host's sackd";
  EXPECT_EQ(o.trusted_uids.at(0), getuid());
  ASSERT_EQ(o.controllers.size(), 2u);
  EXPECT_EQ(o.controllers[0].host, "10.0.0.1");
  EXPECT_EQ(o.controllers[1].port, 6820);
  EXPECT_EQ(o.patience, Duration{});
}

}  // namespace
}  // namespace muster::cli

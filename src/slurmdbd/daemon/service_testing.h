// For tests of slurmdbd's Service: messages over real channels, with peers of our choice, on an SQLite file.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <string>
#include <utility>
#include <vector>

#include "net/test_support.h"
#include "slurmdbd/daemon/entity_rows.h"
#include "slurmdbd/daemon/service.h"
#include "wire/accounting_instances.h"

namespace muster::slurmdbd {

inline constexpr uint32_t kSlurm = 64030, kAlice = 3'000'000'001, kBob = 3'000'000'002;  // numbers that no user here has

struct ServiceTest : testing::Test {
  ServiceTest() {
    os::LogOptions o;
    o.async = false;
    log = std::move(*os::Log::open(o));
  }
  void SetUp() override { open(); }  // after the constructors of tests that set more
  void open() {
    auto storage = [&] { return std::move(*sql::Storage::open(std::move(*sql::open_sqlite(dir.path() + "/a.db")))); };
    auto writer = storage();
    auto directory = load_directory(*writer, from_unix(1000));
    ASSERT_TRUE(directory);
    Service::Ports ports;
    ports.settings = [this] {
      if (before_settings) before_settings();
      return std::make_shared<const Settings>(settings);
    };
    ports.reconfigure = [this]() -> Result<> {
      ++reconfigured;
      return {};
    };
    ports.shutdown = [this] { ++shut_down; };
    ports.debug = debug;
    ports.run_program = [this](const std::string&, std::vector<std::string> variables, const std::function<void(std::string)>& over) {
      script_variables = std::move(variables);
      over(script_says);
    };
    service = std::make_unique<Service>(f.loop, *log, Uid(kSlurm), std::move(writer), storage(), std::move(*directory), std::move(ports));
  }
  net::ChannelPtr connect(uint32_t uid) {
    int fds[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
    net::Peer peer;
    peer.uid = Uid(uid);
    service->accept(net::adopt_channel(f.loop, fds[0], peer));
    return net::adopt_channel(f.loop, fds[1], net::Peer{});
  }
  template <class Request>
  Result<wire::AnswerTo<Request>> ask(uint32_t uid, const Request& request, const std::function<void(std::string)>& part = {}) {
    net::ChannelPtr c = connect(uid);
    std::string payload;
    wire::encode(request, payload);
    Result<wire::AnswerTo<Request>> out = fail(Errc::kError);
    auto answered = [&](Result<net::Frame> frame) {
      if (!frame) {
        out = std::unexpected(frame.error());
      } else {
        wire::AnswerTo<Request> value;
        auto ok = wire::decode(frame->payload, value);
        if (ok) out = std::move(value);
        else out = std::unexpected(ok.error());
      }
      f.loop.stop();
    };
    c->request_stream(
        wire::number_of<Request>, payload, seconds(20), [&](net::Frame frame) { part(std::move(frame.payload)); }, answered);
    f.run();
    c->close();
    return out;
  }
  std::vector<JobRecord> jobs(uint32_t uid, const rpc::JobRecordFilter& filter = {}) {
    std::vector<JobRecord> out;
    rpc::QueryRecords q;
    q.filter = filter;
    auto done = ask(uid, q, [&](std::string bytes) {
      rpc::JobRecords part;
      ASSERT_TRUE(wire::decode(bytes, part, wire::kOfOurOwn));  // as the commands do
      out.insert(out.end(), part.jobs.begin(), part.jobs.end());
      steps += part.steps.size();
    });
    EXPECT_TRUE(done);
    return out;
  }
  rpc::Entities entities(uint32_t uid, Entity what) {
    rpc::Entities all;
    rpc::QueryEntities q;
    q.what = what;
    auto done = ask(uid, q, [&](std::string bytes) {
      rpc::Entities part;
      ASSERT_TRUE(wire::decode(bytes, part));
      all.accounts.insert(all.accounts.end(), part.accounts.begin(), part.accounts.end());
      all.clusters.insert(all.clusters.end(), part.clusters.begin(), part.clusters.end());
      all.associations.insert(all.associations.end(), part.associations.begin(), part.associations.end());
      all.transactions.insert(all.transactions.end(), part.transactions.begin(), part.transactions.end());
    });
    EXPECT_TRUE(done);
    return all;
  }
  Result<rpc::RecordsStored> store(uint32_t uid, uint32_t first, uint32_t count, uint64_t position = 5) {
    rpc::StoreRecords m;
    m.cluster = "Test";
    m.position = position;
    for (uint32_t i = 0; i < count; ++i) {
      JobRecord r;
      r.key = {JobId(first + i), from_unix(2000), 0};
      r.position = position;
      r.uid = Uid(i % 2 ? kAlice : kBob);
      r.state = JobState::kRunning;
      r.started = from_unix(2010);
      m.jobs.push_back(r);
      StepRecord s;
      s.job = r.key;
      s.id = kBatchStep;
      s.position = position;
      m.steps.push_back(s);
    }
    return ask(uid, m);
  }
  rpc::EditEntities add_account(bool commit) {
    rpc::EditEntities m;
    m.commit = commit;
    m.edits.emplace_back().where.accounts = {"team-a"};
    return m;
  }
  void register_cluster() {
    rpc::RegisterCluster r;
    r.cluster.name = "test";
    r.tracked_tres = {"gres/gpu"};
    ASSERT_TRUE(ask(kSlurm, r));
  }

  net::test::TempDir dir;
  net::test::Fixture f;
  DebugLog* debug = nullptr;  // takes effect at the next open()
  Settings settings;
  std::function<void()> before_settings;
  std::unique_ptr<os::Log> log;
  std::unique_ptr<Service> service;
  int reconfigured = 0, shut_down = 0;
  std::string script_says;  // what went wrong with it
  std::vector<std::string> script_variables;
  size_t steps = 0;
};

}  // namespace muster::slurmdbd

// What slurmd passes on to slurmctld for those who ask at its agent socket.
#include "slurmd/daemon/fake_cluster.h"
#include "wire/instances.h"
#include "wire/messages.h"

namespace muster::slurmd::test {
namespace {

struct Asked {
  const char* name;
  uint16_t number;
  bool waits;
};
constexpr Asked kAsked[] = {
    {"Allocate", wire::number_of<rpc::Allocate>, true},   {"WaitJob", wire::number_of<rpc::WaitJob>, true},
    {"WaitSteps", wire::number_of<rpc::WaitSteps>, true}, {"WaitRecords", wire::number_of<rpc::WaitRecords>, true},
    {"Ping", wire::number_of<rpc::Ping>, false},
};

// Each wait takes a place of its user's at slurmctld, which has to be given back when the command was killed.
TEST(Relay, WhoeverWaitsIsToldOfWhenHeIsGone) {
  FakeCluster c;
  c.start_slurmd();
  size_t gone = 0;
  for (const Asked& a : kAsked) {
    SCOPED_TRACE(a.name);
    const size_t before = c.relayed.size();
    net::ChannelPtr command;
    net::connect_unix(c.loop, c.socket(), [&](Result<net::ChannelPtr> got) {
      ASSERT_TRUE(got) << got.error().message();
      command = *got;
      command->request(a.number, {}, net::kNoTimeout, [](Result<net::Frame>) {});
    });
    ASSERT_TRUE(c.run_until([&] { return c.relayed.size() > before; }));
    const rpc::Relay& m = c.relayed.back();
    EXPECT_EQ(m.message, a.number);
    EXPECT_EQ(m.asker != 0, a.waits);
    command.reset();
    if (!a.waits) continue;
    ASSERT_TRUE(c.run_until([&] { return c.askers_gone.size() > gone; })) << "slurmctld keeps its waiter";
    EXPECT_EQ(c.askers_gone[gone++], m.asker);
  }
}

}  // namespace
}  // namespace muster::slurmd::test

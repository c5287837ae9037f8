#include "slurmctld/daemon/reservation_groups.h"

#include <gtest/gtest.h>

namespace muster::slurmctld {
namespace {

using Names = std::vector<std::string>;

struct Site {
  Site() {
    os::LogOptions options;
    options.program = "test";
    log = std::move(*os::Log::open(options));
    Cluster cluster;
    const auto add = [&](uint32_t id, const Names& groups) {
      Reservation r;
      r.id = id;
      r.groups.names = groups;
      cluster.reservations.set(id, r);
    };
    add(1, {"bio", "chem"});
    add(2, {"bio", "gone"});
    add(3, {});
    state = std::make_shared<const Snapshot>(cluster, StateCounts(), nullptr);
    ReservationGroups::Ports ports;
    ports.snapshot = [this] { return state; };
    ports.known = [this](const GroupMembers& found) {
      known.emplace_back(found.reservation, found.members);
      if (known.size() >= wanted) loop.stop();
    };
    ports.ask = [this](const std::string& group) -> Result<Names> {
      ++asked;
      if (group == "gone") return fail(Errc::kNotFound);
      return group == "bio" ? Names{"bob", "ann"} : Names{"ann", "cid"};
    };
    ports.changed = [this] { return written; };
    groups = std::make_unique<ReservationGroups>(loop, *log, std::move(ports));
  }
  // Runs until so much was told, or for this time.
  void run(size_t most, Duration time = seconds(20)) {
    wanted = most;
    auto late = loop.after(time, [this] { loop.stop(); });
    loop.run();
  }
  net::Loop loop;
  std::unique_ptr<os::Log> log;
  std::shared_ptr<const Snapshot> state;
  std::vector<std::pair<uint32_t, Names>> known;
  std::atomic<int> asked = 0;
  int64_t written = 1;
  size_t wanted = 1;
  std::unique_ptr<ReservationGroups> groups;
};

TEST(ReservationGroups, MembersOfAllItsGroupsAreToldEachOnceAndAgain) {
  Site s;
  s.groups->configure(milliseconds(5), true);
  s.run(2);
  ASSERT_GE(s.known.size(), 2u);
  for (const auto& [id, members] : s.known) {
    EXPECT_EQ(id, 1u) << "of a group that is not there nothing is said";
    EXPECT_EQ(members, (Names{"ann", "bob", "cid"}));
  }
}

TEST(ReservationGroups, WithoutForceOnlyAChangedFileIsAReason) {
  Site s;
  s.groups->configure(milliseconds(2), false);
  s.run(1);
  const int at_first = s.asked;
  s.run(9, milliseconds(50));
  EXPECT_EQ(s.asked, at_first);
  s.written = 2;
  s.run(2);
  EXPECT_EQ(s.known.size(), 2u);
}

TEST(ReservationGroups, WithoutATimeOnlyReconfigureLooks) {
  Site s;
  s.groups->configure(Duration::zero(), true);
  s.run(1);
  const int at_first = s.asked;
  s.run(9, milliseconds(50));
  EXPECT_EQ(s.asked, at_first);
  s.groups->configure(Duration::zero(), true);
  s.run(2);
  EXPECT_EQ(s.known.size(), 2u);
}

TEST(ReservationGroups, TheFileOfGroupsHasATime) { EXPECT_NE(group_file_written(), 0); }

}  // namespace
}  // namespace muster::slurmctld

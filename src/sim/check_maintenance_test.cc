#include "sim/check_maintenance.h"

#include <gtest/gtest.h>

#include "sched/testing.h"

namespace muster::sim {
namespace {

using enum MaintenanceStep;

struct Watched {
  Watched() : cluster(sched::a_cluster().nodes(3).cpus(4).build()) {
    Maintenance m;
    m.id = 1;
    m.name = "m";
    for (uint32_t i = 0; i < 3; ++i) m.nodes.push_back({NodeId(i), "n" + std::to_string(i), kWaiting, {}, {}});
    cluster.maintenances.set(1, m);
    for (uint32_t i = 0; i < 3; ++i) boots(i, "first");
  }
  void boots(uint32_t i, const std::string& boot) {
    NodeHardware hardware;
    hardware.boot_id = boot;
    cluster.nodes.edit(i)->hardware = std::make_shared<const NodeHardware>(hardware);
  }
  void drain(uint32_t i, bool on = true) {
    uint32_t& flags = cluster.nodes.edit(i)->flags;
    flags = on ? flags | kNodeDrain : flags & ~kNodeDrain;
  }
  Maintenance& maintenance() { return *cluster.maintenances.edit(1); }
  // What is said of the step, which is then taken.
  std::string moves(uint32_t i, MaintenanceStep to) {
    std::string wrong = watch.take(event::MaintenanceNodeMoved{1, i, to, {}, {}}, cluster);
    maintenance().nodes[i].step = to;
    return wrong;
  }
  std::string ends() {
    return watch.take(event::MaintenanceStateSet{1, MaintenanceState::kFinished, {}, from_unix(1'000'000), false}, cluster);
  }

  Cluster cluster;
  MaintenanceWatch watch;
};

TEST(MaintenanceWatch, WhatAMaintenanceIsIsTakenInSilence) {
  Watched w;
  for (uint32_t i = 0; i < 3; ++i) {
    w.drain(i);
    EXPECT_EQ(w.moves(i, kDraining), "");
    EXPECT_EQ(w.moves(i, kWorking), "");
    w.boots(i, "second");
    w.drain(i, false);
    EXPECT_EQ(w.moves(i, kDone), "");
  }
  EXPECT_EQ(w.ends(), "");
}

TEST(MaintenanceWatch, NeverMoreThanWasSaid) {
  Watched w;
  w.drain(0);
  w.drain(1);
  EXPECT_EQ(w.moves(0, kDraining), "");
  EXPECT_EQ(w.moves(1, kDraining), "maintenance m, node n1: begun beside 1 others; 1 may be held");
  w.maintenance().at_once = 3;
  w.maintenance().state = MaintenanceState::kPaused;
  w.drain(2);
  EXPECT_EQ(w.moves(2, kDraining), "maintenance m, node n2: begun while the maintenance is paused");
}

TEST(MaintenanceWatch, DoneIsAnotherBootAndInService) {
  Watched w;
  w.maintenance().at_once = 3;
  EXPECT_EQ(w.moves(0, kDraining), "maintenance m, node n0: begun without being drained");
  EXPECT_EQ(w.moves(0, kDone), "maintenance m, node n0: draining, then done");
  w.drain(1);
  EXPECT_EQ(w.moves(1, kDraining), "");
  EXPECT_EQ(w.moves(1, kWorking), "");
  EXPECT_EQ(w.moves(1, kDone), "maintenance m, node n1: done with the boot that it had before");
  EXPECT_EQ(w.moves(1, kWorking), "maintenance m, node n1: done, then working");
  w.boots(1, "second");
  EXPECT_EQ(w.moves(1, kDone), "maintenance m, node n1: done and not in service");
  EXPECT_NE(w.ends(), "") << "n2 waits";
}

TEST(MaintenanceWatch, NothingRunsWhereOneReboots) {
  Watched w;
  event::NodeStateChanged change;
  change.node = NodeId(0);
  change.flags = kNodeDrain | kNodeRebootIssued;
  EXPECT_EQ(w.watch.take(change, w.cluster), "");
  w.cluster.nodes.edit(0)->jobs_running = 1;
  EXPECT_EQ(w.watch.take(change, w.cluster), "node n0 is told to reboot while jobs are there");
}

}  // namespace
}  // namespace muster::sim

// What accounting learns of nodes that are not at work, and of reservations.
#include "slurmctld/core/core_testing.h"
#include "slurmctld/core/records.h"

namespace muster::slurmctld {
namespace {

struct NodeRecords : testing::Test {
  // The last state of each record, as slurmdbd would have it; "down@0-60 n0" with minutes since the start.
  std::vector<std::string> events() {
    std::vector<std::string> out;
    drain();
    for (const auto& [key, e] : known) {
      auto minute = [&](Time t) { return t == kTimeUnset ? std::string() : std::to_string(to_seconds(t - start) / 60); };
      const char* what = e.planned() ? "planned" : e.down() ? "down" : "draining";
      out.push_back(e.node + " " + what + " " + minute(e.started) + "-" + minute(e.ended) + " " + e.reason);
    }
    return out;
  }
  void drain() {
    for (;;) {
      b.turn([&] { b.core.records_stored(0); });
      std::optional<rpc::StoreRecords> u;
      for (const Effect& e : b.effects)
        if (auto* up = std::get_if<UploadRecords>(&e)) u = make_upload(b.core.cluster(), *up);
      if (!u) return;
      for (const EventRecord& e : u->events) known[{e.started, e.node}] = e;
      for (const ReservationRecord& r : u->reservations) reservations[r.started] = r;
      b.turn([&] { b.core.records_stored(u->position); });
      if (b.core.indexes().unrecorded().empty()) return;
    }
  }
  Bench b{"AccountingStorageType=accounting_storage/slurmdbd\n"};
  const Time start = b.now;
  std::map<std::pair<Time, std::string>, EventRecord> known;
  std::map<Time, ReservationRecord> reservations;
};

TEST_F(NodeRecords, ATimeDownHasABeginAndAnEnd) {
  EXPECT_TRUE(events().empty());
  b.set_node("n0", "DOWN");
  EXPECT_EQ(events(), std::vector<std::string>{"n0 down 0- test"});
  b.now += minutes(90);
  b.set_node("n0", "RESUME");
  EXPECT_EQ(events(), std::vector<std::string>{"n0 down 0-90 test"});
  const EventRecord& e = known.begin()->second;
  EXPECT_EQ(tres_text(e.tres), "cpu=4,mem=4000M,billing=4");
  EXPECT_EQ(e.cluster, "c");
  EXPECT_TRUE(b.core.cluster().kept_records.empty());
  b.expect_replay_equal();
}

TEST_F(NodeRecords, ADrainingNodeIsDownWhenItsLastJobIsGone) {
  const JobId job = b.submit();
  b.plan();
  b.started(job);
  const uint32_t host = b.host(job);
  const std::string name = b.node(host).spec->name;
  b.now += minutes(5);
  b.set_node(name, "DRAIN");
  b.now += minutes(5);
  b.ends(job);
  EXPECT_EQ(events(), (std::vector<std::string>{name + " draining 5-10 test", name + " down 10- test"}));
  b.expect_replay_equal();
}

// Each change of a node is at its own time, also while its reason stays the same.
TEST_F(NodeRecords, ADrainedNodeIsOutUntilItIsResumed) {
  b.set_node("n0", "DRAIN");
  b.now += minutes(3);
  b.set_node("n1", "DOWN");
  b.now += minutes(4);
  const auto set = [&](const char* name, const char* state) {  // without a reason, as people do
    b.turn([&] { EXPECT_TRUE(b.core.run(Caller::root(), rpc::UpdateNode{name, {{"State", "=", state}}}).has_value()); });
  };
  set("n0", "RESUME");
  b.now += minutes(5);
  set("n1", "RESUME");
  EXPECT_EQ(events(), (std::vector<std::string>{"n0 down 0-7 test", "n1 down 3-12 test"}));
  b.expect_replay_equal();
}

// Else it is down for ever in reports, also after it came back.
TEST_F(NodeRecords, ANodeThatLeavesTheClusterIsDownNoLonger) {
  b.set_node("n3", "DOWN");
  b.now += minutes(5);
  config::MemoryFiles files{{"/etc/slurm/slurm.conf",
                             "ClusterName=c\nSlurmctldHost=ctl\nAccountingStorageType=accounting_storage/slurmdbd\n"
                             "NodeName=n[0-2] CPUs=4 RealMemory=4000\nPartitionName=main Nodes=ALL\n"}};
  const auto fewer = std::make_shared<const config::LoadedConfig>(config::load_config(files, "/etc/slurm/slurm.conf").value());
  b.turn([&] { b.core.configure(make_settings(fewer, Uid(64030), false)); });
  ASSERT_EQ(b.core.cluster().node("n3"), nullptr);
  const std::vector<std::string> seen = events();
  EXPECT_EQ(seen.front(), "n3 down 0-5 test");
  for (const auto& [key, e] : known) EXPECT_NE(e.ended, kTimeUnset) << e.node << " " << e.reason;
  b.expect_replay_equal();
}

TEST_F(NodeRecords, NothingIsKeptWithoutAccounting) {
  Bench off;
  off.set_node("n0", "DOWN");
  EXPECT_TRUE(off.core.cluster().kept_records.empty());
  EXPECT_EQ(off.node(0).out_since, kTimeUnset);
}

TEST_F(NodeRecords, WhatWasDownBeforeAccountingIsDownFromThen) {
  Bench off;
  off.set_node("n1", "DOWN");
  off.now += minutes(10);
  event::AccountingSet on{true, off.now};
  Cluster c = off.core.cluster();
  Indexes x = rebuild_indexes(c, seconds(100));
  apply(c, x, on);
  EXPECT_EQ(c.nodes.at(1).out_since, off.now);
  EXPECT_EQ(c.kept_records.size(), 1u);
}

TEST_F(NodeRecords, AReservationIsOneRecordUntilItIsGone) {
  Reservation r;
  r.id = 1;
  r.name = "course";
  r.start = b.now;
  r.end = b.now + minutes(60);
  r.flags = kResvMaint;
  r.nodes.set(0);
  r.nodes.set(1);
  r.accounts.names = {"team-a"};
  Cluster c = b.core.cluster();
  Indexes x = rebuild_indexes(c, seconds(100));
  c.accounting = true;
  const auto last = [&] { return *c.kept_records.at(c.last_kept_record).reservation; };
  apply(c, x, event::ReservationSet{std::make_shared<const Reservation>(r), b.now});
  EXPECT_EQ(last().nodes, "n[0-1]");
  EXPECT_EQ(tres_text(last().tres), "cpu=8,mem=8000M,node=2,billing=8");
  EXPECT_EQ(last().accounts, "team-a");
  EXPECT_EQ(last().ended, r.end);
  apply(c, x, event::ReservationRemoved{1, b.now + minutes(20)});
  EXPECT_EQ(last().started, r.start);
  EXPECT_EQ(last().ended, b.now + minutes(20));
}

}  // namespace
}  // namespace muster::slurmctld

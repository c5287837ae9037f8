// Reservations from scontrol to their jobs: who may, what is refused, which nodes they get, who runs there. The examples of the guide
// reservations are here as far as they are about decisions; see also reservation_times_test.cc.
#include "slurmctld/core/reservations_testing.h"
#include "slurmctld/core/rows.h"

namespace muster::slurmctld {
namespace {

// ---- what is asked for
// scontrol(1) Groups=: who is in them is found out again while slurmctld runs.
TEST_F(ReservationTest, MembersOfItsGroupsMayBecomeOthers) {
  rpc::UpdateReservation c = request("StartTime=now Duration=60 Groups=bio Nodes=n1 ReservationName=g");
  c.create = true;
  c.group_members = {"alan"};
  ASSERT_TRUE(run(c).has_value());
  EXPECT_FALSE(ask("brenda", "g").has_value());
  const auto found = [&](const std::vector<std::string>& groups, const std::vector<std::string>& members) {
    b.turn([&] { b.core.learn_members({get("g").id, groups, members}); });
    return b.last_events.size();
  };
  EXPECT_EQ(found({"bio"}, {"alan"}), 0u) << "nothing new";
  EXPECT_EQ(found({"chem"}, {"brenda"}), 0u) << "it names others by now";
  EXPECT_EQ(found({"bio"}, {"brenda"}), 1u);
  EXPECT_TRUE(ask("brenda", "g").has_value());
  EXPECT_FALSE(ask("alan", "g").has_value());
  c = request("ReservationName=g Groups+=chem");
  c.group_members = {"cid"};
  ASSERT_TRUE(run(c).has_value());
  EXPECT_EQ(get("g").group_members, (std::vector<std::string>{"brenda", "cid"})) << "those of the group that stays, too";
}

TEST_F(ReservationTest, AFullSystemIsReservedForMaintenance) {
  EXPECT_EQ(created("StartTime=now+120minutes Duration=120 Users=root Flags=MAINT,IGNORE_JOBS Nodes=ALL"), "root_1");
  const Reservation& r = get("root_1");
  EXPECT_EQ(nodes(r), "0-3");
  EXPECT_EQ(reservation_flags_text(r.flags, r.purge_after), "MAINT,IGNORE_JOBS,SPEC_NODES,ALL_NODES");
  EXPECT_EQ(r.end - r.start, minutes(120));
  EXPECT_EQ(r.start, b.now + minutes(120));
}

TEST_F(ReservationTest, NodesAreChosenAndKeptForSomeUsers) {
  EXPECT_EQ(created("StartTime=now+1hour Duration=60 Users=alan,brenda Flags=DAILY NodeCnt=2"), "alan_1");
  const Reservation& r = get("alan_1");
  EXPECT_EQ(r.nodes.count(), 2u);
  EXPECT_EQ(r.partition, "main");
  EXPECT_EQ(r.users.text(), "alan,brenda");
}

TEST_F(ReservationTest, WhatIsMissingIsSaidAsSlurmSaysIt) {
  EXPECT_EQ(said("Duration=60 Users=root Nodes=n1"), "A start time must be given.  No reservation created.");
  EXPECT_EQ(said("StartTime=now Users=root Nodes=n1"), "An end time or duration must be given.  No reservation created.");
  EXPECT_EQ(said("StartTime=now Duration=60 Nodes=n1"), "Either Users/Groups and/or Accounts must be specified.  No reservation created.");
  EXPECT_EQ(said("StartTime=now Duration=60 Users=root"),
            "CoreCnt, Nodes, NodeCnt, BurstBuffer or Licenses must be specified.  No reservation created.");
  EXPECT_EQ(said("StartTime=now Duration=60 Users=root Nodes=n1 Flags=bogus"), "Error parsing flags bogus.  No reservation created.");
  EXPECT_EQ(said("StartTime=now Duration=60 Users=root Nodes=n1 Watts=5"), "Unknown parameter Watts=5.  No reservation created.");
  EXPECT_EQ(said("StartTime=now Duration=bogus Users=root Nodes=n1"), "Invalid duration Duration=bogus.  No reservation created.");
  EXPECT_EQ(said("StartTime=bogus Duration=5 Users=root Nodes=n1"), "Invalid start time StartTime=bogus.  No reservation created.");
  EXPECT_EQ(said("StartTime=now Duration=5 Users=root Groups=x Nodes=n1"),
            "Users and Groups are mutually exclusive.  You can have one or the other, but not both.  No reservation created.");
  EXPECT_EQ(said("StartTime=now Duration=5 Users=root NodeCnt=1 PartitionName=main Flags=PART_NODES"),
            "PART_NODES flag requires specifying a Partition and ALL nodes.  No reservation created.");
}

TEST_F(ReservationTest, WhatCannotBeIsRefused) {
  EXPECT_EQ(refused("StartTime=now Duration=60 Users=root Nodes=nx"), Errc::kInvalidNodeName);
  EXPECT_EQ(refused("StartTime=now Duration=60 Users=root NodeCnt=1 PartitionName=nope"), Errc::kInvalidPartition);
  EXPECT_EQ(refused("StartTime=now Duration=60 Users=root NodeCnt=1 Features=h100"), Errc::kInvalidFeature);
  EXPECT_EQ(refused("StartTime=now Duration=60 Users=root NodeCnt=9"), Errc::kNodesBusy);
  EXPECT_EQ(refused("StartTime=2020-01-01 Duration=60 Users=root Nodes=n1"), Errc::kInvalidTime);
  EXPECT_EQ(refused("StartTime=now Duration=60 Users=root Nodes=n1 BurstBuffer=5GB"), Errc::kNotSupportedHere);
  EXPECT_EQ(refused("StartTime=now Duration=60 Users=root Nodes=n1 Licenses=foo"), Errc::kLicenses);
  EXPECT_EQ(refused("StartTime=now Duration=60 Users=a,-b Nodes=n1"), Errc::kUserIdMissing);
  EXPECT_EQ(refused("StartTime=now Duration=60 Users=root Nodes=n1 Flags=REPLACE"), Errc::kInvalidNodeName);
  EXPECT_EQ(refused("StartTime=now Duration=60 Users=root Nodes=n1 Flags=DAILY,TIME_FLOAT"), Errc::kNotSupportedHere);
  created("ReservationName=r StartTime=now Duration=60 Users=root Nodes=n1");
  EXPECT_EQ(refused("ReservationName=R StartTime=now Duration=60 Users=root Nodes=n2"), Errc::kReservationNameDuplicate);
  EXPECT_EQ(refused("ReservationName=a,b StartTime=now Duration=60 Users=root Nodes=n2"), Errc::kReservationInvalid);
}

TEST_F(ReservationTest, TimesBeyondAllBoundsAreRefused) {
  EXPECT_NE(refused("StartTime=uts99999999999999 Duration=5 Users=root Nodes=n1"), Errc::kOk);
  EXPECT_NE(refused("StartTime=now EndTime=uts99999999999999 Users=root Nodes=n1"), Errc::kOk);
  created("StartTime=now Duration=UNLIMITED Users=root Nodes=n1");
  EXPECT_EQ(get("root_1").end - get("root_1").start, minutes(365 * 24 * 60));
}

TEST_F(ReservationTest, OnlyOperatorsMay) {
  const Caller user{Uid(1000), Gid(1000), {}, {}, "alan"};
  EXPECT_EQ(create("StartTime=now Duration=60 Users=alan Nodes=n1", user).error().code, Errc::kUserIdMissing);
  created("ReservationName=r StartTime=now Duration=60 Users=alan Nodes=n1");
  EXPECT_EQ(run(request("ReservationName=r Duration=5"), user).error().code, Errc::kUserIdMissing);
  EXPECT_EQ(remove("r", user).error().code, Errc::kUserIdMissing);
  EXPECT_EQ(remove("nope", user).error().code, Errc::kUserIdMissing);
  updated("ReservationName=r Flags=USER_DELETE");
  const Caller other{Uid(1001), Gid(1001), {}, {}, "brenda"};
  EXPECT_EQ(remove("r", other).error().code, Errc::kUserIdMissing);
  EXPECT_TRUE(remove("r", user).has_value());
  EXPECT_EQ(remove("r").error().code, Errc::kReservationInvalid);
}

TEST_F(ReservationTest, ThereIsAMost) {
  b.turn([&] {
    for (uint32_t i = 0; i < 3; ++i) {
      rpc::UpdateReservation c = request("StartTime=now+" + std::to_string(i + 1) + "days Duration=60 Users=root Nodes=n1");
      c.create = true;
      EXPECT_TRUE(b.core.run(Caller::root(), c).has_value());
    }
  });
  EXPECT_EQ(b.core.cluster().reservations.size(), 3u);
  EXPECT_GE(kMostReservations, 1000u);
}

// ---- overlap
TEST_F(ReservationTest, TwoDoNotOverlapUnlessTheSecondMay) {
  created("ReservationName=a StartTime=now+1hour Duration=60 Users=root Nodes=n1");
  EXPECT_EQ(refused("StartTime=now+90minutes Duration=60 Users=root Nodes=n1"), Errc::kReservationOverlap);
  created("ReservationName=b StartTime=now+2hours Duration=60 Users=root Nodes=n1");
  created("ReservationName=c StartTime=now+90minutes Duration=60 Users=root Nodes=n1 Flags=OVERLAP");
  created("ReservationName=d StartTime=now+90minutes Duration=60 Users=root Nodes=n1 Flags=MAINT");
  created("ReservationName=e StartTime=now+90minutes Duration=60 Users=root NodeCnt=3");
  EXPECT_FALSE(get("e").nodes.test(1));
}

TEST_F(ReservationTest, RepetitionsOverlapToo) {
  created("ReservationName=a StartTime=now+1hour Duration=60 Users=root Nodes=n1 Flags=DAILY");
  EXPECT_EQ(refused("StartTime=now+73hours Duration=60 Users=root Nodes=n1"), Errc::kReservationOverlap);
  EXPECT_EQ(refused("StartTime=now+85hours Duration=180 Users=root Nodes=n1 Flags=HOURLY"), Errc::kInvalidTime);
  created("ReservationName=b StartTime=now+75hours Duration=60 Users=root Nodes=n1");
}

// ---- access lists
TEST_F(ReservationTest, NamesMoveUpAndDown) {
  created("ReservationName=r StartTime=now+1hour Duration=60 Users=root Nodes=n1");
  updated("ReservationName=r Users+=daemon");
  EXPECT_EQ(get("r").users.text(), "root,daemon");
  updated("ReservationName=r Users-=daemon");
  EXPECT_EQ(get("r").users.text(), "root");
  EXPECT_EQ(update("ReservationName=r Users-=daemon").error().code, Errc::kUserIdMissing)
      << "allowed and denied ones cannot stand together";
  EXPECT_EQ(update("ReservationName=r Users=").error().code, Errc::kReservationEmpty);
  updated("ReservationName=r Accounts=x Users=");
  updated("ReservationName=r Users=-daemon,-bin");
  EXPECT_EQ(get("r").users.text(), "-daemon,-bin");
  updated("ReservationName=r Users+=bin");
  EXPECT_EQ(get("r").users.text(), "-daemon");
}

TEST_F(ReservationTest, WhoIsNotListedIsKeptOut) {
  created("ReservationName=r StartTime=now Duration=60 Users=alan Nodes=n1");
  created("ReservationName=d StartTime=now Duration=60 Accounts=foo Users=-alan Nodes=n2");
  EXPECT_EQ(ask("brenda", "r").error().code, Errc::kReservationAccess);
  EXPECT_TRUE(ask("alan", "r").has_value());
  EXPECT_EQ(ask("alan", "nope").error().code, Errc::kReservationInvalid);
  EXPECT_EQ(ask("alan", "r,d").error().code, Errc::kReservationAccess);
  EXPECT_EQ(ask("brenda", "d").error().code, Errc::kReservationAccess) << "she is not of the account";
}

TEST_F(ReservationTest, NobodyRunsInOneThatFloats) {
  created("ReservationName=r StartTime=now+60minutes Duration=100 Users=alan Nodes=n1 Flags=TIME_FLOAT");
  EXPECT_EQ(ask("alan", "r").error().code, Errc::kReservationAccess);
  const JobId shorter = submit("brenda", on("n1", 60)), longer = submit("brenda", on("n1", 61));
  EXPECT_EQ(b.plan(), 1u);
  EXPECT_EQ(b.state(shorter), JobState::kRunning);
  b.ends(shorter);
  b.wait(minutes(300));
  EXPECT_EQ(b.plan(), 0u) << "it is as far ahead as ever";
  EXPECT_EQ(b.state(longer), JobState::kPending);
}

// ---- jobs
TEST_F(ReservationTest, AJobOutsideNeverRunsIntoIt) {
  created("ReservationName=r StartTime=now+30minutes Duration=60 Users=alan Nodes=n[0-3]");
  const JobId fits = submit("brenda", on("n1", 30)), not_now = submit("brenda", on("n2", 31));
  EXPECT_EQ(b.plan(), 1u);
  EXPECT_EQ(b.state(fits), JobState::kRunning);
  EXPECT_EQ(reason(not_now), Reason::kReqNodeNotAvail);
  const Verdict* v = b.core.cluster().moment.verdicts.find(not_now.value);
  ASSERT_TRUE(v);
  EXPECT_GE(v->expected_start, b.now + minutes(90));
  EXPECT_LE(v->expected_start, b.now + minutes(92));
}

TEST_F(ReservationTest, AJobInsideWaitsForItsBeginAndStaysWithin) {
  created("ReservationName=r StartTime=now+30minutes Duration=60 Users=alan Nodes=n[1-2]");
  const JobId job = submit("alan", in("r", 10));
  EXPECT_EQ(b.plan(), 0u);
  EXPECT_EQ(reason(job), Reason::kReservation);
  EXPECT_EQ(b.core.cluster().moment.verdicts.find(job.value)->detail.view(), "reservation r begins at " + format_time(b.now + minutes(30)));
  const Time expected = b.core.cluster().moment.verdicts.find(job.value)->expected_start;
  EXPECT_GE(expected, b.now + minutes(30));
  EXPECT_LE(expected, b.now + minutes(31));
  b.wait(minutes(30));
  EXPECT_EQ(b.plan(), 1u);
  EXPECT_TRUE(b.host(job) == 1 || b.host(job) == 2);
  EXPECT_EQ(b.get(job).run->reservation_name, "r");
  EXPECT_EQ(remove("r").error().code, Errc::kReservationBusy);
}

TEST_F(ReservationTest, AJobLongerThanItRunsAndEndsWithIt) {
  created("ReservationName=r StartTime=now Duration=30 Users=alan Nodes=n1");
  const JobId job = submit("alan", in("r", 60));
  EXPECT_EQ(b.plan(), 1u);
  b.started(job);
  EXPECT_EQ(b.get(job).ends, get("r").end);
  b.wait(minutes(29));
  EXPECT_EQ(b.state(job), JobState::kRunning);
  b.wait(minutes(1));
  EXPECT_EQ(b.state(job), JobState::kTimeout);
  EXPECT_FALSE(there("r"));
}

TEST_F(ReservationTest, AJobThatWaitsWhenItEndsIsHeld) {
  created("ReservationName=r StartTime=now+30minutes Duration=30 Users=alan Nodes=n1");
  const JobId job = submit("alan", in("r", 20));
  EXPECT_EQ(ask("alan", "r,later").error().code, Errc::kReservationInvalid) << "each of them has to be there";
  b.set_node("n1", "drain");
  b.wait(minutes(61));
  EXPECT_FALSE(there("r"));
  EXPECT_EQ(b.get(job).priority, 0u);
  EXPECT_EQ(reason(job), Reason::kReservationDeleted);
  EXPECT_TRUE(b.get(job).flags & kJobResvDelHold);
  EXPECT_EQ(b.get(job).request->reservation, "");
  b.control(rpc::JobAction::kRelease, job);
  EXPECT_FALSE(b.get(job).flags & kJobResvDelHold);
  EXPECT_EQ(b.plan(), 1u);
}

TEST_F(ReservationTest, OrIsLetGoWhereTheReservationSaysSo) {
  created("ReservationName=r StartTime=now+30minutes Duration=30 Users=alan Nodes=n1 Flags=NO_HOLD_JOBS_AFTER");
  const JobId job = submit("alan", in("r", 20));
  b.set_node("n1", "drain");
  b.wait(minutes(61));
  EXPECT_EQ(b.plan(), 1u);
  EXPECT_EQ(b.state(job), JobState::kRunning);
}

TEST_F(ReservationTest, OfSeveralTheFirstThatCanServe) {
  created("ReservationName=later StartTime=now+30minutes Duration=30 Users=alan Nodes=n1");
  created("ReservationName=now StartTime=now Duration=30 Users=alan Nodes=n2");
  const JobId job = submit("alan", in("later,now", 20));
  EXPECT_EQ(b.plan(), 1u);
  EXPECT_EQ(b.get(job).run->reservation_name, "now");
  EXPECT_EQ(b.get(job).request->reservation, "later,now");
  b.wait(minutes(1));
}

TEST_F(ReservationTest, AMagneticOneDrawsItsUsersIn) {
  created("ReservationName=m StartTime=now Duration=60 Users=user1 Nodes=n3 Flags=MAGNETIC");
  const JobId other = submit("user2", on("n3", 5)), drawn = submit("user1", on("n3", 5));
  EXPECT_EQ(b.plan(), 1u);
  EXPECT_EQ(b.state(other), JobState::kPending);
  EXPECT_EQ(b.state(drawn), JobState::kRunning);
  EXPECT_EQ(b.get(drawn).run->reservation_name, "m");
  const sched::PriorityRule rule(b.core.cluster(), b.settings.priority, b.now);
  EXPECT_EQ(make_job_row(b.core.cluster(), rule, b.get(drawn), 0).reservation, "m") << "it is shown where it is";
  EXPECT_EQ(make_job_row(b.core.cluster(), rule, b.get(other), 0).reservation, "");
}

// guide heterogeneous_jobs: they run in magnetic ones only if they ask for them.
TEST_F(ReservationTest, AMagneticOneDrawsNoComponentsIn) {
  created("ReservationName=m StartTime=now Duration=60 Users=user1 Nodes=n[0-3] Flags=MAGNETIC");
  auto submit_two = [&](const std::string& reservation) {
    HetRequest h;
    for (int i = 0; i < 2; ++i)
      h.components.push_back(Bench::request([&](JobRequest& r) {
        r.user_name = "user1";
        r.reservation = reservation;
      }));
    Result<rpc::JobSubmitted> r = fail(Errc::kError);
    b.turn([&] { r = b.core.run(Caller{Uid(1000), {}, {}, {}}, h); });
    return r->job;
  };
  const JobId drawn = submit_two("");
  EXPECT_EQ(b.plan(), 0u);
  EXPECT_EQ(b.state(drawn), JobState::kPending);
  const JobId asked = submit_two("m");
  b.plan();
  EXPECT_EQ(b.state(asked), JobState::kRunning);
}

TEST_F(ReservationTest, InAFlexibleOneAJobStartsBeforeAndElsewhere) {
  created("ReservationName=f StartTime=now+10minutes Duration=10 Users=user1 Nodes=n1 Flags=FLEX");
  const JobId other = submit("user2", on("n1", 30));
  const JobId job = submit("user1", [](JobRequest& r) {
    r.reservation = "f";
    r.required_nodes = "n[1-2]";
    r.min_nodes = 2;
    r.time_limit_min = 30;
  });
  EXPECT_EQ(b.plan(), 1u);
  EXPECT_EQ(b.state(job), JobState::kRunning);
  EXPECT_EQ(b.state(other), JobState::kPending);
  b.started(job);
  b.wait(minutes(21));
  EXPECT_EQ(b.state(job), JobState::kRunning) << "it goes on after the reservation";
}

// Guide reservations, Overlapping Reservations: four of ten nodes for brenda alone in the first half.
TEST_F(ReservationTest, AnOverlappingOneTakesNodesFromTheOneBelow) {
  created("ReservationName=both StartTime=now Duration=60 Users=alan,brenda Nodes=n[0-2]");
  created("ReservationName=hers StartTime=now Duration=30 Users=brenda Nodes=n[0-1] Flags=OVERLAP");
  const JobId big = submit("alan", [](JobRequest& r) {
    r.reservation = "both";
    r.min_nodes = 2;
    r.time_limit_min = 5;
  });
  const JobId own = submit("brenda", [](JobRequest& r) {
    r.reservation = "hers";
    r.min_nodes = 2;
    r.time_limit_min = 30;
  });
  EXPECT_EQ(b.plan(), 1u);
  EXPECT_EQ(b.state(big), JobState::kPending);
  EXPECT_EQ(b.state(own), JobState::kRunning);
  b.started(own);
  b.wait(minutes(31));
  b.gone(own, 0);
  b.gone(own, 1);
  EXPECT_EQ(b.plan(), 1u);
  EXPECT_EQ(b.state(big), JobState::kRunning);
}

TEST_F(ReservationTest, CoresAreKeptAndTheRestIsFree) {
  created("ReservationName=c StartTime=now Duration=60 Users=alan NodeCnt=1 CoreCnt=2");
  const Reservation& r = get("c");
  ASSERT_EQ(r.partial.size(), 1u);
  EXPECT_EQ(r.partial[0].cpus.to_ranges(), "0-1");
  const std::string node = "n" + nodes(r);
  auto cpus = [&](uint32_t n, const std::string& reservation) {
    return [=](JobRequest& q) {
      q.required_nodes = node;
      q.min_nodes = q.max_nodes = 1;
      q.num_tasks = n;
      q.reservation = reservation;
      q.time_limit_min = 20;
      q.mem_per_node_mb = 1000;
    };
  };
  const JobId three = submit("brenda", cpus(3, "")), two = submit("brenda", cpus(2, ""));
  const JobId inside3 = submit("alan", cpus(3, "c")), inside = submit("alan", cpus(2, "c"));
  EXPECT_EQ(b.plan(), 2u);
  EXPECT_EQ(b.state(three), JobState::kPending);
  EXPECT_EQ(b.state(inside3), JobState::kPending);
  ASSERT_EQ(b.state(two), JobState::kRunning);
  ASSERT_EQ(b.state(inside), JobState::kRunning);
  EXPECT_EQ(b.get(two).allocation->nodes[0].cpus.to_ranges(), "2-3");
  EXPECT_EQ(b.get(inside).allocation->nodes[0].cpus.to_ranges(), "0-1");
  EXPECT_EQ(update("ReservationName=c NodeCnt=2").error().code, Errc::kCoreReservationUpdate);
}

TEST_F(ReservationTest, TheFirstCoresOfANodeWhereOnlyThoseWillDo) {
  created("ReservationName=a StartTime=now Duration=60 Users=alan Nodes=n0 CoreCnt=1");
  created("ReservationName=next StartTime=now Duration=60 Users=alan Nodes=n0 CoreCnt=1");
  EXPECT_EQ(get("next").partial[0].cpus.to_ranges(), "1");
  EXPECT_EQ(refused("StartTime=now Duration=60 Users=alan Nodes=n0 CoreCnt=2 Flags=FIRST_CORES"), Errc::kNodesBusy);
  created("ReservationName=first StartTime=now Duration=60 Users=alan Nodes=n1 CoreCnt=2 Flags=FIRST_CORES");
  EXPECT_EQ(get("first").partial[0].cpus.to_ranges(), "0-1");
}

TEST_F(ReservationTest, CoreCountsAreDividedAmongTheNodes) {
  EXPECT_EQ(refused("StartTime=now Duration=60 Users=brenda Nodes=n[0-1] CoreCnt=3"), Errc::kInvalidCoreCount);
  created("ReservationName=c StartTime=now Duration=60 Users=brenda Nodes=n[0-1] CoreCnt=4");
  ASSERT_EQ(get("c").partial.size(), 2u);
  EXPECT_EQ(get("c").partial[1].cpus.count(), 2u);
  created("ReservationName=t StartTime=now Duration=60 Users=user1 PartitionName=main TRES=cpu=4,node=2");
  ASSERT_EQ(get("t").partial.size(), 2u);
  const ReservationRow row = make_reservation_row(b.core.cluster(), get("t"), b.now);
  EXPECT_EQ(row.core_count, 4u);
  EXPECT_EQ(row.tres.cpus, 4u);
  created("ReservationName=l StartTime=now+2hours Duration=60 Users=brenda Nodes=n[2-3] CoreCnt=3,1");
  EXPECT_EQ(get("l").partial[0].cpus.count(), 3u);
}

// Jobs that make room for each other within a reservation.
struct PreemptingReservationTest : ReservationTest {
  PreemptingReservationTest()
      : ReservationTest("PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\n"
                        "PartitionName=urgent Nodes=n[0-3] PriorityTier=9 MaxTime=60\n") {
    created("ReservationName=r StartTime=now Duration=60 Users=alan Nodes=n0");
    created("ReservationName=s StartTime=now Duration=60 Users=alan Nodes=n1");
  }
  JobId whole_node(const std::string& partition, const std::string& reservation = "r",
                   const std::function<void(JobRequest&)>& change = {}) {
    return submit("alan", [&](JobRequest& r) {
      r.partitions = {partition};
      r.reservation = reservation;
      r.exclusive = Exclusive::kNode;
      r.time_limit_min = 10;
      if (change) change(r);
    });
  }
};

TEST_F(PreemptingReservationTest, AJobTakesAnothersPlaceInItsReservation) {
  const JobId low = whole_node("main");
  ASSERT_EQ(b.plan(), 1u);
  const JobId urgent = whole_node("urgent");
  b.plan();
  ASSERT_TRUE(b.get(urgent).turns->claim);
  EXPECT_EQ(b.get(urgent).turns->claim->victims, std::vector<JobId>{low});
  b.gone(low, b.host(low));
  EXPECT_EQ(b.plan(), 1u);
  EXPECT_EQ(b.state(urgent), JobState::kRunning);
  EXPECT_EQ(b.host(urgent), 0u);
  b.expect_replay_equal();
}

}  // namespace
}  // namespace muster::slurmctld

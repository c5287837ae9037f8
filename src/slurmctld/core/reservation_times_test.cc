// Reservations in time: updates, repetitions, ends, nodes that are replaced, and what slurm.conf says about them.
#include "slurmctld/core/reservations_testing.h"

namespace muster::slurmctld {
namespace {

// ---- updates
TEST_F(ReservationTest, TimesAndNodesAreChanged) {
  created("ReservationName=r StartTime=now+1hour Duration=60 Users=root Nodes=n1");
  updated("ReservationName=r Duration=150");
  EXPECT_EQ(get("r").end, b.now + minutes(210));
  updated("ReservationName=r StartTime=now+3hours");
  EXPECT_EQ(get("r").end - get("r").start, minutes(150));
  updated("ReservationName=r EndTime=now+9hours");
  EXPECT_EQ(get("r").end, b.now + minutes(540));
  updated("ReservationName=r Nodes+=n2");
  EXPECT_EQ(nodes(get("r")), "1-2");
  updated("ReservationName=r Nodes=+n3,-n1");
  EXPECT_EQ(nodes(get("r")), "2-3");
  updated("ReservationName=r NodeCnt=3");
  EXPECT_EQ(get("r").nodes.count(), 3u);
  updated("ReservationName=r NodeCnt=1");
  EXPECT_EQ(get("r").nodes.count(), 1u);
  updated("ReservationName=r Nodes=");
  EXPECT_FALSE(get("r").has(kResvSpecNodes));
  EXPECT_EQ(get("r").nodes.count(), 1u);
  EXPECT_EQ(update("ReservationName=r Flags-=OVERLAP").error().code, Errc::kInvalidArgument);
  EXPECT_EQ(update("ReservationName=r Skip").error().code, Errc::kReservationNoSkip);
  EXPECT_EQ(update("ReservationName=nope Duration=5").error().code, Errc::kReservationInvalid);
  updated("ReservationName=r Flags=PURGE_COMP=10 MaxStartDelay=10");
  EXPECT_EQ(reservation_flags_text(get("r").flags, get("r").purge_after), "PURGE_COMP=00:10:00");
}

TEST_F(ReservationTest, OneThatHasBegunKeepsItsStart) {
  created("ReservationName=m StartTime=now Duration=60 Users=alan Nodes=n1");
  b.wait(minutes(1));
  EXPECT_EQ(update("ReservationName=m StartTime=now+3hours").error().code, Errc::kReservationAlreadyStarted);
  EXPECT_EQ(update("ReservationName=m EndTime=now-3hours").error().code, Errc::kInvalidTime);
  const JobId job = submit("alan", in("m", 60));
  EXPECT_EQ(b.plan(), 1u);
  b.started(job);
  updated("ReservationName=m Duration=20");
  EXPECT_EQ(b.get(job).ends, get("m").end) << "the job ends with it, now sooner";
  updated("ReservationName=m Duration=UNLIMITED");
  EXPECT_GT(b.get(job).ends, b.now + minutes(50));
}

// ---- time
TEST_F(ReservationTest, ADailyOneComesAgainAlsoAfterAPause) {
  created("ReservationName=d StartTime=now+10minutes Duration=60 Users=alan Nodes=n1 Flags=DAILY");
  const Time first = get("d").start;
  b.wait(minutes(11));
  EXPECT_TRUE(get("d").begun);
  b.wait(minutes(60));
  EXPECT_FALSE(get("d").begun);
  EXPECT_EQ(get("d").start, add_local_days(first, 1));
  b.wait(minutes(5 * 24 * 60));  // nobody looked
  EXPECT_GT(get("d").end, b.now);
  EXPECT_EQ(get("d").end - get("d").start, minutes(60));
  updated("ReservationName=d Skip");
  EXPECT_GT(get("d").start, b.now + minutes(20 * 60));
}

TEST_F(ReservationTest, AJobForWhichThereIsNoTimeLeftHearsWhenItComesAgain) {
  created("ReservationName=d StartTime=now Duration=60 Users=alan Nodes=n1 Flags=DAILY");
  b.wait(minutes(1));
  submit("alan", in("d", 60));
  EXPECT_EQ(b.plan(), 1u);
  const JobId job = submit("alan", in("d", 60));
  EXPECT_EQ(b.plan(), 0u);
  EXPECT_EQ(b.core.cluster().moment.verdicts.find(job.value)->detail.view(),
            "no start within sight in reservation d, " + format_time(get("d").start) + " to " + format_time(get("d").end) +
                "; it comes again at " + format_time(add_local_days(get("d").start, 1)));
  const auto expected = [&](JobId id) { return b.core.cluster().moment.verdicts.find(id.value)->expected_start; };
  EXPECT_EQ(expected(job), add_local_days(get("d").start, 1));
  const JobId behind = submit("alan", in("d", 60));
  EXPECT_EQ(b.plan(), 0u);
  EXPECT_EQ(expected(job), add_local_days(get("d").start, 1));
  EXPECT_EQ(expected(behind), Time{}) << "what the first one leaves is not known";
}

TEST_F(ReservationTest, NoStartIsToldOfARepetitionInWhichAJobWouldNotFit) {
  created("ReservationName=d StartTime=now Duration=60 Users=alan Nodes=n1 Flags=DAILY");
  const JobId job = submit("alan", [](JobRequest& r) {
    in("d", 10)(r);
    r.num_tasks = 5;
  });
  EXPECT_EQ(b.plan(), 0u);
  EXPECT_EQ(b.core.cluster().moment.verdicts.find(job.value)->expected_start, Time{});
}

TEST_F(ReservationTest, WorkingDaysAndWeekends) {
  Reservation r;
  r.start = from_unix(1'700'000'000);  // a Tuesday
  r.end = r.start + minutes(60);
  r.flags = kResvWeekend;
  EXPECT_EQ(local_weekday(next_repetition(r, r.end)), 6);
  r.flags = kResvWeekday;
  r.start = add_local_days(r.start, 3);  // Friday
  r.end = r.start + minutes(60);
  EXPECT_EQ(local_weekday(next_repetition(r, r.end)), 1);
  r.flags = kResvWeekly;
  EXPECT_EQ(next_repetition(r, r.end), add_local_days(r.start, 7));
  r.flags = kResvHourly;
  EXPECT_EQ(next_repetition(r, r.end + minutes(24 * 60 * 400)) - r.start > minutes(24 * 60 * 399), true);
}

TEST_F(ReservationTest, AnIdleOneIsGivenUp) {
  created("ReservationName=p StartTime=now Duration=600 Users=alan Nodes=n1 Flags=PURGE_COMP");
  const JobId job = submit("alan", in("p", 10));
  EXPECT_EQ(b.plan(), 1u);
  b.started(job);
  b.wait(minutes(6));
  EXPECT_TRUE(there("p"));
  b.ends(job);
  b.wait(minutes(4));
  EXPECT_TRUE(there("p"));
  b.wait(minutes(2));
  EXPECT_FALSE(there("p"));
}

TEST_F(ReservationTest, ForceStartTakesAnOldStart) {
  EXPECT_EQ(refused("StartTime=now-100minutes Duration=60 Users=root NodeCnt=1 Flags=DAILY"), Errc::kInvalidTime);
  created("ReservationName=f StartTime=now-100minutes Duration=60 Users=root NodeCnt=1 Flags=DAILY,FORCE_START");
  EXPECT_GT(get("f").start, b.now);
}

// ---- nodes that are replaced
TEST_F(ReservationTest, ANodeThatGoesDownIsReplaced) {
  created("ReservationName=r StartTime=now Duration=60 Users=foo NodeCnt=2");
  created("ReservationName=s StartTime=now+2hours Duration=60 Users=foo NodeCnt=2 Flags=STATIC_ALLOC");
  const std::string first = nodes(get("r")), fixed = nodes(get("s"));
  b.set_node("n" + std::to_string(get("r").nodes.first()), "down");
  EXPECT_NE(nodes(get("r")), first);
  EXPECT_EQ(get("r").nodes.count(), 2u);
  EXPECT_EQ(nodes(get("s")), fixed);
}

// Guide reservations, Reservations that Replace Allocated Resources.
TEST_F(ReservationTest, NodesInUseAreReplacedSoThatIdleOnesRemain) {
  created("ReservationName=foo_82 StartTime=now Duration=60 Users=foo NodeCnt=2 Flags=REPLACE");
  b.wait(seconds(1));
  EXPECT_EQ(nodes(get("foo_82")), "0-1");
  const JobId one = submit("foo", [](JobRequest& r) {
    r.reservation = "foo_82";
    r.num_tasks = 4;
  });
  EXPECT_EQ(b.plan(), 1u);
  EXPECT_EQ(b.host(one), 0u);
  EXPECT_EQ(nodes(get("foo_82")), "1-2");
  const JobId two = submit("foo", [](JobRequest& r) {
    r.reservation = "foo_82";
    r.num_tasks = 4;
  });
  EXPECT_EQ(b.plan(), 1u);
  EXPECT_EQ(b.host(two), 1u);
  EXPECT_EQ(nodes(get("foo_82")), "2-3");
}

TEST_F(ReservationTest, APartitionsNodesAreFollowed) {
  created("ReservationName=p StartTime=now Duration=60 Users=foo PartitionName=main Nodes=ALL Flags=PART_NODES");
  EXPECT_EQ(nodes(get("p")), "0-3");
  b.turn([&] {
    EXPECT_TRUE(b.core.run(Caller::root(), rpc::UpdatePartition{"main", false, false, {{"Nodes", "=", "n[0-2]"}}}).has_value());
  });
  EXPECT_EQ(nodes(get("p")), "0-2");
}

TEST_F(ReservationTest, RowsShowWhatScontrolPrints) {
  created("ReservationName=m StartTime=now Duration=60 Users=root Nodes=n1 Flags=MAINT");
  b.wait(seconds(1));
  NodeRow row;
  ReservedNodes(b.core.cluster()).mark(NodeId(1), row);
  EXPECT_EQ(row.reservation, "m");
  EXPECT_EQ(row.flags, static_cast<uint32_t>(kNodeMaint | kNodeReserved));
  auto all = query_reservations(b.core.cluster(), {}, b.now, {});
  ASSERT_TRUE(all);
  ASSERT_EQ(all->reservations.size(), 1u);
  EXPECT_TRUE(all->reservations[0].active);
  EXPECT_EQ(all->reservations[0].node_list, "n1");
}

// sbatch(1) --signal=R:, scontrol(1) MaxStartDelay.
struct MakingWay : ReservationTest {
  explicit MakingWay(const std::string& conf = "PreemptType=preempt/partition_prio\nPreemptMode=CANCEL\n") : ReservationTest(conf) {}
  JobId submit_over(TriState requeue = TriState::kDefault) {
    created("ReservationName=r StartTime=now+5minutes Duration=60 Users=alan Nodes=n1 MaxStartDelay=10");
    return b.submit([&](JobRequest& q) {
      q.user_name = "brenda";
      q.required_nodes = "n1";
      q.min_nodes = 1;
      q.num_tasks = 4;
      q.time_limit_min = 50;
      q.requeue = requeue;
      q.warn = {.signal = 10, .seconds_before_end = 120, .reservation = true};
    });
  }
};
TEST_F(MakingWay, AJobThatMayBeToldToGoLiesOverIt) {
  const JobId job = submit_over();
  EXPECT_EQ(b.plan(), 1u);
  b.started(job);
  const Time end = b.get(job).ends;
  b.wait(minutes(6));
  EXPECT_EQ(b.get(job).ends, end) << "nobody waits for it";
  const JobId inside = submit("alan", in("r"));
  EXPECT_EQ(b.get(job).ends, b.now + seconds(120));
  b.wait(seconds(1));
  EXPECT_TRUE(b.get(job).run->time_warned & kWarnedSignal);
  EXPECT_EQ(b.get(job).run->preempted_by, inside);
  b.wait(seconds(119));
  EXPECT_EQ(b.state(job), JobState::kPreempted);
  b.gone(job, 1);
  EXPECT_EQ(b.state(job), JobState::kPending) << "it is requeued, as it is allowed to be";
  EXPECT_EQ(b.plan(), 1u);
  EXPECT_EQ(b.state(inside), JobState::kRunning);
}

TEST_F(MakingWay, OneThatMayNotBeRequeuedIsCancelled) {
  const JobId job = submit_over(TriState::kNo);
  EXPECT_EQ(b.plan(), 1u);
  b.started(job);
  b.wait(minutes(6));
  submit("alan", in("r"));
  b.wait(seconds(120));
  b.gone(job, 1);
  EXPECT_EQ(b.state(job), JobState::kPreempted);
}

struct NobodyPreempts : MakingWay {
  NobodyPreempts() : MakingWay("") {}
};
TEST_F(NobodyPreempts, SoNoJobLiesOverIt) {
  const JobId job = submit_over();
  EXPECT_EQ(b.plan(), 0u);
  EXPECT_EQ(b.state(job), JobState::kPending);
}

// ---- configuration
struct Overrun : ReservationTest {
  Overrun() : ReservationTest("ResvOverRun=15\nLicenses=lustre:10\n") {}
};
TEST_F(Overrun, LetsJobsRunOnForAWhile) {
  created("ReservationName=r StartTime=now Duration=30 Users=alan Nodes=n1");
  const JobId job = submit("alan", in("r", 60));
  EXPECT_EQ(b.plan(), 1u);
  b.started(job);
  b.wait(minutes(31));
  EXPECT_FALSE(there("r"));
  EXPECT_EQ(b.state(job), JobState::kRunning);
  b.wait(minutes(15));
  EXPECT_EQ(b.state(job), JobState::kTimeout);
}

// Guide reservations: the licences of a file system that is under maintenance.
TEST_F(Overrun, LicencesAreKept) {
  auto lustre = [](uint32_t n, uint32_t limit) {
    return [=](JobRequest& r) {
      r.licenses = "lustre:" + std::to_string(n);
      r.time_limit_min = limit;
    };
  };
  EXPECT_EQ(said("StartTime=now+30minutes Duration=120 Users=root Licenses=lustre:8"),
            "Licenses without nodes need Flags=LICENSE_ONLY.  No reservation created.");
  EXPECT_EQ(refused("StartTime=now+30minutes Duration=120 Users=root Flags=LICENSE_ONLY Licenses=lustre:11"), Errc::kLicenses);
  created("ReservationName=l StartTime=now+30minutes Duration=120 Users=root Flags=LICENSE_ONLY Licenses=lustre:8");
  const JobId shorter = submit("alan", lustre(10, 30)), few = submit("alan", lustre(2, 60)), many = submit("alan", lustre(3, 60));
  EXPECT_EQ(b.plan(), 1u);
  EXPECT_EQ(b.state(shorter), JobState::kRunning);
  b.started(shorter);
  b.ends(shorter);
  EXPECT_EQ(b.plan(), 1u);
  EXPECT_EQ(b.state(few), JobState::kRunning);
  EXPECT_EQ(reason(many), Reason::kLicenses);
  const Time expected = b.core.cluster().moment.verdicts.find(many.value)->expected_start;
  EXPECT_GE(expected, b.now + minutes(60));
}

// Made between the plan and the start.
TEST_F(Overrun, ReservedLicencesAreLookedAtAgainAtTheStart) {
  auto lustre = [](uint32_t n) { return [=](JobRequest& r) { r.licenses = "lustre:" + std::to_string(n); }; };
  const JobId many = submit("alan", lustre(3));
  auto start = [&](const sched::Plan& plan) {
    size_t started = 0;
    b.turn([&] { started = b.core.carry_out(plan); });
    return started;
  };
  const sched::Plan plan = b.planner.plan(*b.core.snapshot(), b.settings.sched, b.now, sched::Pass::kFull);
  ASSERT_EQ(plan.starts.size(), 1u);
  created("ReservationName=l StartTime=now Duration=120 Users=brenda Flags=LICENSE_ONLY Licenses=lustre:8");
  EXPECT_EQ(start(plan), 0u);
  EXPECT_EQ(b.state(many), JobState::kPending);
  const JobId inside = submit("brenda", [&](JobRequest& r) {
    lustre(6)(r);
    r.reservation = "l";
  });
  const JobId few = submit("alan", lustre(2));
  EXPECT_EQ(start(b.planner.plan(*b.core.snapshot(), b.settings.sched, b.now, sched::Pass::kFull)), 2u);
  EXPECT_EQ(b.state(inside), JobState::kRunning);
  EXPECT_EQ(b.state(few), JobState::kRunning) << "what the reservation's own jobs hold is not kept a second time";
}

struct OnlyReserved : ReservationTest {
  OnlyReserved() : ReservationTest("PartitionName=closed Nodes=n[0-3] ReqResv=YES\n") {}
};
TEST_F(OnlyReserved, APartitionMayTakeJobsOfReservationsOnly) {
  created("ReservationName=r StartTime=now Duration=30 Users=alan Nodes=n1");
  JobRequest q = Bench::request([](JobRequest& r) {
    r.user_name = "alan";
    r.partitions = {"closed"};
  });
  auto run_it = [&] {
    Result<rpc::JobSubmitted> out = fail(Errc::kError);
    b.turn([&] { out = b.core.run(Caller{q.uid, q.gid, {}, {}}, q); });
    return out;
  };
  EXPECT_EQ(run_it().error().code, Errc::kAccessDenied);
  q.reservation = "r";
  EXPECT_TRUE(run_it().has_value());
}

struct Devices : ReservationTest {
  Devices() : ReservationTest("GresTypes=gpu\nNodeName=g[0-1] CPUs=8 Sockets=1 CoresPerSocket=8 Gres=gpu:a100:4\n") {}
};
TEST_F(Devices, AreReservedWithCores) {
  b.turn([&] {
    for (uint32_t i : {0u, 1u}) {
      rpc::UpdateNode c{"g" + std::to_string(i), {{"State", "=", "resume"}}};
      (void)b.core.run(Caller::root(), c);
    }
  });
  auto r = create("ReservationName=g StartTime=now+1hour Duration=60 Users=alan Nodes=g[0-1] TRESPerNode=gres/gpu:a100=2");
  ASSERT_TRUE(r.has_value()) << r.error().message() << r.error().hint;
  ASSERT_EQ(get("g").partial.size(), 2u);
  EXPECT_EQ(get("g").partial[0].gres.at(0).count, 2u);
  EXPECT_EQ(get("g").partial[0].cpus.count(), 2u);
  EXPECT_EQ(create("StartTime=now Duration=60 Users=alan Nodes=g0 TRES=gres/gpu:h100=2").error().code, Errc::kInvalidGres);
}

}  // namespace
}  // namespace muster::slurmctld

// Plans with hierarchical resources: the examples of the guide hres, now and in time.
#include <gtest/gtest.h>

#include "sched/request/layers_testing.h"
#include "sched/testing.h"

namespace muster::sched {
namespace {

const Time kNow = from_unix(1'000'020);

struct World {
  Cluster c = a_cluster().nodes(32).cpus(4).build();
  Params params = with_layers(hierarchies({hres_flat(), hres_natural(), hres_power()}));

  JobBuilder asking(const std::string& licenses) {
    return a_job().minutes(60).with([&](JobRequest& r) { r.licenses = licenses; });
  }
  JobId submit(const JobBuilder& job) { return sched::submit(c, job, kNow); }
  Plan plan(Pass pass = Pass::kFull, Time now = kNow) { return Planner().plan(c, params, now, pass); }
  Plan start(Pass pass = Pass::kFull) {
    Plan p = plan(pass);
    for (const StartItem& item : p.starts) {
      const auto fits = still_fits(c, params, *c.jobs.at(item.job.value).request, item, kNow, 60);
      EXPECT_TRUE(fits) << (fits ? "" : fits.error().hint);
      apply_start(c, item, kNow);
    }
    for (const auto& [name, count] : params.licenses) EXPECT_LE(c.license_used(name), count) << name;
    return p;
  }
  std::string shares(JobId id) const {
    std::string out;
    for (const LicenseShare& l : c.jobs.at(id.value).allocation->licenses)
      out += (out.empty() ? "" : " ") + l.name + "=" + std::to_string(l.count);
    return out;
  }
  std::string nodes(JobId id) const {
    Bitmap out;
    for (const NodeShare& s : c.jobs.at(id.value).allocation->nodes) out.set(s.node.value);
    return out.to_ranges();
  }
};

TEST(LayersPlan, TwoHundredAndFiftyOfNatural) {
  for (const Pass pass : {Pass::kFull, Pass::kQuick}) {
    World w;
    for (int i = 0; i < 7; ++i) w.submit(w.asking("natural:50"));
    const Plan p = w.start(pass);
    EXPECT_EQ(p.starts.size(), 5u);
    EXPECT_EQ(w.c.license_used("natural(n[0-15])") + w.c.license_used("natural(n[16-31])") + w.c.license_used("natural(n[0-31])"), 250u);
    const Verdict* v = verdict_of(p, JobId(6));
    ASSERT_TRUE(v);
    EXPECT_EQ(v->reason, Reason::kLicenses);
    EXPECT_EQ(v->detail.str(), "natural: 50 are asked for; layer n[0-15] has 0 left of 100");
    if (pass == Pass::kFull) {
      EXPECT_EQ(v->expected_start, kNow + minutes(60));
    }
  }
}

TEST(LayersPlan, TwentyFourOfFlat) {
  World w;
  for (int i = 0; i < 8; ++i) w.submit(w.asking("flat:4"));
  const Plan p = w.start();
  EXPECT_EQ(p.starts.size(), 6u);
  EXPECT_EQ(w.c.license_used("flat(n[0-31])"), 24u);
  EXPECT_EQ(verdict_of(p, JobId(7))->reason, Reason::kLicenses);
  EXPECT_EQ(verdict_of(p, JobId(7))->detail.str(), "flat: 4 are asked for; layer n[0-31] has 0 left of 24");
}

TEST(LayersPlan, PowerOfSixteenNodes) {
  World w;
  const JobId id = w.submit(w.asking("power:1000").nodes(16).exclusive());
  w.start();
  EXPECT_EQ(w.nodes(id), "0-15");
  EXPECT_EQ(w.shares(id), "power(n[0-7])=8000 power(n[8-15])=8000 power(n[0-15])=16000 power(n[0-31])=16000");
}

// 3 of the first 8 nodes, 5 of the first 16, 10 of all have room for 10000 each.
TEST(LayersPlan, AGangSpreadsOverTheLayers) {
  for (const bool whole : {true, false}) {
    World w;
    JobBuilder job = w.asking("power:10000").nodes(10);
    if (whole) job.exclusive();
    const JobId id = w.submit(job), late = w.submit(w.asking("power:10000").nodes(1));
    const Plan p = w.start();
    ASSERT_TRUE(start_of(p, id));
    EXPECT_EQ(w.c.license_used("power(n[0-31])"), 100000u);
    EXPECT_FALSE(start_of(p, late));
    EXPECT_EQ(verdict_of(p, late)->reason, Reason::kLicenses);
    EXPECT_EQ(verdict_of(p, late)->expected_start, kNow + minutes(60));
  }
}

// Only 3 nodes of the first 8 have room, and only the large ones have room for the tasks.
TEST(LayersPlan, TheNodesWithMostTasksAreTriedToo) {
  World w;
  w.c = a_cluster()
            .nodes(8)
            .cpus(2)
            .node([](Node& n, NodeSpec& s) {
              if (n.id.value < 5) return;
              s.cpus = s.cores_per_socket = 16;
            })
            .build();
  const JobId now = w.submit(w.asking("power:10000").tasks(40).minutes(30)), later = w.submit(w.asking("power:10000").tasks(40));
  const Plan p = w.start();
  ASSERT_TRUE(start_of(p, now));
  EXPECT_EQ(w.nodes(now), "5-7");
  EXPECT_EQ(verdict_of(p, later)->expected_start, kNow + minutes(30));
  EXPECT_EQ(verdict_of(p, later)->expected_nodes, "n[5-7]");
}

TEST(LayersPlan, BackfillKeepsWhatIsPromised) {
  World w;
  w.submit(w.asking("flat:12").minutes(60).nodelist("n0"));
  w.submit(w.asking("flat:8").minutes(60).nodelist("n16"));
  w.start();
  const JobId wide = w.submit(w.asking("flat:12").priority(5000).nodelist("n0,n16").nodes(2));
  const JobId slow = w.submit(w.asking("flat:4").minutes(61).nodelist("n17"));
  const JobId fast = w.submit(w.asking("flat:4").minutes(60).nodelist("n17"));
  const Plan p = w.plan();
  EXPECT_EQ(verdict_of(p, wide)->reason, Reason::kLicenses);
  EXPECT_EQ(verdict_of(p, wide)->expected_start, kNow + minutes(60));
  EXPECT_TRUE(start_of(p, fast));
  ASSERT_FALSE(start_of(p, slow));
  // all 12 of n[16-23] are promised for an hour from then on
  EXPECT_EQ(verdict_of(p, slow)->expected_start, kNow + minutes(120));
}

TEST(LayersPlan, NamedNodesWithoutEnoughAreNamed) {
  World w;
  w.submit(w.asking("flat:12").nodelist("n1"));
  w.start();
  const JobId id = w.submit(w.asking("flat:2").nodelist("n2"));
  const Plan p = w.plan();
  EXPECT_EQ(verdict_of(p, id)->reason, Reason::kLicenses);
  EXPECT_EQ(verdict_of(p, id)->detail.str(), "flat: 2 are asked for; layer n[0-7] has 0 left of 12");
}

TEST(LayersPlan, AReservationKeepsOfALayer) {
  World w;
  Reservation r;
  r.id = 1;
  r.name = "kept";
  r.flags = kResvAnyNodes;
  r.start = kNow - minutes(1);
  r.end = kNow + minutes(30);
  r.begun = true;
  r.licenses = {{"natural(n[0-15])", 100}, {"natural(n[0-31])", 50}};
  w.c.reservations.set(1, r);
  const JobId a = w.submit(w.asking("natural:60")), b = w.submit(w.asking("natural:60"));
  const Plan p = w.start();
  EXPECT_EQ(w.shares(a), "natural(n[16-31])=60");
  ASSERT_FALSE(start_of(p, b));
  EXPECT_EQ(verdict_of(p, b)->expected_start, kNow + minutes(30));
}

TEST(LayersPlan, ACountThatBecameLessStartsNothing) {
  World w;
  const JobId id = w.submit(w.asking("flat:12"));
  const Plan p = w.plan();
  Hres less = hres_flat();
  less.layers.back().count = 11;
  set_layers(w.params, hierarchies({less}));
  EXPECT_FALSE(still_fits(w.c, w.params, *w.c.jobs.at(id.value).request, p.starts.at(0), kNow, 60));
  // and what runs is left alone, with nothing free
  set_layers(w.params, hierarchies({hres_flat()}));
  w.start();
  set_layers(w.params, hierarchies({less}));
  const JobId next = w.submit(w.asking("flat"));
  EXPECT_FALSE(start_of(w.plan(), next));
}

TEST(LayersPlan, WhoAsksForNothingIsNotConcerned) {
  World w;
  w.submit(w.asking("flat:12").nodelist("n0").exclusive());
  w.start();
  const JobId id = w.submit(a_job().nodes(31).exclusive());
  EXPECT_TRUE(start_of(w.plan(), id));
}

TEST(LayersPlan, AForecastKnowsThem) {
  World w;
  w.submit(w.asking("flat:24").nodes(1).with([](JobRequest& r) { r.licenses = "flat:12"; }).nodelist("n0"));
  w.start();
  const JobBuilder asked = w.asking("flat:12").nodelist("n1");
  auto when = Planner().will_run(w.c, w.params, asked.request, kNow);
  ASSERT_TRUE(when) << when.error().hint;
  EXPECT_EQ(when->start, kNow + minutes(60));
  const auto never = Planner().will_run(w.c, w.params, w.asking("flat:25").request, kNow);
  ASSERT_FALSE(never);
  EXPECT_NE(never.error().hint.find("flat: 25 are asked for"), std::string::npos) << never.error().hint;
}

}  // namespace
}  // namespace muster::sched

// Hierarchical resources from resources.yaml to jobs, reservations and scontrol show license; through a restart, a reconfigure and a shrink.
#include "config/resources_yaml.h"
#include "slurmctld/core/core_testing.h"
#include "slurmctld/core/license_rows.h"
#include "slurmctld/core/records.h"

namespace muster::slurmctld {
namespace {

constexpr char kYaml[] = R"(
- resource: natural
  mode: MODE_1
  layers:
    - {nodes: ["n[0-1]"], count: 4}
    - {nodes: ["n[0-3]"], count: 2}
- resource: power
  mode: MODE_3
  variables:
    - {name: full_node, value: 100}
  layers:
    - {nodes: ["n[0-1]"], count: 300, base: [{name: switch, value: 50}]}
    - {nodes: ["n[2-3]"], count: -1}
    - {nodes: ["n[0-3]"], count: 1000}
)";

std::shared_ptr<const config::LoadedConfig> with_resources(const Settings& settings, const std::string& yaml) {
  auto out = std::make_shared<config::LoadedConfig>(*settings.loaded);
  config::MemoryFiles files{{"/etc/slurm/resources.yaml", yaml}};
  std::vector<config::ConfigError> errors;
  out->resources = config::load_resources(files, out->config, {}, errors, out->notices);
  EXPECT_TRUE(errors.empty()) << config::to_text(errors);
  return out;
}

struct Site : Bench {
  explicit Site(const std::string& yaml = kYaml) { read(yaml); }
  // As slurmctld does when the files are read again; the planner has the same settings.
  void read(const std::string& yaml) {
    settings.loaded = with_resources(settings, yaml);
    turn([&] { core.configure(settings); });
    settings = core.settings();
  }
  JobId asks(const std::string& licenses, const std::string& nodes = "", uint32_t count = 1) {
    return submit([&](JobRequest& r) {
      r.licenses = licenses;
      r.mem_per_node_mb = 10;
      r.required_nodes = nodes;
      r.min_nodes = r.max_nodes = count;
    });
  }
  JobId runs(const std::string& licenses, const std::string& nodes = "", uint32_t count = 1) {
    const JobId id = asks(licenses, nodes, count);
    const size_t begun = plan();
    const Verdict* verdict = core.cluster().moment.verdicts.find(id.value);
    EXPECT_EQ(begun, 1u) << (verdict ? std::string(reason_name(verdict->reason)) + " " + verdict->detail.str() : "no verdict");
    if (begun) started(id);
    return id;
  }
  std::string refused(const std::string& licenses) {
    Result<rpc::JobSubmitted> r = fail(Errc::kError);
    const JobRequest q = request([&](JobRequest& asked) { asked.licenses = licenses; });
    turn([&] { r = core.run(Caller{q.uid, q.gid, {}, {}}, q); });
    return r ? "accepted" : r.error().hint;
  }
  std::string shown(const std::string& name = "") const {
    std::string out;
    for (const LicenseRow& l : query_licenses(core.cluster(), core.settings(), {name}).licenses)
      out += l.name + " " + std::to_string(l.used) + "+" + std::to_string(l.reserved) + "/" + std::to_string(l.total) + "\n";
    return out;
  }
  std::string reserve(const std::string& licenses) {
    rpc::UpdateReservation c;
    c.create = true;
    for (const auto& [key, value] : std::initializer_list<std::pair<const char*, std::string>>{
             {"StartTime", "now"}, {"Duration", "60"}, {"Users", "root"}, {"Flags", "LICENSE_ONLY"}, {"Licenses", licenses}})
      c.changes.push_back({key, "=", value});
    std::string out = "made";
    turn([&] {
      auto r = core.run(Caller::root(), c);
      if (!r) out = r.error().hint;
    });
    return out;
  }
};

TEST(LayersOfASite, AreShownWithWhatIsUsed) {
  Site s;
  EXPECT_EQ(s.shown(), "natural(n[0-1]) 0+0/4\nnatural(n[0-3]) 0+0/2\n"
                       "power(n[0-1]) 50+0/300\npower(n[2-3]) 0+0/4294967295\npower(n[0-3]) 50+0/1000\n");
  s.runs("natural:3,power:full_node", "n[0-1]", 2);
  EXPECT_EQ(s.shown("natural"), "natural(n[0-1]) 3+0/4\nnatural(n[0-3]) 0+0/2\n");
  EXPECT_EQ(s.shown("power(n[0-1])"), "power(n[0-1]) 250+0/300\n");
  EXPECT_EQ(s.shown("nosuch"), "");
}

TEST(LayersOfASite, AVariableIsTheNumberFromThenOn) {
  Site s;
  const JobId id = s.asks("power:full_node,natural");
  EXPECT_EQ(s.get(id).request->licenses.text(), "power:100,natural:1");
  ASSERT_TRUE(s.update(id, "Licenses", "power:full_node"));
  EXPECT_EQ(s.get(id).request->licenses.text(), "power:100");
  EXPECT_FALSE(s.update(id, "Licenses", "power:half_node"));
  EXPECT_FALSE(s.update(id, "Licenses", "natural:9"));
}

TEST(LayersOfASite, WhatCanNeverBeIsRefused) {
  Site s;
  EXPECT_EQ(s.refused("natural:5"), "natural: 5 are asked for; layer n[0-1] has 4 left of 4");
  EXPECT_EQ(s.refused("power:951"),
            "power: 951 are asked for on each of 1 nodes; layer n[0-3] has 950 left of 1000, 50 of which no job has");
  EXPECT_EQ(s.refused("power:half_node"), "\"power:half_node\": resources.yaml has no such variable of it");
  EXPECT_NE(s.refused("natural(n[0-1]):1"), "accepted");
  EXPECT_NE(s.refused("natural|power"), "accepted");
  EXPECT_NE(s.refused("nosuch"), "accepted");
}

TEST(LayersOfASite, ARestartFindsWhoHoldsWhat) {
  Site s;
  s.runs("natural:4", "n0");
  const JobId id = s.runs("natural:1", "n0");
  EXPECT_EQ(s.get(id).allocation->licenses, (std::vector<LicenseShare>{{"natural(n[0-3])", 1}}));
  s.expect_replay_equal();
  Core again(s.settings);
  for (const Event& e : s.log) again.replay(e);
  again.configure(s.settings);
  EXPECT_EQ(again.cluster().license_used("natural(n[0-1])"), 4u);
  EXPECT_EQ(again.cluster().license_used("natural(n[0-3])"), 1u);
}

TEST(LayersOfASite, AReconfigureChangesACount) {
  Site s;
  const JobId first = s.runs("natural:4", "n0");
  std::string less = kYaml;
  less.replace(less.find("count: 4"), 8, "count: 3");
  s.read(less);
  EXPECT_EQ(s.shown("natural"), "natural(n[0-1]) 4+0/3\nnatural(n[0-3]) 0+0/2\n");
  const JobId next = s.asks("natural:3", "n0");
  EXPECT_EQ(s.plan(), 0u);
  s.ends(first);
  EXPECT_EQ(s.shown("natural"), "natural(n[0-1]) 0+0/3\nnatural(n[0-3]) 0+0/2\n");
  EXPECT_EQ(s.plan(), 1u);
  EXPECT_EQ(s.get(next).allocation->licenses, (std::vector<LicenseShare>{{"natural(n[0-1])", 3}}));
  EXPECT_NE(s.refused("natural:5"), "accepted");
  std::string more = kYaml;
  more.replace(more.find("count: 4"), 8, "count: 5");
  s.read(more);
  EXPECT_EQ(s.refused("natural:5"), "accepted");
  s.read("");
  EXPECT_EQ(s.shown(), "");
}

// The plan was made before the files were read again.
TEST(LayersOfASite, AStartIsCheckedAgainstTheCountsOfTheMoment) {
  Site s;
  s.asks("natural:4", "n0");
  const auto plan = s.planner.plan(*s.core.snapshot(), s.settings.sched, s.now, sched::Pass::kFull);
  ASSERT_EQ(plan.starts.size(), 1u);
  std::string less = kYaml;
  less.replace(less.find("count: 4"), 8, "count: 3");
  s.read(less);
  size_t started = 9;
  s.turn([&] { started = s.core.carry_out(plan); });
  EXPECT_EQ(started, 0u);
}

TEST(LayersOfASite, WhatAJobGivesUpItGivesBackOfLayersToo) {
  Site s;
  const JobId id = s.runs("natural:1,power:100", "n[0-3]", 4);
  EXPECT_EQ(s.core.cluster().license_used("power(n[0-3])"), 400u);
  const uint32_t kept = s.host(id);
  ASSERT_TRUE(s.update(id, "NumNodes", "1"));
  EXPECT_EQ(s.core.cluster().license_used("power(n[0-3])"), 100u);
  EXPECT_EQ(s.core.cluster().license_used("power(n[0-1])"), kept < 2 ? 100u : 0u);
  EXPECT_EQ(s.core.cluster().license_used("natural(n[0-3])"), 1u);
  s.expect_replay_equal();
}

TEST(LayersOfASite, AreNoTres) {
  Site s;
  EXPECT_EQ(s.reserve("natural(n[0-1]):3"), "made");
  const JobId id = s.runs("power:100", "n[2-3]", 2);
  EXPECT_TRUE(held_by(*s.get(id).allocation).licenses.empty());
  EXPECT_EQ(s.get(id).allocation->licenses.size(), 2u);
  const Cluster& cluster = s.core.cluster();
  EXPECT_TRUE(make_reservation_record(cluster, cluster.reservations.at(1)).tres.licenses.empty());
  for (uint32_t i = 0; i < cluster.tres_table().size(); ++i) EXPECT_EQ(cluster.tres_table().name(i).find("("), std::string::npos);
}

TEST(LayersOfASite, AReservationNamesALayerByItsNodes) {
  Site s;
  EXPECT_EQ(s.reserve("natural(n0,n1):3,power(n[0-3]):200"), "made");
  EXPECT_EQ(s.shown("natural"), "natural(n[0-1]) 0+3/4\nnatural(n[0-3]) 0+0/2\n");
  EXPECT_EQ(s.core.cluster().reservations.at(1).licenses, (std::vector<LicenseShare>{{"natural(n[0-1])", 3}, {"power(n[0-3])", 200}}));
  EXPECT_EQ(s.reserve("natural:3"), "natural is a hierarchical resource: name the layer by its nodes, as in natural(n[0-1])");
  EXPECT_EQ(s.reserve("natural(n[1-2]):3"), "no layer of natural has just the nodes n[1-2]; it has n[0-1], n[0-3]");
  EXPECT_EQ(s.reserve("natural(n[0-1]):5"), "there are 4 of natural(n[0-1])");
  EXPECT_EQ(s.reserve("nosuch(n0):5"), "no licence is called 'nosuch(n0)'");
  const JobId id = s.asks("natural:2", "n0");  // one is left of the four, and two of the others
  EXPECT_EQ(s.plan(), 1u);
  EXPECT_EQ(s.get(id).allocation->licenses, (std::vector<LicenseShare>{{"natural(n[0-3])", 2}}));
}

}  // namespace
}  // namespace muster::slurmctld

#include <gtest/gtest.h>

#include "config/load.h"

namespace muster::config {
namespace {

constexpr char kHead[] = "ClusterName=c\nSlurmctldHost=ctl\nNodeName=node[01-32]\n";

std::expected<LoadedConfig, std::vector<ConfigError>> load(const std::string& yaml, const std::string& conf = "") {
  MemoryFiles files{{"/etc/slurm/slurm.conf", kHead + conf}, {"/etc/slurm/resources.yaml", yaml}};
  return load_config(files, "/etc/slurm/slurm.conf");
}

LoadedConfig loaded(const std::string& yaml, const std::string& conf = "") {
  auto r = load(yaml, conf);
  EXPECT_TRUE(r.has_value()) << (r ? "" : to_text(r.error()));
  return r ? std::move(*r) : LoadedConfig{};
}

std::string errors(const std::string& yaml, const std::string& conf = "") {
  auto r = load(yaml, conf);
  return r ? "loaded" : to_text(r.error());
}

std::string notices(const LoadedConfig& l) {
  std::string out;
  for (const ConfigNotice& n : l.notices)
    if (n.file.ends_with("resources.yaml")) out += n.text() + "\n";
  return out;
}

void expect_in(const std::string& all, const std::string& part) {
  EXPECT_NE(all.find(part), std::string::npos) << all << "\ndoes not hold: " << part;
}

std::string layer(const std::string& nodes, const std::string& count, const std::string& more = "") {
  return "    - nodes: [\"" + nodes + "\"]\n      count: " + count + "\n" + more;
}
std::string resource(const std::string& name, const std::string& mode, const std::string& layers) {
  return "- resource: " + name + "\n  mode: " + mode + "\n  layers:\n" + layers;
}
std::string pools(const Hres& h) {
  std::string out;
  for (const HresLayer& l : h.layers)
    out += (out.empty() ? "" : " ") + l.name + "=" + (l.count == HresLayer::kEndless ? "endless" : std::to_string(l.for_jobs()));
  return out;
}

TEST(ResourcesYaml, ModesLayersAndTheirOrder) {
  const LoadedConfig l = loaded(
      "---\n" + resource("natural", "MODE_1", layer("node[01-32]", "50") + layer("node[01-16]", "100") + layer("node[17-32]", "-1")) +
      resource("flat", "mode_2", layer("node01,node[02-08]", "0")));
  ASSERT_EQ(l.resources.all.size(), 2u);
  EXPECT_EQ(l.resources.all[0].mode, HresMode::kOne);
  EXPECT_EQ(pools(l.resources.all[0]), "natural(node[01-16])=100 natural(node[17-32])=endless natural(node[01-32])=50");
  EXPECT_EQ(l.resources.all[1].mode, HresMode::kAll);
  EXPECT_EQ(pools(l.resources.all[1]), "flat(node[01-08])=0");
  EXPECT_EQ(l.resources.all[1].layers[0].nodes.to_ranges(), "0-7");
  EXPECT_EQ(notices(l), "");
}

// The guide's power: what stands in a layer is used of each layer that holds it, too.
TEST(ResourcesYaml, BaseAmountsAreSummedUpwards) {
  const std::string base = "      base:\n        - name: storage\n          value: 5000\n";
  const std::string ac = "      base:\n        - {name: acUnit1, value: 10000}\n        - {name: acUnit2, value: 8000}\n";
  const LoadedConfig l = loaded("- resource: power\n  mode: MODE_3\n  variables:\n    - name: full_node\n      value: 1000\n  layers:\n" +
                                layer("node[01-16]", "40000", base) + layer("node[17-32]", "40000") + layer("node[01-32]", "130000", ac));
  ASSERT_EQ(l.resources.all.size(), 1u);
  EXPECT_EQ(pools(l.resources.all[0]), "power(node[01-16])=35000 power(node[17-32])=40000 power(node[01-32])=107000");
  ASSERT_TRUE(l.resources.all[0].variable("full_node"));
  EXPECT_EQ(l.resources.all[0].variable("full_node")->value, 1000u);
  EXPECT_FALSE(l.resources.all[0].variable("half_node"));
}

TEST(ResourcesYaml, WhatIsOddStartsWithANotice) {
  LoadedConfig l = loaded(resource("flat", "MODE_2", layer("node[01-04],other[1-3]", "5") + layer("other[1-3]", "7")));
  EXPECT_EQ(pools(l.resources.all.at(0)), "flat(node[01-04])=5");
  expect_in(notices(l), "other1");
  expect_in(notices(l), "no node of this layer of flat is in slurm.conf; it is left out");
  l = loaded(resource("natural", "MODE_1", layer("node[01-04]", "5") + layer("node[01-04]", "7")) +
             resource("flat", "MODE_2", layer("node[01-04]", "5") + layer("node[01-04]", "3")));
  EXPECT_EQ(pools(l.resources.all.at(0)), "natural(node[01-04])=12");
  EXPECT_EQ(pools(l.resources.all.at(1)), "flat(node[01-04])=3");
  expect_in(notices(l), "two layers have the same nodes: natural(node[01-04]); their counts are added");
  l = loaded("- resource: p\n  mode: MODE_3\n  topology: blok1\n  layers:\n" + layer("node[01-04]", "5"));
  EXPECT_EQ(l.resources.all.size(), 1u);
  expect_in(notices(l), "no block topology is called \"blok1\"");
  l = loaded(resource("gone", "MODE_2", layer("x[1-2]", "5")));
  EXPECT_TRUE(l.resources.empty());
  EXPECT_TRUE(loaded("---\n# nothing\n").resources.empty());
}

TEST(ResourcesYaml, ErrorsNameFileLineFieldAndRule) {
  const std::string good = layer("node[01-16]", "5");
  expect_in(errors(resource("flat", "MODE_2", layer("node[01-16]", "-2"))),
            "resources.yaml:5: count: \"-2\" must be a number from 0 to 4294967294, or -1 for no end");
  expect_in(errors(resource("flat", "MODE_2", layer("node[01-16]", "4294967295"))), "must be a number from 0 to 4294967294");
  expect_in(errors(resource("flat", "MODE_4", good)), "resources.yaml:2: mode: \"MODE_4\" must be MODE_1, MODE_2 or MODE_3");
  expect_in(errors("- resource: flat\n  layers:\n" + good), "mode: flat needs a mode");
  expect_in(errors("- mode: MODE_1\n  layers:\n" + good), "resource: \"\" must be a name");
  expect_in(errors(resource("a:b", "MODE_1", good)), "resource: \"a:b\" must be a name");
  expect_in(errors(resource("flat", "MODE_1", good) + resource("flat", "MODE_1", good)), "flat is defined twice");
  expect_in(errors(resource("flat", "MODE_1", "    - nodes: [node01]\n")), "resources.yaml:4: count: a layer of flat needs a count");
  expect_in(errors(resource("flat", "MODE_1", "    - count: 1\n")), "nodes: a layer of flat needs nodes");
  expect_in(errors(resource("flat", "MODE_1", good) + "  colour: red\n"), "colour: is not known in a resource");
  expect_in(errors(resource("flat", "MODE_1", layer("node[01-16]", "1", "      base: 4\n"))), "base: must be a list");
  expect_in(errors(resource("flat", "MODE_1", good) + "  variables:\n    - {name: v, value: x}\n"), "value: must be a number");
  expect_in(errors("resource: flat\n"), "must be a list of resources");
  expect_in(errors("- resource: [\n"), "not YAML");
}

TEST(ResourcesYaml, ANameMeansALicenceOrAResource) {
  expect_in(errors(resource("flat", "MODE_2", layer("node01", "1")), "Licenses=flat:3\n"),
            "resources.yaml:1: resource: flat is also a licence (Licenses= in slurm.conf)");
}

TEST(ResourcesYaml, Mode3IsARootedTreeOfUniformDepth) {
  auto power = [](const std::string& layers) { return resource("power", "MODE_3", layers); };
  constexpr char kRule[] = "must be a rooted tree of uniform depth: ";
  EXPECT_EQ(errors(power(layer("node[01-08]", "1") + layer("node[09-16]", "1") + layer("node[01-16]", "1"))), "loaded");
  expect_in(errors(power(layer("node[01-08]", "1") + layer("node[09-16]", "1"))),
            std::string(kRule) + "power(node[01-08]) is not within power(node[09-16])");
  expect_in(errors(power(layer("node[01-08]", "1") + layer("node[01-16]", "1"))),
            std::string(kRule) + "some of its nodes are in 1 layer and some in 2");
  expect_in(errors(power(layer("node[01-08]", "1") + layer("node[05-12]", "1") + layer("node[01-16]", "1"))),
            "have some nodes in common, and neither has all of the other's");
  // the same layers are fine where nothing is summed up
  EXPECT_EQ(errors(resource("flat", "MODE_2", layer("node[01-08]", "1") + layer("node[09-16]", "1"))), "loaded");
}

}  // namespace
}  // namespace muster::config

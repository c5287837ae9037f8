#include "config/helpers_conf.h"

#include <gtest/gtest.h>

#include "config/load.h"

namespace muster::config {
namespace {

struct Read {
  bool ok = false;
  std::string said;  // errors and notices
  HelpersConf conf;
};

Read read(const std::string& helpers, const std::string& plugins = "NodeFeaturesPlugins=node_features/helpers\n") {
  MemoryFiles files{{"/e/slurm.conf",
                     "ClusterName=c\nSlurmctldHost=h(1.2.3.4)\nRebootProgram=/b\nNodeName=n[1-4]\nPartitionName=p Nodes=ALL\n" + plugins},
                    {"/e/helpers.conf", helpers}};
  auto loaded = load_config(files, "/e/slurm.conf");
  if (!loaded) return {false, to_text(loaded.error()), {}};
  return {true, to_text(loaded->notices), std::move(loaded->helpers)};
}

// The example of helpers.conf(5).
constexpr const char* kExample =
    "Feature=nps1,nps2,nps4 Helper=/usr/local/bin/nps\nFeature=mig=on Helper=/usr/local/bin/mig\n"
    "Feature=mig=off Helper=/usr/local/bin/mig\nMutuallyExclusive=nps1,nps2,nps4\nMutuallyExclusive=mig=on,mig=off\n"
    "ExecTime=60\nBootTime=70\nAllowUserBoot=user1,user2\n";

TEST(HelpersConf, TheExampleOfThePage) {
  const Read r = read(kExample);
  ASSERT_TRUE(r.ok) << r.said;
  EXPECT_EQ(r.said, "");
  EXPECT_EQ(r.conf.changeable.names.size(), 5u);
  EXPECT_EQ(r.conf.changeable.exclusive, (std::vector<FeatureList>{{"nps1", "nps2", "nps4"}, {"mig=on", "mig=off"}}));
  EXPECT_TRUE(r.conf.changeable.may_boot("user2"));
  EXPECT_FALSE(r.conf.changeable.may_boot("user3"));
  EXPECT_EQ(r.conf.exec_time, seconds(60));
  EXPECT_EQ(r.conf.boot_time, seconds(70));
  EXPECT_EQ(r.conf.programs_of("n1"), (std::vector<std::string>{"/usr/local/bin/nps", "/usr/local/bin/mig"}));
  ASSERT_NE(r.conf.find("n1", "mig=off"), nullptr);
  EXPECT_EQ(r.conf.find("n1", "mig=off")->program, "/usr/local/bin/mig");
  EXPECT_EQ(r.conf.find("n1", "nps3"), nullptr);
}

TEST(HelpersConf, Defaults) {
  const Read r = read("Feature=a Helper=/h Flags=RebootLess\n");
  ASSERT_TRUE(r.ok) << r.said;
  EXPECT_EQ(r.conf.exec_time, seconds(10));
  EXPECT_EQ(r.conf.boot_time, seconds(300));
  EXPECT_TRUE(r.conf.changeable.may_boot("anybody"));
  EXPECT_TRUE(r.conf.helpers[0].rebootless);
}

TEST(HelpersConf, LinesForSomeNodes) {
  const Read r = read("NodeName=n[1-2] Feature=a1,a2 Helper=/h\nNodeName=n[3-4] Feature=b1 Helper=/h\nFeature=c Helper=/c\n");
  ASSERT_TRUE(r.ok) << r.said;
  EXPECT_EQ(r.conf.features_of("n2"), (FeatureList{"a1", "a2", "c"}));
  EXPECT_EQ(r.conf.features_of("n4"), (FeatureList{"b1", "c"}));
  EXPECT_EQ(r.conf.find("n1", "b1"), nullptr);
  EXPECT_EQ(r.conf.changeable.names.size(), 4u);
}

TEST(HelpersConf, WrongLinesAreErrorsWithFileAndLine) {
  for (const auto& [line, rule] : {std::pair{"Feature=a Helper=h\n", "helpers.conf:1: Helper: has to be the absolute path of a program"},
                                   std::pair{"# x\nFeature=a\n", "helpers.conf:2: Helper: "},
                                   std::pair{"Feature=a|b Helper=/h\n", "\"a|b\" has a character that means something in --constraint"},
                                   std::pair{"Feature=a Helper=/h NodeName=n[1-\n", "helpers.conf:1: NodeName"}}) {
    const Read r = read(line);
    EXPECT_FALSE(r.ok) << line;
    EXPECT_NE(r.said.find(rule), std::string::npos) << line << r.said;
  }
}

TEST(HelpersConf, SlipsAreTold) {
  const Read r = read("Featur=a\nFeature=a Helper=/h Flags=fast NodeName=n1,zz\nMutuallyExclusive=a\nMutuallyExclusive=a,b\n",
                      "NodeFeaturesPlugins=node_features/helpers,node_features/knl\n");
  ASSERT_TRUE(r.ok) << r.said;
  for (const char* rule : {"did you mean Feature?", "\"fast\" is not a flag; there is: rebootless", "slurm.conf has no node zz",
                           "needs two features or more", "no Feature line has \"b\"", "\"node_features/knl\" is not there"})
    EXPECT_NE(r.said.find(rule), std::string::npos) << rule << "\n" << r.said;
}

TEST(HelpersConf, IsCheckedThoughNothingAsksForIt) {
  const Read r = read("Featur=nps1 Helper=/bin/h\n", "");
  ASSERT_TRUE(r.ok) << r.said;
  EXPECT_NE(r.said.find("did you mean Feature?"), std::string::npos) << r.said;
  EXPECT_NE(r.said.find("NodeFeaturesPlugins of slurm.conf does not name node_features/helpers"), std::string::npos) << r.said;
  EXPECT_TRUE(read(kExample, "").conf.helpers.empty());
}

}  // namespace
}  // namespace muster::config

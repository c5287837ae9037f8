#include "slurmd/daemon/feature_helpers.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "os/files.h"
#include "os/process.h"

namespace muster::slurmd {
namespace {

// A node n1 with two helpers in a folder: "nps" for nps1 and nps2, "mig" for mig, which needs no reboot.
struct Machine {
  std::string folder;
  net::Loop loop;
  std::unique_ptr<os::Log> log = *os::Log::open({.program = "feature_helpers_test", .async = false});
  site::Programs programs{loop, *log};
  Setup setup;
  std::unique_ptr<FeatureHelpers> helpers;

  explicit Machine(const std::string& more = "") {
    char name[] = "/tmp/muster-helpers-XXXXXX";
    folder = ::mkdtemp(name);
    config::MemoryFiles files{
        {"/e/slurm.conf", "ClusterName=c\nSlurmctldHost=h(1.2.3.4)\nNodeFeaturesPlugins=node_features/helpers\nRebootProgram=/b\n"
                          "NodeName=n[1-2]\nPartitionName=p Nodes=ALL\n"},
        {"/e/helpers.conf", "Feature=nps1,nps2 Helper=" + folder + "/nps\nFeature=mig Helper=" + folder +
                                "/mig Flags=rebootless\nNodeName=n2 Feature=other Helper=" + folder + "/other\n" + more}};
    setup.loaded = std::make_shared<const config::LoadedConfig>(*config::load_config(files, "/e/slurm.conf"));
    setup.node = "n1";
    helpers = std::make_unique<FeatureHelpers>(*log, setup, programs);
    loop.on_signal(SIGCHLD, [this] {
      for (const os::Reaped& r : os::reap_children()) programs.reaped(r.pid, r.status.raw);
    });
    program("nps", "exit 0");
    program("mig", "exit 0");
  }
  ~Machine() {
    for (const char* name : {"nps", "mig", "told"}) ::unlink((folder + "/" + name).c_str());
    ::rmdir(folder.c_str());
  }
  void program(const std::string& name, const std::string& script) {
    const std::string path = folder + "/" + name;
    ASSERT_TRUE(os::write_file_atomic(path, "#!/bin/sh\n" + script + "\n", 0755));
    ::chmod(path.c_str(), 0755);
  }
  node_rpc::Register ask() {
    helpers->ask([this] { loop.stop(); });
    loop.run();
    node_rpc::Register r;
    helpers->tell(r);
    return r;
  }
  std::string bring(const FeatureList& features) {
    std::string said = "?";
    helpers->bring(features, [&](const std::string& error) {
      said = error;
      loop.stop();
    });
    if (said == "?") loop.run();
    return said;
  }
  std::string told() const { return os::read_file(folder + "/told", 4096).value_or(""); }
};

TEST(FeatureHelpers, WhatTheyPrintIsActive) {
  Machine m;
  m.program("nps", "echo nps2; echo fast");
  const node_rpc::Register r = m.ask();
  EXPECT_EQ(r.fault, "");
  EXPECT_EQ(join(r.hardware.changeable, ","), "nps1,nps2,mig") << "what is for n2 alone is not";
  EXPECT_EQ(join(r.hardware.changeable_active, ","), "nps2") << "it knows no feature fast";
  EXPECT_EQ(join(r.hardware.changeable_told, ","), "nps1,nps2") << "mig's said nothing";
}

TEST(FeatureHelpers, FailuresAreTold) {
  Machine m("ExecTime=1\n");
  m.program("nps", "echo no BIOS here; exit 3");
  EXPECT_NE(m.ask().fault.find("/nps: exit code 3: no BIOS here"), std::string::npos);
  m.program("nps", "exec sleep 1000");
  EXPECT_NE(m.ask().fault.find("/nps: timed out"), std::string::npos);
  m.program("nps", "head -c 9000 /dev/zero | tr '\\0' x");
  EXPECT_NE(m.ask().fault.find("prints more than 4096 characters"), std::string::npos);
  m.program("nps", "exit 0");
  EXPECT_EQ(m.ask().fault, "") << "it is asked anew";
}

TEST(FeatureHelpers, EachFeatureIsToldToItsOwn) {
  Machine m;
  m.program("nps", "echo \"nps $# $1\" >> " + m.folder + "/told");
  m.program("mig", "echo \"mig $# $1\" >> " + m.folder + "/told");
  EXPECT_EQ(m.bring({"nps2", "mig"}), "");
  EXPECT_EQ(m.told(), "nps 1 nps2\nmig 1 mig\n");
  EXPECT_FALSE(m.helpers->rebootless({"nps2", "mig"}));
  EXPECT_TRUE(m.helpers->rebootless({"mig"}));
  EXPECT_FALSE(m.helpers->rebootless({}));
}

// Whatever slurmctld is made to say: only features of this node's file are told to anything.
TEST(FeatureHelpers, WhatTheFileDoesNotHaveRunsNothing) {
  Machine m;
  m.program("nps", "echo \"$1\" >> " + m.folder + "/told");
  for (const char* feature : {"other", "nps1; touch owned", "", "--help", "../nps"})
    EXPECT_NE(m.bring({feature, "nps1"}).find("helpers.conf of this node has no Feature"), std::string::npos) << feature;
  EXPECT_EQ(m.told(), "");
  node_rpc::Register r;
  m.helpers->tell(r);
  EXPECT_NE(r.fault.find("has no Feature"), std::string::npos);
}

TEST(FeatureHelpers, TheFirstThatFailsEndsIt) {
  Machine m;
  m.program("nps", "exit 1");
  m.program("mig", "echo mig >> " + m.folder + "/told");
  EXPECT_NE(m.bring({"nps1", "mig"}).find("exit code 1"), std::string::npos);
  EXPECT_EQ(m.told(), "");
}

}  // namespace
}  // namespace muster::slurmd

#include "config/job_container_conf.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "config/job_namespace_testing.h"

namespace muster::config {
namespace {

using Read = ReadNamespaces;

std::vector<std::string> paths(const JobNamespace& space) {
  std::vector<std::string> out;
  for (const PrivateDir& dir : space.dirs) out.push_back(dir.path);
  return out;
}

Read read(const std::string& file, const std::string& keys = "NamespaceType=namespace/tmpfs\nPrologFlags=Contain\n") {
  return read_namespaces("job_container.conf", file, "n[1-4]", keys);
}

TEST(JobContainerConf, OneForAllNodes) {
  const Read r = read("AutoBasePath=true\nBasePath=/var/nvme//storage/\n");
  ASSERT_TRUE(r.ok) << r.said;
  EXPECT_EQ(r.said, "");
  const JobNamespace& space = r.of("n3");
  EXPECT_EQ(space.base, "/var/nvme/storage");
  EXPECT_TRUE(space.make_base);
  EXPECT_FALSE(space.shared || space.whole_step);
  EXPECT_EQ(paths(space), (std::vector<std::string>{"/tmp", "/dev/shm"}));
  EXPECT_EQ(space.script_wait, seconds(10));
  EXPECT_EQ(space.epilog_wait, seconds(10));
}

TEST(JobContainerConf, LinesForSomeNodes) {
  const Read r =
      read("NodeName=n[1-2] BasePath=/a InitScript=/i\nAutoBasePath=true BasePath=/g Dirs=/tmp,/var/tmp CloneNSScript=/s "
           "CloneNSScript_Wait=3\nNodeName=n2 BasePath=none\nNodeName=n3 Dirs=/scratch Shared=yes EntireStepInNS=true CloneNSEpilog=/x "
           "CloneNSEpilog_Wait=4\n");
  ASSERT_TRUE(r.ok) << r.said;
  EXPECT_EQ(r.of("n1").base, "/a");
  EXPECT_EQ(r.of("n1").init_script, "/i");
  EXPECT_TRUE(r.of("n1").make_base) << "as the line for all says";
  EXPECT_EQ(paths(r.of("n1")), (std::vector<std::string>{"/tmp", "/var/tmp"}));
  EXPECT_EQ(r.of("n1").script_wait, seconds(3));
  EXPECT_EQ(r.of("n2").base, "none") << "the last line that names it";
  EXPECT_EQ(r.of("n3").base, "/g");
  EXPECT_EQ(paths(r.of("n3")), std::vector<std::string>{"/scratch"});
  EXPECT_TRUE(r.of("n3").shared && r.of("n3").whole_step);
  EXPECT_EQ(r.of("n3").epilog, "/x");
  EXPECT_EQ(r.of("n3").epilog_wait, seconds(4));
  EXPECT_EQ(r.of("n4").base, "/g");
  EXPECT_FALSE(r.of("n4").shared);
}

TEST(JobContainerConf, WhatIsRefused) {
  for (const auto& [file, why] : std::initializer_list<std::pair<const char*, const char*>>{
           {"BasePath=storage\n", "BasePath: has to be a directory by its absolute path"},
           {"BasePath=/a/../b\n", "BasePath: has to be"},
           {"BasePath=/\n", "BasePath: has to be"},
           {"BasePath=/tmp\n", "/tmp is one of the private directories"},
           {"BasePath=/a Dirs=/b,/a/\n", "/a is one of the private directories"},
           {"BasePath=/a Dirs=tmp\n", "Dirs: \"tmp\" has to be"},
           {"BasePath=/a Dirs=/tmp,/tmp/x\n", "Dirs: /tmp/x lies in /tmp"},
           {"BasePath=/a InitScript=init.sh\n", "InitScript: has to be the absolute path"},
           {"BasePath=/a CloneNSScript=s\n", "CloneNSScript: has to be"},
           {"BasePath=/a CloneNSEpilog=s\n", "CloneNSEpilog: has to be"},
           {"NodeName=n[1-2 BasePath=/a\n", "NodeName: "}}) {
    const Read r = read(file);
    EXPECT_FALSE(r.ok) << file << r.said;
    EXPECT_NE(r.said.find(why), std::string::npos) << file << r.said;
  }
}

TEST(JobContainerConf, SlipsAreToldAndLeftOut) {
  EXPECT_NE(read("").said.find("NamespaceType: namespace/tmpfs needs a BasePath"), std::string::npos);
  const Read r = read("BasePath=/a BashPath=/b CloneNSScript_Wait=0\nNodeName=n[4-5] Dirs=/s\n");
  ASSERT_TRUE(r.ok) << r.said;
  for (const char* words : {"BashPath: is not a key", "did you mean BasePath?", "CloneNSScript_Wait: ", "slurm.conf has no node n5"})
    EXPECT_NE(r.said.find(words), std::string::npos) << words << "\n" << r.said;
  EXPECT_EQ(r.of("n1").script_wait, seconds(1));
  EXPECT_EQ(paths(r.of("n4")), std::vector<std::string>{"/s"});
}

// A job may not do without what the site has asked for because a second key was forgotten.
TEST(JobContainerConf, ContainIsTakenAsGiven) {
  for (const char* keys : {"NamespaceType=namespace/tmpfs\n", "JobContainerType=job_container/tmpfs\nPrologFlags=Alloc\n"}) {
    const Read r = read("BasePath=/a\n", keys);
    ASSERT_TRUE(r.ok) << r.said;
    EXPECT_NE(r.said.find("namespace/tmpfs needs PrologFlags=Contain; it is taken as given"), std::string::npos) << r.said;
    EXPECT_TRUE(has_job_namespaces(r.loaded.config));
    EXPECT_NE(std::ranges::find(r.loaded.config.prolog_flags, "Contain"), r.loaded.config.prolog_flags.end());
  }
}

TEST(JobContainerConf, TheFileAloneMeansNothing) {
  for (const char* keys : {"", "NamespaceType=namespace/none\n", "NamespaceType=namespace/linux\n"}) {
    const Read r = read("BasePath=relative\n", keys);
    ASSERT_TRUE(r.ok) << r.said;
    EXPECT_NE(namespace_type(r.loaded.config), "namespace/tmpfs");
    EXPECT_NE(r.said.find("BasePath: has to be"), std::string::npos) << r.said;
  }
}

}  // namespace
}  // namespace muster::config

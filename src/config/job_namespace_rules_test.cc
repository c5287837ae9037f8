// What holds of job_container.conf and namespace.yaml alike, each said in its own syntax.
#include "config/job_namespace_rules.h"

#include <gtest/gtest.h>

#include "config/job_namespace_testing.h"

namespace muster::config {
namespace {

using Read = ReadNamespaces;

Read read(const std::string& type, const std::string& file, const std::string& text) {
  return read_namespaces(file, text, "n[1-4]", "PrologFlags=Contain\nNamespaceType=" + type + "\n");
}
Read by_conf(const std::string& text) { return read("namespace/tmpfs", "job_container.conf", text); }
Read by_yaml(const std::string& options) { return read("namespace/linux", "namespace.yaml", "defaults: {" + options + "}\n"); }

struct Case {
  const char *conf, *yaml;          // the same in either
  const char *conf_key, *yaml_key;  // what the error names
  const char* why;
};
constexpr Case kRefused[] = {
    {"BasePath=storage", "base_path: storage", "BasePath", "base_path",
     "has to be a directory by its absolute path, without . and .. in it, or none"},
    {"BasePath=/a/../b", "base_path: /a/../b", "BasePath", "base_path", "has to be a directory"},
    {"BasePath=/", "base_path: /", "BasePath", "base_path", "has to be a directory"},
    {"BasePath=/dev/shm", "base_path: /dev/shm", "BasePath", "base_path", "/dev/shm is one of the private directories"},
    {"BasePath=/a Dirs=/b,/a/", "base_path: /a, dirs: '/b,/a/'", "BasePath", "base_path", "/a is one of the private directories"},
    {"BasePath=/a Dirs=/s,tmp", "base_path: /a, dirs: [/s, tmp]", "Dirs", "dirs", "\"tmp\" has to be a directory"},
    {"BasePath=/a Dirs=/tmp/x,/tmp", "base_path: /a, dirs: [/tmp/x, /tmp]", "Dirs", "dirs",
     "/tmp/x lies in /tmp, which is private already"},
    {"BasePath=/a InitScript=i", "base_path: /a, init_script: i", "InitScript", "init_script", "has to be the absolute path of a program"},
};

TEST(NamespaceRules, WhatOneFileRefusesTheOtherDoes) {
  for (const Case& c : kRefused) {
    for (const auto& [said, key] :
         {std::pair(by_conf(std::string(c.conf) + "\n").said, std::string("/e/job_container.conf:1: ") + c.conf_key),
          std::pair(by_yaml(c.yaml).said, std::string("/e/namespace.yaml:1: ") + c.yaml_key)})
      EXPECT_NE(said.find(key + ": " + c.why), std::string::npos) << c.conf << "\n" << said;
  }
}

TEST(NamespaceRules, WhatOneFileTakesTheOtherDoes) {
  Read conf = by_conf("BasePath=/tmp//jobs/ Dirs=/tmp,/s,/s AutoBasePath=yes CloneNSEpilog=/e\nNodeName=n[4-5] BasePath=NONE\n");
  Read yaml = read("namespace/linux", "namespace.yaml",
                   "defaults: {base_path: /tmp//jobs/, dirs: [/tmp, /s, /s], auto_base_path: yes, clone_ns_epilog: /e}\n"
                   "node_confs: [{nodes: 'n[4-5]', options: {base_path: NONE}}]\n");
  for (const Read* r : {&conf, &yaml}) {
    ASSERT_TRUE(r->ok) << r->said;
    EXPECT_NE(r->said.find("/s is there twice; the first counts"), std::string::npos) << r->said;
    EXPECT_NE(r->said.find("slurm.conf has no node n5; it is left out"), std::string::npos) << r->said;
  }
  for (const char* node : {"n1", "n4"}) {
    JobNamespace both[] = {conf.loaded.job_namespaces.of(node), yaml.loaded.job_namespaces.of(node)};
    EXPECT_FALSE(both[0].by_yaml);
    EXPECT_TRUE(both[1].by_yaml);
    both[0].by_yaml = true;
    EXPECT_EQ(both[0], both[1]) << node;
  }
  EXPECT_EQ(conf.loaded.job_namespaces.of("n1").base, "/tmp/jobs") << "below one of them it is kept all the same";
  EXPECT_EQ(conf.loaded.job_namespaces.of("n4").base, "none");
}

TEST(NamespaceRules, SoManyDirectories) {
  std::string dirs;
  for (int i = 0; i < 65; ++i) dirs += (i ? ",/d" : "/d") + std::to_string(i);
  EXPECT_NE(by_conf("BasePath=/a Dirs=" + dirs + "\n").said.find("Dirs: there are more than 64"), std::string::npos);
  EXPECT_NE(by_yaml("base_path: /a, dirs: '" + dirs + "'").said.find("dirs: there are more than 64"), std::string::npos);
}

TEST(JobNamespace, PrivateAbove) {
  const std::vector<PrivateDir> dirs{{"/tmp", {}, {}, false}, {"/var/tmp", {}, {}, false}};
  EXPECT_EQ(private_above(dirs, "/tmp"), "/tmp");
  EXPECT_EQ(private_above(dirs, "/tmp/a/b"), "/tmp");
  EXPECT_EQ(private_above(dirs, "/tmpfoo"), "");
  EXPECT_EQ(private_above(dirs, "/var/tmp/x"), "/var/tmp");
  EXPECT_EQ(private_above(dirs, "/"), "");
}

TEST(JobNamespace, PathsOfOne) { EXPECT_EQ(path_for({"/s/%u/%j-%S/%x%", {}, {}, false}, "7", "sABC", "ann"), "/s/ann/7-sABC/%x%"); }

}  // namespace
}  // namespace muster::config

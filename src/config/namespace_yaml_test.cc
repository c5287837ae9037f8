#include "config/namespace_yaml.h"

#include <gtest/gtest.h>

#include "config/job_namespace_testing.h"

namespace muster::config {
namespace {

using Read = ReadNamespaces;

Read read(const std::string& file, const std::string& keys = "NamespaceType=namespace/linux\nPrologFlags=Contain\n") {
  return read_namespaces("namespace.yaml", file, "n[1-10]", keys);
}

// The example of namespace.yaml(5), with a program more.
constexpr char kExample[] = R"(---
defaults:
  auto_base_path: true
  base_path: "/var/nvme/storage_0"
  clone_ns_flags:
    - "CLONE_NEWPID"
    - "CLONE_NEWUSER"
    - "CLONE_NEWNS"
  clone_ns_epilog: "/path/to/epilog_script"
  clone_ns_epilog_wait: 10
  clone_ns_script: "/path/to/ns_script"
  init_script: "/path/to/init_script"
  shared: true
node_confs:
  - nodes:
    - "n1"
    - "n[2-4,6]"
    options:
      auto_base_path: true
      base_path: "/var/nvme/storage_1"
      clone_ns_script_wait: 20
      dir_confs:
        - path: "/tmp"
          options: "noexec,nosuid,size=8g"
          tmpfs: true
        - path: "/scratch/%u"
          base_path: "/var/nvme/storage_1"
          options: "noexec,nosuid"
      shared: false
      user_ns_script: "/path/to/user_script"
  - nodes:
    - "n[7-10]"
    options:
      base_path: "none"
      dirs: "/tmp,/var/tmp"
      clone_ns_flags: [CLONE_NEWNS]
)";

TEST(NamespaceYaml, TheExampleOfTheManual) {
  const Read r = read(kExample);
  ASSERT_TRUE(r.ok) << r.said;
  EXPECT_EQ(r.said, "");
  const JobNamespace& five = r.of("n5");
  EXPECT_TRUE(five.by_yaml && five.make_base && five.shared && five.own_processes && five.own_users);
  EXPECT_FALSE(five.whole_step);
  EXPECT_EQ(five.base, "/var/nvme/storage_0");
  EXPECT_EQ(five.dirs, (std::vector<PrivateDir>{{"/tmp", "", "", false}, {"/dev/shm", "", "", false}}));
  EXPECT_EQ(five.init_script, "/path/to/init_script");
  EXPECT_EQ(five.script, "/path/to/ns_script");
  EXPECT_EQ(five.script_wait, seconds(10));
  EXPECT_EQ(five.epilog, "/path/to/epilog_script");
  EXPECT_EQ(five.user_script, "");
  const JobNamespace& six = r.of("n6");
  EXPECT_EQ(six.base, "/var/nvme/storage_1");
  EXPECT_EQ(six.script_wait, seconds(20));
  EXPECT_EQ(six.user_script, "/path/to/user_script");
  EXPECT_FALSE(six.shared);
  EXPECT_TRUE(six.own_processes) << "as the defaults say";
  EXPECT_EQ(six.dirs, (std::vector<PrivateDir>{{"/tmp", "", "noexec,nosuid,size=8g", true},
                                               {"/scratch/%u", "/var/nvme/storage_1", "noexec,nosuid", false}}));
  const JobNamespace& seven = r.of("n7");
  EXPECT_EQ(seven.base, "none");
  EXPECT_FALSE(seven.own_processes || seven.own_users);
  EXPECT_EQ(seven.dirs, (std::vector<PrivateDir>{{"/tmp", "", "", false}, {"/var/tmp", "", "", false}}));
}

TEST(NamespaceYaml, WhereverTheDefaultsStand) {
  const Read r = read("node_confs: [{nodes: n1, options: {shared: true}}]\ndefaults: {base_path: /b, dirs: [/s, /t]}\n");
  ASSERT_TRUE(r.ok) << r.said;
  EXPECT_EQ(r.of("n1").base, "/b");
  EXPECT_TRUE(r.of("n1").shared && !r.of("n2").shared);
  EXPECT_EQ(r.of("n2").dirs, (std::vector<PrivateDir>{{"/s", "", "", false}, {"/t", "", "", false}}));
}

TEST(NamespaceYaml, DirConfsWinOverDirs) {
  const Read r = read("defaults: {base_path: /b, dir_confs: [{path: /a}]}\nnode_confs: [{nodes: [n1], options: {dirs: /c}}]\n");
  ASSERT_TRUE(r.ok) << r.said;
  EXPECT_EQ(r.of("n1").dirs, (std::vector<PrivateDir>{{"/a", "", "", false}}));
}

TEST(NamespaceYaml, WhatIsRefused) {
  for (const auto& [file, why] : std::initializer_list<std::pair<const char*, const char*>>{
           {"defaults: [", "not YAML"},
           {"- defaults\n", "must be a map"},
           {"defaults: text\n", "options: must be a map"},
           {"defaults:\n  base_path: storage\n", "namespace.yaml:2: base_path: has to be a directory by its absolute path"},
           {"defaults: {base_path: /a/../b}\n", "base_path: has to be"},
           {"defaults: {base_path: [/a]}\n", "base_path: must be a text"},
           {"defaults: {base_path: /tmp}\n", "base_path: /tmp is one of the private directories"},
           {"defaults: {base_path: /a, auto_base_path: perhaps}\n", "auto_base_path: must be true or false"},
           {"defaults: {base_path: /a, shared: 7}\n", "shared: must be true or false"},
           {"defaults: {base_path: /a, dirs: tmp}\n", "dirs: \"tmp\" has to be"},
           {"defaults: {base_path: /a, dirs: '/tmp,/tmp/x'}\n", "dirs: /tmp/x lies in /tmp"},
           {"defaults: {base_path: /a, dirs: {x: y}}\n", "dirs: must be a list"},
           {"defaults: {base_path: /a, dir_confs: /tmp}\n", "dir_confs: must be a list"},
           {"defaults: {base_path: /a, dir_confs: [{tmpfs: true}]}\n", "path: an entry of dir_confs needs a path"},
           {"defaults: {base_path: /a, dir_confs: [{path: tmp}]}\n", "path: has to be"},
           {"defaults: {base_path: /a, dir_confs: [{path: /s, base_path: s}]}\n", "base_path: has to be"},
           {"defaults: {base_path: /a, dir_confs: [{path: /s, base_path: /s}]}\n", "/s is one of the private directories"},
           {"defaults: {base_path: /a, dir_confs: [{path: /s, tmpfs: 3}]}\n", "tmpfs: must be true or false"},
           {"defaults: {base_path: /a, init_script: init.sh}\n", "init_script: has to be the absolute path"},
           {"defaults: {base_path: /a, clone_ns_script: s}\n", "clone_ns_script: has to be"},
           {"defaults: {base_path: /a, clone_ns_epilog: s}\n", "clone_ns_epilog: has to be"},
           {"defaults: {base_path: /a, user_ns_script: s}\n", "user_ns_script: has to be"},
           {"defaults: {base_path: /a, clone_ns_script_wait: 0}\n", "clone_ns_script_wait: must be a number of seconds"},
           {"defaults: {base_path: /a, clone_ns_epilog_wait: soon}\n", "clone_ns_epilog_wait: must be a number of seconds"},
           {"defaults: {base_path: /a, clone_ns_flags: [CLONE_NEWNET]}\n", "\"CLONE_NEWNET\" must be CLONE_NEWPID"},
           {"disable_bpf_token: maybe\n", "disable_bpf_token: must be true or false"},
           {"node_confs: {nodes: n1}\n", "node_confs: must be a list"},
           {"node_confs: [{options: {base_path: /a}}]\n", "nodes: an entry of node_confs needs nodes"},
           {"node_confs: [{nodes: 'n[1-2'}]\n", "nodes: "}}) {
    const Read r = read(file);
    EXPECT_FALSE(r.ok) << file << r.said;
    EXPECT_NE(r.said.find(why), std::string::npos) << file << r.said;
  }
}

TEST(NamespaceYaml, SlipsAreToldAndLeftOut) {
  EXPECT_NE(read("").said.find("nodes without it do not start"), std::string::npos) << "as where there is no file";
  const Read r = read("disable_bpf_token: true\nversion: 2\ndefaults:\n  base_path: /a\n  auto_basepath: true\n  user_ns_script: /u\n"
                      "  dir_confs: [{path: /s, opts: ro}, {path: /s}]\nnode_confs: [{nodes: 'n[9-11]', option: {}}]\n");
  ASSERT_TRUE(r.ok) << r.said;
  for (const char* words :
       {"namespace.yaml:1: disable_bpf_token: changes nothing", "namespace.yaml:2: version: is not known in namespace.yaml",
        "namespace.yaml:5: auto_basepath: is not known in options", "did you mean auto_base_path?", "user_ns_script: needs CLONE_NEWUSER",
        "opts: is not known in an entry of dir_confs", "/s is there twice", "slurm.conf has no node n11",
        "option: is not known in an entry of node_confs"})
    EXPECT_NE(r.said.find(words), std::string::npos) << words << "\n" << r.said;
  EXPECT_FALSE(r.of("n1").make_base);
  EXPECT_EQ(r.of("n9").dirs, (std::vector<PrivateDir>{{"/s", "", "", false}}));
}

TEST(NamespaceYaml, ItsTypeDecides) {
  const Read none = read("defaults: {base_path: relative}\n", "");
  ASSERT_TRUE(none.ok) << none.said;
  EXPECT_NE(none.said.find("base_path: has to be"), std::string::npos) << none.said;
  EXPECT_FALSE(has_job_namespaces(none.loaded.config));
  const Read linux_without = read("defaults: {base_path: /a}\n", "NamespaceType=namespace/linux\n");
  ASSERT_TRUE(linux_without.ok) << linux_without.said;
  EXPECT_NE(linux_without.said.find("namespace/linux needs PrologFlags=Contain; it is taken as given"), std::string::npos);
  EXPECT_EQ(linux_without.of("n1").base, "/a");
  const Read tmpfs = read("defaults: {base_path: /a}\n", "NamespaceType=namespace/tmpfs\n");
  ASSERT_TRUE(tmpfs.ok) << tmpfs.said;
  EXPECT_EQ(tmpfs.of("n1").base, "") << "that of job_container.conf";
}

}  // namespace
}  // namespace muster::config

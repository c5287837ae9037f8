// The folder of the files on a real disk: whole or not at all, and nothing is written through what somebody put there.
#include "agent/conf_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "net/credential.h"
#include "os/files.h"

namespace muster::agent {
namespace {

struct Place {
  os::TempDir dir = *os::TempDir::create("conf-cache");
  std::string folder = dir.path() + "/conf-cache";

  std::string read(const std::string& name) const { return os::read_file(folder + "/" + name).value_or("(not there)"); }
  size_t entries() const {
    size_t n = 0;
    for (const FetchedFile& f : read_conf_cache(folder).files) n += !f.about.name.empty();
    return n;
  }
};

FetchedConfig config(std::initializer_list<std::pair<std::string, std::string>> files, uint32_t mode = 0644) {
  FetchedConfig out{"v", {}};
  for (const auto& [name, content] : files) out.files.push_back({{name, *net::content_hash(content), content.size(), mode}, content});
  return out;
}

uint32_t mode_of(const std::string& path) {
  struct stat st {};
  return ::lstat(path.c_str(), &st) == 0 ? st.st_mode : 0;
}

TEST(ConfCache, IsReplacedAsAWhole) {
  Place p;
  ASSERT_TRUE(write_conf_cache(p.folder, config({{"slurm.conf", "one"}, {"gres.conf", "g"}}), ""));
  EXPECT_EQ(p.read("slurm.conf"), "one");
  EXPECT_EQ(mode_of(p.folder) & 07777, 0755u);
  EXPECT_EQ(mode_of(p.folder + "/slurm.conf") & 07777, 0644u);
  ASSERT_TRUE(write_conf_cache(p.folder, config({{"slurm.conf", "two"}}, 07777), ""));
  EXPECT_EQ(p.read("slurm.conf"), "two");
  EXPECT_EQ(p.read("gres.conf"), "(not there)");
  EXPECT_EQ(mode_of(p.folder + "/slurm.conf") & 07777, 0755u);  // nothing of what others may write or become
}

TEST(ConfCache, SaysWhatItHas) {
  Place p;
  EXPECT_TRUE(read_conf_cache(p.folder).files.empty());
  ASSERT_TRUE(write_conf_cache(p.folder, config({{"slurm.conf", "one"}, {"p.sh", "x"}}), "/nowhere/slurm.key"));
  const FetchedConfig held = read_conf_cache(p.folder);
  ASSERT_EQ(held.files.size(), 2u);  // the link to the key is none of them
  EXPECT_EQ(held.find("slurm.conf")->content, "one");
  EXPECT_EQ(held.find("slurm.conf")->about.hash, *net::content_hash("one"));
}

TEST(ConfCache, ALinkInItsPlaceIsNotFollowed) {
  Place p;
  const std::string victim = p.dir.path() + "/victim";
  ASSERT_EQ(::mkdir(victim.c_str(), 0755), 0);
  ASSERT_EQ(::symlink(victim.c_str(), p.folder.c_str()), 0);
  EXPECT_TRUE(read_conf_cache(p.folder).files.empty());
  ASSERT_TRUE(write_conf_cache(p.folder, config({{"slurm.conf", "one"}}), ""));
  EXPECT_TRUE(S_ISDIR(mode_of(p.folder)));
  EXPECT_EQ(mode_of(victim + "/slurm.conf"), 0u);
  EXPECT_TRUE(S_ISDIR(mode_of(victim)));
}

TEST(ConfCache, ALinkInTheFolderIsNotFollowed) {
  Place p;
  ASSERT_TRUE(write_conf_cache(p.folder, config({{"slurm.conf", "one"}}), ""));
  const std::string victim = p.dir.path() + "/victim";
  ASSERT_TRUE(os::write_file_atomic(victim, "mine"));
  ASSERT_EQ(::unlink((p.folder + "/slurm.conf").c_str()), 0);
  ASSERT_EQ(::symlink(victim.c_str(), (p.folder + "/slurm.conf").c_str()), 0);
  EXPECT_TRUE(read_conf_cache(p.folder).files.empty());
  ASSERT_TRUE(write_conf_cache(p.folder, config({{"slurm.conf", "two"}}), ""));
  EXPECT_EQ(p.read("slurm.conf"), "two");
  EXPECT_EQ(os::read_file(victim).value_or(""), "mine");
}

TEST(ConfCache, AFileInItsPlaceAndLeftoversGo) {
  Place p;
  ASSERT_TRUE(os::write_file_atomic(p.folder, "a file"));
  ASSERT_EQ(::mkdir((p.folder + ".abc123").c_str(), 0700), 0);
  ASSERT_TRUE(write_conf_cache(p.folder, config({{"slurm.conf", "one"}}), ""));
  EXPECT_EQ(p.read("slurm.conf"), "one");
  EXPECT_EQ(mode_of(p.folder + ".abc123"), 0u);
}

TEST(ConfCache, NoPlaceThatOthersMayWrite) {
  Place p;
  ASSERT_EQ(::chmod(p.dir.path().c_str(), 0777), 0);
  auto refused = write_conf_cache(p.folder, config({{"slurm.conf", "one"}}), "");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kAccessDenied);
  ASSERT_EQ(::chmod(p.dir.path().c_str(), 0700), 0);
}

TEST(ConfCache, WhatCannotBeWrittenLeavesWhatWasThere) {
  Place p;
  ASSERT_TRUE(write_conf_cache(p.folder, config({{"slurm.conf", "one"}}), ""));
  for (const char* name : {"../out", "a/b", "..", "slurm.key"}) {
    EXPECT_FALSE(write_conf_cache(p.folder, config({{"slurm.conf", "two"}, {name, "x"}}), "")) << name;
    EXPECT_EQ(p.read("slurm.conf"), "one");
    EXPECT_EQ(p.entries(), 1u);
  }
  EXPECT_EQ(mode_of(p.dir.path() + "/out"), 0u);
}

TEST(ConfCache, TheLinkForCommands) {
  Place p;
  const std::string link = p.dir.path() + "/run/slurm/conf";
  ASSERT_TRUE(write_conf_cache(p.folder, config({{"slurm.conf", "one"}}), ""));
  ASSERT_TRUE(link_to_cache(link, "/somewhere/else"));
  ASSERT_TRUE(link_to_cache(link, p.folder));
  EXPECT_EQ(os::read_file(link + "/slurm.conf").value_or(""), "one");
  ASSERT_EQ(::unlink(link.c_str()), 0);
  ASSERT_EQ(::mkdir(link.c_str(), 0755), 0);
  auto refused = link_to_cache(link, p.folder);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kAlreadyDone);
}

}  // namespace
}  // namespace muster::agent

// Which files hosts without slurm.conf get: those that the configuration names, beside slurm.conf, and nothing else that lies there.
#include "slurmctld/daemon/config_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "config/load.h"
#include "os/files.h"
#include "site/conf_files.h"

namespace muster::slurmctld {
namespace {

struct Folder {
  os::TempDir dir = *os::TempDir::create("config-files");
  std::vector<std::string> notes;

  explicit Folder(const std::string& more = "") {
    file("slurm.conf", "ClusterName=t\nSlurmctldHost=h\nAuthType=auth/slurm\nNodeName=n1\nPartitionName=p Nodes=n1\n" + more);
    file("slurm.key", "0123456789abcdef");
    file("slurmdbd.conf", "StoragePass=secret\n");
    file("job_submit.lua", "secret = 1\n");
    file("notes.txt", "secret\n");
  }
  void file(const std::string& name, const std::string& text, mode_t mode = 0644) {
    ASSERT_TRUE(os::write_file_atomic(dir.path() + "/" + name, text, mode));
  }
  Result<std::shared_ptr<const ConfigFiles>> collect(const std::string& name = "slurm.conf") {
    site::KeptFiles files;
    auto loaded = config::load_config(files, dir.path() + "/" + name);
    if (!loaded) return fail(Errc::kConfig, config::to_text(loaded.error()));
    return ConfigFiles::collect(loaded->config, files.read_files(), notes);
  }
  std::string names(const std::string& conf = "slurm.conf") {
    auto files = collect(conf);
    if (!files) return std::string(files.error().message());
    std::string out;
    for (const rpc::ConfigFile& f : (*files)->manifest().files) out += (out.empty() ? "" : " ") + f.name;
    return out;
  }
};

TEST(ConfigFiles, NothingThatIsNotNamed) {
  Folder f;
  EXPECT_EQ(f.names(), "slurm.conf");
  f.file("gres.conf", "");
  f.file("topology.yaml", "");
  EXPECT_EQ(f.names(), "slurm.conf gres.conf topology.yaml");
}

TEST(ConfigFiles, IncludesBesideIt) {
  Folder f("Include more.conf\nInclude sub/other.conf\n");
  ASSERT_EQ(::mkdir((f.dir.path() + "/sub").c_str(), 0755), 0);
  f.file("more.conf", "# more\n");
  f.file("sub/other.conf", "# other\n");
  EXPECT_EQ(f.names(), "slurm.conf more.conf");
}

TEST(ConfigFiles, ScriptsByTheirNamesAlone) {
  Folder f("Prolog=prolog.sh\nEpilog=/bin/true\nTaskProlog=task.sh\n");
  f.file("prolog.sh", "#!/bin/sh\n", 0755);
  auto files = f.collect();
  ASSERT_TRUE(files) << files.error().message();
  const auto& manifest = (*files)->manifest();
  ASSERT_EQ(manifest.files.size(), 2u);
  EXPECT_EQ(manifest.files[1].name, "prolog.sh");
  EXPECT_EQ(manifest.files[1].mode, 0755u);
  ASSERT_EQ(f.notes.size(), 1u);  // task.sh is not there
  EXPECT_NE(f.notes[0].find("task.sh"), std::string::npos);
}

TEST(ConfigFiles, PluginStacksWithTheirIncludes) {
  Folder f;
  f.file("plugstack.conf", "include /etc/passwd\ninclude spank-*.conf  # all\nincluded x\ninclude ../up.conf\n");
  f.file("spank-a.conf", "include deep.conf\n");
  f.file("spank-b.conf", "include plugstack.conf\n");
  f.file("deep.conf", "# end\n");
  EXPECT_EQ(f.names(), "slurm.conf plugstack.conf spank-a.conf deep.conf spank-b.conf");
}

TEST(ConfigFiles, AnotherNameIsSlurmConfThere) {
  Folder f;
  f.file("test.conf", *os::read_file(f.dir.path() + "/slurm.conf"));
  EXPECT_EQ(f.names("test.conf"), "slurm.conf");
}

TEST(ConfigFiles, PiecesOfOneVersion) {
  Folder f("# " + std::string(rpc::kConfigPiece, 'x') + "\n");
  auto files = f.collect();
  ASSERT_TRUE(files);
  const std::string version = (*files)->manifest().version;
  auto first = (*files)->piece({version, "slurm.conf", 0});
  ASSERT_TRUE(first);
  EXPECT_EQ(first->bytes.size(), rpc::kConfigPiece);
  EXPECT_EQ(first->size, (*files)->manifest().files[0].size);
  EXPECT_TRUE((*files)->piece({version, "slurm.conf", first->size})->bytes.empty());
  EXPECT_EQ((*files)->piece({version, "slurm.conf", first->size + 1}).error().code, Errc::kInvalidArgument);
  for (const char* name : {"slurm.key", "../slurm.conf", "", "notes.txt", "/etc/passwd"})
    EXPECT_EQ((*files)->piece({version, name, 0}).error().code, Errc::kInvalidArgument) << name;
  EXPECT_EQ((*files)->piece({"old", "slurm.conf", 0}).error().code, Errc::kTryAgainLater);
}

TEST(ConfigFiles, TheVersionIsThatOfContentsAndModes) {
  Folder f;
  auto version = [&] { return (*f.collect())->manifest().version; };
  const std::string first = version();
  EXPECT_EQ(version(), first);
  f.file("gres.conf", "# x\n");
  const std::string second = version();
  EXPECT_NE(second, first);
  f.file("gres.conf", "# x\n", 0755);
  EXPECT_NE(version(), second);
}

TEST(ConfigFiles, MoreThanIsGivenOut) {
  Folder f;
  f.file("cli_filter.lua", std::string(rpc::kMostConfigFile + 1, 'x'));
  EXPECT_EQ(f.names(), "slurm.conf");
  ASSERT_EQ(f.notes.size(), 1u);
  EXPECT_NE(f.notes[0].find("cli_filter.lua"), std::string::npos);
}

}  // namespace
}  // namespace muster::slurmctld

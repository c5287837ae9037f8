// What a slurmctld, or who plays one, may send for files: what is taken, and everything that is not.
#include "agent/config_download.h"

#include <gtest/gtest.h>

#include "model/messages.h"
#include "net/credential.h"
#include "wire/codec.h"

namespace muster::agent {
namespace {

struct Server {
  rpc::ConfigManifest manifest{"v1", {}};
  std::map<std::string, std::string> contents;
  int asked = 0;  // for pieces

  void file(const std::string& name, const std::string& content) {
    manifest.files.push_back({name, *net::content_hash(content), content.size(), 0644});
    contents[name] = content;
  }
  Result<net::Frame> answer(const ConfigDownload::Question& q) {
    net::Frame f;
    if (q.message == number_of<rpc::FetchConfig>) {
      f.payload = wire::encoded(manifest);
      return f;
    }
    ++asked;
    rpc::FetchConfigFile what;
    EXPECT_TRUE(wire::decode(q.payload, what));
    if (what.version != manifest.version) return fail(Errc::kTryAgainLater);
    const std::string& content = contents.at(what.name);
    f.payload = wire::encoded(rpc::ContentPiece{content.size(), content.substr(what.offset, rpc::kConfigPiece)});
    return f;
  }
  Result<FetchedConfig> all(FetchedConfig held = {}) {
    ConfigDownload download(std::move(held));
    while (auto q = download.next()) MUSTER_TRY_VOID(download.take(answer(*q)));
    return download.whole();
  }
  std::string refusal() {
    auto got = all();
    return got ? "" : std::string(got.error().message());
  }
};

TEST(ConfigDownload, BringsAllFilesInPieces) {
  Server s;
  s.file("slurm.conf", std::string(3 * rpc::kConfigPiece + 5, 'x'));
  s.file("gres.conf", "");
  s.file("prolog.sh", "#!/bin/sh\n");
  auto got = s.all();
  ASSERT_TRUE(got) << got.error().message();
  EXPECT_EQ(got->version, "v1");
  ASSERT_EQ(got->files.size(), 3u);
  for (const FetchedFile& f : got->files) EXPECT_EQ(f.content, s.contents[f.about.name]);
  EXPECT_EQ(s.asked, 5);  // an empty file takes no question
}

TEST(ConfigDownload, AsksOnlyForWhatIsNotHere) {
  Server s;
  s.file("slurm.conf", "ClusterName=a\n");
  s.file("gres.conf", "Name=gpu\n");
  auto first = s.all();
  ASSERT_TRUE(first);
  s.manifest.version = "v2";
  s.manifest.files[1].hash = *net::content_hash("Name=new\n");
  s.contents["gres.conf"] = "Name=new\n";
  s.asked = 0;
  auto second = s.all(*first);
  ASSERT_TRUE(second);
  EXPECT_EQ(s.asked, 1);
  EXPECT_EQ(second->find("gres.conf")->content, "Name=new\n");
  EXPECT_EQ(second->find("slurm.conf")->content, "ClusterName=a\n");
}

TEST(ConfigDownload, BeginsAnewWhenTheFilesChange) {
  Server s;
  s.file("slurm.conf", "one\n");
  ConfigDownload download;
  ASSERT_TRUE(download.take(s.answer(*download.next())));
  s.manifest.version = "v2";
  s.manifest.files[0].hash = *net::content_hash("two\n");
  s.contents["slurm.conf"] = "two\n";
  while (auto q = download.next()) ASSERT_TRUE(download.take(s.answer(*q)));
  EXPECT_EQ(download.whole().find("slurm.conf")->content, "two\n");
}

TEST(ConfigDownload, IsNotKeptBusyForEver) {
  Server s;
  s.file("slurm.conf", "one\n");
  ConfigDownload download;
  Result<> last;
  int rounds = 0;
  for (; last && rounds < 100; ++rounds) {
    last = download.take(s.answer(*download.next()));
    if (last) last = download.take(fail(Errc::kTryAgainLater));
  }
  EXPECT_LT(rounds, 10);
}

TEST(ConfigDownload, NamesThatAreNone) {
  for (const char* name :
       {"", ".", "..", ".hidden", "a/b", "../slurm.conf", "/etc/passwd", "slurm.key", "slurm.jwks", "a\nb", "a b", "\x1b[2J", "\xff"}) {
    Server s;
    s.file("slurm.conf", "x");
    s.file(name, "x");
    EXPECT_NE(s.refusal(), "") << name;
  }
  Server s;
  s.file("slurm.conf", "x");
  s.file(std::string(rpc::kMostConfigName + 1, 'a'), "x");
  EXPECT_NE(s.refusal(), "");
}

TEST(ConfigDownload, MoreThanIsTaken) {
  Server large;
  large.manifest.files = {{"slurm.conf", "", rpc::kMostConfigFile + 1, 0644}};
  EXPECT_NE(large.refusal().find("slurm.conf has 16777217 bytes"), std::string::npos) << large.refusal();
  Server together;
  for (const char* name : {"slurm.conf", "b", "c"}) together.manifest.files.push_back({name, "", rpc::kMostConfigFile, 0644});
  EXPECT_NE(together.refusal(), "");
  Server many;
  for (size_t i = 0; i <= rpc::kMostConfigFiles; ++i) many.manifest.files.push_back({"f" + std::to_string(i), "", 0, 0644});
  EXPECT_NE(many.refusal().find("257 files"), std::string::npos) << many.refusal();
  EXPECT_EQ(large.asked + together.asked + many.asked, 0);
}

TEST(ConfigDownload, WithoutSlurmConfOrTwice) {
  Server none;
  none.file("gres.conf", "x");
  EXPECT_NE(none.refusal().find("no slurm.conf"), std::string::npos);
  Server twice;
  twice.file("slurm.conf", "x");
  twice.file("slurm.conf", "y");
  EXPECT_NE(twice.refusal().find("comes twice"), std::string::npos);
}

TEST(ConfigDownload, AnotherContentThanWasSaid) {
  Server other;
  other.file("slurm.conf", "abc");
  other.contents["slurm.conf"] = "abd";
  EXPECT_NE(other.refusal().find("another content"), std::string::npos);
  Server longer;
  longer.file("slurm.conf", "abc");
  longer.contents["slurm.conf"] = "abcd";
  EXPECT_NE(longer.refusal().find("another size"), std::string::npos);
  Server never;
  never.file("slurm.conf", "abc");
  never.contents["slurm.conf"] = "";
  EXPECT_NE(never.refusal().find("another size"), std::string::npos);
}

TEST(ConfigDownload, SaysWhatTheServerSays) {
  ConfigDownload download;
  auto refused = download.take(fail(Errc::kConfiglessDisabled));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kConfiglessDisabled);
}

}  // namespace
}  // namespace muster::agent

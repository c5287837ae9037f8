// Scripts by hash: fetched once in pieces, kept for nobody else to read, bounded, and never believed without looking.
#include "slurmd/daemon/content_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "net/credential.h"
#include "os/files.h"

namespace muster::slurmd {
namespace {

struct Bench {
  explicit Bench(uint64_t most = ContentCache::kMostBytes, uint64_t at_once = ContentCache::kAtOnce)
      : cache(loop, *log, dir.path() + "/content", ports(), most, at_once) {
    EXPECT_TRUE(cache.open());
  }
  ContentCache::Ports ports() {
    return {[this](const rpc::FetchContent& f, std::function<void(Result<rpc::ContentPiece>)> answered) {
              ++asked;
              if (away) return answered(fail(Errc::kConnectFailed));
              auto at = blobs.find(f.hash);
              if (at == blobs.end()) return answered(fail(Errc::kNotFound));
              rpc::ContentPiece p{at->second.size(), at->second.substr(f.offset, 1000)};
              loop.defer([answered, p] { answered(p); });
            },
            [this](JobId job, uint32_t, Result<> found, bool fault) {
              done.emplace_back(job.value, found.has_value());
              node_fault = fault;
            }};
  }
  std::string put(const std::string& content) {
    std::string hash = *net::content_hash(content);
    blobs[hash] = content;
    return hash;
  }
  void turn() {
    auto t = loop.after(milliseconds(2), [this] { loop.stop(); });
    loop.run();
  }
  net::Loop loop;
  std::unique_ptr<os::Log> log = *os::Log::open({.program = "test"});
  os::TempDir dir = *os::TempDir::create("cc", "/tmp");
  std::map<std::string, std::string> blobs;
  int asked = 0;
  bool away = false, node_fault = false;
  std::vector<std::pair<uint32_t, bool>> done;
  ContentCache cache;
};

TEST(ContentCache, WhatWasTidiedAwayIsFetchedAnew) {
  Bench b;
  const std::string hash = b.put("script");
  b.cache.find(JobId(1), 0, {hash});
  b.turn();
  ASSERT_TRUE(os::remove_tree(b.dir.path() + "/content"));
  EXPECT_FALSE(b.cache.read(hash));
  EXPECT_EQ(b.cache.bytes(), 0u);
  b.cache.find(JobId(1), 0, {hash});
  b.turn();
  EXPECT_EQ(b.asked, 2);
  EXPECT_EQ(b.cache.read(hash).value_or(""), "script");
  struct stat st {};
  ASSERT_EQ(::stat((b.dir.path() + "/content").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 07777, 0700u);
}

TEST(ContentCache, OneIsFetchedOnceForManyJobs) {
  Bench b;
  const std::string hash = b.put(std::string(3500, 's'));
  for (uint32_t j = 1; j <= 50; ++j) b.cache.find(JobId(j), 0, {hash});
  b.turn();
  EXPECT_EQ(b.done.size(), 50u);
  EXPECT_EQ(b.asked, 4) << "in pieces";
  ASSERT_TRUE(b.cache.read(hash));
  EXPECT_EQ(*b.cache.read(hash), b.blobs[hash]);
  struct stat st {};
  ASSERT_EQ(::stat((b.dir.path() + "/content/" + hash).c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 07777, 0600u);
  ASSERT_EQ(::stat((b.dir.path() + "/content").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 07777, 0700u);
}

TEST(ContentCache, OutlivesTheDaemonAndWhatACrashLeftGoes) {
  Bench b;
  const std::string hash = b.put(std::string(500, 's'));
  b.cache.find(JobId(1), 0, {hash});
  b.turn();
  ASSERT_TRUE(os::write_file_atomic(b.dir.path() + "/content/half", "x", 0600));
  ContentCache again(b.loop, *b.log, b.dir.path() + "/content", b.ports());
  ASSERT_TRUE(again.open());
  EXPECT_EQ(again.bytes(), 500u);
  EXPECT_FALSE(std::filesystem::exists(b.dir.path() + "/content/half"));
  EXPECT_TRUE(again.read(hash));
}

TEST(ContentCache, IsBoundedAndKeepsWhatWaitsToBeStarted) {
  Bench b(2500);
  std::vector<std::string> h;
  for (char c : {'a', 'b', 'c'}) h.push_back(b.put(std::string(1000, c)));
  b.cache.find(JobId(1), 0, {h[0]});
  b.turn();
  b.cache.find(JobId(2), 0, {h[1]});
  b.turn();
  b.cache.let_go(JobId(2));
  b.cache.find(JobId(3), 0, {h[2]});
  b.turn();
  EXPECT_EQ(b.cache.bytes(), 2000u);
  EXPECT_TRUE(b.cache.read(h[0])) << "job 1 has not been started";
  EXPECT_FALSE(b.cache.read(h[1]));
  EXPECT_TRUE(b.cache.read(h[2]));
}

// A hundred launches of a large script are not a hundred copies of it in memory.
TEST(ContentCache, JobsAreToldAtThePaceTheyAreTaken) {
  Bench b(ContentCache::kMostBytes, 2500);
  const std::string hash = b.put(std::string(1000, 's'));
  for (uint32_t j = 1; j <= 5; ++j) b.cache.find(JobId(j), 0, {hash});
  b.turn();
  EXPECT_EQ(b.done.size(), 2u);
  b.cache.let_go(JobId(1), 7);  // of another run
  b.turn();
  EXPECT_EQ(b.done.size(), 2u);
  b.cache.let_go(JobId(1), 0);
  b.turn();
  EXPECT_EQ(b.done.size(), 3u);
  for (uint32_t j = 2; j <= 5; ++j) {
    b.cache.let_go(JobId(j), 0);
    b.turn();
  }
  EXPECT_EQ(b.done.size(), 5u);
  const std::string large = b.put(std::string(9000, 'l'));
  b.cache.find(JobId(9), 0, {large});
  b.turn();
  EXPECT_EQ(b.done.size(), 6u) << "one alone may be larger";
}

TEST(ContentCache, ADamagedFileIsNotBelieved) {
  Bench b;
  const std::string hash = b.put("echo good");
  b.cache.find(JobId(1), 0, {hash});
  b.turn();
  ASSERT_TRUE(os::write_file_atomic(b.dir.path() + "/content/" + hash, "echo evil", 0600));
  EXPECT_FALSE(b.cache.read(hash));
  b.cache.find(JobId(2), 0, {hash});
  b.turn();
  ASSERT_TRUE(b.cache.read(hash));
  EXPECT_EQ(*b.cache.read(hash), "echo good");
}

TEST(ContentCache, WhatCannotBeHadFailsTheLaunchAndNoOther) {
  Bench b;
  const std::string good = b.put("good"), wrong = b.put("wrong");
  b.blobs[wrong] = "another";
  b.cache.find(JobId(1), 0, {std::string(64, '0')});
  b.cache.find(JobId(2), 0, {"../../etc/passwd"});
  b.cache.find(JobId(3), 0, {wrong});
  b.cache.find(JobId(4), 0, {good});
  b.turn();
  ASSERT_EQ(b.done.size(), 4u);
  for (auto [job, found] : b.done) EXPECT_EQ(found, job == 4) << job;
}

TEST(ContentCache, AControllerThatIsAwayIsAskedAgain) {
  Bench b;
  const std::string hash = b.put("x");
  b.away = true;
  b.cache.find(JobId(1), 0, {hash});
  b.turn();
  EXPECT_TRUE(b.done.empty());
  b.away = false;
  b.cache.find(JobId(1), 0, {hash});  // the next session
  b.turn();
  EXPECT_EQ(b.done.size(), 1u);
}

}  // namespace
}  // namespace muster::slurmd

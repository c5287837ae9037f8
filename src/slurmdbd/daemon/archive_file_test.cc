// Files of ArchiveDir: what was written is read, damage and files of others are refused, none is overwritten.
#include "slurmdbd/daemon/archive_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "sql/testing.h"
#include "wire/accounting_instances.h"

namespace muster::slurmdbd {
namespace {

struct ArchiveFile : testing::Test {
  ArchivePart part(uint32_t jobs, const std::string& cluster = "c") {
    ArchivePart out;
    out.cluster = cluster;
    for (uint32_t id = 1; id <= jobs; ++id) {
      JobRecord& job = out.jobs.emplace_back();
      job.key = {JobId(id), from_unix(1'700'000'000), 0};
      job.state = JobState::kCompleted;
      job.ended = from_unix(1'700'000'100);
      job.name = "train";
    }
    return out;
  }
  ArchiveRules rules() {
    ArchiveRules out;
    out.jobs = true;
    return out;
  }
  std::string write(const ArchivePart& what) {
    ArchiveWriter writer({directory.path, {}}, rules(), RecordKind::kJobs, from_unix(1'700'000'200), us);
    EXPECT_TRUE(writer.keep(what));
    auto done = writer.make_durable();
    EXPECT_TRUE(done) << done.error().message();
    return writer.files().empty() ? "" : writer.files().back();
  }
  Result<size_t> read(const std::string& path) {
    MUSTER_TRY(reader, ArchiveReader::open({directory.path, {std::filesystem::path(path).filename()}}, us));
    size_t records = 0;
    for (;;) {
      MUSTER_TRY(got, reader.next());
      if (!got) return records;
      records += got->records();
    }
  }
  static std::string content(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::stringstream out;
    out << in.rdbuf();
    return out.str();
  }
  std::string put(const std::string& name, const std::string& bytes) {
    std::ofstream(directory.path + "/" + name, std::ios::binary) << bytes;
    ::chmod((directory.path + "/" + name).c_str(), 0600);
    return name;
  }

  sql::TemporaryDirectory directory;
  Uid us{::geteuid()};
};

TEST_F(ArchiveFile, IsReadAsItWasWritten) {
  const std::string file = write(part(3));
  EXPECT_TRUE(std::filesystem::path(file).filename().string().starts_with("c_job_archive_2023-11-1")) << file;
  EXPECT_EQ(*read(file), 3u);
}

TEST_F(ArchiveFile, NoneIsOverwritten) {
  const std::string first = write(part(1)), second = write(part(2)), third = write(part(3));
  EXPECT_EQ(second, first + ".2");
  EXPECT_EQ(third, first + ".3");
  EXPECT_EQ(*read(first), 1u);
  EXPECT_EQ(*read(third), 3u);
}

TEST_F(ArchiveFile, IsNamedSafelyWhateverAClusterIsCalled) {
  const std::string file = std::filesystem::path(write(part(1, "../../etc/x\n"))).filename();
  EXPECT_TRUE(file.starts_with("%2E.%2F..%2Fetc%2Fx%0A_job_archive_")) << file;
}

TEST_F(ArchiveFile, WhatDidNotBecomeWholeIsRemoved) {
  {
    ArchiveWriter writer({directory.path, {}}, rules(), RecordKind::kJobs, from_unix(1'700'000'200), us);
    ASSERT_TRUE(writer.keep(part(1)));
  }
  EXPECT_TRUE(std::filesystem::is_empty(directory.path));
}

// Every cut and every changed byte is noticed.
TEST_F(ArchiveFile, DamageIsRefused) {
  const std::string whole = content(write(part(2)));
  ASSERT_EQ(*read(put("same", whole)), 2u);
  for (size_t size = 0; size < whole.size(); ++size) {
    const auto got = read(put("cut", whole.substr(0, size)));
    ASSERT_FALSE(got) << size;
    ASSERT_EQ(got.error().code, Errc::kInvalidArgument);
  }
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string other = whole;
    other[at] = static_cast<char>(other[at] ^ 0x41);
    ASSERT_FALSE(read(put("changed", other))) << at;
  }
  EXPECT_FALSE(read(put("longer", whole + "x")));
  EXPECT_EQ(read(put("newer", "muster archive 2\n")).error().message(),
            directory.path + "/newer: was written by a newer Muster, which can load it");
  EXPECT_EQ(read(put("huge", whole.substr(0, 17) + std::string(12, '\xff'))).error().code, Errc::kInvalidArgument);
}

TEST_F(ArchiveFile, ARecordThatCannotBeIsRefused) {
  ArchivePart wrong = part(1);
  wrong.jobs[0].ended = kTimeUnset;
  const auto got = read(write(wrong));
  ASSERT_FALSE(got);
  EXPECT_NE(got.error().message().find("frame 0: job 1: it has not ended"), std::string::npos) << got.error().message();
}

TEST_F(ArchiveFile, WhatOthersCouldHaveWrittenIsRefused) {
  const std::string file = write(part(1));
  ::chmod(file.c_str(), 0620);
  EXPECT_EQ(read(file).error().code, Errc::kAccessDenied);
  ::chmod(file.c_str(), 0600);
  EXPECT_TRUE(read(file));
  std::filesystem::create_symlink(file, directory.path + "/link");
  EXPECT_FALSE(read("link"));
  ASSERT_EQ(::mkfifo((directory.path + "/fifo").c_str(), 0600), 0);
  EXPECT_EQ(read("fifo").error().code, Errc::kAccessDenied);
  EXPECT_EQ(read("none").error().code, Errc::kNotFound);
  std::filesystem::create_directory(directory.path + "/real");
  std::filesystem::create_symlink(directory.path + "/real", directory.path + "/way");
  EXPECT_FALSE(open_archive_directory({directory.path, {"way"}}, us));
  EXPECT_TRUE(open_archive_directory({directory.path, {"real"}}, us));
}

}  // namespace
}  // namespace muster::slurmdbd

// What is written down of managed jobs is there for the next slurmd, whatever becomes of the spool meanwhile.
#include "slurmd/daemon/step_journal.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "os/files.h"

namespace muster::slurmd {
namespace {

const JobId kJob(7);

ManagerRecord taken(uint64_t number) {
  ManagerRecord r;
  r.taken = number;
  return r;
}

struct Bench {
  os::TempDir dir = *os::TempDir::create("sj", "/tmp");
  std::string folder = dir.path() + "/managed";
  std::vector<std::string> complaints;
  // The numbers that a slurmd finds at its start.
  Result<std::vector<uint64_t>> found(StepJournal& journal) {
    MUSTER_TRY_VOID(journal.open());
    std::vector<uint64_t> out;
    complaints.clear();
    MUSTER_TRY_VOID(journal.read(
        "boot", [&](JobId, ManagerRecord&& r, bool) { out.push_back(r.taken); }, complaints));
    return out;
  }
};

TEST(StepJournal, ATidiedSpoolIsFilledAgain) {
  Bench b;
  StepJournal journal(b.folder);
  ASSERT_TRUE(b.found(journal));
  const std::string key = *os::read_file(b.folder + "/key");
  ASSERT_TRUE(journal.add(kJob, taken(1), true));
  EXPECT_FALSE(journal.is_gone(kJob));
  ASSERT_TRUE(os::remove_tree(b.folder));
  EXPECT_TRUE(journal.is_gone(kJob));
  ASSERT_TRUE(journal.replace(kJob, taken(2)));
  ASSERT_TRUE(journal.add(kJob, taken(3), true));
  EXPECT_EQ(os::read_file(b.folder + "/key").value_or(""), key) << "the warrants are for this one";
  StepJournal next(b.folder);
  EXPECT_EQ(*b.found(next), (std::vector<uint64_t>{2, 3}));
}

TEST(StepJournal, WhatCannotBeReadStopsTheStartAndIsKept) {
  Bench b;
  StepJournal journal(b.folder);
  ASSERT_TRUE(b.found(journal));
  ASSERT_EQ(::mkdir((b.folder + "/7").c_str(), 0700), 0);  // reading it is an error for root, too
  StepJournal next(b.folder);
  EXPECT_FALSE(b.found(next));
  struct stat st {};
  EXPECT_EQ(::stat((b.folder + "/7").c_str(), &st), 0);
}

TEST(StepJournal, WhatIsNotUnderstoodIsMovedAside) {
  Bench b;
  StepJournal journal(b.folder);
  ASSERT_TRUE(b.found(journal));
  ASSERT_TRUE(os::write_file_atomic(b.folder + "/7", "something else", 0600));
  StepJournal next(b.folder);
  EXPECT_TRUE(b.found(next)->empty());
  EXPECT_EQ(b.complaints.size(), 1u);
  EXPECT_EQ(os::read_file(b.folder + "/7.bad").value_or(""), "something else");
}

}  // namespace
}  // namespace muster::slurmd

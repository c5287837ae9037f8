// Input on its way to tasks: what is kept of it, what its senders hear, and that each task gets what is for it.
#include "slurmstepd/task_input.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <vector>

namespace muster::slurmstepd {
namespace {

const auto* const kSrun = reinterpret_cast<const net::Channel*>(0x1000);
const auto* const kOther = reinterpret_cast<const net::Channel*>(0x2000);

step_rpc::IoData data(uint32_t rank, std::string text, bool end = false) { return {rank, 0, end, std::move(text)}; }

struct Bench {
  explicit Bench(uint32_t tasks) {
    for (uint32_t rank = 0; rank < tasks; ++rank) {
      int ends[2];
      EXPECT_EQ(::pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
      readers.emplace_back(ends[0]);
      input.add(rank, os::Fd(ends[1]));
    }
  }
  // What the task finds, until there is no more; "<end>" behind it once its input is closed.
  std::string read(uint32_t rank) {
    std::string out;
    for (int quiet = 0; quiet < 3;) {
      char buffer[65536];
      const ssize_t n = ::read(readers[rank].get(), buffer, sizeof buffer);
      if (n == 0) return out + "<end>";
      if (n > 0) {
        out.append(buffer, static_cast<size_t>(n));
        quiet = 0;
      } else {
        ++quiet;
      }
      auto wake = loop.after(milliseconds(1), [this] { loop.stop(); });
      loop.run();
    }
    return out;
  }
  // Until the pipe takes no more: how much that was.
  size_t fill(uint32_t rank) {
    size_t sent = 0;
    const size_t before = taken[kSrun];
    while (taken[kSrun] - before == sent) {
      EXPECT_TRUE(input.take(kSrun, data(rank, std::string(4096, '.'))));
      sent += 4096;
    }
    return sent;
  }
  net::Loop loop;
  std::map<TaskInput::Sender, size_t> taken;
  TaskInput input{loop, [this](TaskInput::Sender s, size_t n) { taken[s] += n; }};
  std::vector<os::Fd> readers;
};

TEST(TaskInput, ManySmallWritesCostWhatIsInThem) {
  Bench b(3);
  b.fill(0);
  const size_t before = b.taken[kSrun];
  for (int i = 0; i < 200'000; ++i) ASSERT_TRUE(b.input.take(kSrun, data(step_rpc::kAllTasks, "x"))) << i;
  EXPECT_EQ(b.taken[kSrun], before);
  b.read(0);
  b.read(1);
  b.read(2);
  EXPECT_GE(b.taken[kSrun], before + 200'000);
}

TEST(TaskInput, WhoGoesBeyondTheWindowIsToldSo) {
  Bench b(2);
  size_t sent = b.fill(0);
  while (b.input.take(kSrun, data(0, std::string(1024, 'x')))) ASSERT_LT(sent += 1024, 2 * kInputWindow);
  EXPECT_TRUE(b.input.take(kOther, data(0, "y"))) << "another's window is another's";
  b.input.forget(kSrun);
  EXPECT_EQ(b.read(0).back(), 'y');
}

// Each of them is a thing of its own to keep.
TEST(TaskInput, SingleBytesToOneTaskAndAnotherInTurnAreBounded) {
  Bench b(2);
  b.fill(0);
  b.fill(1);
  size_t sent = 0;
  while (b.input.take(kSrun, data(sent % 2, "x"))) ASSERT_LT(++sent, kInputWindow / 16);
}

TEST(TaskInput, ToAllIsTakenWhenTheLastTaskHasIt) {
  Bench b(2);
  const size_t filled = b.fill(0);
  const size_t before = b.taken[kSrun];
  ASSERT_TRUE(b.input.take(kSrun, data(step_rpc::kAllTasks, "hello")));
  EXPECT_EQ(b.read(1), "hello");
  EXPECT_EQ(b.taken[kSrun], before);
  b.input.drop(0);
  EXPECT_EQ(b.taken[kSrun], filled + 5) << "a task that is over takes nothing any more";
}

TEST(TaskInput, EachTaskGetsItsOwnInOrderThenTheEnd) {
  Bench b(2);
  for (const auto& m : {data(0, "a"), data(step_rpc::kAllTasks, "b"), data(1, "c"), data(0, "d"), data(0, "e")})
    ASSERT_TRUE(b.input.take(kSrun, m));
  ASSERT_TRUE(b.input.take(kOther, data(1, "f")));
  ASSERT_TRUE(b.input.take(kSrun, data(0, "", true)));
  EXPECT_EQ(b.read(0), "abde<end>");
  EXPECT_EQ(b.read(1), "bcf");
  EXPECT_EQ(b.taken[kSrun], 5u);
  EXPECT_EQ(b.taken[kOther], 1u);
  EXPECT_EQ(b.input.tasks(), 1u);
}

TEST(TaskInput, AllThatCameBeforeTheEndIsWrittenFirst) {
  Bench b(1);
  const size_t filled = b.fill(0);
  ASSERT_TRUE(b.input.take(kSrun, data(step_rpc::kAllTasks, "last", true)));
  const std::string got = b.read(0);
  EXPECT_EQ(got.size(), filled + 9);
  EXPECT_TRUE(got.ends_with(".last<end>"));
  EXPECT_EQ(b.taken[kSrun], filled + 4);
}

}  // namespace
}  // namespace muster::slurmstepd

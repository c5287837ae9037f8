#include "match/session.h"

#include <gtest/gtest.h>

#include "match/words.h"

namespace muster::match {
namespace {

constexpr char kConf[] = "ClusterName=c\nSlurmctldHost=ctl\nPriorityType=priority/"
                         "basic\nSelectTypeParameters=CR_Core\nNodeName=n[1-2] CPUs=4\n"
                         "PartitionName=p Nodes=ALL Default=YES DefaultTime=60\n";

Session session() {
  config::MemoryFiles files{{"/c/slurm.conf", kConf}};
  auto loaded = config::load_config(files, "/c/slurm.conf");
  EXPECT_TRUE(loaded.has_value());
  return Session(std::make_shared<const config::LoadedConfig>(std::move(*loaded)));
}

TEST(Words, QuotesEscapesComments) {
  EXPECT_EQ(*split_words(R"(a 'b c' "d \" e" f\ g '' h#i # j)"), (std::vector<std::string>{"a", "b c", "d \" e", "f g", "", "h#i"}));
  EXPECT_FALSE(split_words("'a"));
  EXPECT_FALSE(split_words("a \"b"));
  EXPECT_FALSE(split_words(std::string(65537, 'a')));
  EXPECT_TRUE(split_words("  # all comment")->empty());
}

TEST(Session, AllocateAnswersStartLaterNever) {
  Session s = session();
  EXPECT_EQ(s.execute("allocate a -n4").text, "start a: nodes=n1 cpus=4 tasks=4\n    n1  cpus=0-3 tasks=4\n");
  EXPECT_EQ(s.execute("allocate b -N2 -n8").text, "later b: Resources, expected +01:00:00 on n[1-2]\n");
  EXPECT_TRUE(s.execute("allocate c -N3").text.starts_with("never c: Node count specification invalid"));
  // What did not start is not there.
  const std::string queue = s.execute("show queue").text;
  EXPECT_NE(queue.find(" a "), std::string::npos);
  EXPECT_EQ(queue.find(" b "), std::string::npos);
}

TEST(Session, AnErrorSaysSoAndChangesNothing) {
  Session s = session();
  const std::string before = s.execute("show nodes").text;
  for (const char* line : {"allocat", "allocate x --no-such-option", "advance", "free nobody", "show", "down n9", "submit x -n1 --wait",
                           "submit x -n0x", "submit x \"", "plan now"}) {
    const Answer a = s.execute(line);
    EXPECT_TRUE(a.failed) << line;
    EXPECT_TRUE(a.text.starts_with("error: ")) << line;
    EXPECT_FALSE(a.quit);
  }
  EXPECT_EQ(s.execute("show nodes").text, before);
  EXPECT_TRUE(s.execute("").text.empty());
  EXPECT_TRUE(s.execute("quit").quit);
}

TEST(Session, TheClockEndsJobsAndRunStartsTheNext) {
  Session s = session();
  s.execute("submit a -N2 --exclusive -t 10");
  s.execute("submit b -N2 --exclusive -t 10");
  EXPECT_NE(s.execute("plan").text.find("wait b: Resources, expected +00:10:00 on n[1-2]"), std::string::npos);
  EXPECT_EQ(s.execute("advance 9m").text, "");
  EXPECT_EQ(s.execute("advance 1m").text, "+00:10:00 end a: TIMEOUT\n");
  EXPECT_TRUE(s.execute("run 30m").text.starts_with("+00:10:00 start b: nodes=n[1-2]"));
}

TEST(Session, ANodeThatFailsRequeuesItsJob) {
  Session s = session();
  s.execute("allocate a -n1");
  EXPECT_EQ(s.execute("down n1").text, "end a: NODE_FAIL\nrequeue a\n");
  EXPECT_TRUE(s.execute("plan").text.starts_with("wait a: BeginTime"));
  s.execute("advance 2m");
  EXPECT_TRUE(s.execute("plan").text.starts_with("start a: nodes=n2"));
}

}  // namespace
}  // namespace muster::match

#include "config/parser.h"

#include <gtest/gtest.h>

namespace muster::config {
namespace {

std::string value(const ParsedFile& f, size_t line, const char* key) {
  if (line >= f.lines.size()) return "<no line>";
  const KeyValue* kv = f.lines[line].find(key);
  return kv ? kv->value : "<none>";
}

TEST(Parser, ReadsPairsWhateverTheSpacing) {
  ParsedFile f = parse_text("A=1 B = 2\tc=\"x y\"\r\n\n   D=4", "t");
  ASSERT_TRUE(f.errors.empty()) << to_text(f.errors);
  ASSERT_EQ(f.lines.size(), 2u);
  EXPECT_EQ(value(f, 0, "a"), "1");
  EXPECT_EQ(value(f, 0, "b"), "2");
  EXPECT_EQ(value(f, 0, "C"), "x y");
  EXPECT_EQ(value(f, 1, "D"), "4");
  EXPECT_EQ(f.lines[1].pos.line, 3u);
  EXPECT_EQ(f.lines[1].values[0].pos.column, 4u);
}

TEST(Parser, CommentsEndLinesExceptEscapedAndQuoted) {
  ParsedFile f = parse_text("# A=1\nB=2 # C=3\nD=a\\#b\nE=\"f # g\"\n# comment \\\nF=6\n", "t");
  ASSERT_TRUE(f.errors.empty()) << to_text(f.errors);
  ASSERT_EQ(f.lines.size(), 4u);
  EXPECT_EQ(value(f, 0, "B"), "2");
  EXPECT_EQ(value(f, 0, "C"), "<none>");
  EXPECT_EQ(value(f, 1, "D"), "a#b");
  EXPECT_EQ(value(f, 2, "E"), "f # g");
  EXPECT_EQ(value(f, 3, "F"), "6");
}

TEST(Parser, BackslashJoinsLinesAndErrorsKeepTheirLine) {
  ParsedFile f = parse_text("NodeName=n[1-4] \\\n   CPUs=4 \\  \r\n   State=UNKNOWN\nX=1 \\", "t");
  ASSERT_TRUE(f.errors.empty()) << to_text(f.errors);
  ASSERT_EQ(f.lines.size(), 2u);
  EXPECT_EQ(value(f, 0, "State"), "UNKNOWN");
  EXPECT_EQ(f.lines[0].find("State")->pos.line, 3u);
  EXPECT_EQ(f.lines[0].find("CPUs")->pos.line, 2u);
  EXPECT_EQ(f.lines[0].find("CPUs")->pos.column, 4u);
  EXPECT_EQ(value(f, 1, "X"), "1");
}

TEST(Parser, AppendAndRemove) {
  ParsedFile f = parse_text("A+=x B-=y C=a-b", "t");
  ASSERT_EQ(f.lines.size(), 1u);
  EXPECT_EQ(f.lines[0].values[0].op, Assign::kAppend);
  EXPECT_EQ(f.lines[0].values[1].op, Assign::kRemove);
  EXPECT_EQ(f.lines[0].values[2].op, Assign::kSet);
}

TEST(Parser, BrokenTextIsReportedWithLineAndHint) {
  ParsedFile f = parse_text("A=1\nReason=not ready\nB=\nC= D=4\nE=\"open\nF", "t.conf");
  ASSERT_EQ(f.errors.size(), 5u) << to_text(f.errors);
  EXPECT_EQ(f.errors[0].line, 2u);
  EXPECT_NE(f.errors[0].hint.find("Reason=\"not ready\""), std::string::npos) << f.errors[0].text();
  EXPECT_EQ(f.errors[1].text(), "t.conf:3: B: has no value (write B=\"\" for an empty one, or put # before it)");
  EXPECT_EQ(f.errors[2].line, 4u);
  EXPECT_EQ(f.errors[2].key, "C");
  EXPECT_NE(f.errors[3].message.find("closing"), std::string::npos);
  EXPECT_EQ(f.errors[4].line, 6u);
}

TEST(Parser, IncludeIsInlineAndRelative) {
  MemoryFiles files{{"/etc/slurm/slurm.conf", "ClusterName=Linux\nInclude %c_nodes\ninclude sub/parts.conf\nZ=1\n"},
                    {"/etc/slurm/linux_nodes", "NodeName=a"},
                    {"/etc/slurm/sub/parts.conf", "PartitionName=p\ninclude more.conf\n"},
                    {"/etc/slurm/sub/more.conf", "PartitionName=q\n"}};
  ParsedFile f = parse_file(files, "/etc/slurm/slurm.conf");
  ASSERT_TRUE(f.errors.empty()) << to_text(f.errors);
  ASSERT_EQ(f.lines.size(), 5u);
  EXPECT_EQ(value(f, 1, "NodeName"), "a");
  EXPECT_EQ(f.lines[1].pos.text(), "/etc/slurm/linux_nodes:1");
  EXPECT_EQ(value(f, 3, "PartitionName"), "q");
  EXPECT_EQ(value(f, 4, "Z"), "1");
}

TEST(Parser, IncludeErrors) {
  MemoryFiles files{{"/s.conf", "include /missing\ninclude /s.conf\ninclude x%c\n"}};
  ParsedFile f = parse_file(files, "/s.conf");
  ASSERT_EQ(f.errors.size(), 3u) << to_text(f.errors);
  EXPECT_NE(f.errors[0].message.find("/missing"), std::string::npos);
  EXPECT_NE(f.errors[1].message.find("itself"), std::string::npos);
  EXPECT_NE(f.errors[2].message.find("ClusterName"), std::string::npos);
  EXPECT_TRUE(parse_file(files, "/none").missing);
}

TEST(Parser, IncludeDepthIsBounded) {
  MemoryFiles files;
  for (int i = 0; i < 40; ++i) files.put("/f" + std::to_string(i), "include /f" + std::to_string(i + 1) + "\nA=1\n");
  ParsedFile f = parse_file(files, "/f0");
  ASSERT_EQ(f.errors.size(), 1u);
  EXPECT_NE(f.errors[0].message.find("deep"), std::string::npos);
}

TEST(Parser, AnyBytesAreSafe) {
  std::string text;
  uint32_t x = 12345;
  for (int i = 0; i < 200000; ++i) {
    x = x * 1664525u + 1013904223u;
    text += "=\"#\\\n ,[]aB+-\0\xff\r\t"[x >> 28];
  }
  Limits limits;
  ParsedFile f = parse_text(text, "noise", limits);
  EXPECT_EQ(f.errors.size(), limits.max_errors);
  limits.max_bytes = 10;
  f = parse_text(text, "noise", limits);
  ASSERT_EQ(f.errors.size(), 1u);
  EXPECT_NE(f.errors[0].message.find("too big"), std::string::npos);
}

}  // namespace
}  // namespace muster::config

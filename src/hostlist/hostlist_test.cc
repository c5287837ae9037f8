#include "hostlist/hostlist.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "base/text.h"

namespace muster {
namespace {

using Names = std::vector<std::string>;

struct Case {
  std::string_view list, printed;
};

std::string expanded(std::string_view text) {
  auto names = expand_hosts(text);
  return names ? join(*names, " ") : "error: " + names.error().hint;
}

// What `scontrol show hostnames` of Debian's slurm-client 22.05 prints.
TEST(Hostlist, ExpandsAsScontrolDoes) {
  const Case cases[] = {
      {"n[001-003,010]", "n001 n002 n003 n010"},
      {"n[1-2][3-4]", "n13 n14 n23 n24"},
      {"a[1-2]b[3-4]c[5-6]", "a1b3c5 a1b3c6 a2b3c5 a2b3c6 a1b4c5 a1b4c6 a2b4c5 a2b4c6"},
      {"a[1-3,9][4,6][7-8]", "a147 a148 a247 a248 a347 a348 a947 a948 a167 a168 a267 a268 a367 a368 a967 a968"},
      {"a[1-2]b[3-4]c[5-6]d[7-8]", "a1b3c5d7 a1b3c5d8 a2b3c5d7 a2b3c5d8 a1b4c5d7 a1b4c5d8 a2b4c5d7 a2b4c5d8 "
                                   "a1b3c6d7 a1b3c6d8 a2b3c6d7 a2b3c6d8 a1b4c6d7 a1b4c6d8 a2b4c6d7 a2b4c6d8"},
      {"n[1-2]3[4-5]", "n134 n135 n234 n235"},
      {"a,,b", "a b"},
      {" a , b ", "a b"},
      {"a b", "a b"},
      {"n[1-2],", "n1 n2"},
      {",n1", "n1"},
      {"", ""},
      {",", ""},
      {"n[08-12]", "n08 n09 n10 n11 n12"},
      {"n[8-012]", "n8 n9 n10 n11 n12"},
      {"n[01-3]", "n01 n02 n03"},
      {"n[9-11]", "n9 n10 n11"},
      {"n[099-101]", "n099 n100 n101"},
      {"a1,a1", "a1 a1"},
      {"a[1,1]", "a1 a1"},
      {"n[1-1]", "n1"},
      {"[1-3]", "1 2 3"},
      {"5", "5"},
      {"1-3", "1-3"},
      {"tux0-3", "tux0-3"},
      {"a;b", "a;b"},
      {"n[00000000000000000000001-3]", "n00000000000000000000001 n00000000000000000000002 n00000000000000000000003"},
      {"n[4294967294-4294967297]", "n4294967294 n4294967295 n4294967296 n4294967297"},
  };
  for (const Case& c : cases) EXPECT_EQ(expanded(c.list), c.printed) << c.list;
}

// Beyond 22.05, which refuses text behind brackets.
TEST(Hostlist, TakesTextBehindBrackets) {
  EXPECT_EQ(expanded("n[1-2]s"), "n1s n2s");
  EXPECT_EQ(expanded("rack[0-1]n[01-02]-ib,k"), "rack0n01-ib rack0n02-ib rack1n01-ib rack1n02-ib k");
}

TEST(Hostlist, ErrorsNamePositionAndRule) {
  const Case cases[] = {
      {"a,n[1-3", "character 4: [ without a ]"},
      {"n[", "character 3: a number is expected"},
      {"n]", "character 2: ] without a [ in front of it"},
      {"n[1-2]]", "character 7: ] without a [ in front of it"},
      {"n[]", "character 3: a number is expected"},
      {"n[1,]", "character 5: a number is expected"},
      {"n[,1]", "character 3: a number is expected"},
      {"n[1-]", "character 5: a number is expected"},
      {"n[-1]", "character 3: a number is expected"},
      {"n[+1-3]", "character 3: a number is expected"},
      {"n[x]", "character 3: a number is expected"},
      {"n[1;2]", "character 4: a number, a range such as 1-4, a comma or ] is expected"},
      {"n[1 -2]", "character 4: a number, a range such as 1-4, a comma or ] is expected"},
      {"n[1-2-3]", "character 6: a number, a range such as 1-4, a comma or ] is expected"},
      {"n[0x1]", "character 4: a number, a range such as 1-4, a comma or ] is expected"},
      {"a[[1-2]]", "character 3: a number is expected"},
      {"a[1[2]]", "character 4: brackets cannot stand within brackets"},
      {"n[1,3-1]", "character 5: range 3-1 runs backwards"},
      {"n[10-08]", "character 3: range 10-08 runs backwards"},
      {"n[1-1000000000000000000]", "character 5: the number has more than 18 digits"},
      {std::string_view("a\x01", 2), "character 2: control characters are not allowed in a name"},
      {std::string_view("a\0b", 3), "character 2: control characters are not allowed in a name"},
  };
  for (const Case& c : cases) {
    auto names = expand_hosts(c.list);
    ASSERT_FALSE(names) << c.list;
    EXPECT_EQ(names.error().hint, c.printed) << c.list;
    EXPECT_EQ(names.error().code, Errc::kInvalidNodeName);
    EXPECT_EQ(names.error().text, "Invalid hostlist: " + std::string(c.list));
  }
}

TEST(Hostlist, IsBounded) {
  EXPECT_EQ(count_hosts("n[1-65536]").value(), 65536u);
  EXPECT_EQ(count_hosts("n[1-256]m[0-255]").value(), 65536u);
  for (const char* text : {"n[1-65537]", "n[1-65536],a", "n[1-256]m[0-256]", "n[1-60000,1-6000]", "n[0-999999999999999999]",
                           "[0-65535][0-65535][0-65535][0-65535][0-65535]"})
    EXPECT_NE(expanded(text).find("more than 65536 hosts"), std::string::npos) << text;
  EXPECT_EQ(count_hosts("n[1-65537]", 100000).value(), 65537u);
  EXPECT_NE(expanded(std::string(256, 'x')).find("longer than 255"), std::string::npos);
  EXPECT_EQ(count_hosts(std::string(255, 'x')).value(), 1u);
  EXPECT_NE(expanded(std::string(250, 'x') + "[99995-100000]").find("longer than 255"), std::string::npos);
  EXPECT_NE(expanded("n[" + std::string(300, '0') + "]").find("too long"), std::string::npos);
  // A message does not repeat a megabyte.
  EXPECT_LT(expand_hosts(std::string(1 << 20, 'x')).error().text.size(), 2000u);
}

TEST(Hostlist, RangeGivesNamesWithoutExpanding) {
  auto range = HostRange::parse("n[1-3,7],x,r[0-1]n[08-11]k");
  ASSERT_TRUE(range);
  EXPECT_EQ(range->size(), 13u);
  EXPECT_EQ(range->at(3), "n7");
  EXPECT_EQ(range->at(4), "x");
  EXPECT_EQ(range->at(12), "r1n11k");
  Names walked;
  for (std::string h : *range) walked.push_back(std::move(h));
  EXPECT_EQ(walked, expand_hosts("n[1-3,7],x,r[0-1]n[08-11]k").value());
  EXPECT_TRUE(HostRange::parse("")->empty());
}

struct PrintCase {
  std::string_view list, printed, sorted;
};

// What `scontrol show hostlist` and `hostlistsorted` of 22.05 print.
TEST(Hostlist, PrintsAsScontrolDoes) {
  const PrintCase cases[] = {
      {"a1,a2,a3", "a[1-3]", "a[1-3]"},
      {"tux2,tux1,tux2", "tux[2,1-2]", "tux[1-2,2]"},
      {"a1,a1,a2,a2", "a[1,1-2,2]", "a[1,1-2,2]"},
      {"a01,a2,a03", "a[01,2,03]", "a[2,01,03]"},
      {"a9,a10,a11", "a[9-11]", "a[9-11]"},
      {"a09,a10", "a[09-10]", "a[09-10]"},
      {"a009,a010,a11", "a[009-010,11]", "a[11,009-010]"},
      {"a1,b1,a2", "a1,b1,a2", "a[1-2],b1"},
      {"a1x,a2x,a3x", "a1x,a2x,a3x", "a1x,a2x,a3x"},
      {"a", "a", "a"},
      {"x,a", "x,a", "a,x"},
      {"r[0-1]n[1-2]", "r0n[1-2],r1n[1-2]", "r0n[1-2],r1n[1-2]"},
      {"a1,a3,a5,a7-8", "a[1,3,5],a7-8", "a[1,3,5],a7-8"},
      {"a12,a13,b12,b13,a14", "a[12-13],b[12-13],a14", "a[12-14],b[12-13]"},
      {"10,11,12", "[10-12]", "[10-12]"},
      {"a1b2c3,a1b2c4,a1b3c3", "a1b2c[3-4],a1b3c3", "a1b2c[3-4],a1b3c3"},
      {"n1,n2,n3,n5,n6,m1", "n[1-3,5-6],m1", "m1,n[1-3,5-6]"},
      {"n3,n2,n1", "n[3,2,1]", "n[1-3]"},
      {"n10,n9,n1", "n[10,9,1]", "n[1,9-10]"},
      {"n01,n1,n001", "n[01,1,001]", "n[1,01,001]"},
      {"n98,n99,n100", "n[98-100]", "n[98-100]"},
      {"n098,n099,n100", "n[098-100]", "n[098-100]"},
      {"n1,n02,n3", "n[1,02,3]", "n[1,3,02]"},
      {"a,b,a", "a,b,a", "a,a,b"},
      {"A1,a1", "A1,a1", "A1,a1"},
      {"n1,N2", "n1,N2", "N2,n1"},
      {"a-1,a-2", "a-[1-2]", "a-[1-2]"},
      {"a.1,a.2", "a.[1-2]", "a.[1-2]"},
      {"a1.b,a2.b", "a1.b,a2.b", "a1.b,a2.b"},
      {"n0,n00,n000", "n[0,00,000]", "n[0,00,000]"},
      {"n4294967295,n4294967296", "n[4294967295-4294967296]", "n[4294967295-4294967296]"},
      {"node1s,node2s", "node1s,node2s", "node1s,node2s"},
      {"n[1-3,5],n4", "n[1-3,5,4]", "n[1-5]"},
      {"r[1-2]n[1-3],r3n[1-3],r4n1", "r1n[1-3],r2n[1-3],r3n[1-3],r4n1", "r1n[1-3],r2n[1-3],r3n[1-3],r4n1"},
      {"rack0n01,rack0n02,rack1n01,rack1n03", "rack0n[01-02],rack1n[01,03]", "rack0n[01-02],rack1n[01,03]"},
      {"gpu7,node001,node130,node128", "gpu7,node[001,130,128]", "gpu7,node[001,128,130]"},
      {"n2,m1,n1,m2", "n2,m1,n1,m2", "m[1-2],n[1-2]"},
      {"n002,n01,n1", "n[002,01,1]", "n[1,01,002]"},
      {"n1,n1,n1,n2,n3", "n[1,1,1-3]", "n[1,1,1-3]"},
      {"n1,n2,n2,n3", "n[1-2,2-3]", "n[1-2,2-3]"},
      {"a1b1,a2b1,a3b1", "a1b1,a2b1,a3b1", "a1b1,a2b1,a3b1"},
      {"a1b1,a1b3,a2b1,a2b3", "a1b[1,3],a2b[1,3]", "a1b[1,3],a2b[1,3]"},
      {"00,01,02", "[00-02]", "[00-02]"},
      {"n8,n09,n10", "n[8,09-10]", "n[8,09-10]"},
      {"n8,n9,n010", "n[8-9,010]", "n[8-9,010]"},
      {"n99,n0100", "n[99,0100]", "n[99,0100]"},
      {"r10n1,r2n1", "r10n1,r2n1", "r2n1,r10n1"},
      {"n1s,n1,n", "n1s,n1,n", "n,n1,n1s"},
      {"ab1,a1", "ab1,a1", "a1,ab1"},
      {"b,a10,a2", "b,a[10,2]", "a[2,10],b"},
      {"aa,a1,a", "aa,a1,a", "a,a1,aa"},
      {"n10,n09", "n[10,09]", "n[09-10]"},
      {"n10,n011,n9", "n[10,011,9]", "n[9-10,011]"},
      {"n100,n011,n99,n0100", "n[100,011,99,0100]", "n[99,011,100,0100]"},
      {"n-1,n1,n.1,n_1", "n-1,n1,n.1,n_1", "n1,n-1,n.1,n_1"},
      {"a10b,a2b", "a10b,a2b", "a2b,a10b"},
      {"5,n5,05", "5,n5,05", "[5,05],n5"},
      {"n1,n1-2,n1-1", "n1,n1-[2,1]", "n1,n1-[1-2]"},
      {"Z,a,_,1,-", "Z,a,_,1,-", "1,-,Z,_,a"},
      {"n1,n2,a,n3", "n[1-2],a,n3", "a,n[1-3]"},
      {"a[01-02]b[1]", "a01b1,a02b1", "a01b1,a02b1"},
      {"n[5]", "n5", "n5"},
      {"n09,n10,n99,n100", "n[09-10,99-100]", "n[09-10,99-100]"},
  };
  for (const PrintCase& c : cases) {
    Names names = expand_hosts(c.list).value();
    EXPECT_EQ(compress_hosts(names), c.printed) << c.list;
    EXPECT_EQ(compress_hosts_sorted(names), c.sorted) << c.list;
  }
  EXPECT_EQ(compress_hosts({}), "");
}

// 22.05 sorts runs, not names, and so prints n[99-100,098] here; ours is the order of host_less everywhere.
TEST(Hostlist, SortsMixedPaddingByName) {
  Names names = {"n098", "n99", "n100"};
  EXPECT_EQ(compress_hosts(names), "n[098,99-100]");
  EXPECT_EQ(compress_hosts_sorted(names), "n[99,098,100]");
}

// Numbers that brackets cannot hold are printed in full.
TEST(Hostlist, LongNumbersStayLiteral) {
  Names names = {"n999999999999999999", "n1000000000000000000", "n1000000000000000001"};
  EXPECT_EQ(compress_hosts(names), "n999999999999999999,n1000000000000000000,n1000000000000000001");
  EXPECT_EQ(expand_hosts(compress_hosts(names)).value(), names);
}

std::string random_name(Random& r) {
  std::string name;
  uint64_t pieces = r.uniform(1, 3);
  for (uint64_t i = 0; i < pieces; ++i) {
    constexpr std::string_view letters = "ab-._z";
    if (r.chance(0.7)) name += letters[r.uniform(0, letters.size() - 1)];
    std::string digits = std::to_string(r.uniform(0, r.chance(0.5) ? 12 : 1005));
    if (r.chance(0.8)) name += std::string(r.chance(0.3) ? r.uniform(0, 2) : 0, '0') + digits;
  }
  return name.empty() ? "q" : name;
}

// Names as sites have them: stretches of a numbered series with jumps, repeats and other names between.
Names random_list(Random& r) {
  Names names;
  uint64_t parts = r.uniform(0, 12);
  for (uint64_t i = 0; i < parts; ++i) {
    std::string name = random_name(r);
    names.push_back(name);
    uint64_t from = r.uniform(0, 101), n = r.uniform(0, 8), width = r.uniform(1, 4);
    for (uint64_t k = 0; k < n; ++k) {
      std::string digits = std::to_string(from + k);
      if (digits.size() < width) digits.insert(0, width - digits.size(), '0');
      names.push_back(name + "x" + digits);
    }
    if (r.chance(0.2) && !names.empty()) names.push_back(names[r.uniform(0, names.size() - 1)]);
  }
  return names;
}

TEST(Hostlist, ExpandUndoesCompress) {
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
    Random r(seed);
    Names names = random_list(r);
    std::string printed = compress_hosts(names);
    auto back = expand_hosts(printed);
    ASSERT_TRUE(back) << "seed " << seed << ": " << printed;
    ASSERT_EQ(*back, names) << "seed " << seed << ": " << printed;
    ASSERT_EQ(compress_hosts(*back), printed) << "seed " << seed;
    Names sorted = names;
    std::ranges::sort(sorted, host_less);
    ASSERT_EQ(expand_hosts(compress_hosts_sorted(names)).value(), sorted) << "seed " << seed;
  }
}

TEST(Hostlist, LessIsAStrictTotalOrder) {
  Random r(7);
  for (int i = 0; i < 20000; ++i) {
    std::string a = random_name(r), b = random_name(r), c = random_name(r);
    ASSERT_FALSE(host_less(a, a));
    ASSERT_EQ(a != b, host_less(a, b) != host_less(b, a)) << a << " " << b;
    bool chain = host_less(a, b) && host_less(b, c);
    ASSERT_TRUE(!chain || host_less(a, c)) << a << " " << b << " " << c;
  }
}

TEST(Hostlist, Sets) {
  Names a = {"n3", "n1", "n3", "n2"}, b = {"n2", "n4", "n4", "n3"};
  EXPECT_EQ(unique_hosts(a), (Names{"n3", "n1", "n2"}));
  EXPECT_EQ(hosts_union(a, b), (Names{"n3", "n1", "n2", "n4"}));
  EXPECT_EQ(hosts_difference(a, b), (Names{"n1"}));
  EXPECT_EQ(hosts_intersection(a, b), (Names{"n3", "n2"}));
  EXPECT_EQ(hosts_union({}, {}), Names{});
}

}  // namespace
}  // namespace muster

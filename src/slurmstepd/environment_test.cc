#include "slurmstepd/environment.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace muster::slurmstepd {
namespace {

std::vector<std::string> sorted(const Environment& e) {
  std::vector<std::string> out = e.entries();
  std::ranges::sort(out);
  return out;
}
using Entries = std::vector<std::string>;

TEST(Environment, LaterEntriesWinAndOddOnesAreLeftOut) {
  Environment e({"A=1", "B=2", "A=3", "noequals", "=x"});
  EXPECT_EQ(sorted(e), (Entries{"A=3", "B=2"}));
  e.unset("A");
  e.unset("missing");
  e.set("C=");
  EXPECT_EQ(sorted(e), (Entries{"B=2", "C="}));
  e.set("B=9");
  EXPECT_EQ(sorted(e), (Entries{"B=9", "C="})) << "places stay right after an entry was removed";
}

TEST(Environment, TaskPrologOutput) {
  Environment e({"A=1", "HOME=/h"});
  EXPECT_EQ(e.apply_prolog_output("export X=a b\nunset HOME\nprint hello  you\nnoise\nexport A=2"), "hello  you\n");
  EXPECT_EQ(sorted(e), (Entries{"A=2", "X=a b"}));
}

}  // namespace
}  // namespace muster::slurmstepd

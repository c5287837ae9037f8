#include "slurmctld/daemon/arguments.h"

#include <getopt.h>
#include <gtest/gtest.h>

#include <vector>

namespace muster::slurmctld {
namespace {

Arguments parsed(std::vector<std::string> words) {
  std::vector<char*> argv{const_cast<char*>("slurmctld")};
  for (std::string& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  optind = 0;  // getopt begins anew
  return parse_arguments(static_cast<int>(argv.size()) - 1, argv.data());
}

TEST(Arguments, ANiceValueIsANumberInItsRange) {
  EXPECT_EQ(parsed({"-n", "-5"}).nice, -5);
  EXPECT_EQ(parsed({"-D"}).nice, std::nullopt);
  for (const char* wrong : {"high", "", "20", "5x"}) EXPECT_EQ(parsed({"-n", wrong}).exit_now, 1) << wrong;
}

}  // namespace
}  // namespace muster::slurmctld

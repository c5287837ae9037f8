// What slurmstepd takes from an MPI module, which runs as the user: other programs of the user may speak in its place.
#include "slurmstepd/mpi_module.h"

#include <gtest/gtest.h>

namespace muster::slurmstepd {
namespace {

std::string taken(std::vector<mpi_rpc::TaskVariables> tasks) {
  mpi_rpc::ModuleReady m;
  m.tasks = std::move(tasks);
  auto variables = variables_by_rank(std::move(m), {4, 5});
  if (!variables) return std::string(variables.error().message());
  std::string out;
  for (const auto& [rank, list] : *variables) out += std::to_string(rank) + ":" + std::to_string(list.size()) + " ";
  return out;
}

TEST(MpiModule, VariablesAreOfTheTasksHereAndBounded) {
  EXPECT_EQ(taken({{4, {"A=1", "B=2"}}, {5, {}}}), "4:2 5:0 ");
  EXPECT_NE(taken({{6, {"A=1"}}}).find("variables for task 6, which is not on this node"), std::string::npos);
  EXPECT_NE(taken({{4, {}}, {4, {}}}).find("variables for task 4 twice"), std::string::npos);
  EXPECT_EQ(taken({{4, std::vector<std::string>(1024, "A=1")}}), "4:1024 ");
  EXPECT_NE(taken({{4, std::vector<std::string>(1025, "A=1")}}).find("at most 1024 variables of 256 KiB"), std::string::npos);
  EXPECT_NE(taken({{4, {std::string(257 << 10, 'x')}}}).find("at most 1024 variables of 256 KiB"), std::string::npos);
}

TEST(MpiModule, LettersFitAndNameNodesOfTheStep) {
  mpi_rpc::NodeLetter m;
  m.to = {0, 1};
  m.content.assign(mpi_rpc::kMaxLetter, 'x');
  EXPECT_TRUE(may_be_sent(m, 2));
  EXPECT_FALSE(may_be_sent(m, 1));
  m.content += 'x';
  EXPECT_FALSE(may_be_sent(m, 2));
}

}  // namespace
}  // namespace muster::slurmstepd

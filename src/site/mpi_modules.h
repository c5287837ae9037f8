// The MPI modules of this installation: the programs mpi_* in lib/slurm beside bin and sbin. srun --mpi, MpiDefault.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace muster::site {

struct MpiModules {
  std::vector<std::string> types;     // "none", "pmix": what --mpi takes, sorted; none is always there
  std::vector<std::string> versions;  // "pmix_v4": --mpi takes these as well
};
MpiModules mpi_modules();

// Reduces what was asked for to its type: "mpi/pmix" and "pmix" are the same; none is "".
std::string_view mpi_type(std::string_view asked);
// The program of a type or version other than none; "" if it is not installed.
std::string mpi_program(std::string_view type);

}  // namespace muster::site

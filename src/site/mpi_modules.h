// Which MPI modules this installation has: the programs mpi_* in lib/slurm beside bin and sbin. srun --mpi, MpiDefault.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace muster::site {

struct MpiModules {
  std::vector<std::string> types;     // "none", "pmix": what --mpi takes, sorted; none is always there
  std::vector<std::string> versions;  // "pmix_v4": taken too
};
MpiModules mpi_modules();

// "mpi/pmix" and "pmix" are the same; none is "".
std::string_view mpi_type(std::string_view asked);
// The program of a type or version that is not none; "" if there is none here.
std::string mpi_program(std::string_view type);

}  // namespace muster::site

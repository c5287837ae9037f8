// mpi_pmi2: started by slurmstepd for a step that asks for srun --mpi=pmi2, as the step's user. src/plugin/mpi/README.md.
#include "plugin/mpi_pmi2/module.h"
#include "plugin/mpi_program/program.h"

int main(int argc, char** argv) {
  return muster::mpi::run_module(argc, argv, [](muster::net::Loop& loop, int fd) {
    muster::mpi_pmi2::Module module(loop, fd);
    loop.run();
  });
}

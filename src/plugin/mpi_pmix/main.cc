// mpi_pmix: started by slurmstepd for a step that asks for srun --mpi=pmix, as the step's user. src/plugin/mpi/README.md.
#include "plugin/mpi_pmix/module.h"
#include "plugin/mpi_program/program.h"

int main(int argc, char** argv) {
  return muster::mpi::run_module(argc, argv, [](muster::net::Loop& loop, int fd) {
    muster::mpi_pmix::Module module(loop, fd);
    loop.run();
  });
}

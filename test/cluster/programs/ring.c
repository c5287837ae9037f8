/* An MPI program: a token goes around, sums are right, everybody meets. With an argument N, rank N ends otherwise:
   ring abort N: MPI_Abort with status 7; ring kill N: killed by itself while the others wait for it. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  int rank, size, token = 0, sum = 0, *appnum, *universe, there;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc > 2 && rank == atoi(argv[2])) {
    if (!strcmp(argv[1], "abort")) MPI_Abort(MPI_COMM_WORLD, 7);
    raise(SIGKILL);
  }
  int before = (rank + size - 1) % size, after = (rank + 1) % size;
  if (rank == 0) {
    token = 1;
    MPI_Send(&token, 1, MPI_INT, after, 0, MPI_COMM_WORLD);
    MPI_Recv(&token, 1, MPI_INT, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(&token, 1, MPI_INT, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    ++token;
    MPI_Send(&token, 1, MPI_INT, after, 0, MPI_COMM_WORLD);
  }
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &appnum, &there);
  if (!there) appnum = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &universe, &there);
  MPI_Barrier(MPI_COMM_WORLD);
  printf("rank %d of %d on %s: token %d sum %d app %d universe %d\n", rank, size, getenv("SLURMD_NODENAME"), token, sum,
         appnum ? *appnum : -1, there ? *universe : -1);
  MPI_Finalize();
  return 0;
}

#include "plugin/mpi_program/program.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace muster::mpi {
namespace {

// slurmstepd is gone: removes what the tasks and libraries left. The directory itself is slurmstepd's to remove.
void clear(const char* directory) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(directory, ignored)) std::filesystem::remove_all(entry.path(), ignored);
}

}  // namespace

int run_module(int argc, char** argv, const std::function<void(net::Loop& loop, int fd)>& serve) {
  struct stat st;
  if (argc != 2 || ::fstat(3, &st) < 0 || !S_ISSOCK(st.st_mode)) {
    fprintf(stderr, "%s: error: started by slurmstepd only\n", argv[0]);
    return 1;
  }
  ::fcntl(3, F_SETFD, FD_CLOEXEC);
  ::fcntl(3, F_SETFL, O_NONBLOCK);
  // Signals are for the tasks; slurmstepd ends us by closing the socket or by SIGKILL.
  for (int s : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGPIPE}) ::signal(s, SIG_IGN);
  ::umask(077);
  net::Loop loop;
  serve(loop, 3);
  clear(argv[1]);
  ::_exit(0);
}

}  // namespace muster::mpi

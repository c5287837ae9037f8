#include "slurmstepd/entry.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "base/version.h"
#include "os/daemonize.h"
#include "os/files.h"
#include "os/fork_server.h"
#include "slurmstepd/namespace_program.h"
#include "slurmstepd/receive_file.h"
#include "slurmstepd/stepd.h"

namespace muster::slurmstepd {

namespace {

// Runs until a signal: the scope of steps lives as long as there is a process in it (os/node/step_scope.h).
int keep_scope() {
  if (auto ok = os::stdio_to_null(); !ok) return 1;  // else whoever reads them waits for our end
  for (;;) ::pause();
}

}  // namespace

int run_slurmstepd(int argc, char** argv, MakePlugins make_plugins) {
  auto say = [](int fd, const char* text) { [[maybe_unused]] ssize_t n = ::write(fd, text, strlen(text)); };
  if (argc == 2 && (!strcmp(argv[1], "-V") || !strcmp(argv[1], "--version"))) {
    say(1, kVersionLine);
    say(1, "\n");
    return 0;
  }
  if (argc > 1 && !strcmp(argv[1], "receive")) return receive_file(argc - 2, argv + 2);
  if (argc == 3 && !strcmp(argv[1], "sweep")) return os::remove_tree(argv[2]) ? 0 : 1;
  if (argc > 1 && !strcmp(argv[1], "namespace")) return namespace_program(argc - 2, argv + 2);
  if (argc == 2 && !strcmp(argv[1], "infinity")) return keep_scope();
  struct stat st;
  if (::fstat(3, &st) < 0 || !S_ISSOCK(st.st_mode)) {
    say(2, "slurmstepd: error: started by slurmd only\n");
    return 1;
  }
  if (argc == 3 && !strcmp(argv[1], "serve") && !os::serve_copies(os::argument_room(argc, argv))) return 0;
  ::fcntl(3, F_SETFD, FD_CLOEXEC);
  ::fcntl(3, F_SETFL, O_NONBLOCK);
  ::umask(022);
  return Stepd(3, std::move(make_plugins)).run();
}

}  // namespace muster::slurmstepd

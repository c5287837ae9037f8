#include "slurmctld/daemon/arguments.h"

#include <getopt.h>

#include <cstdio>

#include "base/text.h"
#include "base/version.h"

namespace muster::slurmctld {
namespace {

constexpr char kUsage[] = "Usage: slurmctld [OPTIONS]\n"
                          "  -c              start with an empty state: jobs, node states and reservations are forgotten\n"
                          "  -D              stay in the foreground and log to the terminal\n"
                          "  -f FILE         read FILE instead of the default slurm.conf\n"
                          "  -h              print this help\n"
                          "  -i              start even if the saved state cannot be read in full\n"
                          "  -L FILE         log to FILE\n"
                          "  -n VALUE        run with this nice value\n"
                          "  -q              log less; may be repeated\n"
                          "  -r              recover state as it was saved (the default)\n"
                          "  -R              recover all state, also of partitions (the default here)\n"
                          "  -s              change the working directory to that of the log file\n"
                          "  -v              log more; may be repeated\n"
                          "  -V              print the version\n"
                          "  --systemd       started by systemd: do not detach\n";

}  // namespace

Arguments parse_arguments(int argc, char** argv) {
  static const option kLong[] = {{"systemd", no_argument, nullptr, 1},
                                 {"help", no_argument, nullptr, 'h'},
                                 {"version", no_argument, nullptr, 'V'},
                                 {nullptr, 0, nullptr, 0}};
  Arguments arguments;
  int option;
  while ((option = getopt_long(argc, argv, "cDf:hiL:n:qrRsvV", kLong, nullptr)) != -1) {
    switch (option) {
      case 'c': arguments.clear_state = true; break;
      case 'D': arguments.foreground = true; break;
      case 'f': arguments.conf_file = optarg; break;
      case 'h':
        std::fputs(kUsage, stdout);
        arguments.exit_now = 0;
        return arguments;
      case 'i': arguments.ignore_state_errors = true; break;
      case 'L': arguments.log_file = optarg; break;
      case 'n':
        arguments.nice = parse_number<int>(optarg, -20, 19);
        if (arguments.nice) break;
        std::fprintf(stderr, "slurmctld: -n '%s': a nice value is a number from -20 to 19\n", optarg);
        arguments.exit_now = 1;
        return arguments;
      case 'q': ++arguments.quiet; break;
      case 'r':
      case 'R': break;
      case 's': arguments.chdir_to_log = true; break;
      case 'v': ++arguments.verbose; break;
      case 'V':
        std::printf("%s\n", kVersionLine);
        arguments.exit_now = 0;
        return arguments;
      case 1: arguments.systemd = arguments.foreground = true; break;
      default:
        std::fputs("Try 'slurmctld -h' for more information\n", stderr);
        arguments.exit_now = 1;
        return arguments;
    }
  }
  if (optind < argc) {
    std::fprintf(stderr, "slurmctld: unexpected argument '%s'\n%s", argv[optind], kUsage);
    arguments.exit_now = 1;
  }
  return arguments;
}

}  // namespace muster::slurmctld

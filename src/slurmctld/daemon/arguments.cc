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
  Arguments a;
  int c;
  while ((c = getopt_long(argc, argv, "cDf:hiL:n:qrRsvV", kLong, nullptr)) != -1) {
    switch (c) {
      case 'c': a.clear_state = true; break;
      case 'D': a.foreground = true; break;
      case 'f': a.conf_file = optarg; break;
      case 'h':
        std::fputs(kUsage, stdout);
        a.exit_now = 0;
        return a;
      case 'i': a.ignore_state_errors = true; break;
      case 'L': a.log_file = optarg; break;
      case 'n':
        a.nice = parse_number<int>(optarg, -20, 19);
        if (a.nice) break;
        std::fprintf(stderr, "slurmctld: -n '%s': a nice value is a number from -20 to 19\n", optarg);
        a.exit_now = 1;
        return a;
      case 'q': ++a.quiet; break;
      case 'r':
      case 'R': break;
      case 's': a.chdir_to_log = true; break;
      case 'v': ++a.verbose; break;
      case 'V':
        std::printf("%s\n", kVersionLine);
        a.exit_now = 0;
        return a;
      case 1: a.systemd = a.foreground = true; break;
      default:
        std::fputs("Try 'slurmctld -h' for more information\n", stderr);
        a.exit_now = 1;
        return a;
    }
  }
  if (optind < argc) {
    std::fprintf(stderr, "slurmctld: unexpected argument '%s'\n%s", argv[optind], kUsage);
    a.exit_now = 1;
  }
  return a;
}

}  // namespace muster::slurmctld

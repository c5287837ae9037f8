#include "slurmdbd/daemon/arguments.h"

#include <getopt.h>

#include <cstdio>

#include "base/text.h"
#include "base/version.h"

namespace muster::slurmdbd {
namespace {

constexpr char kUsage[] = "Usage: slurmdbd [OPTIONS]\n"
                          "  -D              stay in the foreground and log to the terminal\n"
                          "  -f FILE         read FILE instead of slurmdbd.conf beside slurm.conf\n"
                          "  -h              print this help\n"
                          "  -n VALUE        run with this nice value\n"
                          "  -s              change the working directory to that of the log file\n"
                          "  -u              print the version of the database's tables and leave: 0, or 1 if they would be converted\n"
                          "  -v              log more; may be repeated\n"
                          "  -V              print the version\n"
                          "  --systemd       started by systemd: do not detach\n";

}  // namespace

Arguments parse_arguments(int argc, char** argv) {
  static const option kLong[] = {{"systemd", no_argument, nullptr, 'D'},
                                 {"help", no_argument, nullptr, 'h'},
                                 {"version", no_argument, nullptr, 'V'},
                                 {nullptr, 0, nullptr, 0}};
  Arguments arguments;
  int option;
  while ((option = getopt_long(argc, argv, "Df:hn:suvV", kLong, nullptr)) != -1) {
    switch (option) {
      case 'D': arguments.foreground = true; break;
      case 'f': arguments.conf_file = optarg; break;
      case 'h':
        std::fputs(kUsage, stdout);
        arguments.exit_now = 0;
        return arguments;
      case 'n':
        arguments.nice = parse_number<int>(optarg, -20, 19);
        if (arguments.nice) break;
        std::fprintf(stderr, "slurmdbd: -n '%s': a nice value is a number from -20 to 19\n", optarg);
        arguments.exit_now = 1;
        return arguments;
      case 's': arguments.chdir_to_log = true; break;
      case 'u': arguments.only_version = true; break;
      case 'v': ++arguments.verbose; break;
      case 'V':
        std::printf("%s\n", kVersionLine);
        arguments.exit_now = 0;
        return arguments;
      default:
        std::fputs("Try 'slurmdbd -h' for more information\n", stderr);
        arguments.exit_now = 1;
        return arguments;
    }
  }
  if (optind < argc) {
    std::fprintf(stderr, "slurmdbd: unexpected argument '%s'\n%s", argv[optind], kUsage);
    arguments.exit_now = 1;
  }
  return arguments;
}

}  // namespace muster::slurmdbd

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
  Arguments a;
  int c;
  while ((c = getopt_long(argc, argv, "Df:hn:suvV", kLong, nullptr)) != -1) {
    switch (c) {
      case 'D': a.foreground = true; break;
      case 'f': a.conf_file = optarg; break;
      case 'h':
        std::fputs(kUsage, stdout);
        a.exit_now = 0;
        return a;
      case 'n':
        a.nice = parse_number<int>(optarg, -20, 19);
        if (a.nice) break;
        std::fprintf(stderr, "slurmdbd: -n '%s': a nice value is a number from -20 to 19\n", optarg);
        a.exit_now = 1;
        return a;
      case 's': a.chdir_to_log = true; break;
      case 'u': a.only_version = true; break;
      case 'v': ++a.verbose; break;
      case 'V':
        std::printf("%s\n", kVersionLine);
        a.exit_now = 0;
        return a;
      default:
        std::fputs("Try 'slurmdbd -h' for more information\n", stderr);
        a.exit_now = 1;
        return a;
    }
  }
  if (optind < argc) {
    std::fprintf(stderr, "slurmdbd: unexpected argument '%s'\n%s", argv[optind], kUsage);
    a.exit_now = 1;
  }
  return a;
}

}  // namespace muster::slurmdbd

#include "slurmd/daemon/arguments.h"

#include <getopt.h>

#include <cstdio>

#include "base/text.h"
#include "base/version.h"

namespace muster::slurmd {
namespace {

constexpr char kUsage[] =
    "Usage: slurmd [OPTIONS]\n"
    "  -b                  say at registration that the node has just booted\n"
    "  -c                  remove sockets and files that a crashed slurmd left\n"
    "  -C                  print this machine as a NodeName line, and how long it is up\n"
    "  -d FILE             use FILE as slurmstepd\n"
    "  -D                  stay in the foreground and log to the terminal\n"
    "  -f FILE             read FILE instead of the default slurm.conf\n"
    "  -G                  print this node's generic resources\n"
    "  -h                  print this help\n"
    "  -L FILE             log to FILE\n"
    "  -M                  keep slurmd's memory from being paged out\n"
    "  -n VALUE            run with this nice value\n"
    "  -N NODENAME         be this node; several slurmd may run on one machine\n"
    "  -s                  change the working directory to that of the log or the spool\n"
    "  -v                  log more; may be repeated\n"
    "  -V                  print the version\n"
    "  --extra TEXT        accepted; has no effect yet\n"
    "  --parameters LIST   SlurmdParameters for this start\n"
    "  --systemd           started by systemd: do not detach\n";

enum Long { kSystemd = 256, kParameters, kExtra, kConfServer, kConf, kAuthInfo, kCaCert, kInstance };

int refuse(const char* what, const char* why) {
  std::fprintf(stderr, "slurmd: error: %s: %s\n", what, why);
  return 1;
}

}  // namespace

Arguments parse_arguments(int argc, char** argv) {
  static const option kLong[] = {{"systemd", no_argument, nullptr, kSystemd},
                                 {"parameters", required_argument, nullptr, kParameters},
                                 {"extra", required_argument, nullptr, kExtra},
                                 {"conf-server", required_argument, nullptr, kConfServer},
                                 {"conf", required_argument, nullptr, kConf},
                                 {"authinfo", required_argument, nullptr, kAuthInfo},
                                 {"ca-cert-file", required_argument, nullptr, kCaCert},
                                 {"instance-id", required_argument, nullptr, kInstance},
                                 {"instance-type", required_argument, nullptr, kInstance},
                                 {"help", no_argument, nullptr, 'h'},
                                 {"version", no_argument, nullptr, 'V'},
                                 {nullptr, 0, nullptr, 0}};
  Arguments a;
  int c;
  while (a.exit_now < 0 && (c = getopt_long(argc, argv, "bcCd:Df:F::GhL:Mn:N:svVZ", kLong, nullptr)) != -1) {
    switch (c) {
      case 'b':
        a.report_reboot = true;
        break;
      case 'c':
        a.clear_locks = true;
        break;
      case 'C':
        a.print_hardware = true;
        break;
      case 'd':
        a.stepd_path = optarg;
        break;
      case 'D':
        a.foreground = true;
        break;
      case 'f':
        a.conf_file = optarg;
        break;
      case 'F':
        a.exit_now = refuse("-F", "dynamic future nodes are not supported yet");
        break;
      case 'G':
        a.print_gres = true;
        break;
      case 'h':
        std::fputs(kUsage, stdout);
        a.exit_now = 0;
        break;
      case 'L':
        a.log_file = optarg;
        break;
      case 'M':
        a.lock_memory = true;
        break;
      case 'n':
        a.nice = parse_number<int>(optarg, -20, 19);
        if (!a.nice) a.exit_now = refuse("-n", "a nice value is a number from -20 to 19");
        break;
      case 'N':
        a.node_name = optarg;
        break;
      case 's':
        a.change_directory = true;
        break;
      case 'v':
        ++a.verbose;
        break;
      case 'V':
        std::printf("%s\n", kVersionLine);
        a.exit_now = 0;
        break;
      case 'Z':
        a.exit_now = refuse("-Z", "dynamic nodes are not supported yet");
        break;
      case kSystemd:
        a.foreground = true;
        break;
      case kParameters:
        a.parameters = optarg;
        break;
      case kExtra:
        a.extra = optarg;
        break;
      case kConf:
        a.exit_now = refuse("--conf", "node definitions are read from slurm.conf only");
        break;
      case kConfServer:
        a.exit_now = refuse("--conf-server", "a start without slurm.conf is not supported yet");
        break;
      case kAuthInfo:
      case kCaCert:
        a.exit_now =
            refuse("--authinfo, --ca-cert-file", "they belong to --conf-server, which is not supported yet");
        break;
      case kInstance:
        a.exit_now = refuse("--instance-id, --instance-type", "not supported yet");
        break;
      default:
        std::fputs("Try 'slurmd -h' for more information\n", stderr);
        a.exit_now = 1;
    }
  }
  if (a.exit_now < 0 && optind < argc) a.exit_now = refuse(argv[optind], "unexpected argument");
  return a;
}

}  // namespace muster::slurmd

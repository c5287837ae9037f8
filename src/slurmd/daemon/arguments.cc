#include "slurmd/daemon/arguments.h"

#include <getopt.h>

#include <algorithm>
#include <cstdio>

#include "agent/conf_servers.h"
#include "base/text.h"
#include "base/version.h"
#include "model/request_texts.h"
#include "slurmd/core/node_definition.h"

namespace muster::slurmd {
namespace {

constexpr char kUsage[] = "Usage: slurmd [OPTIONS]\n"
                          "  -b                  say at registration that the node has just booted\n"
                          "  -c                  remove sockets and files that a crashed slurmd left\n"
                          "  -C                  print this machine as a NodeName line, and how long it is up\n"
                          "  -d FILE             use FILE as slurmstepd\n"
                          "  -D                  stay in the foreground and log to the terminal\n"
                          "  -f FILE             read FILE instead of the default slurm.conf\n"
                          "  -F[FEATURE]         be a FUTURE node that fits this machine and has the feature\n"
                          "  -G                  print this node's generic resources\n"
                          "  -h                  print this help\n"
                          "  -L FILE             log to FILE\n"
                          "  -M                  keep slurmd's memory from being paged out\n"
                          "  -n VALUE            run with this nice value\n"
                          "  -N NODENAME         be this node; several slurmd may run on one machine\n"
                          "  -s                  change the working directory to that of the log or the spool\n"
                          "  -v                  log more; may be repeated\n"
                          "  -V                  print the version\n"
                          "  -Z                  be a node that slurm.conf does not have, described by this machine and --conf\n"
                          "  --authinfo LIST     AuthInfo until the configuration is here, for --conf-server\n"
                          "  --conf KEYS         keys of a NodeName line, for -Z\n"
                          "  --conf-server LIST  get the configuration from slurmctld at HOST[:PORT], the first that answers\n"
                          "  --extra TEXT        set Extra of the node, which jobs may ask about with --extra\n"
                          "  --parameters LIST   SlurmdParameters for this start\n"
                          "  --token-file FILE   join with the token in FILE, in place of the cluster key\n"
                          "  --systemd           started by systemd: do not detach\n";

enum Long { kSystemd = 256, kParameters, kExtra, kConfServer, kConf, kAuthInfo, kCaCert, kInstance, kTokenFile };

constexpr option kLong[] = {{"systemd", no_argument, nullptr, kSystemd},
                            {"parameters", required_argument, nullptr, kParameters},
                            {"extra", required_argument, nullptr, kExtra},
                            {"conf-server", required_argument, nullptr, kConfServer},
                            {"conf", required_argument, nullptr, kConf},
                            {"authinfo", required_argument, nullptr, kAuthInfo},
                            {"ca-cert-file", required_argument, nullptr, kCaCert},
                            {"instance-id", required_argument, nullptr, kInstance},
                            {"token-file", required_argument, nullptr, kTokenFile},
                            {"instance-type", required_argument, nullptr, kInstance},
                            {"help", no_argument, nullptr, 'h'},
                            {"version", no_argument, nullptr, 'V'},
                            {nullptr, 0, nullptr, 0}};

// ---- what the options do
struct Flag {
  int option;
  bool Arguments::*set;
};
constexpr Flag kFlags[] = {{'b', &Arguments::report_reboot},    {'c', &Arguments::clear_locks},    {'C', &Arguments::print_hardware},
                           {'D', &Arguments::foreground},       {'G', &Arguments::print_gres},     {'M', &Arguments::lock_memory},
                           {'s', &Arguments::change_directory}, {kSystemd, &Arguments::foreground}};
struct Text {
  int option;
  std::string Arguments::*set;
};
constexpr Text kTexts[] = {{'d', &Arguments::stepd_path},          {'f', &Arguments::conf_file},          {'L', &Arguments::log_file},
                           {'N', &Arguments::node_name},           {kParameters, &Arguments::parameters}, {kExtra, &Arguments::extra},
                           {kConfServer, &Arguments::conf_server}, {kAuthInfo, &Arguments::auth_info}};
struct Refusal {
  int option;
  const char *what, *why;
};
constexpr Refusal kRefusals[] = {{kCaCert, "--ca-cert-file", "the cluster key proves slurmctld, or with --token-file the token does"},
                                 {kInstance, "--instance-id, --instance-type", "not supported yet"}};

int refuse(const std::string& why) {
  std::fprintf(stderr, "slurmd: error: %s\n", why.c_str());
  return 1;
}
int refuse(const char* what, const char* why) { return refuse(std::string(what) + ": " + why); }

template <class Row, size_t N>
const Row* find(const Row (&rows)[N], int option) {
  const Row* row = std::ranges::find(rows, option, &Row::option);
  return row == rows + N ? nullptr : row;
}

// -Z and -F.
void take_join(rpc::JoinAs as, Arguments& arguments) {
  if (arguments.join && *arguments.join != as)
    arguments.exit_now = refuse("-Z, -F", "a slurmd is either one kind of dynamic node or the other");
  arguments.join = as;
}

void take_token_file(Arguments& arguments) {
  arguments.token_file = optarg;
  if (arguments.token_file.empty()) arguments.exit_now = refuse("--token-file", "it names no file");
}

void take_conf(Arguments& arguments) {
  auto keys = parse_conf_option(optarg);
  if (keys) arguments.conf = std::move(*keys);
  else arguments.exit_now = refuse(std::string(keys.error().message()));  // names the option
}

void take(int option, Arguments& arguments) {
  if (const Flag* flag = find(kFlags, option)) {
    arguments.*(flag->set) = true;
  } else if (const Text* text = find(kTexts, option)) {
    arguments.*(text->set) = optarg;
  } else if (const Refusal* no = find(kRefusals, option)) {
    arguments.exit_now = refuse(no->what, no->why);
  } else if (option == 'n') {
    arguments.nice = parse_number<int>(optarg, -20, 19);
    if (!arguments.nice) arguments.exit_now = refuse("-n", "a nice value is a number from -20 to 19");
  } else if (option == 'Z') {
    take_join(rpc::JoinAs::kNormal, arguments);
  } else if (option == 'F') {
    take_join(rpc::JoinAs::kFuture, arguments);
    arguments.feature = optarg ? optarg : "";
  } else if (option == kTokenFile) {
    take_token_file(arguments);
  } else if (option == kConf) {
    take_conf(arguments);
  } else if (option == 'v') {
    ++arguments.verbose;
  } else if (option == 'h' || option == 'V') {
    std::fputs(option == 'h' ? kUsage : (std::string(kVersionLine) + "\n").c_str(), stdout);
    arguments.exit_now = 0;
  } else {
    std::fputs("Try 'slurmd -h' for more information\n", stderr);
    arguments.exit_now = 1;
  }
}

}  // namespace

Arguments parse_arguments(int argc, char** argv) {
  Arguments arguments;
  int option;
  while (arguments.exit_now < 0 && (option = getopt_long(argc, argv, "bcCd:Df:F::GhL:Mn:N:svVZ", kLong, nullptr)) != -1)
    take(option, arguments);
  if (arguments.exit_now < 0 && arguments.extra.size() > kMostText)
    arguments.exit_now = refuse("--extra", bytes_of(arguments.extra.size(), kMostText).c_str());
  if (arguments.exit_now < 0 && !arguments.conf.empty() && arguments.join != rpc::JoinAs::kNormal)
    arguments.exit_now =
        refuse("--conf", "it describes a node of its own, which takes -Z; the Topology of a cloud node is set with scontrol update");
  if (arguments.exit_now < 0 && arguments.join == rpc::JoinAs::kFuture && arguments.print_gres)
    arguments.exit_now = refuse("-G", "with -F it is not known which node this is before slurmctld has said so");
  if (arguments.exit_now < 0 && !arguments.conf_server.empty())
    if (auto servers = agent::servers_named(arguments.conf_server); !servers)
      arguments.exit_now = refuse(std::string(servers.error().message()));
  if (arguments.exit_now < 0 && optind < argc) arguments.exit_now = refuse(argv[optind], "unexpected argument");
  return arguments;
}

}  // namespace muster::slurmd

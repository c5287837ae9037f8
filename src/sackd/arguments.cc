#include "sackd/arguments.h"

#include <getopt.h>

#include <cstdio>
#include <cstdlib>

#include "agent/conf_servers.h"
#include "base/text.h"
#include "base/version.h"
#include "config/key_table.h"

namespace muster::sackd {
namespace {

constexpr char kUsage[] = "Usage: sackd [OPTIONS]\n"
                          "  -D                  stay in the foreground and log to the terminal\n"
                          "  -f FILE             read FILE instead of the default slurm.conf\n"
                          "  -h                  print this help\n"
                          "  -v                  log more; may be repeated\n"
                          "  -V                  print the version\n"
                          "  --conf-server LIST  get the configuration from slurmctld at HOST[:PORT], the first that answers\n"
                          "  --disable-reconfig  get it once, and do not follow its changes\n"
                          "  --key-file FILE     the cluster key\n"
                          "  --token-file FILE   join with the token in FILE, in place of the cluster key\n"
                          "  --systemd           started by systemd: do not detach\n";

enum Long { kConfServer = 256, kDisableReconfig, kKeyFile, kPort, kCaCert, kJwks, kTokenFile };
constexpr option kLong[] = {{"conf-server", required_argument, nullptr, kConfServer},
                            {"disable-reconfig", no_argument, nullptr, kDisableReconfig},
                            {"key-file", required_argument, nullptr, kKeyFile},
                            {"token-file", required_argument, nullptr, kTokenFile},
                            {"port", required_argument, nullptr, kPort},
                            {"ca-cert-file", required_argument, nullptr, kCaCert},
                            {"jwks-file", required_argument, nullptr, kJwks},
                            {"systemd", no_argument, nullptr, 'D'},
                            {"help", no_argument, nullptr, 'h'},
                            {"version", no_argument, nullptr, 'V'},
                            {nullptr, 0, nullptr, 0}};

void refuse(Arguments& arguments, const std::string& why) {
  std::fprintf(stderr, "sackd: error: %s\n", why.c_str());
  arguments.exit_now = 1;
}

void take_port(Arguments& arguments, const std::string& what, const char* text) {
  if (!parse_number<uint16_t>(text, 1)) return refuse(arguments, what + " '" + text + "': a port is a number from 1 to 65535");
  arguments.notes.push_back(what + " has no effect: slurmctld tells of changes on the connection that sackd makes to it");
}

void take(int option, Arguments& arguments) {
  switch (option) {
    case 'D': arguments.foreground = true; break;
    case 'f': arguments.conf_file = optarg; break;
    case 'v': ++arguments.verbose; break;
    case 'h':
    case 'V':
      std::fputs(option == 'h' ? kUsage : (std::string(kVersionLine) + "\n").c_str(), stdout);
      arguments.exit_now = 0;
      break;
    case kConfServer: arguments.conf_server = optarg; break;
    case kDisableReconfig: arguments.disable_reconfig = true; break;
    case kKeyFile: arguments.key_file = optarg; break;
    case kTokenFile: arguments.token_file = optarg; break;
    case kPort: take_port(arguments, "--port", optarg); break;
    case kCaCert: refuse(arguments, "--ca-cert-file: the cluster key proves slurmctld, or with --token-file the token does"); break;
    case kJwks: refuse(arguments, "--jwks-file: not supported yet; --key-file names the one key of the cluster"); break;
    default: std::fputs("Try 'sackd -h' for more information\n", stderr); arguments.exit_now = 1;
  }
}

void take_level(Arguments& arguments, const char* name, std::optional<int>& level) {
  const char* text = std::getenv(name);
  if (!text || !*text) return;
  level = config::parse_debug_level(text);
  if (!level)
    refuse(arguments,
           std::string(name) + "='" + text + "': a level is a number from 0 to 9, or quiet, fatal, error, info, verbose, debug …");
}

void take_variables(Arguments& arguments) {
  take_level(arguments, "SACKD_DEBUG", arguments.debug);
  take_level(arguments, "SACKD_STDERR_DEBUG", arguments.stderr_debug);
  take_level(arguments, "SACKD_SYSLOG_DEBUG", arguments.syslog_debug);
  if (std::getenv("SACKD_DISABLE_RECONFIG")) arguments.disable_reconfig = true;
  if (const char* port = std::getenv("SACKD_PORT"); port && *port) take_port(arguments, "SACKD_PORT", port);
}

}  // namespace

Arguments parse_arguments(int argc, char** argv) {
  Arguments arguments;
  for (int option; arguments.exit_now < 0 && (option = getopt_long(argc, argv, "Df:hvV", kLong, nullptr)) != -1;) take(option, arguments);
  if (arguments.exit_now < 0) take_variables(arguments);
  if (arguments.exit_now < 0 && !arguments.conf_server.empty())
    if (auto servers = agent::servers_named(arguments.conf_server); !servers) refuse(arguments, std::string(servers.error().message()));
  if (arguments.exit_now < 0 && !arguments.token_file.empty() && !arguments.key_file.empty())
    refuse(arguments, "--token-file, --key-file: a host has either a token or the cluster key");
  if (arguments.exit_now < 0 && optind < argc) refuse(arguments, std::string(argv[optind]) + ": unexpected argument");
  return arguments;
}

}  // namespace muster::sackd

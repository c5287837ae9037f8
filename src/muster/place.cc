#include "muster/place.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "cli/common/command.h"
#include "os/error.h"
#include "os/fd.h"
#include "os/files.h"
#include "os/users.h"

namespace muster::front {
namespace {

constexpr size_t kLongestSocketPath = 107;
constexpr size_t kKeyBytes = 64;
constexpr size_t kMostConf = size_t{1} << 20;

bool port_is_free(uint16_t port) {
  os::Fd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in a{};
  a.sin_family = AF_INET;
  a.sin_port = htons(port);
  a.sin_addr.s_addr = htonl(INADDR_ANY);
  int yes = 1;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  return fd && bind(fd.get(), reinterpret_cast<sockaddr*>(&a), sizeof a) == 0;
}

// Finds `count` free ports in a row, below the range from which the system hands out ports by itself.
Result<uint16_t> free_ports(uint32_t count) {
  uint32_t start = 0;
  if (getrandom(&start, sizeof start, 0) != sizeof start) start = static_cast<uint32_t>(getpid());
  for (uint32_t attempt = 0; attempt < 200; ++attempt) {
    uint32_t first = 20000 + (start + attempt * 97) % 12000;
    bool all = true;
    for (uint32_t i = 0; all && i < count; ++i) all = port_is_free(static_cast<uint16_t>(first + i));
    if (all) return static_cast<uint16_t>(first);
  }
  return fail(Errc::kPortsBusy, "no " + std::to_string(count) + " free ports in a row between 20000 and 32000");
}

Result<> make_key(const Place& place) {
  std::string path = place.directory + "/slurm.key";
  if (access(path.c_str(), R_OK) == 0) return {};
  std::string key(kKeyBytes, '\0');
  if (getrandom(key.data(), key.size(), 0) != static_cast<ssize_t>(key.size())) return os::fail_errno("getrandom");
  return os::write_file_atomic(path, key, 0600);
}

std::string program_directory() {
  char path[PATH_MAX];
  ssize_t n = readlink("/proc/self/exe", path, sizeof path);
  std::string whole(path, n > 0 ? static_cast<size_t>(n) : 0);
  return whole.substr(0, whole.rfind('/'));
}

}  // namespace

std::string Place::log(const std::string& daemon) const {
  return directory + "/log/" + (daemon == "slurmctld" || daemon == "slurmdbd" ? daemon : "slurmd." + daemon) + ".log";
}

std::string bin_directory() { return program_directory(); }
std::string sbin_directory() {
  std::string bin = program_directory();
  return bin.substr(0, bin.rfind('/')) + "/sbin";
}

Result<Place> find_place(const std::string& wanted) {
  std::string path = wanted;
  if (path.empty()) {
    const char* state = getenv("XDG_STATE_HOME");
    const char* home = getenv("HOME");
    if (state && *state == '/') path = std::string(state) + "/muster";
    else if (home && *home == '/') path = std::string(home) + "/.local/state/muster";
    else return fail(Errc::kInvalidArgument, "neither XDG_STATE_HOME nor HOME is set", "say where with --state=DIR");
  }
  if (!path.starts_with('/')) path = cli::current_directory() + "/" + path;
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  if (path.size() + std::string_view("/run/slurmctld.65535.sock").size() > kLongestSocketPath)
    return fail(Errc::kPathnameTooLong, "the directory " + path + " is too long for the sockets in it",
                "a shorter one with --state=DIR, at most 82 bytes");
  for (char c : path)
    if (c == ' ' || c == '"' || c == '#' || c == '%' || c == '\n')
      return fail(Errc::kInvalidArgument, "the directory " + path + " has a character that slurm.conf gives a meaning to",
                  "another one with --state=DIR");
  return Place{path};
}

Result<> furnish(const Place& place, const Plan& plan) {
  for (const char* sub : {"", "/state", "/spool", "/run", "/log"}) {
    MUSTER_TRY_VOID(os::make_dirs(place.directory + sub, 0700));
  }
  for (const std::string& node : node_names(plan)) {
    MUSTER_TRY_VOID(os::make_dirs(place.directory + "/spool/" + node, 0700));
  }
  MUSTER_TRY_VOID(make_key(place));
  MUSTER_TRY(port, free_ports(plan.nodes + 2));
  MUSTER_TRY(user, os::find_user(Uid{getuid()}));
  ConfInputs in{place.directory, cli::short_hostname(), user.name, port};
  std::string before;
  if (::access(place.conf().c_str(), F_OK) == 0) {  // whose lines are not lost where it cannot be read
    MUSTER_TRY(text, os::read_file(place.conf(), kMostConf));
    before = std::move(text);
  }
  MUSTER_TRY_VOID(os::write_file_atomic(place.conf(), slurm_conf(plan, in) + lines_of_the_site(before), 0644));
  if (plan.accounting) MUSTER_TRY_VOID(os::write_file_atomic(place.dbd_conf(), slurmdbd_conf(plan, in), 0600));
  MUSTER_TRY_VOID(os::write_file_atomic(place.directory + "/gres.conf", gres_conf(plan), 0644));
  return os::write_file_atomic(place.directory + "/env.sh",
                               "export SLURM_CONF=" + place.conf() + "\nexport PATH=" + bin_directory() + ":$PATH\n", 0644);
}

int controller_pid(const Place& place) { return os::running_pid(place.directory + "/run/slurmctld.pid").value_or(0); }

std::vector<Daemon> running_daemons(const Place& place) {
  std::vector<Daemon> out;
  if (int pid = controller_pid(place)) out.push_back({"slurmctld", pid});
  std::string run = place.directory + "/run";
  if (std::optional<pid_t> pid = os::running_pid(run + "/slurmdbd.pid")) out.push_back({"slurmdbd", *pid});
  const auto first_node = static_cast<ptrdiff_t>(out.size());
  DIR* d = opendir(run.c_str());
  if (!d) return out;
  while (const dirent* e = readdir(d)) {
    std::string_view name = e->d_name;
    if (!name.starts_with("slurmd.") || !name.ends_with(".pid")) continue;
    if (std::optional<pid_t> pid = os::running_pid(run + "/" + std::string(name)))
      out.push_back({std::string(name.substr(7, name.size() - 11)), *pid});
  }
  closedir(d);
  std::sort(out.begin() + first_node, out.end(), [](const Daemon& a, const Daemon& b) { return a.name < b.name; });
  return out;
}

}  // namespace muster::front

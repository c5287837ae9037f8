#include "slurmctld/daemon/own_host.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "net/socket.h"

namespace muster::slurmctld {
namespace {

std::string_view short_name(std::string_view name) { return name.substr(0, name.find('.')); }

// A socket can only be bound to an address of the host itself.
bool is_own(const net::Address& address) {
  net::UniqueFd fd(::socket(address.storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  return fd && ::bind(fd.get(), address.get(), address.size) == 0;
}

std::string text_of(const config::ControllerHost& h) {
  return "SlurmctldHost=" + (h.name == h.address ? h.name : h.name + "(" + h.address + ")");
}

}  // namespace

bool leads_here(const std::string& host) {
  const auto addresses = net::resolve(host, 0);
  return addresses && std::ranges::any_of(*addresses, is_own);
}

std::string own_hostname() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return name;
}

const config::ControllerHost* own_line(const config::Config& config, std::string_view hostname, const LeadsHere& leads) {
  for (const config::ControllerHost& h : config.slurmctld_hosts)
    if (iequals(h.name, hostname) || iequals(short_name(h.name), short_name(hostname))) return &h;
  for (const config::ControllerHost& h : config.slurmctld_hosts)
    if (leads(h.address) || (h.name != h.address && leads(h.name))) return &h;
  return nullptr;
}

Result<> may_control(const config::Config& config, std::string_view hostname, const LeadsHere& leads) {
  if (own_line(config, hostname, leads)) return {};
  std::string lines;
  for (const config::ControllerHost& h : config.slurmctld_hosts) lines += (lines.empty() ? "" : ", ") + text_of(h);
  const std::string name(short_name(hostname));
  return fail(Errc::kInvalidArgument,
              "This host (" + name + "/" + std::string(hostname) + ") not a valid controller: " + config.path + " has " + lines +
                  ", and none of these names or addresses is this host's",
              "start slurmctld on the host that is named there, or write SlurmctldHost=" + name + " in that file on all hosts");
}

}  // namespace muster::slurmctld

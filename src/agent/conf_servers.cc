#include "agent/conf_servers.h"

#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "agent/dns_srv.h"
#include "agent/may_come_later.h"
#include "base/text.h"
#include "net/backoff.h"
#include "net/bounded_calls.h"
#include "os/users.h"
#include "site/conf_files.h"
#include "site/trust.h"

namespace muster::agent {
namespace {

constexpr uint16_t kDefaultPort = 6817;
constexpr size_t kMostServers = 64;
constexpr Duration kPatience = seconds(10);

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

Result<net::Endpoint> parse_server(std::string_view entry) {
  auto wrong = [&](const char* why) { return fail(Errc::kInvalidArgument, "--conf-server: '" + std::string(entry) + "': " + why); };
  std::string_view host = entry, port;
  if (entry.starts_with('[')) {
    const size_t end = entry.find(']');
    if (end == std::string_view::npos) return wrong("the ']' of an IPv6 address is missing");
    host = entry.substr(1, end - 1);
    port = entry.substr(end + 1);
    if (!port.empty() && port.front() != ':') return wrong("after ']' comes nothing, or ':' and a port");
  } else if (const size_t colon = entry.find(':'); colon != std::string_view::npos) {
    host = entry.substr(0, colon);
    port = entry.substr(colon);
    if (port.find(':', 1) != std::string_view::npos) return wrong("an IPv6 address is written in brackets: [ADDRESS]:PORT");
  }
  if (host.empty() || host.size() > 255 || host.find_first_of(" \t/") != std::string_view::npos) return wrong("this is no host");
  net::Endpoint out{std::string(host), kDefaultPort};
  if (port.empty()) return out;
  const auto number = parse_number<uint16_t>(port.substr(1), 1);
  if (!number) return wrong("a port is a number from 1 to 65535");
  out.port = *number;
  return out;
}

Result<FetchedConfig> fetch_once(const net::Endpoint& server, const net::Security& security) {
  net::ClientOptions options;
  options.controllers = {server};
  options.security = security.expecting("controller");
  options.timeout = kPatience;
  MUSTER_TRY(client, net::connect_client(options));
  return fetch_config(*client, {}, kPatience);
}

}  // namespace

Result<std::vector<net::Endpoint>> servers_named(const std::string& text) {
  std::vector<net::Endpoint> out;
  for (std::string_view entry : split(text, ',')) {
    MUSTER_TRY(server, parse_server(trim(entry)));
    if (out.size() >= kMostServers)
      return fail(Errc::kInvalidArgument, "--conf-server: at most " + std::to_string(kMostServers) + " servers");
    out.push_back(std::move(server));
  }
  if (out.empty()) return fail(Errc::kInvalidArgument, "--conf-server: '" + text + "' names no server");
  return out;
}

Result<std::vector<net::Endpoint>> conf_servers(const std::string& named, const std::string& conf_file) {
  if (!named.empty()) return servers_named(named);
  if (!conf_file.empty() || !variable("SLURM_CONF").empty()) return std::vector<net::Endpoint>{};
  for (const std::string& path : site::conf_candidates())
    if (::access(path.c_str(), F_OK) == 0) return std::vector<net::Endpoint>{};
  if (const std::string server = variable("SLURM_CONF_SERVER"); !server.empty()) return servers_named(server);
  return servers_by_dns();
}

Result<FirstProof> first_proof(const std::string& conf_file, const std::string& key_file, const std::string& auth_info) {
  FirstProof out;
  const std::string beside = site::directory_of(site::find_conf(conf_file)) + "/slurm.key";
  const std::vector<std::string> places =
      key_file.empty() ? std::vector{beside, std::string("/etc/slurm/slurm.key")} : std::vector{key_file};
  for (const std::string& path : places) {
    if (key_file.empty() && ::access(path.c_str(), F_OK) != 0) continue;
    MUSTER_TRY(key, site::read_cluster_key_at(path));
    out.security.key = std::move(key);
    out.key = path;  // a link to it stays good when the key is replaced, so links on the way are not resolved
    if (path.starts_with('/')) return out;
    char* real = ::realpath(path.c_str(), nullptr);
    out.key = real ? real : path;
    std::free(real);
    return out;
  }
  out.security.kind = net::Security::Kind::kMunge;
  for (std::string_view word : split(auth_info, ','))
    if (trim(word).starts_with("socket=")) out.security.munge_socket = std::string(trim(word).substr(7));
  if (auto slurm = os::find_uid("slurm")) out.security.trusted_uids.push_back(slurm->value);
  out.security.trusted_uids.push_back(::geteuid());
  return out;
}

Result<FetchedConfig> fetch_from(const std::vector<net::Endpoint>& servers, const net::Security& security,
                                 const std::function<void(const std::string& why)>& waits) {
  net::Backoff pauses(milliseconds(50), seconds(5), net::Backoff::random_seed());
  for (bool told = false;; told = true) {
    std::string why;
    for (const net::Endpoint& server : servers) {
      Result<FetchedConfig> config = fetch_once(server, security);
      if (config || !may_be_reached_later(config.error())) return config;
      const Error& e = config.error();
      why += (why.empty() ? "" : "; ") + server.host + ":" + std::to_string(server.port) + ": " +
             std::string(e.hint.empty() ? e.message() : std::string_view(e.hint));
    }
    if (!told) waits(why);
    std::this_thread::sleep_for(pauses.next());
  }
}

std::string run_directory() {
  if (const std::string given = variable("RUNTIME_DIRECTORY"); !given.empty()) return given.substr(0, given.find(':'));
  return ::geteuid() == 0 ? "/run/slurm" : "";
}

}  // namespace muster::agent

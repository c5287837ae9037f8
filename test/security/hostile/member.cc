#include "hostile/member.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

#include "model/node_rpc.h"
#include "net/authority.h"
#include "net/credential.h"
#include "net/identity.h"
#include "net/loop.h"
#include "wire/codec.h"
#include "wire/instances.h"
#include "wire/messages.h"

namespace muster::hostile {
namespace {

Result<Stolen> read_stolen(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream bytes;
  bytes << in.rdbuf();
  Stolen out;
  MUSTER_TRY_VOID(wire::decode(bytes.str(), out));
  return out;
}

Result<net::Security> security_of(const std::string& file) {
  MUSTER_TRY(stolen, read_stolen(file));
  net::Security out;
  out.identity = std::make_shared<net::Identity>();
  out.identity->authority = stolen.authority;
  out.identity->certificate = stolen.certificate;
  out.identity->private_key = stolen.private_key;
  return out;
}

net::Endpoint endpoint(const std::string& address) {
  const size_t colon = address.rfind(':');
  return {address.substr(0, colon), static_cast<uint16_t>(std::atoi(address.c_str() + colon + 1))};
}

Numbered<NodeReport> registration_of(const std::string& node, const std::string& boot_id, int days_ahead) {
  Numbered<NodeReport> report;
  report.session = static_cast<uint64_t>((net::Loop::now() + minutes(days_ahead * 24 * 60)).time_since_epoch().count());
  report.sequence = 1;
  node_rpc::Register r;
  r.node = node;
  r.hardware.cpus = r.hardware.sockets = 1;
  r.hardware.cores_per_socket = r.hardware.threads_per_core = 1;
  r.hardware.real_memory_mb = 1;
  r.hardware.boot_id = boot_id;
  report.message = r;
  return report;
}

// Opens a connection as the credential's owner, says what there is to say, and listens for so long: "registered" at the first order, "closed" when
// it ends before.
struct Said {
  bool connected = false, ordered = false, closed = false;
};
Said say(const net::Security& security, const std::string& address, const std::vector<std::string>& frames, int seconds_open) {
  net::Loop loop;
  net::ChannelPtr open;
  Said out;
  const net::Endpoint to = endpoint(address);
  net::connect_tcp(loop, to.host, to.port, security.expecting("controller"), seconds(10), [&](Result<net::ChannelPtr> c) {
    if (!c) {
      std::printf("error: %s\n", std::string(c.error().message()).c_str());
      return loop.stop();
    }
    out.connected = true;
    open = *c;
    open->on_request = [&](net::Frame f) {
      if (f.message != wire::kNodeOrder || std::exchange(out.ordered, true)) return;
      std::printf("registered\n"), std::fflush(stdout);
    };
    open->on_closed = [&](const Error& e) {
      out.closed = true;
      std::printf("closed: %s\n", std::string(e.message()).c_str());
      loop.stop();
    };
    for (const std::string& frame : frames) open->notify(wire::kNodeReport, frame);
  });
  auto end = loop.after(seconds(seconds_open), [&] { loop.stop(); });
  loop.run();
  return out;
}

}  // namespace

Result<net::Frame> ask_as(const std::string& file, const std::string& address, const std::string& expected, uint16_t message,
                          const std::string& payload, const std::function<void(std::string_view)>& part) {
  MUSTER_TRY(security, security_of(file));
  net::ClientOptions options;
  options.controllers = {endpoint(address)};
  options.security = security.expecting(expected);
  MUSTER_TRY(client, net::connect_client(options));
  return client->request_stream(message, payload, seconds(20), [&](std::string_view p) {
    part(p);
    return Result<>();
  });
}

int register_as(const std::string& file, const std::string& address, const std::string& node, int seconds_open, const std::string& boot_id,
                int days_ahead) {
  auto security = security_of(file);
  if (!security) return 2;
  return say(*security, address, {wire::encoded(registration_of(node, boot_id, days_ahead))}, seconds_open).ordered ? 0 : 1;
}

std::string health_report(std::string_view what, int64_t since, uint64_t session, uint64_t sequence) {
  Numbered<NodeReport> report;
  report.session = session;
  report.sequence = sequence;
  const std::string fault = what == "passed" ? "" : "said by somebody else";
  if (what == "fault") report.message = node_rpc::NodeFault{fault};
  else report.message = node_rpc::NodeTested{from_unix(since), true, fault};
  return wire::encoded(report);
}

int report_as(const std::string& file, const std::string& address, const std::string& node, std::string_view what, int64_t since) {
  auto security = security_of(file);
  if (!security) return 2;
  const Numbered<NodeReport> first = registration_of(node, "stolen", 0);
  std::vector<std::string> frames;
  if (!node.empty()) frames.push_back(wire::encoded(first));
  frames.push_back(health_report(what, since, first.session, node.empty() ? 1 : 2));
  const Said said = say(*security, address, frames, 2);
  return said.connected && !said.closed ? 0 : 1;
}

int linger(const std::string& file, const std::string& address, const std::string& expected, int seconds_between) {
  auto security = security_of(file);
  if (!security) return 2;
  net::Loop loop;
  net::ChannelPtr open;
  const uint16_t message = expected == "controller" ? wire::number_of<rpc::Ping> : wire::number_of<rpc::QueryLocalDaemon>;
  int good = 0;
  auto ask = [&](bool last) {
    open->request(message, {}, seconds(10), [&, last](Result<net::Frame> answer) {
      good += answer.has_value();
      std::printf("%s\n", answer ? "answered" : std::string(answer.error().message()).c_str());
      if (last) loop.stop();
    });
  };
  const net::Endpoint to = endpoint(address);
  net::connect_tcp(loop, to.host, to.port, security->expecting(expected), seconds(10), [&](Result<net::ChannelPtr> c) {
    if (!c) {
      std::printf("error: %s\n", std::string(c.error().message()).c_str());
      return loop.stop();
    }
    open = *c;
    open->on_closed = [](const Error&) {};
    ask(false);
  });
  auto again = loop.after(seconds(seconds_between), [&] { open ? ask(true) : loop.stop(); });
  loop.run();
  return good == 2 ? 0 : 1;
}

int forge(const std::string& file, const std::string& out, const std::string& subject) {
  auto stolen = read_stolen(file);
  const auto who = Subject::parse(subject);
  if (!stolen || !who) return 2;
  auto key = net::new_private_key();
  auto known_by = key ? net::public_key(*key) : std::unexpected(key.error());
  const Time now = net::Loop::now();
  auto certificate =
      known_by ? net::issue_certificate(stolen->private_key, *who, *known_by, now, now + minutes(60)) : std::unexpected(known_by.error());
  if (!certificate) return 2;
  std::ofstream(out, std::ios::binary) << wire::encoded(Stolen{stolen->authority, *certificate, *key, ""});
  return 0;
}

int mint(const std::string& authority_file, const std::string& out, const std::string& subject, double hours_ago) {
  std::ifstream in(authority_file, std::ios::binary);
  std::ostringstream secret;
  secret << in.rdbuf();
  const auto who = Subject::parse(subject);
  auto key = net::new_private_key();
  auto known_by = key ? net::public_key(*key) : std::unexpected(key.error());
  auto authority = net::public_key(secret.str());
  if (!who || !known_by || !authority) return 2;
  const Time issued = net::Loop::now() - seconds(static_cast<int>(3600 * hours_ago));
  auto certificate = net::issue_certificate(secret.str(), *who, *known_by, issued, issued + minutes(24 * 60));
  if (!certificate) return 2;
  std::ofstream(out, std::ios::binary) << wire::encoded(Stolen{*authority, *certificate, *key, ""});
  return 0;
}

}  // namespace muster::hostile
